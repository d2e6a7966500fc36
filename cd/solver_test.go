package cd_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/subject"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// oracle.Cases reads it.
var _ = flag.Bool("long", false, "ten times as many random problems, and larger ones")

// fitOf makes the datafit of a problem, on dense or sparse storage.
func fitOf(t *testing.T, q *oracle.Problem, dense bool) *model.Squared {
	t.Helper()
	fit, err := model.NewSquared(subject.View(t, q, dense), q.Y)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// penaltyOf makes a penalty of a problem's strengths and gives the problem the
// strengths that came of it, e^λ of a rounded λ.
func penaltyOf(t *testing.T, q *oracle.Problem) model.Penalty {
	t.Helper()
	var g model.Penalty
	var err error
	same := true
	for _, a := range q.Alpha {
		same = same && a == q.Alpha[0]
	}
	switch {
	case q.Ridge > 0 && same && (len(q.Alpha) == 0 || q.Alpha[0] == 0):
		g, err = model.Ridge(math.Log(q.Ridge))
	case q.Ridge > 0:
		g, err = model.ElasticNet(math.Log(q.Alpha[0]), math.Log(q.Ridge))
	case same && len(q.Alpha) > 0 && !math.IsInf(q.Alpha[0], 0) && q.Alpha[0] > 0:
		g, err = model.Lasso(math.Log(q.Alpha[0]))
	default:
		logs := make([]float64, len(q.Alpha))
		for j, a := range q.Alpha {
			logs[j] = math.Log(a)
		}
		g, err = model.WeightedLasso(logs)
	}
	if err == nil && q.Positive {
		g, err = g.NonNegative()
	}
	if err != nil {
		t.Fatal(err)
	}
	for j := range q.Alpha {
		q.Alpha[j] = g.Alpha(j)
	}
	q.Ridge = g.Ridge()
	return g
}

func solve(t *testing.T, s *cd.Solver, g model.Penalty, o cd.Options) *cd.Solution {
	t.Helper()
	sol, err := s.Solve(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	return sol
}

// scatter returns the full vector of a solution.
func scatter(sol *cd.Solution, p int) []float64 {
	beta := make([]float64, p)
	for k, j := range sol.Support {
		beta[j] = sol.Coef[k]
	}
	return beta
}

// certified checks what a solution says about itself against arithmetic that
// shares nothing with the solver: S1 of the reliability bar.
func certified(t *testing.T, name string, q *oracle.Problem, sol *cd.Solution, tol float64) {
	t.Helper()
	_, p := q.Dims()
	beta := scatter(sol, p)
	null := q.Null()
	// Where y is constant P₀ is what rounding leaves of the mean.
	size := math.Max(math.Max(null, sol.Objective), 0x1p-53*q.Mean(-1)*q.Mean(-1))
	for j, b := range beta {
		if math.IsNaN(b) || math.IsInf(b, 0) {
			t.Fatalf("%s: β_%d = %g", name, j, b)
		}
		if b != 0 && math.IsInf(q.Alpha[j], 1) {
			t.Errorf("%s: excluded column %d has coefficient %g", name, j, b)
		}
	}
	zeros := slices.ContainsFunc(sol.Support, func(j int32) bool { return beta[j] == 0 && q.Alpha[j] != 0 })
	if !slices.IsSorted(sol.Support) || zeros {
		t.Errorf("%s: the support is not ascending or holds zeros: %v, %v", name, sol.Support, sol.Coef)
	}
	want := q.BestIntercept(beta)
	if math.Abs(sol.Intercept-want) > 1e-11*(math.Sqrt(2*null)+math.Abs(want)+math.Abs(q.Mean(-1))) {
		t.Errorf("%s: intercept %.16g, the best is %.16g", name, sol.Intercept, want)
	}
	gap := q.Gap(beta, want)
	// Rounding of zⱼ enters the gap as |βⱼ|·δzⱼ, which matters at small strengths:
	// δzⱼ from the products with r, and from what r itself lost in y − Xβ.
	rounding := 1e-12 * size
	for i, r := range sol.Residual {
		var terms float64
		for _, j := range sol.Support {
			terms += math.Abs(q.X[i][j] * beta[j])
		}
		rounding += 8 * 0x1p-53 * q.Weight(i) * terms * (math.Abs(r) + terms) / q.Total()
	}
	if math.Abs(gap-sol.Gap) > rounding {
		t.Errorf("%s: gap %.6g reported, %.6g recomputed, P₀ %g", name, sol.Gap, gap, null)
	}
	if x := q.Objective(beta, want); math.Abs(x-sol.Objective) > 1e-12*size {
		t.Errorf("%s: objective %.16g reported, %.16g recomputed", name, sol.Objective, x)
	}
	if sol.Status == outcome.Converged && (!(sol.RelativeGap <= tol) || gap > tol*null*(1+1e-6)+1e3*0x1p-53*null+rounding) {
		t.Errorf("%s: converged with a relative gap of %.3g (recomputed %.3g), tolerance %.0e", name, sol.RelativeGap, gap/null, tol)
	}
	rho, lipschitz := q.KKT(beta, want)
	worst := 0.0
	for j := range rho {
		worst = math.Max(worst, rho[j])
		if limit := math.Sqrt(2 * lipschitz[j] * (math.Max(gap, 0) + 1e3*0x1p-53*size)); rho[j] > limit {
			t.Errorf("%s: ρ_%d = %.3g > √(2L·gap) = %.3g", name, j, rho[j], limit)
		}
	}
	top := 0.0
	for j := range lipschitz {
		top = math.Max(top, math.Sqrt(lipschitz[j]*null))
	}
	if math.Abs(worst-sol.KKT) > 1e-11*top {
		t.Errorf("%s: KKT residual %.6g reported, %.6g recomputed", name, sol.KKT, worst)
	}
	for i, r := range q.Residual(beta, want) {
		if math.Abs(r-sol.Residual[i]) > 1e-10*(math.Sqrt(size)+math.Abs(q.Y[i])+math.Abs(want)) {
			t.Errorf("%s: residual of row %d is %.16g, want %.16g", name, i, sol.Residual[i], r)
		}
	}
}

// draw makes a random problem of the kinds and ranges of S1.
func draw(r *oracle.Random, largest int) (q *oracle.Problem, name string) {
	shape := oracle.Shape{
		N: 2 + r.Intn(largest-1), P: 1 + r.Intn(largest),
		Density: r.Pick(0.01, 0.1, 0.5, 1), Correlation: r.Pick(0, 0.5, 0.9, 0.99),
		Mean: r.Pick(0, 0, 1, 10), Weights: r.Intn(3) == 0,
	}
	q = r.Problem(shape)
	q.Intercept = r.Intn(2) == 0
	top := q.AlphaMax()
	if top == 0 {
		top = 1
	}
	ratio := r.Pick(0.9, 0.5, 0.1, 1e-2, 1e-3, 1e-4)
	q.Uniform(ratio * top)
	kind := []string{"lasso", "enet", "wlasso"}[r.Intn(3)]
	if r.Intn(4) == 0 {
		q.Positive, kind = true, kind+", positive,"
	}
	if r.Intn(6) == 0 {
		q.Positive, kind = false, "ridge"
	}
	switch kind[:4] {
	case "ridg":
		q.Uniform(0)
		q.Ridge = ratio * top * r.Pick(1, 10, 1000)
	case "enet":
		q.Ridge = top * r.Pick(1e-4, 1e-2, 1)
	case "wlas":
		for j := range q.Alpha {
			q.Alpha[j] *= 0.2 + 2*r.Float64()
			switch {
			case r.Intn(10) == 0:
				q.Alpha[j] = math.Inf(1)
			case r.Intn(10) == 0 && !q.Positive && j%2 == 0:
				q.Alpha[j] = 0
			}
		}
	}
	return q, fmt.Sprintf("%s n %d, p %d, density %g, correlation %g, ratio %g, intercept %v, weights %v",
		kind, shape.N, shape.P, shape.Density, shape.Correlation, ratio, q.Intercept, shape.Weights)
}

// TestHonestCertificates: hundreds of random problems; every result is
// recomputed, and compared with the optimum.
func TestHonestCertificates(t *testing.T) {
	count, largest := oracle.Cases(200), 60
	if oracle.Long() {
		largest = 120
	}
	missed := 0
	for seed := range count {
		r := oracle.NewRandom(seed)
		q, name := draw(r, largest)
		name = fmt.Sprintf("seed %d: %s", seed, name)
		tol := r.Pick(1e-4, 1e-6, 1e-8, 1e-10)
		g := penaltyOf(t, q)
		sol := solve(t, cd.New(fitOf(t, q, seed%2 == 0)), g, cd.Options{Tol: tol, Polish: seed%3 == 0})
		certified(t, name, q, sol, tol)
		if sol.Status != outcome.Converged {
			missed++
			t.Logf("%s: %s at %.1e after %d epochs, tolerance %.0e", name, sol.Status, sol.RelativeGap, sol.Epochs, tol)
		}
		best := q.Solve()
		null := q.Null()
		if best.Gap > tol*null+1e-13*null {
			continue // the oracle is no better than that here; its gap still bounds
		}
		if d := sol.Objective - best.Objective; d > 2*tol*null+1e-13*null && sol.Status == outcome.Converged || d < -2*tol*null-1e-13*null {
			t.Errorf("%s: objective %.16g, the optimum is %.16g, P₀ %g", name, sol.Objective, best.Objective, null)
		}
	}
	if missed > 0 {
		t.Errorf("%d of %d problems missed their tolerance", missed, count)
	}
}

// TestPolishGivesTheDigitsOfThePredictions: a loose gap with a polish leaves
// predictions as good as a gap of the square of their error would.
func TestPolishGivesTheDigitsOfThePredictions(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 60, P: 40, Density: r.Pick(0.3, 1), Correlation: 0.5, Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		q.Uniform(r.Pick(0.3, 0.05) * q.AlphaMax())
		g := penaltyOf(t, q)
		best := q.Solve()
		if out, in := q.Margins(best); !best.Exact || out < 1e-2 || in < 1e-2 {
			continue // the support at the tolerance may not be the one at the optimum
		}
		sol := solve(t, cd.New(fitOf(t, q, seed%2 == 0)), g, cd.Options{Tol: 1e-8, Polish: true})
		certified(t, fmt.Sprint("seed ", seed), q, sol, 1e-8)
		var distance, size float64
		for i, m := range q.Predictions(best) {
			d := q.Y[i] - sol.Residual[i] - m
			distance, size = distance+d*d, size+m*m
		}
		if sol.Status != outcome.Converged || math.Sqrt(distance/size) > 1e-9 {
			t.Errorf("seed %d: %s, predictions off by %.1e", seed, sol.Status, math.Sqrt(distance/size))
		}
	}
}

// TestWarmStartsAreCertifiedTheSame: one solver through a path of every kind of
// penalty in any order, against the certificate of each.
func TestWarmStartsAreCertifiedTheSame(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 60, Density: r.Pick(0.2, 1), Correlation: r.Pick(0, 0.8), Mean: r.Pick(0, 2), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		top := q.AlphaMax()
		s := cd.New(fitOf(t, q, seed%4 == 0))
		for step := range 12 {
			c := q.Clone().Uniform(top * math.Exp(-6*r.Float64()))
			switch r.Intn(3) {
			case 0:
				c.Ridge = top * math.Exp(-4*r.Float64())
			case 1:
				for j := range c.Alpha {
					c.Alpha[j] *= 0.5 + r.Float64()
					if r.Intn(5) == 0 {
						c.Alpha[j] = math.Inf(1)
					}
				}
			}
			tol := r.Pick(1e-3, 1e-6, 1e-9)
			g := penaltyOf(t, c)
			warm := solve(t, s, g, cd.Options{Tol: tol})
			name := fmt.Sprintf("seed %d, step %d", seed, step)
			certified(t, name, c, warm, tol)
			if warm.Status != outcome.Converged {
				t.Errorf("%s: %s at %.1e, tolerance %.0e", name, warm.Status, warm.RelativeGap, tol)
			}
			cold := solve(t, cd.New(fitOf(t, c, seed%4 == 0)), g, cd.Options{Tol: tol})
			if d := math.Abs(warm.Objective - cold.Objective); d > tol*q.Null()+1e-13*q.Null() {
				t.Errorf("%s: objectives differ by %.2e·P₀", name, d/q.Null())
			}
			if step == 8 {
				s.Reset()
			}
		}
	}
}

