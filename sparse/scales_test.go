package sparse_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestScalesLeaveConstantColumnsOut checks the range of standard deviations against the
// textbook formula, without constant and empty columns, for every storage.
func TestScalesLeaveConstantColumnsOut(t *testing.T) {
	k, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	values := []float64{
		1, 2, 3, 4, // standard deviation √1.25
		0.1, 0.1, 0.1, 0.1, // constant, but not exact in binary
		0, 0, 0, 0,
		0, 5000, 0, 0, // standard deviation 5000·√3/4
		1e9 + 1, 1e9, 1e9, 1e9, // standard deviation √3/4
	}
	dense, err := sparse.NewDense(4, 5, values)
	if err != nil {
		t.Fatal(err)
	}
	csc, err := sparse.NewCSC(4, 5, []int64{0, 4, 8, 12, 16, 20}, []int32{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []sparse.Matrix{dense, csc} {
		s, err := sparse.ScalesOf(k, x)
		if err != nil {
			t.Fatal(err)
		}
		least, most := math.Sqrt(3)/4, 5000*math.Sqrt(3)/4
		if s.LeastColumn != 4 || s.MostColumn != 3 || math.Abs(s.Least-least) > 1e-7 || math.Abs(s.Most-most) > 1e-9 || !s.Wide() {
			t.Errorf("%T: %+v, want %g in column 4, %g in column 3", x, s, least, most)
		}
	}
	constant, err := sparse.NewDense(2, 1, []float64{3, 3})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := sparse.ScalesOf(k, constant); err != nil || s != (sparse.Scales{}) || s.Ratio() != 1 || s.Wide() {
		t.Errorf("a constant column: %+v, %v", s, err)
	}
	none, err := sparse.NewDense(0, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := sparse.ScalesOf(k, none); err != nil || s.Wide() {
		t.Errorf("no rows: %+v, %v", s, err)
	}
}
