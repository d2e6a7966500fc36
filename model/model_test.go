package model_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/subject"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// penalty makes the penalty of a problem: the elastic net where it has a ridge,
// else a weighted Lasso, of which the Lasso is a case.
func penalty(t *testing.T, q *oracle.Problem) model.Penalty {
	t.Helper()
	var g model.Penalty
	var err error
	if q.Ridge > 0 {
		g, err = model.ElasticNet(math.Log(q.Alpha[0]), math.Log(q.Ridge))
	} else {
		logs := make([]float64, len(q.Alpha))
		for j, a := range q.Alpha {
			logs[j] = math.Log(a)
		}
		g, err = model.WeightedLasso(logs)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// exactly makes the oracle's strengths those of the penalty, e^λ of a rounded λ.
func exactly(q *oracle.Problem, g model.Penalty) {
	for j := range q.Alpha {
		q.Alpha[j] = g.Alpha(j)
	}
	q.Ridge = g.Ridge()
}

// dual runs every column through a [model.Dual] and returns it with the state and the
// intercept.
func dual(fit *model.Squared, g model.Penalty, beta []float64) (d *model.Dual, s *model.State, intercept float64) {
	view := fit.View()
	n, _ := view.Dims()
	var cols []int32
	var coef []float64
	for j, b := range beta {
		if b != 0 {
			cols, coef = append(cols, int32(j)), append(coef, b)
		}
	}
	s = model.NewState(n)
	fit.Fit(cols, coef, s)
	d = &model.Dual{Penalty: g, Total: view.Total()}
	for j, b := range beta {
		d.Add(j, view.Dot(j, s.Weighted)/view.Total(), b, view.Norm(j))
	}
	return d, s, s.UncentredIntercept(view, cols, coef)
}

// points returns where to test a gap: at 0, anywhere, near the optimum from
// 1e-1 to 1e-12, and at it.
func points(r *oracle.Random, s *oracle.Solution) map[string][]float64 {
	move := func(size float64, support bool) []float64 {
		b := append([]float64(nil), s.Beta...)
		for j := range b {
			if !support || b[j] != 0 {
				b[j] += size * r.Normal()
			}
		}
		return b
	}
	return map[string][]float64{
		"zero": make([]float64, len(s.Beta)), "anywhere": move(1, false), "near": move(0.1, true),
		"nearer": move(1e-4, true), "nearly": move(1e-8, false), "almost": move(1e-12, true), "optimum": s.Beta,
	}
}

// TestGapIsTheDirectGap compares the gap, a sum of terms that vanish each by
// itself, with primal minus dual in its plain form, and with what a gap is for:
// a bound of the true suboptimality. The KKT residual obeys ρ ≤ √(2L·gap).
func TestGapIsTheDirectGap(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{
			N: 5 + r.Intn(40), P: 1 + r.Intn(40), Density: r.Pick(0.1, 0.5, 1),
			Correlation: r.Pick(0, 0.7), Mean: r.Pick(0, 3), Weights: seed%3 == 1,
		})
		q.Intercept = seed%2 == 0
		top := q.AlphaMax()
		if top == 0 {
			continue
		}
		q.Uniform(top * r.Pick(0.5, 0.1, 0.01))
		switch seed % 5 {
		case 0, 1:
			q.Ridge = top * r.Pick(1e-3, 0.1, 10)
		case 2:
			for j := range q.Alpha {
				q.Alpha[j] *= 0.3 + r.Float64()
			}
			q.Alpha[0] = math.Inf(1)
		}
		fit, g := subject.Squared(t, q, seed%7 == 0), penalty(t, q)
		exactly(q, g)
		null := q.Null()
		if d := math.Abs(fit.Null() - null); d > 1e-14*null {
			t.Errorf("seed %d: P₀ off by %.1e relative", seed, d/null)
		}
		best := q.Solve()
		if best.Gap > 1e-12*null {
			t.Fatalf("seed %d: the oracle's own gap is %.1e·P₀", seed, best.Gap/null)
		}
		for name, beta := range points(r, best) {
			if math.IsInf(q.Alpha[0], 1) {
				beta[0] = 0
			}
			d, s, b := dual(fit, g, beta)
			objective, size := q.Objective(beta, b), math.Max(null, q.Objective(beta, b))
			want, got := q.Gap(beta, b), fit.Gap(d, s)
			if math.Abs(got-want) > 1e-12*size {
				t.Errorf("seed %d, %s: gap %.17g, direct %.17g, P₀ %g", seed, name, got, want, null)
			}
			if x := s.Loss + d.Value(); math.Abs(x-objective) > 1e-13*size {
				t.Errorf("seed %d, %s: objective %.17g, want %.17g", seed, name, x, objective)
			}
			if got < 0 || got < objective-best.Objective-1e-13*size {
				t.Errorf("seed %d, %s: gap %g below the suboptimality %g", seed, name, got, objective-best.Objective)
			}
			rho, lipschitz := q.KKT(beta, b)
			worst := 0.0
			for j := range rho {
				worst = math.Max(worst, rho[j])
				if limit := math.Sqrt(2 * lipschitz[j] * (got + 1e3*0x1p-53*size)); rho[j] > limit {
					t.Errorf("seed %d, %s: column %d has ρ = %g > √(2L·gap) = %g", seed, name, j, rho[j], limit)
				}
			}
			if math.Abs(d.KKT()-worst) > 1e-12*(worst+top) {
				t.Errorf("seed %d, %s: KKT %.15g, want %.15g", seed, name, d.KKT(), worst)
			}
		}
	}
}