// TestResetIsACleanStart: after Reset a solver repeats its first solve bit for
// bit, whatever it has done since.
func TestResetIsACleanStart(t *testing.T) {
	for _, dense := range []bool{true, false} {
		r := oracle.NewRandom(4)
		q := r.Problem(oracle.Shape{N: 50, P: 80, Density: 0.5})
		top := q.AlphaMax()
		s := cd.New(fitOf(t, q, dense))
		a := penaltyOf(t, q.Clone().Uniform(0.05*top))
		b := penaltyOf(t, q.Clone().Uniform(0.01*top))
		first := scatter(solve(t, s, a, cd.Options{}), 80)
		solve(t, s, b, cd.Options{})
		s.Reset()
		if again := scatter(solve(t, s, a, cd.Options{}), 80); !slices.Equal(again, first) {
			t.Errorf("dense %v: %v, first %v", dense, again, first)
		}
	}
}

// TestStoragesAgree: sparse and dense storage of one matrix give solutions as
// close as their gaps allow.
func TestStoragesAgree(t *testing.T) {
	for seed := range oracle.Cases(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 30, Density: r.Pick(0.2, 0.9), Mean: r.Pick(0, 5), Weights: seed%2 == 0})
		q.Intercept = seed%4 < 2
		q.Uniform(0.05 * q.AlphaMax())
		g := penaltyOf(t, q)
		a := scatter(solve(t, cd.New(fitOf(t, q, true)), g, cd.Options{Tol: 1e-14}), 30)
		b := scatter(solve(t, cd.New(fitOf(t, q, false)), g, cd.Options{Tol: 1e-14}), 30)
		best := q.Solve()
		for j := range a {
			if math.Abs(a[j]-best.Beta[j]) > 1e-6 || math.Abs(b[j]-best.Beta[j]) > 1e-6 {
				t.Errorf("seed %d: β_%d is %.12g dense, %.12g sparse, want %.12g", seed, j, a[j], b[j], best.Beta[j])
			}
		}
	}
}

