package implicit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestSVMHypergradientIsTheDifferenceQuotient checks hypergradients to 1e-6 against central differences of the
// oracle's solutions, where the sets and the criterion's curvature are the same on either side, and that the sign
// printed in appendix A is wrong (erratum 3).
func TestSVMHypergradientIsTheDifferenceQuotient(t *testing.T) {
	const h = 1e-4
	checked, told := 0, 0
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		b := drawBox(r, 30+r.Intn(20), 10+r.Intn(40), r.Pick(0.3, 1), seed%2 == 0)
		logC := r.Pick(-5, -4, -3, -2)
		c := math.Exp(logC)
		beta, free, bound := b.solve(t, c)
		up, freeUp, boundUp := b.solve(t, math.Exp(logC+h))
		down, freeDown, boundDown := b.solve(t, math.Exp(logC-h))
		if fmt.Sprint(free, bound) != fmt.Sprint(freeUp, boundUp) || fmt.Sprint(free, bound) != fmt.Sprint(freeDown, boundDown) {
			continue // a knot lies between
		}
		if !slices.Equal(b.outer(up).Curvature, b.outer(down).Curvature) {
			continue // a held-out row passes a jump of the smoothed hinge's curvature in between: the error of differences is of order h
		}
		want := (b.value(up) - b.value(down)) / (2 * h)
		fit := b.fit(t, nil, seed%3 == 0)
		s := implicit.NewSVM(fit)
		at, outer := pointOf(beta, free, bound), b.outer(beta)
		for i, list := range [][]int32{at.Free, at.Bound} {
			for k, row := range list { // the same point with the fit's own value of C
				if exact, _ := fit.Strength(logC); i == 0 {
					at.Dual[k] = beta[row] * exact / c
				}
			}
		}
		g, err := s.Solve(t.Context(), logC, at, outer, implicit.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		if len(bound) == 0 {
			if g.Status != outcome.Flat || g.Gradient[0] != 0 {
				t.Errorf("seed %d: nothing at its bound: %s, %g", seed, g.Status, g.Gradient[0])
			}
			continue
		}
		checked++
		if g.Status != outcome.Converged {
			t.Errorf("seed %d: %s", seed, g.Status)
		}
		size := math.Abs(want)
		if math.Abs(g.Gradient[0]-want) > 1e-6*size+1e-10 {
			t.Errorf("seed %d: %.12g, differences %.12g", seed, g.Gradient[0], want)
		}
		if g.KKT > 1e-9 {
			t.Errorf("seed %d: KKT %g", seed, g.KKT)
		}
		// ∂w/∂λ itself, and the chain rule with the slope.
		var chained oracle.Sum
		for i, v := range outer.Slope {
			for j, x := range b.x[i] {
				chained.AddProduct(v*x, g.Derivative[j])
			}
		}
		if math.Abs(chained.Value()-g.Gradient[0]) > 1e-12*(1+size) {
			t.Errorf("seed %d: ∇_wCᵀ∂w/∂λ = %g, gradient %g", seed, chained.Value(), g.Gradient[0])
		}
		// β(λ+δ) = β + J(e^δ − 1), so w(λ+h) − w(λ−h) = ∂w/∂λ·2 sinh h.
		for j := range g.Derivative {
			var d oracle.Sum
			for i := range up {
				d.AddProduct((up[i]-down[i])*b.y[i], b.x[i][j])
			}
			if rate := d.Value() / (math.Exp(h) - math.Exp(-h)); math.Abs(rate-g.Derivative[j]) > 1e-8*(1+math.Abs(rate)) {
				t.Errorf("seed %d: ∂w%d/∂λ = %g, differences %g", seed, j, g.Derivative[j], rate)
			}
		}
		// The printed sign: J_S = +Q_SS⁻¹Q_{S,S_λ}J_{S_λ}.
		var straight oracle.Sum // the part from S_λ alone, common to both
		for i, v := range outer.Slope {
			for _, k := range bound {
				straight.AddProduct(v*b.y[i], b.product(i, int(k))*c*b.s[k])
			}
		}
		printed := 2*straight.Value() - g.Gradient[0]
		if len(free) > 2 && math.Abs(printed-want) > 0.01*size {
			told++
		}
	}
	if !oracle.Few() && (checked < 20 || told < 15) {
		t.Errorf("%d cases checked, %d told the signs apart", checked, told)
	}
}

