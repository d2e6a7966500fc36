package implicit_test

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// single is an elastic net with one column x whose coefficient varies, beside a column whose coefficient stays at
// a bound c. The rows of fold 0 are held out, and the others train.
type single struct {
	x, beside, y []float64
	folds        []int
	c            float64
	logLambda    []float64
}

// gradient returns the gradient of the mean squared error in ln α and ln α₂ from its formula, computed with 300
// bits: β = (|z| − α)/(v + α₂) with the sign of z, where z and v are of centred columns, so that ∂β is −α/(v +
// α₂), with the same sign, and −α₂β/(v + α₂).
func (q single) gradient() (g [2]float64) {
	zero := func() *big.Float { return new(big.Float).SetPrec(300) }
	num := func(v float64) *big.Float { return zero().SetFloat64(v) }
	add := func(a, b *big.Float) *big.Float { return zero().Add(a, b) }
	sub := func(a, b *big.Float) *big.Float { return zero().Sub(a, b) }
	mul := func(a, b *big.Float) *big.Float { return zero().Mul(a, b) }
	quo := func(a, b *big.Float) *big.Float { return zero().Quo(a, b) }
	n, held, meanX, meanR := zero(), zero(), zero(), zero()
	rest := make([]*big.Float, len(q.y))
	for i, y := range q.y {
		rest[i] = sub(num(y), mul(num(q.c), num(q.beside[i])))
		if q.folds[i] == 0 {
			held = add(held, num(1))
			continue
		}
		n, meanX, meanR = add(n, num(1)), add(meanX, num(q.x[i])), add(meanR, rest[i])
	}
	meanX, meanR = quo(meanX, n), quo(meanR, n)
	z, v := zero(), zero()
	for i := range q.y {
		if q.folds[i] == 0 {
			continue
		}
		d := sub(num(q.x[i]), meanX)
		z, v = add(z, mul(d, rest[i])), add(v, mul(d, d))
	}
	alpha, ridge := num(kernels.Exp(q.logLambda[0])), zero()
	if len(q.logLambda) > 1 {
		ridge = num(kernels.Exp(q.logLambda[1]))
	}
	z, v = quo(z, n), add(quo(v, n), ridge)
	sign := num(float64(z.Sign()))
	beta := quo(sub(z, mul(sign, alpha)), v)
	slope := zero()
	for i := range q.y {
		if q.folds[i] == 0 {
			d := sub(num(q.x[i]), meanX)
			off := sub(add(mul(d, beta), meanR), rest[i])
			slope = add(slope, quo(mul(num(2), mul(off, d)), held))
		}
	}
	g[0], _ = mul(slope, quo(mul(sign, alpha), v)).Float64()
	g[1], _ = mul(slope, quo(mul(ridge, beta), v)).Float64()
	return [2]float64{-g[0], -g[1]}
}

// drawSingle returns a random problem of this kind whose columns have the given means.
func drawSingle(seed uint64, mean, beside, c float64) single {
	r := oracle.NewRandom(seed)
	n := 12 + r.Intn(20)
	q := single{x: make([]float64, n), beside: make([]float64, n), y: make([]float64, n), folds: make([]int, n), c: c}
	for i := range n {
		u, v := r.Normal(), r.Normal()
		q.x[i], q.beside[i], q.y[i] = mean+u, beside+v, 2*u+3*v+r.Normal()
		q.folds[i] = i%3 - 1
		if q.folds[i] > 0 {
			q.folds[i] = -1
		}
	}
	q.folds[0], q.folds[1] = -1, 0
	return q
}

// check compares the gradient of package pare with that of the formula.
func (q single) check(t *testing.T, seed uint64, c pare.Config) (trusted bool) {
	t.Helper()
	n := len(q.y)
	x, err := sparse.NewCSC(n, 2, []int64{0, int64(n), int64(2 * n)}, ascending(n), append(append([]float64(nil), q.x...), q.beside...))
	if err != nil {
		t.Fatal(err)
	}
	got, err := pare.Gradient(context.Background(), x, q.y, q.logLambda, pare.Validation{FoldIDs: q.folds}, c)
	if err != nil {
		t.Fatal(err)
	}
	if got.Status != outcome.Converged {
		return false
	}
	want := q.gradient()
	for k, g := range got.Gradient {
		if off := math.Abs(g - want[k]); !(off <= got.ErrorBound) {
			t.Errorf("seed %d: ∂%d is %.17g, by hand %.17g: off by %.3g, bound %.3g (%s)", seed, k, g, want[k], off, got.ErrorBound, got.Bound)
		}
	}
	return true
}

// ascending returns the row indices of two full columns.
func ascending(n int) []int32 {
	rows := make([]int32, 2*n)
	for i := range rows {
		rows[i] = int32(i % n)
	}
	return rows
}

// TestRoundingOfTheAdjointIsBounded checks columns far from 0, which lose digits when they are centred: the bound
// must include the resulting error in the residual of the adjoint system of two λ's.
func TestRoundingOfTheAdjointIsBounded(t *testing.T) {
	trusted := 0
	for seed := range uint64(400) {
		q := drawSingle(seed, 1e6, 0, 0)
		q.logLambda = []float64{math.Log(0.5), math.Log(4e-3)}
		if q.check(t, seed, pare.Config{Model: pare.ElasticNet, PenaltyFactors: []float64{1, math.Inf(1)}, Threads: 1}) {
			trusted++
		}
	}
	if trusted < 360 {
		t.Errorf("%d of 400 gradients have converged", trusted)
	}
}

// TestRoundingOfCoefficientsAtBoundsIsBounded checks a coefficient at a bound: it does not vary with λ, but the
// rounding of its contribution to the predictions affects the gradient.
func TestRoundingOfCoefficientsAtBoundsIsBounded(t *testing.T) {
	trusted := 0
	for seed := range uint64(100) {
		q := drawSingle(seed, 0, 1e6, 0.5)
		q.logLambda = []float64{math.Log(0.1)}
		bounds := pare.Config{Lower: []float64{math.Inf(-1), -0.5}, Upper: []float64{math.Inf(1), 0.5}, Threads: 1}
		if q.check(t, seed, bounds) {
			trusted++
		}
	}
	if trusted < 90 {
		t.Errorf("%d of 100 gradients have converged", trusted)
	}
}

// TestRoundingUnderGroupsIsBounded checks groups of one column, which are a Lasso, whose gradient has a formula.
func TestRoundingUnderGroupsIsBounded(t *testing.T) {
	trusted := 0
	for seed := range uint64(100) {
		q := drawSingle(seed, 1e6, 0, 0)
		clear(q.beside)
		q.logLambda = []float64{math.Log(0.1)}
		if q.check(t, seed, pare.Config{Model: pare.GroupLasso, Tol: 1e-12, Threads: 1}) {
			trusted++
		}
	}
	if trusted < 90 {
		t.Errorf("%d of 100 gradients have converged", trusted)
	}
}