// TestWeightIsRepetition: integer weights and repeated rows have one solution.
func TestWeightIsRepetition(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 25, P: 15, Density: r.Pick(0.5, 1), Mean: 1})
		q.Intercept = seed%2 == 0
		q.Weights = make([]float64, len(q.Y))
		for i := range q.Weights {
			q.Weights[i] = float64(r.Intn(4))
		}
		q.Uniform(0.05 * q.AlphaMax())
		g := penaltyOf(t, q)
		repeated := q.Clone()
		repeated.X, repeated.Y, repeated.Weights = nil, nil, nil
		for i, s := range q.Weights {
			for range int(s) {
				repeated.X, repeated.Y = append(repeated.X, q.X[i]), append(repeated.Y, q.Y[i])
			}
		}
		a := solve(t, cd.New(fitOf(t, q, seed%3 == 0)), g, cd.Options{Tol: 1e-14})
		b := solve(t, cd.New(fitOf(t, repeated, seed%3 == 0)), g, cd.Options{Tol: 1e-14})
		if d := math.Abs(a.Objective - b.Objective); d > 1e-13*q.Null() {
			t.Errorf("seed %d: objectives %.16g and %.16g", seed, a.Objective, b.Objective)
		}
		x, y := scatter(a, 15), scatter(b, 15)
		for j := range x {
			if math.Abs(x[j]-y[j]) > 1e-6 {
				t.Errorf("seed %d: β_%d is %.12g weighted, %.12g repeated", seed, j, x[j], y[j])
			}
		}
	}
}

