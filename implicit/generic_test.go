package implicit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// quadratic is the function f(β) = ½βᵀQβ − cᵀβ.
type quadratic struct {
	q [][]float64
	c []float64
}

func (f quadratic) Gradient(beta, out []float64) {
	f.HessianProduct(beta, beta, out)
	for j, c := range f.c {
		out[j] -= c
	}
}

func (f quadratic) HessianProduct(_, v, out []float64) {
	for j, row := range f.q {
		out[j] = dot(row, v)
	}
}

// Penalties with α = e^λ: the ℓ1 norm, the box [0, C] with C = e^λ, and Huber's
// function, whose prox has two different slopes.
type (
	l1    struct{ lambda float64 }
	box   struct{ lambda float64 }
	huber struct{ lambda float64 }
)

func (l1) Hyperparameters() int    { return 1 }
func (box) Hyperparameters() int   { return 1 }
func (huber) Hyperparameters() int { return 1 }

func (g l1) Prox(_ int, z, step float64) (value, slope float64) {
	if t := step * math.Exp(g.lambda); math.Abs(z) > t {
		return z - math.Copysign(t, z), 1
	}
	return 0, 0
}

func (g l1) Sensitivity(_, _ int, z, step float64) float64 {
	if t := step * math.Exp(g.lambda); math.Abs(z) > t {
		return -math.Copysign(t, z)
	}
	return 0
}

func (g box) Prox(_ int, z, _ float64) (value, slope float64) {
	switch c := math.Exp(g.lambda); {
	case z <= 0:
		return 0, 0
	case z >= c:
		return c, 0
	default:
		return z, 1
	}
}

func (g box) Sensitivity(_, _ int, z, _ float64) float64 {
	if c := math.Exp(g.lambda); z > c {
		return c
	}
	return 0
}

func (g huber) Prox(_ int, z, step float64) (value, slope float64) {
	t := step * math.Exp(g.lambda)
	if math.Abs(z) <= 1+t {
		return z / (1 + t), 1 / (1 + t)
	}
	return z - math.Copysign(t, z), 1
}

func (g huber) Sensitivity(_, _ int, z, step float64) float64 {
	t := step * math.Exp(g.lambda)
	if math.Abs(z) <= 1+t {
		return -t * z / ((1 + t) * (1 + t))
	}
	return -math.Copysign(t, z)
}

