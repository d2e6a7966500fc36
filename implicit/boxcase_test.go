package implicit_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
)

// boxCase is an SVM with held-out rows, for an oracle that shares no code with the package under test.
type boxCase struct {
	x    [][]float64
	y, s []float64
	held []int32
}

func drawBox(r *oracle.Random, n, p int, density float64, weighted bool) *boxCase {
	q := r.Problem(oracle.Shape{N: n, P: p, Density: density, Noise: 1})
	b := &boxCase{x: q.X, y: q.Y, s: make([]float64, n)}
	for i := range b.y {
		b.y[i] = math.Copysign(1, b.y[i])
		switch {
		case i%3 == 2:
			b.held = append(b.held, int32(i))
		case weighted:
			b.s[i] = r.Pick(0.5, 1, 2.3)
		default:
			b.s[i] = 1
		}
	}
	b.y[0], b.y[1] = 1, -1
	return b
}

func (b *boxCase) fit(t *testing.T, k *kernels.Set, dense bool) *model.SVM {
	t.Helper()
	return fixture.SVM(t, k, &oracle.Problem{X: b.x, Y: b.y, Alpha: make([]float64, len(b.x[0])), Weights: b.s}, dense)
}

func (b *boxCase) product(i, k int) float64 {
	var s oracle.Sum
	for j, v := range b.x[i] {
		s.AddProduct(b.y[i]*v, b.y[k]*b.x[k][j])
	}
	return s.Value()
}

// solve finds β̂ for a C: coordinate descent determines the sets, elimination solves for the free samples, and the
// result is checked against the optimality conditions.
func (b *boxCase) solve(t *testing.T, c float64) (beta []float64, free, bound []int32) {
	t.Helper()
	n := len(b.y)
	beta = make([]float64, n)
	gram := make([][]float64, n)
	for i := range gram {
		gram[i] = make([]float64, n)
		for k := range gram[i] {
			gram[i][k] = b.product(i, k)
		}
	}
	for range 20_000 {
		moved := 0.0
		for i, row := range gram {
			if row[i] == 0 || b.s[i] == 0 {
				beta[i] = c * b.s[i]
				continue
			}
			g := -1.0
			for k, v := range row {
				g += v * beta[k]
			}
			next := math.Min(c*b.s[i], math.Max(0, beta[i]-g/row[i]))
			moved = math.Max(moved, math.Abs(next-beta[i]))
			beta[i] = next
		}
		if moved < 1e-15*c {
			break
		}
	}
	for i, v := range beta {
		switch {
		case b.s[i] == 0:
		case v == c*b.s[i]:
			bound = append(bound, int32(i))
		case v > 0:
			free = append(free, int32(i))
		}
	}
	a, rhs := make([][]float64, len(free)), make([]float64, len(free))
	for k, i := range free {
		a[k] = make([]float64, len(free))
		for l, j := range free {
			a[k][l] = gram[i][j]
		}
		var s oracle.Sum
		s.Add(1)
		for _, j := range bound {
			s.AddProduct(-gram[i][j], beta[j])
		}
		rhs[k] = s.Value()
	}
	x, ok := oracle.SolveDense(a, rhs)
	if !ok {
		return beta, free, bound // the free samples are dependent: return the result of the sweeps
	}
	for k, i := range free {
		if x[k] <= 0 || x[k] >= c*b.s[i] {
			t.Fatalf("the oracle's sets are wrong: β[%d] = %g, C = %g", i, x[k], c*b.s[i])
		}
		beta[i] = x[k]
	}
	return beta, free, bound
}

func (b *boxCase) predict(beta []float64) []float64 {
	out := make([]float64, len(b.y))
	for i := range out {
		var s oracle.Sum
		for k, v := range beta {
			if v != 0 {
				s.AddProduct(v*b.y[i], b.product(i, k))
			}
		}
		out[i] = s.Value()
	}
	return out
}

// value returns the smoothed hinge of β on the held-out rows.
func (b *boxCase) value(beta []float64) float64 {
	return criterion.Of(loss.SmoothedHinge{}).Eval(b.held, b.y, b.predict(beta), nil, nil)
}

func (b *boxCase) outer(beta []float64) implicit.Outer {
	n := len(b.y)
	o := implicit.Outer{Slope: make([]float64, n), Curvature: make([]float64, n)}
	criterion.Of(loss.SmoothedHinge{}).Eval(b.held, b.y, b.predict(beta), o.Slope, o.Curvature)
	return o
}

func pointOf(beta []float64, free, bound []int32) implicit.SVMPoint {
	at := implicit.SVMPoint{Free: free, Bound: bound}
	for _, i := range free {
		at.Dual = append(at.Dual, beta[i])
	}
	return at
}
