package implicit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestJacobianAndHessianProducts checks products with the Jacobian and with the second derivative against central
// differences of the solution and of the gradient, for every penalty and loss.
func TestJacobianAndHessianProducts(t *testing.T) {
	ctx := context.Background()
	sharp := implicit.Options{Tol: 1e-13}
	const h = 1e-4
	tested := map[string]int{}
	for seed := range uint64(160) {
		rng := rand.New(rand.NewPCG(seed, 3))
		l, centre := loss.All()[seed/2%8], seed%2 == 0
		fit := smallFit(t, rng, l, centre, false)
		n, _ := fit.View().Dims()
		lambda, penalty := penaltyOf(rng, fit, seed)
		name := fmt.Sprintf("seed %d: r = %d, %T, centre %v", seed, len(lambda), l, centre)
		solve := func(l []float64) *cd.Solution {
			g, err := penalty(l)
			if err != nil {
				t.Fatal(err)
			}
			s, err := cd.New(fit).Solve(ctx, g, cd.Options{Tol: 1e-14, Polish: true})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		// The criterion Σ cᵢmᵢ + ½Σ mᵢ² on all rows, and its gradient on the support.
		c := make([]float64, n)
		for i := range c {
			c[i] = rng.NormFloat64()
		}
		gradient := func(s *cd.Solution, l []float64) []float64 {
			g, err := penalty(l)
			if err != nil {
				t.Fatal(err)
			}
			out, err := implicit.New(fit).Solve(ctx, g, implicit.Point{Support: s.Support, Coef: s.Coef}, outer(c, s.Prediction), sharp)
			if err != nil {
				t.Fatal(err)
			}
			return append([]float64(nil), out.Gradient...)
		}
		here := solve(lambda)
		at := implicit.Point{Support: append([]int32(nil), here.Support...), Coef: append([]float64(nil), here.Coef...)}
		g, err := penalty(lambda)
		if err != nil {
			t.Fatal(err)
		}
		width := len(lambda)
		if len(lambda) > 2 {
			width = len(at.Support)
		}
		w := make([]float64, width)
		for i := range w {
			w[i] = rng.NormFloat64()
		}
		shifted := func(by float64) []float64 {
			l := append([]float64(nil), lambda...)
			for i := range w {
				to := i
				if len(lambda) > 2 {
					to = int(at.Support[i])
				}
				l[to] += by * w[i]
			}
			return l
		}
		up, down := shifted(h), shifted(-h)
		above, below := solve(up), solve(down)
		if len(above.Support) != len(at.Support) || len(below.Support) != len(at.Support) || !slices.Equal(bent(fit, above), bent(fit, below)) {
			continue // a knot is close: differences are meaningless
		}
		tested[l.Name()]++
		solver := implicit.New(fit)
		jw, status, err := solver.JVP(ctx, g, at, w, sharp)
		if err != nil || status != outcome.Converged {
			t.Fatalf("%s: %v, %v", name, status, err)
		}
		for k := range jw {
			if want := (above.Coef[k] - below.Coef[k]) / (2 * h); math.Abs(jw[k]-want) > 1e-5*(1+math.Abs(want)) {
				t.Errorf("%s: J·w of column %d is %g, differences give %g", name, at.Support[k], jw[k], want)
			}
		}
		z := make([]float64, len(at.Support))
		for k := range z {
			z[k] = rng.NormFloat64()
		}
		jz, _, err := solver.VJP(ctx, g, at, z, sharp)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := dot(z, jw), dot(jz, w); math.Abs(a-b) > 1e-9*(math.Abs(a)+1) {
			t.Errorf("%s: zᵀ(J·w) = %g, (Jᵀz)ᵀw = %g", name, a, b)
		}
		hw, _, err := solver.HVP(ctx, g, at, outer(c, here.Prediction), w, sharp)
		if err != nil {
			t.Fatal(err)
		}
		before, after := gradient(below, down), gradient(above, up)
		for i := range hw {
			if want := (after[i] - before[i]) / (2 * h); math.Abs(hw[i]-want) > 1e-4*(1+math.Abs(want)) {
				t.Errorf("%s: entry %d of the Hessian product is %g, differences give %g", name, i, hw[i], want)
			}
		}
	}
	for _, l := range loss.All() {
		if tested[l.Name()] < 8 {
			t.Errorf("%s: only %d of 20 problems were away from a knot", l.Name(), tested[l.Name()])
		}
	}
}

// bent lists the rows at which the loss has curvature.
func bent(fit model.Datafit, s *cd.Solution) (rows []int) {
	curved, ok := fit.(model.Curved)
	if !ok {
		return nil
	}
	d := make([]float64, len(s.Prediction))
	curved.Curvature(s.State, d)
	for i, v := range d {
		if v > 0 {
			rows = append(rows, i)
		}
	}
	return rows
}

// penaltyOf returns a penalty and a λ; the seed selects one of the kinds that suit the loss.
func penaltyOf(rng *rand.Rand, fit model.Datafit, seed uint64) (lambda []float64, penalty func([]float64) (model.Penalty, error)) {
	top := kernels.Log(model.AlphaMax(fit))
	_, p := fit.View().Dims()
	_, logistic := fit.(*model.Rowwise)
	switch kind := seed % 5; {
	case kind == 0:
		lambda = []float64{top - 1.5}
		penalty = func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) }
	case kind == 3 && !logistic:
		lambda = []float64{top - 3}
		penalty = func(l []float64) (model.Penalty, error) { return model.Ridge(l[0]) }
	case kind >= 3:
		lambda = []float64{top - 2, top - 1}
		penalty = func(l []float64) (model.Penalty, error) {
			g, err := model.ElasticNet(l[0], l[1])
			if err != nil {
				return g, err
			}
			return g.NonNegative()
		}
	case kind == 1:
		lambda = []float64{top - 1.5, top - 2}
		penalty = func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) }
	default:
		for range p {
			lambda = append(lambda, top-1.2-0.5*rng.Float64())
		}
		penalty = model.WeightedLasso
	}
	return lambda, penalty
}

func outer(c, m []float64) implicit.Outer {
	o := implicit.Outer{Slope: make([]float64, len(m)), Curvature: make([]float64, len(m))}
	for i := range m {
		o.Slope[i], o.Curvature[i] = c[i]+m[i], 1
	}
	return o
}

func dot(x, y []float64) (sum float64) {
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}
