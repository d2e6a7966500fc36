package support_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/support"
)

// TestFactorTakesRowsInOrder checks that a factor computed from a whole matrix solves the same systems
// as one grown row by row in the same order, and that it ends at the first row that depends on those
// before it.
func TestFactorTakesRowsInOrder(t *testing.T) {
	k, rng := fixture.Kernels(t), rand.New(rand.NewPCG(5, 5))
	for s := 1; s < 40; s++ {
		columns, order := make([][]float64, s), rng.Perm(s)
		for i := range columns {
			columns[i] = make([]float64, s)
			for j := range columns[i] {
				columns[i][j] = rng.NormFloat64()
			}
		}
		first := s // the first row that depends on others
		if s > 2 && s%3 == 0 {
			first = 2 + rng.IntN(s-2)
			for j := range s {
				columns[order[first]][j] = columns[order[0]][j] - 2*columns[order[1]][j]
			}
		}
		a := make([]float64, s*s)
		for i := range s {
			for j := range s {
				a[i*s+j] = k.Dot(columns[i], columns[j])
			}
		}
		taken, grown := support.Factor{Kernels: k}, support.Factor{Kernels: k}
		taken.Reset(s + 3) // room left by another problem
		if got := taken.Take(a, s, order); got != first || taken.Rows() != first {
			t.Fatalf("%d rows: %d taken, want %d", s, got, first)
		}
		grown.Reset(s)
		row := make([]float64, s)
		for i := range first {
			for j := range i + 1 {
				row[j] = a[order[i]*s+order[j]]
			}
			if !grown.Append(row[:i+1]) {
				t.Fatalf("%d rows: row %d refused", s, i)
			}
		}
		if first < s {
			for j := range first + 1 {
				row[j] = a[order[first]*s+order[j]]
			}
			if taken.Append(row[:first+1]) {
				t.Fatalf("%d rows: row %d taken in", s, first)
			}
			v := make([]float64, first+1)
			taken.Null(v)
			for at, want := range []float64{-1, 2} {
				if math.Abs(v[at]-want) > 1e-6 {
					t.Fatalf("%d rows: row %d is %v of row %d, want %v", s, first, -v[at], at, -want)
				}
			}
		}
		b, want := make([]float64, first), make([]float64, first)
		for i := range b {
			b[i] = rng.NormFloat64()
			want[i] = b[i]
		}
		taken.Solve(b)
		grown.Solve(want)
		for i := range b {
			if math.Abs(b[i]-want[i]) > 1e-6*k.Nrm2(want) {
				t.Fatalf("%d rows: entry %d is %g, want %g", s, i, b[i], want[i])
			}
		}
	}
}