// TestZeroFromAlphaMaxOn: S2. At and above the computed αmax β is exactly 0
// after no epoch; just below it a column enters, or the gap is rounding.
func TestZeroFromAlphaMaxOn(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 20, Density: r.Pick(0.1, 1), Mean: r.Pick(0, 3), Weights: seed%2 == 0})
		q.Intercept = seed%4 < 2
		fit := fitOf(t, q, seed%3 == 0)
		top := fit.AlphaMax()
		for _, times := range []float64{1, 1 + 0x1p-52, 2, 1e6} {
			g, err := model.Lasso(kernels.Log(top * times))
			if err != nil {
				t.Fatal(err)
			}
			sol := solve(t, cd.New(fit), g, cd.Options{Tol: 1e-15})
			if len(sol.Support) != 0 || sol.Epochs != 0 || sol.Status != outcome.Converged || sol.RelativeGap > 1e-15 {
				t.Errorf("seed %d at %g·αmax: support %d, %d epochs, gap %g, %s", seed, times, len(sol.Support), sol.Epochs, sol.RelativeGap, sol.Status)
			}
			if want := q.BestIntercept(make([]float64, 20)); math.Abs(sol.Intercept-want) > 1e-14*(1+math.Abs(want)) {
				t.Errorf("seed %d: intercept %g of the null model, want %g", seed, sol.Intercept, want)
			}
		}
		g, err := model.Lasso(kernels.Log(top) - 1e-9)
		if err != nil {
			t.Fatal(err)
		}
		if sol := solve(t, cd.New(fit), g, cd.Options{Tol: 1e-15}); len(sol.Support) == 0 && sol.RelativeGap > 1e-15 {
			t.Errorf("seed %d just below αmax: empty with a gap of %g", seed, sol.RelativeGap)
		}
		// From a support back to zero.
		s := cd.New(fit)
		low, err := model.Lasso(kernels.Log(top) - 3)
		if err != nil {
			t.Fatal(err)
		}
		high, err := model.Lasso(kernels.Log(top) + 1e-6)
		if err != nil {
			t.Fatal(err)
		}
		solve(t, s, low, cd.Options{})
		if sol := solve(t, s, high, cd.Options{Tol: 1e-12}); len(sol.Support) != 0 {
			t.Errorf("seed %d: a warm start leaves %d columns above αmax, relative gap %g", seed, len(sol.Support), sol.RelativeGap)
		}
	}
}

