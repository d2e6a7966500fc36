package sparse_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"strings"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Build the matrix of the package comment.
func ExampleNewCSC() {
	m, err := sparse.NewCSC(4, 5,
		[]int64{0, 2, 2, 6, 7, 8},
		[]int32{0, 3, 0, 1, 2, 3, 1, 3},
		[]float64{1, 2, 7, 8, 9, 6, 3, 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, values := m.Arrays()
	fmt.Println("order ", m.Order())
	fmt.Println("rows  ", rows)
	fmt.Println("values", values)
	fmt.Println(m.Span(2))
	fmt.Println(m.Column(0))
	// Output:
	// order  [3 4 0 2]
	// rows   [1 3 0 3 0 1 2 3]
	// values [3 5 1 2 7 8 9 6]
	// 4 8
	// [0 3] [1 2]
}

// Entries in any order, as other programs write them; those at the same place are added.
func ExampleNewTriplets() {
	m, err := sparse.NewTriplets(context.Background(), 3, 2,
		[]int32{2, 0, 1, 0},
		[]int32{1, 0, 0, 0},
		[]float64{7, 1, 5, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(m.Column(0))
	fmt.Println(m.Column(1))
	// Output:
	// [0 1] [3 5]
	// [2] [7]
}

// Rows one after another, whole or by their nonzeros. The matrix is dense or sparse, whichever is smaller.
func ExampleBuilder() {
	var b sparse.Builder
	for _, row := range [][]float64{{1, 0, 2}, {0, 3, 0}} {
		if err := b.Row(nil, row); err != nil {
			fmt.Println(err)
			return
		}
	}
	if err := b.Row([]int32{0, 2}, []float64{4, 5}); err != nil {
		fmt.Println(err)
		return
	}
	m, err := b.Matrix(context.Background(), 3)
	if err != nil {
		fmt.Println(err)
		return
	}
	n, p := m.Dims()
	fmt.Println(n, p, sparse.Nonzeros(m))
	// Output: 3 3 5
}

// Values by rows, as most programs keep a dense matrix, and what is wrong with them by row and column.
func ExampleNewDenseRows() {
	_, err := sparse.NewDenseRows(2, 2, 2, []float64{1, 2, 3, math.NaN()})
	if e, ok := errors.AsType[*outcome.Error](err); ok && e.HasRow && e.HasColumn {
		fmt.Println(e.Kind, "in row", e.Row, "and column", e.Column)
	}
	// Output: non_finite in row 1 and column 1
}

func ExampleNewDense() {
	m, err := sparse.NewDense(2, 2, []float64{1, 2, 3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	rows, values := m.Column(1)
	fmt.Println(rows == nil, values)
	// Output: true [3 4]
}

func ExampleCompact() {
	m, err := sparse.NewCSC(2, 2, []int64{0, 2, 3}, []int32{0, 1, 0}, []float64{1, 2, 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, values := sparse.Compact(m).Column(1)
	fmt.Println(values)
	// Output: [3 0]
}

func ExampleReadSVMLight() {
	text := `# two samples, three features
+1 1:0.5 3:2
-1 2:1.25   # the second
`
	x, y, err := sparse.ReadSVMLight(context.Background(), strings.NewReader(text), sparse.ReadOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	n, p := x.Dims()
	fmt.Println(n, p, x.NNZ(), y)
	// Output: 2 3 3 [1 -1]
}

func ExampleReadSVMLight_error() {
	text := "+1 1:0.5 3:2\n-1 2:1,25\n"
	_, _, err := sparse.ReadSVMLight(context.Background(), strings.NewReader(text), sparse.ReadOptions{Name: "small.svm"})
	fmt.Println(err)
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		fmt.Println(e.Kind, e.Line, e.Byte)
	}
	// Output:
	// small.svm: line 2, byte 6: expected a value, found "1,25"
	// parse 2 6
}

func ExampleWriteSVMLight() {
	x, err := sparse.NewCSC(2, 3, []int64{0, 1, 2, 3}, []int32{0, 1, 0}, []float64{0.5, 1.25, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := sparse.WriteSVMLight(os.Stdout, x, []float64{1, -1}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 1 1:0.5 3:2
	// -1 2:1.25
}

func ExamplePreparation() {
	x, err := sparse.NewCSC(3, 3, []int64{0, 2, 3, 5}, []int32{0, 2, 1, 0, 1}, []float64{3, 4, 1, 6, 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	prepared, done, err := sparse.Preparation{MinNNZ: 2, UnitColumns: true}.Apply(x)
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, j := range done.Kept {
		rows, values := prepared.Column(k)
		fmt.Println("column", k, "was", j, "over", done.Norms[k], "in rows", rows, "with values", values)
	}
	// Output:
	// column 0 was 0 over 5 in rows [0 2] with values [0.6 0.8]
	// column 1 was 2 over 10 in rows [0 1] with values [0.6 0.8]
}

func ExampleSummarise() {
	x, err := sparse.NewCSC(3, 4, []int64{0, 2, 2, 4, 5}, []int32{0, 1, 0, 1, 1}, []float64{1, 2, 1, 2, 7})
	if err != nil {
		fmt.Println(err)
		return
	}
	s := sparse.Summarise(x, []float64{1, -1, 1})
	fmt.Printf("%d × %d, %d nonzeros, density %.2f\n", s.Rows, s.Columns, s.NNZ, s.Density)
	fmt.Println("empty columns", s.EmptyColumns, "empty rows", s.EmptyRows, "duplicate columns", s.DuplicateColumns)
	fmt.Println(s.Labels.Kind, s.Labels.Classes)
	// Output:
	// 3 × 4, 5 nonzeros, density 0.42
	// empty columns 1 empty rows 1 duplicate columns 1
	// binary [{-1 1} {1 2}]
}

// Make a view of a matrix for a fold: held-out rows have weight 0, and columns are centred on
// the training rows. The matrix is not copied.
func ExampleNewView() {
	k, err := kernels.Active()
	if err != nil {
		log.Fatal(err)
	}
	x, err := sparse.NewDense(4, 1, []float64{1, 3, 5, 100})
	if err != nil {
		log.Fatal(err)
	}
	view, err := sparse.NewView(k, x, []float64{1, 1, 1, 0}, true)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%g rows, mean %g, norm %.3f\n", view.Total(), view.Mean(0), view.Norm(0))
	// Output: 3 rows, mean 3, norm 2.828
}
