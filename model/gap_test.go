package model_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// dual passes every column through a [model.Dual] and returns it with the state and the intercept.
func dual(fit *model.Squared, g model.Penalty, beta []float64) (d *model.Dual, s *model.State, intercept float64) {
	view := fit.View()
	var cols []int32
	var coef []float64
	for j, b := range beta {
		if b != 0 {
			cols, coef = append(cols, int32(j)), append(coef, b)
		}
	}
	s = model.NewState(fit)
	fit.Fit(cols, coef, s)
	d = &model.Dual{Penalty: g, Total: view.Total(), Loss: s.Loss}
	for j, b := range beta {
		d.Add(j, view.Dot(j, s.Weighted)/view.Total(), b, view.Norm(j))
	}
	return d, s, s.UncentredIntercept(view, cols, coef)
}

// points returns points at which to test a gap: 0, random ones, points at distances of 1e-1 to 1e-12 from the
// optimum, and the optimum.
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

// TestGapIsTheDirectGap compares the gap, a sum of terms that vanish one by one at the optimum, with primal minus
// dual in its plain form, and checks that it bounds the true suboptimality and that the KKT residual satisfies ρ ≤
// √(2L·gap).
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
		fit, g := fixture.Squared(t, q, seed%7 == 0), fixture.Penalty(t, q)
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

// TestARidgeAloneIsGatheredTheSame checks that Add and AddRidge give the same results for a ridge.
func TestARidgeAloneIsGatheredTheSame(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 5 + r.Intn(20), P: 1 + r.Intn(20), Density: r.Pick(0.3, 1), Weights: seed%2 == 1})
		fit := fixture.Squared(t, q, false)
		g, err := model.Ridge(r.Normal())
		if err != nil {
			t.Fatal(err)
		}
		_, p := fit.View().Dims()
		beta := make([]float64, p)
		for j := range beta {
			beta[j] = r.Normal() * float64(r.Intn(2))
		}
		want, s, _ := dual(fit, g, beta)
		got := &model.Dual{Penalty: g, Total: fit.View().Total()}
		for j, b := range beta {
			got.AddRidge(fit.View().Dot(j, s.Weighted)/fit.View().Total(), b, fit.View().Norm(j))
		}
		for what, v := range map[string][2]float64{
			"gap": {fit.Gap(got, s), fit.Gap(want, s)}, "value": {got.Value(), want.Value()}, "KKT": {got.KKT(), want.KKT()}, "scale": {got.Scale(), want.Scale()},
		} {
			if !(math.Abs(v[0]-v[1]) <= 1e-12*math.Abs(v[1])) {
				t.Errorf("seed %d, %s: %g, want %g", seed, what, v[0], v[1])
			}
		}
	}
}

// TestGapNearTheOptimumKeepsItsDigits checks that a gap of a thousandth of rounding still has the right size,
// where primal minus dual is only noise.
func TestGapNearTheOptimumKeepsItsDigits(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: 60, P: 20})
	q.Uniform(0.1 * q.AlphaMax())
	fit, g := fixture.Squared(t, q, true), fixture.Penalty(t, q)
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
	// The gap is of first order in the distance where the scaling binds, so only ratios are compared.
	if a, b := gapAt(1e-6), gapAt(1e-9); !(b > 0 && b < a*2e-3) {
		t.Errorf("gap %g at a distance of 1e-6, %g at 1e-9", a, b)
	}
	if gap := gapAt(0); gap > 1e-15 {
		t.Errorf("gap %g·P₀ at the optimum", gap)
	}
}

// TestSkippedColumnsChangeNothing checks that columns with a zero coefficient well inside the dual constraint need
// not be added.
func TestSkippedColumnsChangeNothing(t *testing.T) {
	r := oracle.NewRandom(11)
	q := r.Problem(oracle.Shape{N: 30, P: 60})
	q.Uniform(0.3 * q.AlphaMax())
	q.Ridge = 0.01
	fit, g := fixture.Squared(t, q, true), fixture.Penalty(t, q)
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

// TestColumnsInsideMayBeLeftOut checks that columns with coefficient 0 and a correlation below the share that
// Inside returns change neither gap, scale nor residual.
func TestColumnsInsideMayBeLeftOut(t *testing.T) {
	left := 0
	for seed := range uint64(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 15, P: 12, Density: 1})
		q.Uniform(r.Pick(0.9, 0.3) * q.AlphaMax())
		if seed%3 == 1 {
			q.Ridge = r.Pick(0.3, 10)
		}
		if seed%3 == 2 {
			for j := range q.Alpha {
				q.Alpha[j] *= 0.5 + r.Float64()
			}
		}
		fit, g := fixture.Squared(t, q, true), fixture.Penalty(t, q)
		beta := make([]float64, 12)
		for j := range 3 {
			beta[j] = r.Pick(0.3, 3) * r.Normal()
		}
		whole, s, _ := dual(fit, g, beta)
		view := fit.View()
		lazy := model.Dual{Penalty: g, Total: view.Total()}
		for j, b := range beta {
			z := view.Dot(j, s.Weighted) / view.Total()
			if b == 0 && math.Abs(z) < (1-1e-12)*lazy.Inside()*g.Alpha(j) {
				left++
				continue
			}
			lazy.Add(j, z, b, view.Norm(j))
		}
		if fit.Gap(&lazy, s) != fit.Gap(whole, s) || lazy.Scale() != whole.Scale() || lazy.KKT() != whole.KKT() {
			t.Errorf("seed %d: gap %g, scale %g, residual %g without columns inside, with them %g, %g, %g", seed,
				fit.Gap(&lazy, s), lazy.Scale(), lazy.KKT(), fit.Gap(whole, s), whole.Scale(), whole.KKT())
		}
	}
	if left < 100 {
		t.Errorf("%d columns left out", left)
	}
}