// TestGapNearTheOptimumKeepsItsDigits: a gap of a thousandth of rounding is
// still of the right size, where primal minus dual is noise.
func TestGapNearTheOptimumKeepsItsDigits(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 60, P: 20})
	q.Uniform(0.1 * q.AlphaMax())
	fit, g := subject.Squared(t, q, true), penalty(t, q)
	exactly(q, g)
	best := q.Solve()
	gapAt := func(size float64) float64 {
		beta := append([]float64(nil), best.Beta...)
		for j, b := range beta {
			if b != 0 {
				beta[j] = b * (1 + size)
			}
		}
		d, s, _ := dual(fit, g, beta)
		return fit.Gap(d, s) / fit.Null()
	}
	// First order in the distance where the scaling binds: compare ratios only.
	if a, b := gapAt(1e-6), gapAt(1e-9); !(b > 0 && b < a*2e-3) {
		t.Errorf("gap %g at a distance of 1e-6, %g at 1e-9", a, b)
	}
	if gap := gapAt(0); gap > 1e-15 {
		t.Errorf("gap %g·P₀ at the optimum", gap)
	}
}

// TestSkippedColumnsChangeNothing: columns well inside the dual constraint with
// a zero coefficient need not be added.
func TestSkippedColumnsChangeNothing(t *testing.T) {
	r := oracle.NewRandom(11)
	q := r.Problem(oracle.Shape{N: 30, P: 60})
	q.Uniform(0.3 * q.AlphaMax())
	q.Ridge = 0.01
	fit, g := subject.Squared(t, q, true), penalty(t, q)
	exactly(q, g)
	best := q.Solve()
	best.Beta[0] += 0.01
	full, s, b := dual(fit, g, best.Beta)
	z := q.Correlations(q.Residual(best.Beta, b))
	d := model.Dual{Penalty: g, Total: fit.View().Total()}
	skipped := 0
	for j, z := range z {
		if best.Beta[j] == 0 && math.Abs(z) < 0.9*g.Alpha(j) {
			skipped++
			continue
		}
		d.Add(j, z, best.Beta[j], fit.View().Norm(j))
	}
	if skipped == 0 {
		t.Fatal("nothing to skip")
	}
	if a, b := fit.Gap(full, s), fit.Gap(&d, s); math.Abs(a-b) > 1e-14*fit.Null() || math.Abs(full.KKT()-d.KKT()) > 1e-14 {
		t.Errorf("gap %g and %g, KKT %g and %g", a, b, full.KKT(), d.KKT())
	}
}

