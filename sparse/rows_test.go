package sparse_test

import (
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestRowsAreThoseListed checks that Rows returns the listed rows, and that a view of them
// equals a view of a matrix made of these rows.
func TestRowsAreThoseListed(t *testing.T) {
	k, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(500 + seed)
		n, p := 1+r.Intn(40), 1+r.Intn(12)
		values := make([]float64, n*p)
		for i := range values {
			if r.Intn(3) == 0 {
				values[i] = r.Float64()
			}
		}
		full, err := sparse.NewDense(n, p, values)
		if err != nil {
			t.Fatal(err)
		}
		var list []int32
		var weights, kept []float64
		for i := range n {
			weights = append(weights, 0.5+r.Float64())
			if r.Intn(2) == 0 {
				list, kept = append(list, int32(i)), append(kept, weights[i])
			}
		}
		var part []float64
		for j := range p {
			for _, i := range list {
				part = append(part, values[j*n+int(i)])
			}
		}
		want, err := sparse.NewDense(len(list), p, part)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []sparse.Matrix{full, thin(t, n, p, values)} {
			got := sparse.Rows(nil, m, list)
			if gotN, gotP := got.Dims(); gotN != len(list) || gotP != p {
				t.Fatalf("seed %d: %d × %d", seed, gotN, gotP)
			}
			for j := range p {
				_, all := want.Column(j)
				if !slices.Equal(unfold(got, j, len(list)), all) {
					t.Errorf("seed %d: column %d is %v, want %v", seed, j, unfold(got, j, len(list)), all)
				}
			}
			if len(list) == 0 {
				continue
			}
			view, err := sparse.NewView(k, m, weights, seed%2 == 0)
			if err != nil {
				t.Fatal(err)
			}
			reference, err := sparse.NewView(k, got, kept, seed%2 == 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range []*sparse.View{view, view.Standardised()} {
				of, err := v.Rows(list)
				if err != nil {
					t.Fatal(err)
				}
				for j := range p {
					scale := v.Scale(j)
					if of.Norm(j) != scale*reference.Norm(j) || of.Mean(j) != scale*reference.Mean(j) || of.Scale(j) != scale {
						t.Errorf("seed %d: column %d has norm %g and mean %g", seed, j, of.Norm(j), of.Mean(j))
					}
				}
			}
		}
	}
}

// thin returns the sparse form of a dense matrix.
func thin(t *testing.T, n, p int, values []float64) *sparse.CSC {
	t.Helper()
	ptr := []int64{0}
	var rows []int32
	var stored []float64
	for j := range p {
		for i, v := range values[j*n : (j+1)*n] {
			if v != 0 {
				rows, stored = append(rows, int32(i)), append(stored, v)
			}
		}
		ptr = append(ptr, int64(len(rows)))
	}
	m, err := sparse.NewCSC(n, p, ptr, rows, stored)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// unfold returns column j including its zeros.
func unfold(m sparse.Matrix, j, n int) []float64 {
	rows, values := m.Column(j)
	if rows == nil {
		return values
	}
	out := make([]float64, n)
	for k, i := range rows {
		out[i] = values[k]
	}
	return out
}