// TestGenericAgreesWithDifferences checks the general algorithm against central differences of the solution that
// plain proximal gradient descent finds, for penalties with a support, with bounds, and with a varying slope, and
// that the result does not depend on the step γ.
func TestGenericAgreesWithDifferences(t *testing.T) {
	k := fixture.Kernels(t)
	const p = 12
	for seed := range oracle.Draws(4) {
		rng := rand.New(rand.NewPCG(seed, 5))
		f := quadratic{q: make([][]float64, p), c: make([]float64, p)}
		root := make([][]float64, 2*p)
		for i := range root {
			root[i] = make([]float64, p)
			for j := range root[i] {
				root[i][j] = rng.NormFloat64() / math.Sqrt(2*p)
			}
		}
		var trace float64
		for a := range p {
			f.q[a] = make([]float64, p)
			for b := range p {
				for i := range root {
					f.q[a][b] += root[i][a] * root[i][b]
				}
			}
			trace += f.q[a][a]
			f.c[a] = 2 * rng.NormFloat64()
		}
		outer := make([]float64, p)
		for j := range outer {
			outer[j] = rng.NormFloat64()
		}
		step := 1 / trace
		solve := func(g implicit.Separable) []float64 {
			beta, grad, before := make([]float64, p), make([]float64, p), make([]float64, p)
			for n := range 30_000 {
				if f.Gradient(beta, grad); n > 0 && slices.Equal(beta, before) {
					break // the iterates no longer change
				}
				copy(before, beta)
				for j := range beta {
					beta[j], _ = g.Prox(j, beta[j]-step*grad[j], step)
				}
			}
			return beta
		}
		for name, penalty := range map[string]func(lambda float64) implicit.Separable{
			"l1":    func(l float64) implicit.Separable { return l1{l} },
			"box":   func(l float64) implicit.Separable { return box{l} },
			"huber": func(l float64) implicit.Separable { return huber{l} },
		} {
			const lambda, h = -0.7, 1e-5
			beta := solve(penalty(lambda))
			got, err := implicit.Generic(context.Background(), k, f, penalty(lambda), beta, outer, step, implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			want := (dot(outer, solve(penalty(lambda+h))) - dot(outer, solve(penalty(lambda-h)))) / (2 * h)
			if math.Abs(got.Gradient[0]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s, seed %d: %g, differences give %g", name, seed, got.Gradient[0], want)
			}
			if got.Status != outcome.Converged && got.Status != outcome.Flat {
				t.Errorf("%s, seed %d: %s", name, seed, got.Status)
			}
			if got.KKT > 1e-10 {
				t.Errorf("%s, seed %d: KKT residual %g", name, seed, got.KKT)
			}
			rough, err := implicit.Generic(context.Background(), k, f, penalty(lambda), beta, outer, step, implicit.Options{Tol: 0.1})
			if d := math.Abs(rough.Gradient[0] - got.Gradient[0]); err != nil || d > rough.ErrorBound {
				t.Errorf("%s, seed %d: an error of %g, beyond its bound %g; %v", name, seed, d, rough.ErrorBound, err)
			}
			half, err := implicit.Generic(context.Background(), k, f, penalty(lambda), beta, outer, step/2, implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if d := math.Abs(half.Gradient[0] - got.Gradient[0]); d > 1e-7*(1+math.Abs(want)) {
				t.Errorf("%s, seed %d: half the step gives %g more", name, seed, d)
			}
		}
	}
}

// TestGenericIsFlatWhereNothingMoves checks that above the strength that makes all coefficients 0 all derivatives
// of the prox are 0.
func TestGenericIsFlatWhereNothingMoves(t *testing.T) {
	f := quadratic{q: [][]float64{{1, 0.2}, {0.2, 1}}, c: []float64{0.3, -0.4}}
	for lambda, want := range map[float64]outcome.Status{0: outcome.Flat, -3: outcome.Converged} {
		beta, grad := make([]float64, 2), make([]float64, 2)
		for range 500 {
			f.Gradient(beta, grad)
			for j := range beta {
				beta[j], _ = l1{lambda}.Prox(j, beta[j]-0.5*grad[j], 0.5)
			}
		}
		h, err := implicit.Generic(t.Context(), fixture.Kernels(t), f, l1{lambda}, beta, []float64{1, 0.5}, 0.5, implicit.Options{})
		if err != nil || h.Status != want || (h.Gradient[0] == 0) != (want == outcome.Flat) {
			t.Errorf("λ = %g: %v, %s, gradient %v", lambda, err, h.Status, h.Gradient)
		}
	}
}

// TestErratumGenericForm demonstrates erratum 13. Where ∂_z prox varies, A = I − diag(π)(I − γQ_SS) is not
// symmetric. Conjugate gradients, which assume symmetry, then give a wrong adjoint; the transpose of A and
// diag(1/π)A give the right one. Where π is 1, as in table 3, both agree, also with the closed form of the Lasso.
func TestErratumGenericForm(t *testing.T) {
	k := fixture.Kernels(t)
	d := drawPrinted(6, 0)
	_, p := d.q.Dims()
	every := make([]int32, p)
	for j := range every {
		every[j] = int32(j)
	}
	zero := make([]float64, p)
	f := quadratic{q: d.q.Gram(every), c: d.q.Correlations(d.q.Residual(zero, 0))}
	outer := make([]float64, p)
	for i, v := range outerOf(d.q, d.best.Beta, d.rows).Slope {
		for j := range outer {
			outer[j] += v * d.q.X[i][j]
		}
	}
	var trace float64
	for j := range f.q {
		trace += f.q[j][j]
	}
	step := 1 / trace
	lasso := f
	steeper := quadratic{q: f.q} // some coefficients on either piece of Huber's function
	for _, c := range f.c {
		steeper.c = append(steeper.c, 3*c)
	}
	solve := func(g implicit.Separable) []float64 {
		beta, grad := make([]float64, p), make([]float64, p)
		for range 20_000 {
			f.Gradient(beta, grad)
			for j := range beta {
				beta[j], _ = g.Prox(j, beta[j]-step*grad[j], step)
			}
		}
		return beta
	}
	lambda := math.Log(d.q.Alpha[0])
	closed := gradientAt(t, implicit.New(fixture.Squared(t, d.q, true)), scalar(t, d.q), d.q, d.best.Beta, d.rows, implicit.Options{Tol: 1e-13}).Gradient[0]
	for name, penalty := range map[string]func(lambda float64) implicit.Separable{
		"l1":    func(l float64) implicit.Separable { return l1{l} },
		"huber": func(l float64) implicit.Separable { return huber{l} },
	} {
		if f = lasso; name == "huber" {
			f = steeper
		}
		g, beta, grad := penalty(lambda), solve(penalty(lambda)), make([]float64, p)
		f.Gradient(beta, grad)
		var s []int
		var pi, b, right []float64
		for j := range beta {
			z := beta[j] - step*grad[j]
			if _, slope := g.Prox(j, z, step); slope != 0 {
				s, pi, b, right = append(s, j), append(pi, slope), append(b, g.Sensitivity(j, 0, z, step)), append(right, outer[j])
			}
		}
		a, transposed := make([][]float64, len(s)), make([][]float64, len(s))
		for i := range s {
			a[i], transposed[i] = make([]float64, len(s)), make([]float64, len(s))
		}
		for i := range s {
			for l := range s {
				a[i][l] = pi[i] * step * f.q[s[i]][s[l]]
				if i == l {
					a[i][l] += 1 - pi[i]
				}
				transposed[l][i] = a[i][l]
			}
		}
		adjoint := func(a [][]float64) float64 {
			v, ok := oracle.SolveDense(a, right)
			if !ok {
				t.Fatal("singular")
			}
			return dot(b, v)
		}
		const h = 1e-4
		want := (dot(outer, solve(penalty(lambda+h))) - dot(outer, solve(penalty(lambda-h)))) / (2 * h)
		got, err := implicit.Generic(t.Context(), k, f, g, beta, outer, step, implicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !near(got.Gradient[0], want) || !near(adjoint(transposed), want) {
			t.Errorf("%s: %.10g, with Aᵀ %.10g, differences %.10g", name, got.Gradient[0], adjoint(transposed), want)
		}
		if symmetric := name == "l1"; near(adjoint(a), want) != symmetric {
			t.Errorf("%s: with A for Aᵀ %.10g, differences %.10g", name, adjoint(a), want)
		}
		if name == "l1" && !near(got.Gradient[0], closed) {
			t.Errorf("l1: %.10g, closed form %.10g", got.Gradient[0], closed)
		}
	}
}