// TestBadParameters: S4. What cannot be solved is refused before work starts.
func TestBadParameters(t *testing.T) {
	r := oracle.NewRandom(2)
	q := r.Problem(oracle.Shape{N: 10, P: 4})
	s := cd.New(fitOf(t, q, true))
	g, err := model.Lasso(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []cd.Options{{Tol: -1}, {Tol: 1e-16}, {Tol: math.NaN()}, {Tol: math.Inf(1)}, {MaxEpochs: -1}} {
		sol, err := s.Solve(context.Background(), g, o)
		if !isKind(err, outcome.BadParameter) || sol != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	w, err := model.WeightedLasso([]float64{0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Solve(context.Background(), w, cd.Options{}); !isKind(err, outcome.Shape) {
		t.Errorf("3 strengths for 4 columns: %v", err)
	}
}

func isKind(err error, kind outcome.Kind) bool {
	e, ok := errors.AsType[*outcome.Error](err)
	return ok && e.Kind == kind
}

// TestNotConvergedIsAnHonestPoint: S5. With few epochs or an ill-conditioned X
// the point is certified, and more epochs never make the objective worse.
func TestNotConvergedIsAnHonestPoint(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 40, P: 30, Density: r.Pick(0.5, 1), Correlation: 0.9, Mean: r.Pick(0, 1)})
		q.Intercept = seed%2 == 0
		if seed%4 == 0 { // a condition number of about 1e12
			for i := range q.X {
				q.X[i][1] = q.X[i][0] + 1e-6*q.X[i][1]
			}
		}
		q.Uniform(1e-4 * q.AlphaMax())
		g := penaltyOf(t, q)
		last := math.Inf(1)
		for epochs := 1; epochs <= 40; epochs += 1 + epochs/8 {
			sol := solve(t, cd.New(fitOf(t, q, true)), g, cd.Options{Tol: 1e-14, MaxEpochs: epochs})
			name := fmt.Sprintf("seed %d, %d epochs", seed, epochs)
			certified(t, name, q, sol, 1e-14)
			if sol.Epochs > epochs {
				t.Errorf("%s: took %d", name, sol.Epochs)
			}
			if sol.Status != outcome.Converged && sol.Status != outcome.NotConverged {
				t.Errorf("%s: %s", name, sol.Status)
			}
			if sol.Objective > last+1e-12*q.Null() {
				t.Errorf("%s: objective rose from %.16g to %.16g", name, last, sol.Objective)
			}
			last = sol.Objective
		}
	}
}

// TestExcludedColumnsAreAbsent: a strength of +Inf is the problem without the
// column, also where the start uses it.
func TestExcludedColumnsAreAbsent(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 12, Density: r.Pick(0.5, 1), Mean: 1})
		q.Intercept = seed%2 == 0
		q.Uniform(0.02 * q.AlphaMax())
		s := cd.New(fitOf(t, q, seed%3 == 0))
		solve(t, s, penaltyOf(t, q), cd.Options{}) // a start that uses the columns
		less := &oracle.Problem{Y: q.Y, Intercept: q.Intercept, X: make([][]float64, len(q.Y))}
		var kept []int
		for j := range q.Alpha {
			if r.Intn(3) == 0 {
				q.Alpha[j] = math.Inf(1)
				continue
			}
			kept = append(kept, j)
			less.Alpha = append(less.Alpha, q.Alpha[j])
			for i := range q.X {
				less.X[i] = append(less.X[i], q.X[i][j])
			}
		}
		sol := solve(t, s, penaltyOf(t, q), cd.Options{Tol: 1e-13})
		certified(t, fmt.Sprint("seed ", seed), q, sol, 1e-13)
		got, want := scatter(sol, 12), less.Solve().Beta
		for k, j := range kept {
			if math.Abs(got[j]-want[k]) > 1e-6 {
				t.Errorf("seed %d: β_%d = %.12g, without the excluded columns %.12g", seed, j, got[j], want[k])
			}
		}
	}
	// All of them.
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 10, P: 3, Mean: 1})
	q.Intercept = true
	q.Uniform(math.Inf(1))
	if sol := solve(t, cd.New(fitOf(t, q, true)), penaltyOf(t, q), cd.Options{}); len(sol.Support) != 0 || sol.Status != outcome.Converged || sol.RelativeGap != 0 {
		t.Errorf("all excluded: %+v", sol)
	}
}

