package bilevel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestMergeIsTheSignedMean checks that columns that are equal up to sign on the training rows of some fold are
// replaced by their signed mean, that entries that cancel are not stored, and that other columns stay.
func TestMergeIsTheSignedMean(t *testing.T) {
	// Rows 0 to 3 always train; rows 4 and 5 are held out in turn. Column 1 is −column 0 except in row 4, and column 3
	// is column 2 except in row 5. Columns 4 and 5 stay alone: they differ in row 3, which always trains.
	q := &oracle.Problem{Y: []float64{1, 2, 3, 4, 5, 6}, Alpha: make([]float64, 6), X: [][]float64{
		{1, -1, 0, 0, 2, 2},
		{2, -2, 3, 3, 0, 0},
		{0, 0, 1, 1, 1, 1},
		{4, -4, 0, 0, 1, -1},
		{3, 5, 2, 2, 0, 0},
		{1, -1, 6, -6, 3, 3},
	}}
	means := [][]float64{{1, 2, 0, 4, -1, 1}, {0, 3, 1, 0, 2, 0}, {2, 0, 1, 1, 0, 3}, {2, 0, 1, -1, 0, 3}}
	spec := bilevel.Spec{Folds: bilevel.Folds{bilevel.AlwaysTrain, bilevel.AlwaysTrain, bilevel.AlwaysTrain, bilevel.AlwaysTrain, 0, 1}}
	for _, dense := range []bool{false, true} {
		x := fixture.Matrix(t, q, dense)
		merged, group, err := bilevel.Merge(fixture.Kernels(t), x, spec, false)
		if err != nil {
			t.Fatal(err)
		}
		if want := []int32{0, 0, 1, 1, 2, 3}; !slices.Equal(group, want) {
			t.Fatalf("dense %t: groups %v, want %v", dense, group, want)
		}
		for j, want := range means {
			got := make([]float64, 6)
			rows, values := merged.Column(j)
			for k, v := range values {
				i := k
				if rows != nil {
					i = int(rows[k])
					if v == 0 {
						t.Errorf("dense %t: column %d stores a zero in row %d", dense, j, i)
					}
				}
				got[i] = v
			}
			if !slices.Equal(got, want) {
				t.Errorf("dense %t: column %d is %v, want %v", dense, j, got, want)
			}
		}
		if _, group, err = bilevel.Merge(fixture.Kernels(t), x, spec, true); err != nil || !slices.Equal(group, []int32{0, 1, 2, 2, 3, 4}) {
			t.Errorf("dense %t: with β ≥ 0 groups %v, %v", dense, group, err)
		}
		for i := range q.X {
			q.X[i][1], q.X[i][3] = float64(i*i), math.Sqrt(float64(1+i))
		}
		x = fixture.Matrix(t, q, dense)
		if same, group, err := bilevel.Merge(fixture.Kernels(t), x, spec, false); err != nil || same != x || !slices.Equal(group, []int32{0, 1, 2, 3, 4, 5}) {
			t.Errorf("dense %t: nothing to merge, groups %v, %v", dense, group, err)
		}
		for i, row := range [][]float64{{-1, 0}, {-2, 3}, {0, 1}, {-4, 0}, {5, 2}, {-1, -6}} {
			q.X[i][1], q.X[i][3] = row[0], row[1]
		}
	}
}

// TestMergeOfARisk checks that for a risk columns are merged only if they are alike on all rows.
func TestMergeOfARisk(t *testing.T) {
	q := oracle.NewRandom(78).Problem(oracle.Shape{N: 12, P: 5})
	for i := range q.X {
		q.X[i][2], q.X[i][4] = -q.X[i][0], q.X[i][1]
	}
	q.X[7][4]++
	x := fixture.Matrix(t, q, true)
	merged, group, err := bilevel.Merge(fixture.Kernels(t), x, bilevel.Spec{Risk: &bilevel.Risk{}, Folds: bilevel.Folds{7}}, false)
	if err != nil || !slices.Equal(group, []int32{0, 1, 0, 2, 3}) {
		t.Fatalf("groups %v, %v", group, err)
	}
	_, values := merged.Column(0)
	for i, v := range values {
		if v != q.X[i][0] {
			t.Errorf("row %d: %g, want %g", i, v, q.X[i][0])
		}
	}
	if same, group, err := bilevel.Merge(fixture.Kernels(t), x, bilevel.Spec{Risk: &bilevel.Risk{}}, true); err != nil || same != x || !slices.Equal(group, []int32{0, 1, 2, 3, 4}) {
		t.Errorf("coefficients that are not negative: %v, %v", group, err)
	}
}
