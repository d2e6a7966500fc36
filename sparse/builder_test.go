package sparse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestBlocksAreTheirRows checks that adding blocks of rows is the same as adding the rows one
// by one, mixed with single rows, for any number of zeros and any selection of columns.
func TestBlocksAreTheirRows(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		width := 1 + r.IntN(9)
		columns := r.Perm(width)[:r.IntN(width+1)]
		var rows, blocks sparse.Builder
		for range 1 + r.IntN(6) {
			values, zeros := make([]float64, width*r.IntN(8)), r.Float64()
			for k := range values {
				if values[k] = []float64{1, -7, 0.1, 1e300, r.NormFloat64()}[r.IntN(5)]; r.Float64() < zeros {
					values[k] = math.Copysign(0, r.NormFloat64())
				}
			}
			for from := 0; from < len(values); from += width {
				row := make([]float64, 0, width)
				for _, at := range columns {
					row = append(row, values[from+at])
				}
				if err := rows.Row(nil, row); err != nil {
					t.Fatal(err)
				}
			}
			if err := blocks.Block(values, width, columns); err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				row := make([]float64, len(columns))
				for k := range row {
					row[k] = float64(r.IntN(3))
				}
				if err := errors.Join(rows.Row(nil, row), blocks.Row(nil, row)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got, want := slices.Collect(listed(&blocks)), slices.Collect(listed(&rows)); !slices.Equal(got, want) || blocks.Rows() != rows.Rows() {
			t.Fatalf("seed %d: rows %v, want %v", seed, got, want)
		}
		x, err := blocks.Matrix(t.Context(), len(columns)+1)
		y, failed := rows.Matrix(t.Context(), len(columns)+1)
		if err != nil || failed != nil || !reflect.DeepEqual(x, y) {
			t.Fatalf("seed %d: %v, want %v; %v, %v", seed, x, y, err, failed)
		}
	}
	var b sparse.Builder
	for _, c := range []struct {
		values  []float64
		columns []int
		kind    outcome.Kind
	}{
		{make([]float64, 5), nil, outcome.Shape},
		{make([]float64, 4), []int{2}, outcome.Shape},
		{make([]float64, 4), []int{-1}, outcome.Shape},
		{[]float64{1, 2, 3, math.NaN()}, []int{0, 1}, outcome.NonFinite},
		{[]float64{1, math.Inf(-1), 3, 4}, []int{1}, outcome.NonFinite},
	} {
		if err := b.Block(c.values, 2, c.columns); outcome.KindOf(err) != c.kind {
			t.Errorf("%v: %v, want %s", c.values, err, c.kind)
		}
	}
	if err := b.Block([]float64{1, math.NaN()}, 2, []int{0}); err != nil {
		t.Errorf("a column that is not taken: %v", err)
	}
}

// listed yields each row as text.
func listed(b *sparse.Builder) iter.Seq[string] {
	return func(yield func(string) bool) {
		for columns, values := range b.All() {
			if !yield(fmt.Sprint(columns, values)) {
				return
			}
		}
	}
}

// TestBuilderMakesWhatItIsGiven checks that collected rows become the matrix that NewCSC and
// Compact make of the same entries, and that the rows can be read back.
func TestBuilderMakesWhatItIsGiven(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		n, p, density := r.IntN(30), 1+r.IntN(20), r.Float64()
		var b sparse.Builder
		want := make([]float64, n*p)
		for i := range n {
			var columns []int32
			row, values := make([]float64, p), []float64{}
			for j := range p {
				if r.Float64() < density {
					row[j] = []float64{0, 1, -7, 0.1, math.Copysign(0, -1), 1e300, r.NormFloat64()}[r.IntN(7)]
					want[j*n+i] = row[j]
					columns, values = append(columns, int32(j)), append(values, row[j])
				}
			}
			var err error
			switch {
			case seed%2 == 0:
				err = b.Row(nil, row)
			case len(columns) == 0:
				err = b.Row([]int32{}, nil)
			default:
				err = b.Row(columns, values)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		i := 0
		for columns, values := range b.All() {
			for k, j := range columns {
				if want[int(j)*n+i] != values[k] || values[k] == 0 {
					t.Errorf("row %d, column %d: %g", i, j, values[k])
				}
			}
			i++
		}
		if i != n || b.Rows() != n {
			t.Fatalf("%d rows, %d, want %d", i, b.Rows(), n)
		}
		dense, err := sparse.NewDense(n, p, want)
		if err != nil {
			t.Fatal(err)
		}
		m, err := b.Matrix(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		for j := range p {
			if got, want := full(m, j), full(dense, j); !slices.Equal(got, want) {
				t.Errorf("seed %d, column %d: %v, want %v", seed, j, got, want)
			}
		}
		if csc, ok := m.(*sparse.CSC); ok {
			if err := checkInvariants(csc); err != nil {
				t.Error(err)
			}
		}
	}
}

// full returns a column including its zeros.
func full(m sparse.Matrix, j int) []float64 {
	n, _ := m.Dims()
	out := make([]float64, n)
	rows, values := m.Column(j)
	for k, v := range values {
		if rows != nil {
			k = int(rows[k])
		}
		out[k] = v + 0 // −0 becomes 0 if it is not stored
	}
	return out
}

// TestBuilderRefuses checks that invalid rows are refused and leave no trace.
func TestBuilderRefuses(t *testing.T) {
	var b sparse.Builder
	for _, c := range []struct {
		columns []int32
		values  []float64
		kind    outcome.Kind
	}{
		{[]int32{1, 1}, []float64{1, 2}, outcome.Shape},
		{[]int32{2, 1}, []float64{1, 2}, outcome.Shape},
		{[]int32{-1}, []float64{1}, outcome.Shape},
		{[]int32{math.MaxInt32}, []float64{1}, outcome.Shape},
		{[]int32{1}, []float64{1, 2}, outcome.Shape},
		{nil, []float64{1, math.NaN()}, outcome.NonFinite},
		{[]int32{4}, []float64{math.Inf(-1)}, outcome.NonFinite},
	} {
		if err := b.Row(c.columns, c.values); outcome.KindOf(err) != c.kind || b.Rows() != 0 {
			t.Errorf("%v %v: %v", c.columns, c.values, err)
		}
	}
	if err := b.Row(nil, []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Matrix(t.Context(), 2); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("a row beyond the matrix: %v", err)
	}
}

func TestDenseRowsIsTheTransposeOfItsColumns(t *testing.T) {
	m, err := sparse.NewDenseRows(2, 3, 4, []float64{1, 2, 3, math.NaN(), 4, 5, 6})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range [][]float64{{1, 4}, {2, 5}, {3, 6}} {
		if _, got := m.Column(j); !slices.Equal(got, want) {
			t.Errorf("column %d: %v", j, got)
		}
	}
	for _, c := range []struct{ n, p, stride, values int }{{2, 3, 2, 6}, {2, 3, 3, 5}, {-1, 3, 3, 0}, {1 << 30, 1 << 30, 1 << 30, 9}, {1, 1, 1, 0}} {
		if _, err := sparse.NewDenseRows(c.n, c.p, c.stride, make([]float64, c.values)); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	_, err = sparse.NewDenseRows(1, 2, 2, []float64{1, math.Inf(1)})
	if e := (*outcome.Error)(nil); !errors.As(err, &e) || e.Kind != outcome.NonFinite || e.Column != 1 {
		t.Errorf("an infinity: %v", err)
	}
	if m, err := sparse.NewDenseRows(0, 3, 3, nil); err != nil || m == nil {
		t.Errorf("no rows: %v", err)
	}
}

// TestDetectionOfTheBase checks that a file with an index 0 counts from 0, and that a file
// without one counts from 1.
func TestDetectionOfTheBase(t *testing.T) {
	for _, c := range []struct {
		text     string
		features int
		zero     bool
		p        int
		want     string // as one-based text; "" means that it is refused
	}{
		{"1 0:5 2:1\n", 0, true, 3, "1 1:5 3:1\n"},
		{"1 1:5 3:1\n", 0, false, 3, "1 1:5 3:1\n"},
		{"1 1:5\n-1 1:2\n2  \t0:1 1:1 4:1\n", 0, true, 5, "1 2:5\n-1 2:2\n2 1:1 2:1 5:1\n"},
		{"1 0:0 3:1\n", 0, true, 4, "1 4:1\n"},
		{"1 0:1", 0, true, 1, "1 1:1\n"},
		{"1\n2\n", 0, false, 0, "1\n2\n"},
		{"1 3:1\n", 3, false, 3, "1 3:1\n"},
		{"1 0:1 3:1\n", 3, true, 0, ""},
		{"1 4:1\n", 3, false, 0, ""},
		{"1 00:1\n", 0, false, 0, ""},
		{"1 1:1 0:1\n", 0, false, 0, ""},
		{"1 2000000:1 2000001:1\n1 1:1\n", 0, false, 2000001, "1 2000000:1 2000001:1\n1 1:1\n"},
	} {
		m, y, zero, err := sparse.DetectSVMLight(t.Context(), strings.NewReader(c.text), sparse.ReadOptions{Features: c.features})
		if c.want == "" {
			if err == nil {
				t.Errorf("%q is accepted", c.text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if err := checkInvariants(m); err != nil {
			t.Error(err)
		}
		if _, p := m.Dims(); zero != c.zero || p != c.p || write(t, m, y) != c.want {
			t.Errorf("%q: from zero %t, %d columns, %q", c.text, zero, p, write(t, m, y))
		}
	}
}

// FuzzDetectSVMLight checks that detecting the base gives the matrix of reading with that base
// stated.
func FuzzDetectSVMLight(f *testing.F) {
	f.Add([]byte("1 0:1\n"), uint8(0))
	f.Add([]byte("1 1:1 5:2\n-1 2:1\n"), uint8(4))
	f.Fuzz(func(t *testing.T, text []byte, features uint8) {
		opt := sparse.ReadOptions{Features: int(features)}
		m, y, zero, err := sparse.DetectSVMLight(context.Background(), bytes.NewReader(text), opt)
		opt.ZeroBased = zero
		want, wantY, wantErr := sparse.ReadSVMLight(context.Background(), bytes.NewReader(text), opt)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, stated: %v", text, err, wantErr)
		}
		if err == nil && write(t, m, y) != write(t, want, wantY) {
			t.Errorf("%q: another matrix", text)
		}
	})
}

// TestSVMLightRows checks that reading row by row gives the rows of the matrix, each as soon as
// its line has arrived.
func TestSVMLightRows(t *testing.T) {
	text := "1 1:0.5 3:2\n# remark\n\n-1 qid:3 2:1.25 # why\n7\n0 1:1e-3 2:-4 3:123456789.5"
	m, y, err := read(text, sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b sparse.Builder
	var labels []float64
	var lines []int
	for row, err := range sparse.SVMLightRows(t.Context(), strings.NewReader(text), sparse.ReadOptions{}) {
		if err == nil {
			err = b.Row(append([]int32{}, row.Columns...), row.Values)
		}
		if err != nil {
			t.Fatal(err)
		}
		labels, lines = append(labels, row.Label), append(lines, row.Line)
	}
	got, err := b.Matrix(t.Context(), 3)
	if err != nil || !slices.Equal(labels, y) || !slices.Equal(lines, []int{1, 4, 5, 6}) {
		t.Fatalf("labels %v, lines %v, %v", labels, lines, err)
	}
	for j := range 3 {
		if !slices.Equal(full(got, j), full(m, j)) {
			t.Errorf("column %d: %v", j, full(got, j))
		}
	}

	in, out := io.Pipe()
	wrote, done := make(chan int), make(chan bool)
	go func() {
		defer close(done)
		for row, err := range sparse.SVMLightRows(t.Context(), in, sparse.ReadOptions{}) {
			if err != nil {
				t.Error(err)
				return
			}
			wrote <- row.Line
		}
	}()
	for k := 1; k <= 3; k++ {
		if _, err := io.WriteString(out, "1 1:1\n"); err != nil {
			t.Fatal(err)
		}
		select {
		case line := <-wrote:
			if line != k {
				t.Errorf("line %d after %d", line, k)
			}
		case <-time.After(time.Minute):
			t.Fatal("the row does not come before the next line")
		}
	}
	_ = out.Close()
	<-done

	rows := 0
	for _, err := range sparse.SVMLightRows(t.Context(), strings.NewReader("1 1:1\n2 x\n"), sparse.ReadOptions{}) {
		if rows++; rows == 2 && outcome.KindOf(err) != outcome.Parse {
			t.Errorf("the second row: %v", err)
		}
	}
	if rows != 2 {
		t.Errorf("%d rows", rows)
	}
	for _, err := range sparse.SVMLightRows(t.Context(), strings.NewReader(text), sparse.ReadOptions{}) {
		if err != nil {
			t.Error(err)
		}
		break // nothing more is read
	}
}