// hard makes a problem that takes a while.
func hard(t *testing.T) (*model.Squared, model.Penalty, *oracle.Problem) {
	t.Helper()
	r := oracle.NewRandom(77)
	q := r.Problem(oracle.Shape{N: 120, P: 240, Correlation: 0.97, Active: 100})
	q.Intercept = true
	q.Uniform(1e-4 * q.AlphaMax())
	g := penaltyOf(t, q)
	return fitOf(t, q, true), g, q
}

// TestCancelledIsACertifiedPoint: a context that ends, before or during, gives
// a certified point soon after.
func TestCancelledIsACertifiedPoint(t *testing.T) {
	fit, g, q := hard(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := cd.New(fit)
	sol, err := s.Solve(ctx, g, cd.Options{Tol: 1e-14})
	if err != nil || sol.Status != outcome.Cancelled || len(sol.Support) != 0 {
		t.Errorf("cancelled before: %v, %+v", err, sol)
	}
	certified(t, "cancelled before", q, sol, 1)
	for _, after := range []time.Duration{time.Millisecond, 5 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), after)
		s.Reset()
		sol, err := s.Solve(ctx, g, cd.Options{Tol: 1e-14})
		end, _ := ctx.Deadline()
		late := time.Since(end)
		cancel()
		if err != nil || (sol.Status != outcome.Cancelled && sol.Status != outcome.Converged) {
			t.Fatalf("after %v: %v, %+v", after, err, sol)
		}
		certified(t, fmt.Sprint("cancelled after ", after), q, sol, 1)
		if late > time.Second { // milliseconds on an idle machine
			t.Errorf("returned %v after the end", late)
		}
	}
	// The solver goes on from there.
	c := solve(t, s, g, cd.Options{Tol: 1e-3})
	certified(t, "continued", q, c, 1e-3)
	if c.Status != outcome.Converged {
		t.Errorf("continued: %s at %g", c.Status, c.RelativeGap)
	}
}