// TestSVMHypergradientWhereSamplesDepend checks that with a copy of every sample β is not unique, but w and the
// gradient are, however the copies share β.
func TestSVMHypergradientWhereSamplesDepend(t *testing.T) {
	const h = 1e-4
	checked := 0
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		b := drawBox(r, 36, 60, 1, false)
		for i := 18; i < 36; i++ {
			b.x[i], b.y[i], b.s[i] = b.x[i-18], b.y[i-18], b.s[i-18]
		}
		logC := r.Pick(-6, -5, -4)
		beta, _, _ := b.solve(t, math.Exp(logC))
		up, _, boundUp := b.solve(t, math.Exp(logC+h))
		down, _, boundDown := b.solve(t, math.Exp(logC-h))
		fit := b.fit(t, nil, true)
		c, err := fit.Strength(logC)
		if err != nil {
			t.Fatal(err)
		}
		// The copies share β in any way that the box allows.
		at := implicit.SVMPoint{}
		share := make([]float64, 36)
		for i := range 18 {
			sum := beta[i] + beta[i+18]
			lo, hi := math.Max(0, sum-c), math.Min(c, sum)
			share[i] = lo + (hi-lo)*(0.2+0.6*r.Float64())
			if hi-lo < 1e-12*c {
				share[i] = hi
			}
			share[i+18] = math.Max(0, sum-share[i])
		}
		for i, v := range share {
			switch {
			case b.s[i] == 0 || v <= 1e-12*c:
			case v >= c*(1-1e-12):
				at.Bound = append(at.Bound, int32(i))
			default:
				at.Free, at.Dual = append(at.Free, int32(i)), append(at.Dual, v)
			}
		}
		if len(at.Bound) == 0 || fmt.Sprint(boundUp) != fmt.Sprint(boundDown) {
			continue
		}
		checked++
		want := (b.value(up) - b.value(down)) / (2 * h)
		g, err := implicit.NewSVM(fit).Solve(t.Context(), logC, at, b.outer(beta), implicit.Options{Tol: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		if g.Status != outcome.Converged || math.Abs(g.Gradient[0]-want) > 1e-5*(math.Abs(want)+1e-3) {
			t.Errorf("seed %d: %s, %g, differences %g", seed, g.Status, g.Gradient[0], want)
		}
	}
	if !oracle.Few() && checked < 5 {
		t.Errorf("only %d cases", checked)
	}
}

// TestSVMErrorBoundHolds checks the error bound for β and linear systems of any accuracy.
func TestSVMErrorBoundHolds(t *testing.T) {
	held, all := 0, 0
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		b := drawBox(r, 40, 50, 1, false)
		logC := r.Pick(-5, -4)
		fit := b.fit(t, nil, true)
		c, err := fit.Strength(logC)
		if err != nil {
			t.Fatal(err)
		}
		beta, free, bound := b.solve(t, c)
		if len(bound) == 0 || len(free) < 2 {
			continue
		}
		s := implicit.NewSVM(fit)
		exact, err := s.Solve(t.Context(), logC, pointOf(beta, free, bound), b.outer(beta), implicit.Options{Tol: 1e-13})
		if err != nil {
			t.Fatal(err)
		}
		want := exact.Gradient[0]
		for _, size := range []float64{0, 1e-6, 1e-4} {
			near := append([]float64(nil), beta...)
			for _, i := range free {
				near[i] = math.Min(c*(1-1e-9), math.Max(1e-9*c, beta[i]*(1+size*r.Normal())))
			}
			g, err := s.Solve(t.Context(), logC, pointOf(near, free, bound), b.outer(near), implicit.Options{Tol: r.Pick(1e-2, 1e-5, 1e-9)})
			if err != nil {
				t.Fatal(err)
			}
			all++
			if math.Abs(g.Gradient[0]-want) <= g.ErrorBound+1e-12 {
				held++
			}
		}
	}
	if !oracle.Few() && all < 60 || held < all*98/100 {
		t.Errorf("the bound held in %d of %d cases", held, all)
	}
}

