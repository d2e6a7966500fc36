package support_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/support"
)

// TestSemidefiniteSystems checks that systems of full and of lower rank are solved to working
// precision, and that a system without a solution is recognised.
func TestSemidefiniteSystems(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		size := 2 + r.Intn(20)
		rank := 1 + r.Intn(size)
		rows := make([][]float64, size)
		for i := range rows {
			rows[i] = make([]float64, rank)
			for k := range rows[i] {
				rows[i][k] = r.Normal()
			}
		}
		q := make([]float64, size*size)
		for i := range rows {
			for j := range rows {
				for k := range rank {
					q[i*size+j] += rows[i][k] * rows[j][k]
				}
			}
		}
		want, b := make([]float64, size), make([]float64, size)
		for i := range want {
			want[i] = r.Normal()
		}
		for i := range b {
			for j := range want {
				b[i] += q[i*size+j] * want[j]
			}
		}
		s := support.Semidefinite{Kernels: kernels.Available()[0]}
		if !s.Factorise(q, size) {
			t.Fatalf("seed %d: no factor", seed)
		}
		x := append([]float64(nil), b...)
		if !s.Solve(x) {
			t.Errorf("seed %d: rank %d of %d is not solved", seed, rank, size)
		}
		for i := range b {
			left := b[i]
			for j := range x {
				left -= q[i*size+j] * x[j]
			}
			if math.Abs(left) > 1e-9*float64(size*size) {
				t.Errorf("seed %d: rank %d of %d: residual %g", seed, rank, size, left)
			}
		}
		if rank > size-2 {
			continue
		}
		for i := range b {
			b[i] = r.Normal() // almost surely not in the range
		}
		if s.Solve(b) {
			t.Errorf("seed %d: rank %d of %d: any right-hand side is solved", seed, rank, size)
		}
	}
}