// TestSolveAllocatesNothingWhenWarm: V4.
func TestSolveAllocatesNothingWhenWarm(t *testing.T) {
	for _, dense := range []bool{true, false} {
		r := oracle.NewRandom(8)
		q := r.Problem(oracle.Shape{N: 60, P: 100, Density: 0.4, Weights: true, Mean: 1})
		q.Intercept = true
		top := q.AlphaMax()
		s := cd.New(fitOf(t, q, dense))
		var path []model.Penalty
		for k := range 8 {
			c := q.Clone().Uniform(top * math.Exp(-float64(k)))
			switch k % 4 {
			case 1:
				c.Positive = true
			case 2:
				c.Alpha[3], c.Alpha[5] = 0, 0
			case 3:
				c.Uniform(0).Ridge = top
			}
			path = append(path, penaltyOf(t, q.Clone().Uniform(top*math.Exp(-float64(k)))), penaltyOf(t, c))
		}
		walk := func() {
			s.Reset()
			for _, g := range path {
				if _, err := s.Solve(context.Background(), g, cd.Options{Tol: 1e-8}); err != nil {
					t.Fatal(err)
				}
			}
		}
		walk()
		if n := testing.AllocsPerRun(5, walk); n != 0 {
			t.Errorf("dense %v: %g allocations a path", dense, n)
		}
	}
}

// TestScalesThatCannotBeAreRefused: where squares leave the range of float64
// there is an error, not a wrong answer.
func TestScalesThatCannotBeAreRefused(t *testing.T) {
	k := subject.Kernels(t)
	r := oracle.NewRandom(6)
	q := r.Problem(oracle.Shape{N: 20, P: 5})
	for _, c := range []struct{ x, y int }{{600, 0}, {520, -520}, {600, -600}, {0, 520}, {-600, 600}, {0, -520}, {0, -1000}} {
		values, y := q.ColumnMajor(), make([]float64, 20)
		for i := range values {
			values[i] = math.Ldexp(values[i], c.x)
		}
		for i := range y {
			y[i] = math.Ldexp(q.Y[i], c.y)
		}
		x, err := sparse.NewDense(20, 5, values)
		if err != nil {
			t.Fatal(err)
		}
		view, err := sparse.NewView(k, x, nil, true)
		if err == nil {
			_, err = model.NewSquared(view, y)
		}
		if !isKind(err, outcome.NonFinite) && !isKind(err, outcome.BadParameter) {
			t.Errorf("X·2^%d, y·2^%d: %v", c.x, c.y, err)
		}
	}
}