// TestSVMOnAKink checks a sample at a bound and on the margin, which moves on one side of λ only.
func TestSVMOnAKink(t *testing.T) {
	// One feature: w = ΣC yx until the first margin reaches 1, at C = 1/10.
	b := &boxCase{x: [][]float64{{1}, {-3}, {1}}, y: []float64{1, -1, 1}, s: []float64{1, 1, 0}, held: []int32{2}}
	fit := b.fit(t, nil, true)
	logC := math.Log(1.0 / 12) // 3·w = 1: w = 4C
	g, err := implicit.NewSVM(fit).Solve(t.Context(), logC, implicit.SVMPoint{Bound: []int32{0, 1}}, b.outer([]float64{1. / 12, 1. / 12, 0}), implicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if g.Status != outcome.NotDifferentiable || g.DegeneracyMargin > 1e-12 {
		t.Errorf("on the kink: %s, margin %g", g.Status, g.DegeneracyMargin)
	}
	g, err = implicit.NewSVM(fit).Solve(t.Context(), logC-1, implicit.SVMPoint{Bound: []int32{0, 1}}, b.outer([]float64{.03, .03, 0}), implicit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := 4 * math.Exp(logC-1); g.Status != outcome.Converged || math.Abs(g.Derivative[0]-want) > 1e-15 {
		t.Errorf("below it: %s, ∂w/∂λ = %g, want %g", g.Status, g.Derivative[0], want)
	}
}

func TestSVMHypergradientRefusesPoints(t *testing.T) {
	b := drawBox(oracle.NewRandom(1), 9, 4, 1, false)
	fit := b.fit(t, nil, true)
	s := implicit.NewSVM(fit)
	n := 9
	outer := implicit.Outer{Slope: make([]float64, n), Curvature: make([]float64, n)}
	for name, at := range map[string]implicit.SVMPoint{
		"lengths":           {Free: []int32{1}},
		"no such row":       {Bound: []int32{9}},
		"negative row":      {Bound: []int32{-1}},
		"not ascending":     {Bound: []int32{3, 1}},
		"twice":             {Free: []int32{1}, Dual: []float64{0.5}, Bound: []int32{1}},
		"bound twice":       {Bound: []int32{1, 1}},
		"free twice":        {Free: []int32{1, 1}, Dual: []float64{0.5, 0.5}},
		"short w":           {W: []float64{1}},
		"held out":          {Bound: []int32{2}},
		"outside the box":   {Free: []int32{1}, Dual: []float64{1.5}},
		"at the bound":      {Free: []int32{1}, Dual: []float64{1}},
		"zero":              {Free: []int32{1}, Dual: []float64{0}},
		"NaN":               {Free: []int32{1}, Dual: []float64{math.NaN()}},
		"short predictions": {Predictions: []float64{1}},
	} {
		if _, err := s.Solve(t.Context(), 0, at, outer, implicit.Options{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := s.Solve(t.Context(), math.NaN(), implicit.SVMPoint{}, outer, implicit.Options{}); err == nil {
		t.Error("λ = NaN: accepted")
	}
	if _, err := s.Solve(t.Context(), 0, implicit.SVMPoint{}, implicit.Outer{}, implicit.Options{}); err == nil {
		t.Error("no slopes: accepted")
	}
}

// TestSVMHypergradientBits checks that the bits do not depend on the kernels.
func TestSVMHypergradientBits(t *testing.T) {
	b := drawBox(oracle.NewRandom(7), 60, 30, 0.5, true)
	var want []byte
	for _, k := range kernels.Available() {
		fit := b.fit(t, k, false)
		sol, err := cd.NewSVM(fit).Solve(t.Context(), -3, cd.Options{Tol: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		o := implicit.Outer{Slope: make([]float64, 60), Curvature: make([]float64, 60)}
		criterion.Of(loss.SmoothedHinge{}).Eval(b.held, b.y, sol.Predictions, o.Slope, o.Curvature)
		g, err := implicit.NewSVM(fit).Solve(t.Context(), -3, implicit.SVMPoint{
			Free: sol.Free, Dual: sol.Dual, Bound: sol.Bound, Predictions: sol.Predictions,
		}, o, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Appendf(nil, "%x %x %x", g.Gradient, g.Derivative, g.ErrorBound); want == nil {
			want = got
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s differs", k.Name)
		}
	}
}

// TestSVMGolden checks hold-out value and hypergradient on real data against values computed independently of this
// project.
func TestSVMGolden(t *testing.T) {
	const shared = "../../shared"
	type row struct {
		Data, Model string
		Mod         int
		LogLambda   []float64 `json:"log_lambda"`
		Value       float64
		Gradient    json.RawMessage
	}
	k := fixture.Kernels(t)
	for _, c := range fixture.Golden[row](t, filepath.Join(shared, "golden/hypergradients.jsonl")) {
		if c.Model != "svm" {
			continue
		}
		var want []float64
		if err := json.Unmarshal(c.Gradient, &want); err != nil {
			t.Fatal(err)
		}
		x, y, err := sparse.OpenSVMLight(t.Context(), filepath.Join(shared, "data", c.Data+".svm.gz"), sparse.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		weights := make([]float64, len(y))
		var held []int32
		for i := range weights {
			if mod := max(c.Mod, 3); i%mod == mod-1 {
				held = append(held, int32(i))
			} else {
				weights[i] = 1
			}
		}
		fit, err := model.NewSVM(k, sparse.Transpose(sparse.Compact(x)), y, weights)
		if err != nil {
			t.Fatal(err)
		}
		sol, err := cd.NewSVM(fit).Solve(t.Context(), c.LogLambda[0], cd.Options{Tol: 1e-12, Polish: true})
		if err != nil || sol.Status != outcome.Converged {
			t.Fatalf("%s: %v, %s", c.Data, err, sol.Status)
		}
		o := implicit.Outer{Slope: make([]float64, len(y)), Curvature: make([]float64, len(y))}
		value := criterion.Of(loss.SmoothedHinge{}).Eval(held, y, sol.Predictions, o.Slope, o.Curvature)
		g, err := implicit.NewSVM(fit).Solve(t.Context(), c.LogLambda[0], implicit.SVMPoint{
			Free: sol.Free, Dual: sol.Dual, Bound: sol.Bound, Predictions: sol.Predictions,
		}, o, implicit.Options{Tol: 1e-12})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: gap %.1e, KKT %.1e, free %d, bound %d, epochs %d, steps %d, CG %d, bound %.1e", c.Data,
			sol.RelativeGap, sol.KKT, len(sol.Free), len(sol.Bound), sol.Epochs, sol.Steps, g.Iterations, g.ErrorBound)
		if d := math.Abs(value/c.Value - 1); !(d <= 1e-9) {
			t.Errorf("%s: value %.15g, want %.15g (%.1e)", c.Data, value, c.Value, d)
		}
		if d := math.Abs(g.Gradient[0]/want[0] - 1); !(d <= 1e-7) || g.Status != outcome.Converged {
			t.Errorf("%s: %s, gradient %.15g, want %.15g (%.1e)", c.Data, g.Status, g.Gradient[0], want[0], d)
		}
	}
}

func ExampleSVM() {
	// The last sample is held out: its weight is 0.
	x, err := sparse.NewDense(4, 1, []float64{-1, 0.5, 2, 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	y, weights := []float64{-1, 1, 1, 1}, []float64{1, 1, 1, 0}
	k, err := kernels.Active()
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := model.NewSVM(k, sparse.Transpose(x), y, weights)
	if err != nil {
		fmt.Println(err)
		return
	}
	const logC = -2
	sol, err := cd.NewSVM(fit).Solve(context.Background(), logC, cd.Options{Tol: 1e-12})
	if err != nil {
		fmt.Println(err)
		return
	}
	outer := implicit.Outer{Slope: make([]float64, 4), Curvature: make([]float64, 4)}
	value := criterion.Of(loss.SmoothedHinge{}).Eval([]int32{3}, y, sol.Predictions, outer.Slope, outer.Curvature)
	g, err := implicit.NewSVM(fit).Solve(context.Background(), logC, implicit.SVMPoint{
		Free: sol.Free, Dual: sol.Dual, Bound: sol.Bound, Predictions: sol.Predictions,
	}, outer, implicit.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("L = %.4f, ∂L/∂λ = %.4f: %s\n", value, g.Gradient[0], g.Status)
	// Output: L = 0.1385, ∂L/∂λ = -0.2493: converged
}