// TestProxMinimises: prox(z) minimises ½(x − z)² + γ·g(x), which is convex, so
// it is enough that no neighbour is lower; and it is nonexpansive and odd.
func TestProxMinimises(t *testing.T) {
	r := oracle.NewRandom(1)
	for range 2000 {
		alpha, ridge, step := math.Exp(2*r.Normal()), math.Exp(2*r.Normal()), math.Exp(2*r.Normal())
		g, err := model.ElasticNet(math.Log(alpha), math.Log(ridge))
		if err != nil {
			t.Fatal(err)
		}
		z := 4 * r.Normal() * step * alpha
		f := func(x float64) float64 {
			return (x-z)*(x-z)/2 + step*(alpha*math.Abs(x)+ridge*x*x/2)
		}
		x := g.Prox(0, z, step)
		for _, h := range []float64{1e-3, 1e-2, 1} {
			if d := h * math.Max(math.Abs(x), 1); f(x) > f(x+d) || f(x) > f(x-d) {
				t.Fatalf("prox(%g) = %g is no minimum (α %g, ridge %g, step %g)", z, x, alpha, ridge, step)
			}
		}
		if g.Prox(0, -z, step) != -x {
			t.Fatalf("prox is not odd at %g", z)
		}
		w := z + r.Normal()
		if math.Abs(g.Prox(0, w, step)-x) > math.Abs(w-z)*(1+1e-15) {
			t.Fatalf("prox is not nonexpansive at %g, %g", z, w)
		}
	}
}

func TestSoftThreshold(t *testing.T) {
	for _, c := range []struct{ z, t, want float64 }{
		{3, 1, 2},
		{-3, 1, -2},
		{1, 1, 0},
		{-1, 1, 0},
		{0.5, 1, 0},
		{0, 0, 0},
		{2, 0, 2},
		{5, math.Inf(1), 0},
		{-5, math.Inf(1), 0},
	} {
		if got := model.SoftThreshold(c.z, c.t); got != c.want {
			t.Errorf("ST(%g, %g) = %g, want %g", c.z, c.t, got, c.want)
		}
	}
}

// TestAlphaMaxSeparatesZeroFromNotZero: at αmax the solution is 0, just below
// it is not.
func TestAlphaMaxSeparatesZeroFromNotZero(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 20, P: 15, Density: r.Pick(0.3, 1), Mean: r.Pick(0, 2), Weights: seed%2 == 0})
		q.Intercept = seed%4 < 2
		fit := subject.Squared(t, q, seed%3 == 0)
		top := model.AlphaMax(fit)
		if want := q.AlphaMax(); math.Abs(top-want) > 1e-13*want {
			t.Errorf("seed %d: αmax %.16g, want %.16g", seed, top, want)
		}
		if columns, _ := q.Uniform(top * (1 + 1e-12)).Solve().Support(); len(columns) != 0 {
			t.Errorf("seed %d: a support of %d above αmax", seed, len(columns))
		}
		if columns, _ := q.Uniform(top * (1 - 1e-6)).Solve().Support(); len(columns) == 0 {
			t.Errorf("seed %d: an empty support below αmax", seed)
		}
	}
}

