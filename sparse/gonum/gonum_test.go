package gonum_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/sparse/gonum"
)

// Fit a gonum matrix: it takes one more line.
func ExampleFrom() {
	m := mat.NewDense(4, 2, []float64{
		1, 0,
		2, 1,
		3, 0,
		4, 1,
	})
	x, err := gonum.From(m)
	if err != nil {
		fmt.Println(err)
		return
	}
	fitted, err := pare.Fit(context.Background(), x, []float64{2, 4, 6, 8}, []float64{-5}, pare.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.2f\n", fitted.Coef)
	// Output:
	// [1.99]
}

// TestFromEveryKind checks that every kind of matrix is converted, including slices and
// transposes of other matrices.
func TestFromEveryKind(t *testing.T) {
	whole := mat.NewDense(3, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	sparseOne := mat.NewDense(4, 3, nil)
	sparseOne.Set(2, 1, -7)
	for name, m := range map[string]mat.Matrix{
		"dense": whole, "slice": whole.Slice(1, 3, 1, 3), "transpose": whole.T(), "mostly zeros": sparseOne,
		"diagonal": mat.NewDiagDense(3, []float64{1, 2, 3}), "symmetric": mat.NewSymDense(2, []float64{1, 2, 2, 4}),
		"vector": mat.NewVecDense(3, []float64{1, 0, 2}),
	} {
		x, err := gonum.From(m)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, p := m.Dims()
		if a, b := x.Dims(); a != n || b != p {
			t.Errorf("%s: %d × %d", name, a, b)
		}
		for j := range p {
			rows, values := x.Column(j)
			got := make([]float64, n)
			for k, v := range values {
				if rows != nil {
					k = int(rows[k])
				}
				got[k] = v
			}
			if want := mat.Col(nil, j, m); !slices.Equal(got, want) {
				t.Errorf("%s, column %d: %v, want %v", name, j, got, want)
			}
		}
	}
	if x, _ := gonum.From(sparseOne); x.NNZ() != 1 {
		t.Errorf("%d entries are stored", x.NNZ())
	}
	whole.Set(2, 3, math.NaN())
	if _, err := gonum.From(whole); outcome.KindOf(err) != outcome.NonFinite {
		t.Errorf("NaN: %v", err)
	}
}

func TestFromGeneral(t *testing.T) {
	x, err := gonum.FromGeneral(blas64.General{Rows: 2, Cols: 2, Stride: 3, Data: []float64{1, 2, 99, 3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	if _, values := sparse.Matrix(x).Arrays(); !slices.Equal(values, []float64{1, 3, 2, 4}) {
		t.Errorf("%v", values)
	}
	if _, err := gonum.FromGeneral(blas64.General{Rows: 2, Cols: 2, Stride: 1, Data: make([]float64, 4)}); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("a stride below the columns: %v", err)
	}
}
