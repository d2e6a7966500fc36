package inner_test

import (
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestMemoryOfSupportVectors checks that, with an intercept or a tube, the estimate contains at least two square
// matrices of the smaller side as long as those may be factorised. Beyond that size it contains none, and doubling rows
// and columns at most doubles it.
func TestMemoryOfSupportVectors(t *testing.T) {
	need := func(size int, tube, intercept bool) float64 {
		x, err := sparse.NewCSC(size, size+1, make([]int64, size+2), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &inner.Statement{X: x, Tube: tube, Intercept: intercept}
		bytes, _ := s.MostBytes()
		return bytes
	}
	const most = cd.MostVectors
	for _, tube := range []bool{false, true} {
		if more := need(most, tube, true) - need(most, false, false); more < 2*8*most*most {
			t.Errorf("tube %t: %g bytes for matrices of %d rows", tube, more, most)
		}
		if beyond, twice := need(most+1, tube, true), need(2*(most+1), tube, true); beyond >= need(most, tube, true) || twice > 2*beyond {
			t.Errorf("tube %t: %g bytes, of twice the size %g", tube, beyond, twice)
		}
	}
}

// TestMemoryOfScores checks that the estimate for a softmax contains at least ten numbers for each row and class, and
// the moments of its columns.
func TestMemoryOfScores(t *testing.T) {
	const n, p, q = 1000, 5, 100
	x, err := sparse.NewDense(n, p, make([]float64, n*p))
	if err != nil {
		t.Fatal(err)
	}
	labels := make([]float64, n)
	for i := range labels {
		labels[i] = float64(i % q)
	}
	set, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	s := &inner.Statement{Kernels: set, X: x, Y: labels, Classes: true, Form: inner.Form{Blocks: &inner.BlockForm{}}}
	if most, _ := s.MostBytes(); most < 8*(10*n*q+p*q*q) {
		t.Errorf("%g bytes", most)
	}
}