// TestResidualEliminatesTheIntercept: the intercept returned is the best one,
// and the residual, on held-out rows too, is y − Xβ − b.
func TestResidualEliminatesTheIntercept(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 1 + r.Intn(30), P: 1 + r.Intn(20), Density: r.Pick(0.2, 1), Mean: r.Pick(0, 100), Weights: seed%2 == 0})
		q.Intercept = seed%3 != 0
		fit := subject.Squared(t, q, seed%5 == 0)
		beta := make([]float64, len(q.Alpha))
		var cols []int32
		var coef []float64
		for j := range beta {
			if r.Float64() < 0.5 {
				beta[j] = r.Normal()
				cols, coef = append(cols, int32(j)), append(coef, beta[j])
			}
		}
		kept := append([]float64(nil), coef...)
		s := model.NewState(len(q.Y))
		fit.Fit(cols, coef, s)
		got, b := s.Residual, s.UncentredIntercept(fit.View(), cols, coef)
		size := 1.0
		for _, v := range q.Residual(beta, 0) {
			size = math.Max(size, math.Abs(v))
		}
		if want := q.BestIntercept(beta); math.Abs(b-want) > 1e-13*size {
			t.Errorf("seed %d: intercept %.16g, want %.16g", seed, b, want)
		}
		for i, want := range q.Residual(beta, q.BestIntercept(beta)) {
			if math.Abs(got[i]-want) > 1e-13*size*float64(1+len(beta)) {
				t.Errorf("seed %d, row %d: residual %.16g, want %.16g", seed, i, got[i], want)
			}
		}
		for k := range coef {
			if coef[k] != kept[k] {
				t.Fatalf("seed %d: coefficient %d was changed", seed, k)
			}
		}
	}
}

// TestWeightIsRepetition: a row of weight k is that row k times, in P₀, αmax,
// gap and KKT residual; a row of weight 0 is absent.
func TestWeightIsRepetition(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 15, P: 8, Mean: 1})
		q.Intercept = seed%2 == 0
		q.Weights = make([]float64, len(q.Y))
		repeated := &oracle.Problem{Alpha: q.Alpha, Intercept: q.Intercept}
		for i := range q.Y {
			q.Weights[i] = float64(r.Intn(4))
			for range int(q.Weights[i]) {
				repeated.X, repeated.Y = append(repeated.X, q.X[i]), append(repeated.Y, q.Y[i])
			}
		}
		a, b := subject.Squared(t, q, true), subject.Squared(t, repeated, true)
		q.Uniform(0.2 * model.AlphaMax(a))
		g := penalty(t, q)
		beta := make([]float64, len(q.Alpha))
		for j := range beta {
			beta[j] = r.Pick(0, r.Normal())
		}
		da, sa, ia := dual(a, g, beta)
		db, sb, ib := dual(b, g, beta)
		for name, pair := range map[string][2]float64{
			"N": {a.View().Total(), b.View().Total()}, "P₀": {a.Null(), b.Null()}, "αmax": {model.AlphaMax(a), model.AlphaMax(b)},
			"loss": {sa.Loss, sb.Loss}, "intercept": {ia, ib}, "gap": {a.Gap(da, sa), b.Gap(db, sb)},
			"penalty": {da.Value(), db.Value()}, "KKT": {da.KKT(), db.KKT()},
		} {
			if math.Abs(pair[0]-pair[1]) > 1e-13*math.Max(math.Abs(pair[1]), a.Null()) {
				t.Errorf("seed %d: %s is %.16g with weights, %.16g with repeated rows", seed, name, pair[0], pair[1])
			}
		}
	}
}

// TestNothingToExplain: for y = 0, or a constant y with an intercept, P₀, the
// gap and αmax are 0, not noise.
func TestNothingToExplain(t *testing.T) {
	for _, constant := range []float64{0, 3, 0.1} {
		r := oracle.NewRandom(5)
		q := r.Problem(oracle.Shape{N: 32, P: 6})
		for i := range q.Y {
			q.Y[i] = constant
		}
		q.Intercept = constant != 0
		fit := subject.Squared(t, q, true)
		g := penalty(t, q.Uniform(1))
		d, s, b := dual(fit, g, make([]float64, 6))
		// The mean of 32 equal numbers may round, but no more than that.
		if noise := 1e-30; fit.Null() > noise || fit.Gap(d, s) > noise || math.Abs(b-constant) > 1e-16 {
			t.Errorf("y = %g: P₀ %g, gap %g, intercept %g", constant, fit.Null(), fit.Gap(d, s), b)
		}
		if model.AlphaMax(fit) > 1e-15 {
			t.Errorf("y = %g: αmax %g", constant, model.AlphaMax(fit))
		}
	}
}

