package model_test

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// svmOf returns a random SVM and its problem: rows of X, labels and weights.
func svmOf(t *testing.T, r *oracle.Random, n, p int, density float64, weighted, dense bool) (*model.SVM, *oracle.Problem) {
	t.Helper()
	q := r.Problem(oracle.Shape{N: n, P: p, Density: density, Weights: weighted})
	for i := range q.Y {
		q.Y[i] = math.Copysign(1, q.Y[i])
	}
	q.Y[0], q.Y[1] = 1, -1
	if weighted {
		q.Weights[0], q.Weights[1] = 1, 0.5
	}
	return fixture.SVM(t, nil, q, dense), q
}

// TestBoxGapIsTheDirectGap checks for any β in the box that the termwise gap is primal plus dual, that both agree
// with their formulas, and that ρᵢ ≤ √(2Lᵢ·gap).
func TestBoxGapIsTheDirectGap(t *testing.T) {
	for seed := range uint64(200) {
		r := oracle.NewRandom(seed)
		n, p := 2+r.Intn(30), 1+r.Intn(20)
		fit, q := svmOf(t, r, n, p, r.Pick(0.2, 1), seed%3 == 0, seed%2 == 0)
		c, err := fit.Strength(2 * r.Normal())
		if err != nil {
			t.Fatal(err)
		}
		beta := make([]float64, n)
		var rows []int32
		var coef []float64
		for i := range beta {
			beta[i] = c * q.Weight(i) * r.Pick(0, 1, r.Float64())
			if beta[i] > 0 {
				rows, coef = append(rows, int32(i)), append(coef, beta[i])
			}
		}
		w := make([]float64, p)
		fit.SetPrimal(rows, coef, w)
		var norm, hinge, sum, total oracle.Sum
		for j := range w {
			var s oracle.Sum
			for i, b := range beta {
				s.AddProduct(b*q.Y[i], q.X[i][j])
			}
			if math.Abs(w[j]-s.Value()) > 1e-13*(1+math.Abs(s.Value()))*float64(n) {
				t.Fatalf("seed %d: w[%d] = %g, want %g", seed, j, w[j], s.Value())
			}
			norm.AddProduct(w[j], w[j])
		}
		var dual model.BoxDual
		rho := make([]float64, n)
		for i, b := range beta {
			s := q.Weight(i)
			total.AddProduct(c, s)
			if s == 0 {
				continue
			}
			var m, square oracle.Sum
			for j, x := range q.X[i] {
				m.AddProduct(q.Y[i]*x, w[j])
				square.AddProduct(x, x)
			}
			sum.Add(b)
			hinge.AddProduct(c*s, math.Max(0, 1-m.Value()))
			dual.Add(fit.Margin(i, w), b, c*s, fit.Square(i))
			if l := square.Value(); l > 0 {
				rho[i] = l * math.Abs(b-math.Min(c*s, math.Max(0, b-(m.Value()-1)/l)))
			}
		}
		size := norm.Value() + hinge.Value() + sum.Value()
		near := func(name string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-12*size) {
				t.Errorf("seed %d: %s is %.17g, want %.17g", seed, name, got, want)
			}
		}
		near("gap", dual.Gap(), norm.Value()+hinge.Value()-sum.Value())
		near("primal", dual.Primal(norm.Value()), norm.Value()/2+hinge.Value())
		near("dual", dual.Dual(norm.Value()), norm.Value()/2-sum.Value())
		near("P₀", fit.Null(c), total.Value())
		worst := 0.0
		for i, v := range rho {
			worst = math.Max(worst, v)
			if limit := math.Sqrt(2 * fit.Square(i) * dual.Gap()); v > limit*(1+1e-12) {
				t.Errorf("seed %d, row %d: ρ = %g > √(2L·gap) = %g", seed, i, v, limit)
			}
		}
		if math.Abs(dual.KKT()-worst) > 1e-12*(1+worst) {
			t.Errorf("seed %d: KKT %g, want %g", seed, dual.KKT(), worst)
		}
	}
}

