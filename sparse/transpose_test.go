package sparse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestTransposeMovesEveryEntry checks that each (i, j) moves to (j, i), that the columns are
// valid, and that transposing twice gives the original matrix.
func TestTransposeMovesEveryEntry(t *testing.T) {
	for seed := range uint64(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 1 + r.Intn(30), P: 1 + r.Intn(30), Density: r.Pick(0.02, 0.3, 1)})
		n, p := q.Dims()
		for _, dense := range []bool{false, true} {
			m := fixture.Matrix(t, q, dense)
			once := sparse.Transpose(m)
			sameMatrix(t, once, func(i, j int) float64 { return q.X[j][i] }, p, n)
			sameMatrix(t, sparse.Transpose(once), func(i, j int) float64 { return q.X[i][j] }, n, p)
			if once.NNZ() != m.NNZ() {
				t.Errorf("seed %d: %d entries of %d", seed, once.NNZ(), m.NNZ())
			}
		}
	}
}

func sameMatrix(t *testing.T, x sparse.Matrix, want func(i, j int) float64, n, p int) {
	t.Helper()
	if a, b := x.Dims(); a != n || b != p {
		t.Fatalf("%d × %d, want %d × %d", a, b, n, p)
	}
	for j := range p {
		rows, values := x.Column(j)
		got := make([]float64, n)
		for k, v := range values {
			i := k
			if rows != nil {
				if i = int(rows[k]); k > 0 && rows[k] <= rows[k-1] {
					t.Fatalf("column %d: row %d after %d", j, i, rows[k-1])
				}
			}
			got[i] = v
		}
		for i, v := range got {
			if v != want(i, j) {
				t.Fatalf("(%d, %d) is %g, want %g", i, j, v, want(i, j))
			}
		}
	}
}

// TestTransposeOfHardlyAnything checks empty shapes, and far more columns than entries, for
// which no table of columns may be allocated.
func TestTransposeOfHardlyAnything(t *testing.T) {
	for _, c := range []struct{ n, p int }{{0, 0}, {3, 0}, {0, 3}, {2, 1_000_000_000}} {
		var x *sparse.CSC
		var err error
		if c.p > 1000 {
			x, _, err = sparse.ReadSVMLight(t.Context(), strings.NewReader("1 1:2 999999999:3\n-1 5:1\n"), sparse.ReadOptions{Features: c.p})
		} else {
			x, err = sparse.NewCSC(c.n, c.p, make([]int64, c.p+1), nil, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		m := sparse.Transpose(x)
		if n, p := m.Dims(); n != c.p || p != c.n || m.NNZ() != x.NNZ() {
			t.Errorf("%d × %d became %d × %d with %d entries", c.n, c.p, n, p, m.NNZ())
		}
	}
}

func ExampleTranspose() {
	x, err := sparse.NewCSC(2, 3, []int64{0, 1, 1, 3}, []int32{1, 0, 1}, []float64{5, 7, 9})
	if err != nil {
		fmt.Println(err)
		return
	}
	samples := sparse.Transpose(x)
	fmt.Println(samples.Column(1)) // row 1 of x
	// Output: [0 2] [5 9]
}

// TestTransposeOfManyRows checks a transpose that is built in bands of rows, and that
// concurrent callers share a single transpose.
func TestTransposeOfManyRows(t *testing.T) {
	r := oracle.NewRandom(7)
	const n, p = 20_001, 4
	pointers, rows, values := []int64{0}, []int32{}, []float64{}
	for range p {
		for i := range n {
			if r.Float64() < 0.6 {
				rows, values = append(rows, int32(i)), append(values, r.Normal())
			}
		}
		pointers = append(pointers, int64(len(rows)))
	}
	x, err := sparse.NewCSC(n, p, pointers, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	made := make(chan sparse.Matrix)
	for range 3 {
		go func() { made <- sparse.Transpose(x) }()
	}
	first := <-made
	for range 2 {
		if again := <-made; again != first {
			t.Error("a second transpose")
		}
	}
	next := make([]int, n)
	for j := range p {
		for k := pointers[j]; k < pointers[j+1]; k++ {
			i := int(rows[k])
			features, numbers := first.Column(i)
			if features[next[i]] != int32(j) || numbers[next[i]] != values[k] {
				t.Fatalf("entry (%d, %d) is not where it belongs", i, j)
			}
			next[i]++
		}
	}
	for i, count := range next {
		if features, _ := first.Column(i); len(features) != count {
			t.Fatalf("row %d has %d entries, want %d", i, len(features), count)
		}
	}
}
