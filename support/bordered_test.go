package support_test

import (
	"cmp"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// TestBorderedSolvesTheConditions checks systems of random rows, one list after another: sparse and
// dense, scaled or not, some of them copies or without entries, with and without an intercept. The
// residual reported must be that of the system written out.
func TestBorderedSolvesTheConditions(t *testing.T) {
	seeds := []uint64{420} // of condition 1e8
	for seed := range oracle.Cases(60) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		r := oracle.NewRandom(300 + seed)
		q := r.Problem(oracle.Shape{N: 2 + r.Intn(30), P: 1 + r.Intn(40), Density: r.Pick(0.2, 1), Mean: r.Pick(0, 1)})
		n, p := q.Dims()
		q.X[n-1] = q.X[0]
		square, scale := make([]float64, n), make([]float64, p)
		for j := range scale {
			scale[j] = r.Pick(0.5, 1, 2)
		}
		if seed%3 == 0 {
			scale = nil
		}
		row := func(i int32) []float64 {
			x := make([]float64, p)
			for j, v := range q.X[i] {
				if x[j] = v; scale != nil {
					x[j] *= scale[j]
				}
			}
			return x
		}
		dot := func(x, y []float64) (sum float64) {
			for j, v := range x {
				sum += v * y[j]
			}
			return sum
		}
		for i := range square {
			square[i] = dot(row(int32(i)), row(int32(i)))
		}
		m := support.Bordered{Kernels: fixture.Kernels(t), Centred: seed%2 == 0}
		for range 3 {
			var rows []int32
			for i := range n {
				if r.Intn(2) == 0 {
					rows = append(rows, int32(i))
				}
			}
			if len(rows) == 0 {
				continue
			}
			// The right-hand side that belongs to a random solution.
			truth, total, size := make([]float64, len(rows)), 0.0, 0.0
			for k := range truth {
				truth[k] = r.Normal()
				total += truth[k]
			}
			shift := 0.0
			if m.Centred {
				shift = r.Normal()
			}
			rhs, a := make([]float64, len(rows)), make([]float64, len(rows))
			for k, i := range rows {
				rhs[k] = shift
				for l, other := range rows {
					rhs[k] += dot(row(i), row(other)) * truth[l]
				}
				size = max(size, math.Abs(rhs[k]))
			}
			m.Take(sparse.Transpose(fixture.Matrix(t, q, seed%4 < 2)), rows, square, scale)
			b, report := m.Solve(t.Context(), rhs, total, a, 1e-10, 1000)
			if !report.Converged || !m.Centred && b != 0 {
				t.Errorf("seed %d: %+v, b = %g", seed, report, b)
			}
			mean := 0.0 // the scale of rows without entries
			for _, i := range rows {
				mean += square[i] / float64(len(rows))
			}
			sum, rest := 0.0, 0.0
			for k, i := range rows {
				sum += a[k]
				lack := rhs[k] - b
				for l, other := range rows {
					lack -= dot(row(i), row(other)) * a[l]
				}
				if math.Abs(lack) > 1e-8*size {
					t.Errorf("seed %d: %g is left of row %d", seed, lack, i)
				}
				rest += lack * lack / cmp.Or(square[i], mean, 1)
			}
			if m.Centred && math.Abs(sum-total) > 1e-12*(1+math.Abs(total)) {
				t.Errorf("seed %d: Σa = %g, want %g", seed, sum, total)
			}
			if rest = math.Sqrt(rest); math.Abs(report.Residual-rest) > 1e-12*(1+size) {
				t.Errorf("seed %d: a residual of %g, written out %g", seed, report.Residual, rest)
			}
		}
	}
}