func TestPenaltyRefusesWhatIsNoStrength(t *testing.T) {
	bad := &outcome.Error{Kind: outcome.BadParameter}
	for _, lambda := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 800, -800} {
		if _, err := model.Lasso(lambda); outcome.KindOf(err) != bad.Kind {
			t.Errorf("Lasso(%g): %v", lambda, err)
		}
		if _, err := model.ElasticNet(0, lambda); outcome.KindOf(err) != bad.Kind {
			t.Errorf("ElasticNet(0, %g): %v", lambda, err)
		}
		if _, err := model.ElasticNet(lambda, 0); outcome.KindOf(err) != bad.Kind {
			t.Errorf("ElasticNet(%g, 0): %v", lambda, err)
		}
		_, err := model.WeightedLasso([]float64{0, lambda, 0})
		if means := math.IsInf(lambda, 0); means != (err == nil) || !means && outcome.KindOf(err) != bad.Kind {
			t.Errorf("WeightedLasso(%g): %v", lambda, err)
		}
	}
	g, err := model.WeightedLasso([]float64{0, math.Inf(1), math.Inf(-1)})
	if err != nil || !math.IsInf(g.Alpha(1), 1) || g.Alpha(2) != 0 || g.Columns() != 3 || g.Hyperparameters() != 3 {
		t.Errorf("an excluded column: %v, %v", g, err)
	}
}

func TestTargetsAreChecked(t *testing.T) {
	r := oracle.NewRandom(2)
	q := r.Problem(oracle.Shape{N: 4, P: 2})
	view := subject.Squared(t, q, true).View()
	for _, c := range []struct {
		y    []float64
		want outcome.Kind
		row  int
	}{
		{[]float64{1, 2, 3}, outcome.Shape, -1},
		{nil, outcome.Shape, -1},
		{[]float64{1, 2, math.NaN(), 4}, outcome.NonFinite, 2},
		{[]float64{1, math.Inf(-1), 3, 4}, outcome.NonFinite, 1},
		{[]float64{1e300, 2, 3, 4}, outcome.NonFinite, -1},
	} {
		_, err := model.NewSquared(view, c.y)
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != c.want || (c.row >= 0) != e.HasRow || (c.row >= 0 && e.Row != c.row) {
			t.Errorf("y = %v: %v", c.y, err)
		}
	}
}

// TestSensitivityIsTheDerivativeOfThePenalty: B = −∂(∇g)/∂λ on the support.
func TestSensitivityIsTheDerivativeOfThePenalty(t *testing.T) {
	cols, b := []int32{0, 3, 4}, []float64{1.5, -0.25, 2}
	l1, l2 := -1.3, 0.4
	gradient := func(l1, l2 float64, k int) float64 {
		return math.Exp(l1)*math.Copysign(1, b[k]) + math.Exp(l2)*b[k]
	}
	g, err := model.ElasticNet(l1, l2)
	if err != nil {
		t.Fatal(err)
	}
	const h = 1e-5
	out := make([]float64, 3)
	for i := range 2 {
		g.Sensitivity(i, cols, b, out)
		for k := range b {
			d := []float64{0, 0}
			d[i] = h
			want := -(gradient(l1+d[0], l2+d[1], k) - gradient(l1-d[0], l2-d[1], k)) / (2 * h)
			if math.Abs(out[k]-want) > 1e-9 {
				t.Errorf("B[%d][%d] = %g, want %g", k, i, out[k], want)
			}
		}
	}
	if want := math.Exp(l1)*3.75 + math.Exp(l2)/2*(1.5*1.5+0.0625+4); math.Abs(g.Value(cols, b)-want) > 1e-14 {
		t.Errorf("g(β) = %g, want %g", g.Value(cols, b), want)
	}
}