// TestClipIsTheProxOfTheBox checks Clip at, inside and outside the ends of the box.
func TestClipIsTheProxOfTheBox(t *testing.T) {
	for _, c := range []struct{ z, bound, want float64 }{
		{-1, 2, 0},
		{0, 2, 0},
		{1, 2, 1},
		{2, 2, 2},
		{3, 2, 2},
		{1, 0, 0},
		{math.Inf(1), 2, 2},
		{math.Inf(-1), 2, 0},
	} {
		if got := model.Clip(c.z, c.bound); got != c.want {
			t.Errorf("Clip(%g, %g) = %g, want %g", c.z, c.bound, got, c.want)
		}
	}
}

// TestSVMIsStraightUpToWhereTheFirstMarginIsOne checks the largest C up to which every row is at its bound, so
// that w = CΣsᵢyᵢxᵢ is linear in C: there the first margin reaches 1. Rows of weight 0 do not count.
func TestSVMIsStraightUpToWhereTheFirstMarginIsOne(t *testing.T) {
	for seed := range uint64(50) {
		r := oracle.NewRandom(seed)
		n, p := 2+r.Intn(30), 1+r.Intn(20)
		fit, q := svmOf(t, r, n, p, r.Pick(0.2, 1), seed%3 == 0, seed%2 == 0)
		most := 0.0
		for i := range q.Y {
			var m oracle.Sum
			for k, y := range q.Y {
				for j, x := range q.X[i] {
					m.AddProduct(q.Weight(k)*y*q.Y[i]*x, q.X[k][j])
				}
			}
			if q.Weight(i) > 0 {
				most = max(most, m.Value())
			}
		}
		if got := fit.Straight(); math.Abs(got*most-1) > 1e-12 && most > 0 || most == 0 && !math.IsInf(got, 1) {
			t.Errorf("seed %d: to %g, want %g", seed, got, 1/most)
		}
	}
}

func TestSVMRefusesWhatItCannotFit(t *testing.T) {
	k := fixture.Kernels(t)
	x, err := sparse.NewDense(3, 1, []float64{1, 2, 1e200})
	if err != nil {
		t.Fatal(err)
	}
	samples := sparse.Transpose(x)
	y := []float64{1, -1, 1}
	for name, c := range map[string]struct {
		y, weights []float64
		kind       outcome.Kind
		row        int
	}{
		"labels missing":   {y[:2], nil, outcome.Shape, -1},
		"weights missing":  {y, []float64{1}, outcome.Shape, -1},
		"label 2":          {[]float64{1, 2, -1}, nil, outcome.BadParameter, 1},
		"label 0":          {[]float64{0, 1, -1}, nil, outcome.BadParameter, 0},
		"label NaN":        {[]float64{1, -1, math.NaN()}, nil, outcome.NonFinite, 2},
		"held-out label":   {[]float64{1, -1, 5}, []float64{1, 1, 0}, outcome.BadParameter, 2},
		"one class":        {[]float64{1, 1, 1}, nil, outcome.SingleClass, -1},
		"one class left":   {y, []float64{1, 0, 1}, outcome.SingleClass, -1},
		"no rows":          {y, []float64{0, 0, 0}, outcome.Shape, -1},
		"negative weight":  {y, []float64{1, 1, -1}, outcome.BadParameter, 2},
		"infinite weight":  {y, []float64{1, math.Inf(1), 1}, outcome.BadParameter, 1},
		"NaN weight":       {y, []float64{math.NaN(), 1, 1}, outcome.BadParameter, 0},
		"a norm overflows": {y, nil, outcome.NonFinite, 2},
	} {
		_, err := model.NewSVM(k, samples, c.y, c.weights)
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != c.kind || e.HasRow != (c.row >= 0) || e.HasRow && e.Row != c.row {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := model.NewSVM(k, samples, y, []float64{1, 1, 0}); err == nil {
		t.Error("a norm overflows on a held-out row: accepted")
	}
	if x, err = sparse.NewDense(2, 1, []float64{1, 2}); err != nil {
		t.Fatal(err)
	}
	fit, err := model.NewSVM(k, sparse.Transpose(x), y[:2], []float64{1, 1e300})
	if err != nil {
		t.Fatal(err)
	}
	for _, lambda := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 800, -800, 100} {
		if _, err := fit.Strength(lambda); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("C = e^%g: %v", lambda, err)
		}
	}
}
