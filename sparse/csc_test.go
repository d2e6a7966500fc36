package sparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// arrays holds the arguments of NewCSC.
type arrays struct {
	n, p   int
	colPtr []int64
	rows   []int32
	values []float64
}

func (a arrays) matrix(t *testing.T) *sparse.CSC {
	t.Helper()
	m, err := sparse.NewCSC(a.n, a.p, a.colPtr, a.rows, a.values)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// at returns value (i, j) by a linear search.
func (a arrays) at(i, j int) float64 {
	for k := a.colPtr[j]; k < a.colPtr[j+1]; k++ {
		if int(a.rows[k]) == i {
			return a.values[k]
		}
	}
	return 0
}

// randomArrays draws columns of very different lengths, with empty ones and explicit zeros.
func randomArrays(r *rand.Rand, n, p int) arrays {
	a := arrays{n: n, p: p, colPtr: make([]int64, 1, p+1)}
	for range p {
		density := r.Float64() * r.Float64()
		if r.IntN(4) == 0 {
			density = 0
		}
		for i := range n {
			if r.Float64() >= density {
				continue
			}
			v := r.NormFloat64()
			if r.IntN(10) == 0 {
				v = math.Copysign(0, v)
			}
			a.rows, a.values = append(a.rows, int32(i)), append(a.values, v)
		}
		a.colPtr = append(a.colPtr, int64(len(a.rows)))
	}
	return a
}

// TestNewCSCKeepsEveryNonzero compares the matrix with a search in the given arrays.
func TestNewCSCKeepsEveryNonzero(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := randomArrays(r, r.IntN(20), r.IntN(30))
		m := a.matrix(t)
		if err := checkInvariants(m); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if n, p := m.Dims(); n != a.n || p != a.p {
			t.Fatalf("seed %d: %d × %d", seed, n, p)
		}
		nnz := 0
		for j := range a.p {
			got := make([]float64, a.n)
			rows, values := m.Column(j)
			for k, i := range rows {
				got[i] = values[k]
				nnz++
			}
			for i, v := range got {
				if v != a.at(i, j) {
					t.Fatalf("seed %d: (%d, %d) is %v, want %v", seed, i, j, v, a.at(i, j))
				}
			}
		}
		if int64(nnz) != m.NNZ() {
			t.Fatalf("seed %d: NNZ is %d, columns hold %d", seed, m.NNZ(), nnz)
		}
	}
}

// TestNewCSCCopies checks that the matrix and the given arrays do not share memory.
func TestNewCSCCopies(t *testing.T) {
	a := randomArrays(rand.New(rand.NewPCG(1, 1)), 20, 20)
	before := fmt.Sprint(a)
	m := a.matrix(t)
	if fmt.Sprint(a) != before {
		t.Error("the arguments were modified")
	}
	want := fmt.Sprint(m.Storage())
	clear(a.colPtr)
	clear(a.rows)
	clear(a.values)
	if fmt.Sprint(m.Storage()) != want {
		t.Error("the matrix shares the arguments' memory")
	}
}

func TestNewCSCRejects(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name     string
		a        arrays
		kind     outcome.Kind
		row, col int // −1: not named by the error
		says     string
	}{
		{"negative n", arrays{-1, 0, []int64{0}, nil, nil}, outcome.Shape, -1, -1, "-1 × 0"},
		{"negative p", arrays{0, -1, nil, nil, nil}, outcome.Shape, -1, -1, "0 × -1"},
		{"too many rows", arrays{math.MaxInt32, 0, []int64{0}, nil, nil}, outcome.Limit, -1, -1, "2147483646"},
		{"too many columns", arrays{0, math.MaxInt32, nil, nil, nil}, outcome.Limit, -1, -1, "2147483646"},
		{"no pointers", arrays{1, 0, nil, nil, nil}, outcome.Shape, -1, -1, "0 column pointers for 0 columns"},
		{"few pointers", arrays{1, 2, []int64{0, 0}, nil, nil}, outcome.Shape, -1, -1, "2 column pointers for 2 columns"},
		{"many pointers", arrays{1, 1, []int64{0, 0, 0}, nil, nil}, outcome.Shape, -1, -1, "3 column pointers for 1 columns"},
		{"first pointer", arrays{2, 1, []int64{1, 2}, []int32{0, 1}, []float64{1, 1}}, outcome.Shape, -1, -1, "from 1 to 2"},
		{"last pointer short", arrays{2, 1, []int64{0, 1}, []int32{0, 1}, []float64{1, 1}}, outcome.Shape, -1, -1, "want 0 to 2"},
		{"last pointer long", arrays{2, 1, []int64{0, 3}, []int32{0, 1}, []float64{1, 1}}, outcome.Shape, -1, -1, "want 0 to 2"},
		{"last pointer negative", arrays{2, 1, []int64{0, -1}, []int32{0, 1}, []float64{1, 1}}, outcome.Shape, -1, -1, ""},
		{"lengths", arrays{2, 1, []int64{0, 2}, []int32{0, 1}, []float64{1}}, outcome.Shape, -1, -1, "2 rows for 1 values"},
		{"pointers decrease", arrays{3, 3, []int64{0, 2, 1, 2}, []int32{0, 1}, []float64{1, 1}}, outcome.Shape, -1, 1, "from 2 to 1"},
		{"pointer beyond the end", arrays{3, 2, []int64{0, 1 << 40, 2}, []int32{0, 1}, []float64{1, 1}}, outcome.Shape, -1, 0, "from 0 to 1099511627776"},
		{"pointer negative", arrays{3, 2, []int64{0, -5, 2}, []int32{0, 1}, []float64{1, 1}}, outcome.Shape, -1, 0, "from 0 to -5"},
		{"row negative", arrays{3, 1, []int64{0, 2}, []int32{-1, 1}, []float64{1, 1}}, outcome.Shape, -1, 0, "outside [0, 3)"},
		{"row beyond", arrays{3, 2, []int64{0, 0, 2}, []int32{1, 3}, []float64{1, 1}}, outcome.Shape, 3, 1, "outside [0, 3)"},
		{"row in an empty matrix", arrays{0, 1, []int64{0, 1}, []int32{0}, []float64{1}}, outcome.Shape, 0, 0, "outside [0, 0)"},
		{"rows decrease", arrays{3, 1, []int64{0, 2}, []int32{2, 1}, []float64{1, 1}}, outcome.Shape, 1, 0, "after 2"},
		{"rows repeat", arrays{3, 1, []int64{0, 2}, []int32{1, 1}, []float64{1, 1}}, outcome.Shape, 1, 0, "after 1"},
		{"rows repeat, zero", arrays{3, 1, []int64{0, 2}, []int32{1, 1}, []float64{0, 1}}, outcome.Shape, 1, 0, "after 1"},
		{"NaN", arrays{3, 2, []int64{0, 1, 3}, []int32{0, 0, 2}, []float64{1, 1, nan}}, outcome.NonFinite, 2, 1, "NaN"},
		{"Inf", arrays{3, 1, []int64{0, 1}, []int32{1}, []float64{inf}}, outcome.NonFinite, 1, 0, "+Inf"},
		{"-Inf", arrays{3, 1, []int64{0, 1}, []int32{1}, []float64{-inf}}, outcome.NonFinite, 1, 0, "-Inf"},
	} {
		m, err := sparse.NewCSC(c.a.n, c.a.p, c.a.colPtr, c.a.rows, c.a.values)
		var e *outcome.Error
		if !errors.As(err, &e) || m != nil {
			t.Errorf("%s: accepted, or an untyped error: %v", c.name, err)
			continue
		}
		if e.Kind != c.kind || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %s %q, want %s that says %q", c.name, e.Kind, e, c.kind, c.says)
		}
		if e.HasColumn != (c.col >= 0) || e.HasColumn && e.Column != c.col || c.row >= 0 && (!e.HasRow || e.Row != c.row) {
			t.Errorf("%s: at %v %d, %v %d; want %d, %d", c.name, e.HasRow, e.Row, e.HasColumn, e.Column, c.row, c.col)
		}
	}
}

// TestSmallestMatrices checks matrices without rows, columns or entries.
func TestSmallestMatrices(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {0, 5}, {5, 0}, {5, 5}, {1, 1}, {3, 3_000_000}} {
		m := arrays{n: c[0], p: c[1], colPtr: make([]int64, c[1]+1)}.matrix(t)
		if err := checkInvariants(m); err != nil {
			t.Errorf("%v: %v", c, err)
		}
		if m.NNZ() != 0 || len(m.Order()) != 0 {
			t.Errorf("%v: %d nonzeros, order %v", c, m.NNZ(), m.Order())
		}
		if c[1] > 0 {
			if rows, values := m.Column(c[1] - 1); rows == nil || len(rows)+len(values) > 0 {
				t.Errorf("%v: column %v %v", c, rows, values)
			}
		}
		for _, j := range []int{-1, c[1], math.MinInt} {
			if !panics(func() { m.Column(j) }) {
				t.Errorf("%v: column %d exists", c, j)
			}
		}
	}
}

// TestColumnsFarApart checks that a few entries among millions of columns are found.
func TestColumnsFarApart(t *testing.T) {
	const p = 3_000_000
	a := arrays{n: 4, p: p, colPtr: make([]int64, p+1), rows: []int32{2, 0, 1, 0}, values: []float64{1, 2, 3, 0}}
	for j := range p {
		a.colPtr[j+1] = a.colPtr[j]
		switch j {
		case 7, p - 1:
			a.colPtr[j+1]++
		case 1000:
			a.colPtr[j+1] += 2
		}
	}
	m := a.matrix(t)
	if err := checkInvariants(m); err != nil {
		t.Error(err)
	}
	if got, want := fmt.Sprint(m.Order()), "[7 1000]"; got != want {
		t.Errorf("order %s, want %s: the last column holds a zero", got, want)
	}
	if rows, values := m.Column(1000); fmt.Sprint(rows, values) != "[0 1] [2 3]" {
		t.Errorf("column 1000 is %v %v", rows, values)
	}
	if place := m.Place(8); place != -1 {
		t.Errorf("column 8 has no entries, and the place %d", place)
	}
	if m.Bytes() > 200 {
		t.Errorf("%d bytes", m.Bytes())
	}
}

func TestNewDense(t *testing.T) {
	values := []float64{1, 2, 0, 4, 5, math.Copysign(0, -1)}
	m, err := sparse.NewDense(2, 3, values)
	if err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(values)
	clear(values)
	if n, p := m.Dims(); n != 2 || p != 3 || m.NNZ() != 6 || fmt.Sprint(m.Order()) != "[0 1 2]" {
		t.Errorf("%d × %d, %d stored, order %v", n, p, m.NNZ(), m.Order())
	}
	for j := range 3 {
		rows, column := m.Column(j)
		all, values := m.Arrays()
		from, to := m.Span(j)
		if rows != nil || all != nil || !slices.EqualFunc(column, want[2*j:2*j+2], sameBits) || cap(column) != 2 || &values[from] != &column[0] || to-from != 2 {
			t.Errorf("column %d is %v %v", j, rows, column)
		}
	}
	for _, j := range []int{-1, 3} {
		if !panics(func() { m.Column(j) }) {
			t.Errorf("column %d exists", j)
		}
	}
	for _, shape := range [][2]int{{0, 0}, {0, 4}, {4, 0}} {
		m, err := sparse.NewDense(shape[0], shape[1], nil)
		if err != nil {
			t.Errorf("%v: %v", shape, err)
			continue
		}
		for j := range shape[1] {
			if _, column := m.Column(j); len(column) != shape[0] {
				t.Errorf("%v: column of %d", shape, len(column))
			}
		}
	}
}

func TestNewDenseRejects(t *testing.T) {
	for _, c := range []struct {
		name   string
		n, p   int
		values []float64
		kind   outcome.Kind
		row    int
		col    int
	}{
		{"short", 2, 2, make([]float64, 3), outcome.Shape, 0, 0},
		{"long", 2, 2, make([]float64, 5), outcome.Shape, 0, 0},
		{"product beyond 64 bits of int", sparse.MaxDim, sparse.MaxDim, nil, outcome.Shape, 0, 0},
		{"negative", -1, -4, make([]float64, 4), outcome.Shape, 0, 0},
		{"beyond the limit", math.MaxInt32, 0, nil, outcome.Limit, 0, 0},
		{"NaN", 2, 3, []float64{0, 0, 0, math.NaN(), 0, 0}, outcome.NonFinite, 1, 1},
		{"Inf", 3, 2, []float64{0, 0, 0, 0, 0, math.Inf(-1)}, outcome.NonFinite, 2, 1},
	} {
		m, err := sparse.NewDense(c.n, c.p, c.values)
		var e *outcome.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Row != c.row || e.Column != c.col || m != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestCompact checks that a matrix that is at least half full becomes dense, with the same
// values.
func TestCompact(t *testing.T) {
	for nnz := range 7 {
		a := arrays{n: 2, p: 3, colPtr: []int64{0}}
		for j := range 3 {
			for i := range 2 {
				if 2*j+i < nnz {
					a.rows, a.values = append(a.rows, int32(i)), append(a.values, float64(10*i+j+1))
				}
			}
			a.colPtr = append(a.colPtr, int64(len(a.rows)))
		}
		m := a.matrix(t)
		x := sparse.Compact(m)
		if _, dense := x.(*sparse.Dense); dense != (nnz >= 3) {
			t.Errorf("%d of 6: %T", nnz, x)
		}
		for j := range 3 {
			rows, values := x.Column(j)
			for i := range 2 {
				got := 0.0
				if rows == nil {
					got = values[i]
				} else if k := slices.Index(rows, int32(i)); k >= 0 {
					got = values[k]
				}
				if got != a.at(i, j) {
					t.Errorf("%d of 6: (%d, %d) is %v, want %v", nnz, i, j, got, a.at(i, j))
				}
			}
		}
	}
	for _, shape := range [][2]int{{0, 0}, {0, 3}, {3, 0}} {
		m := arrays{n: shape[0], p: shape[1], colPtr: make([]int64, shape[1]+1)}.matrix(t)
		if sparse.Compact(m) != sparse.Matrix(m) {
			t.Errorf("%v: not itself", shape)
		}
	}
}

// TestSharedByGoroutines is meant for the race detector.
func TestSharedByGoroutines(t *testing.T) {
	m := randomArrays(rand.New(rand.NewPCG(1, 1)), 50, 50).matrix(t)
	x := sparse.Compact(m)
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for _, j := range m.Order() {
				m.Column(int(j))
				x.Column(int(j))
			}
			m.Storage()
			sparse.Summarise(m, nil)
			if _, _, err := (sparse.Preparation{MinNNZ: 2, UnitRows: true, UnitColumns: true}).Apply(m); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
}

// FuzzNewCSC checks that arrays from arbitrary bytes are refused, or make a matrix that
// satisfies every invariant.
func FuzzNewCSC(f *testing.F) {
	f.Add(3, 2, []byte{0, 1, 3}, []byte{0, 1, 2}, []byte{1, 0, 2})
	f.Add(1, 3, []byte{0, 2, 1, 2}, []byte{0, 0}, []byte{1, 1})
	f.Add(2, 1, []byte{0, 255}, []byte{}, []byte{})
	f.Add(-1, 2_000_000_000, []byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, n, p int, ptr, row, value []byte) {
		a := arrays{n: n, p: p}
		for _, c := range ptr {
			a.colPtr = append(a.colPtr, int64(int8(c)))
		}
		for _, c := range row {
			a.rows = append(a.rows, int32(int8(c)))
		}
		for _, c := range value {
			v := float64(int8(c))
			switch v {
			case -128:
				v = math.NaN()
			case 127:
				v = math.Inf(1)
			}
			a.values = append(a.values, v)
		}
		m, err := sparse.NewCSC(a.n, a.p, a.colPtr, a.rows, a.values)
		if err != nil {
			if e := (*outcome.Error)(nil); !errors.As(err, &e) || m != nil {
				t.Fatalf("untyped error or a matrix with it: %v", err)
			}
			return
		}
		if err := checkInvariants(m); err != nil {
			t.Fatal(err)
		}
		for j := range a.p {
			rows, values := m.Column(j)
			for k, i := range rows {
				if a.at(int(i), j) != values[k] {
					t.Fatalf("(%d, %d) is %v, want %v", i, j, values[k], a.at(int(i), j))
				}
			}
		}
	})
}

// TestSumsOfTripletsThatOverflowAreLocated checks that the error for a sum that is not finite
// says where it is.
func TestSumsOfTripletsThatOverflowAreLocated(t *testing.T) {
	_, err := sparse.NewTriplets(t.Context(), 9, 5, []int32{1, 7, 7, 7}, []int32{4, 2, 3, 3}, []float64{1, 1, 1e308, 1e308})
	if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.NonFinite || !e.HasRow || e.Row != 7 || !e.HasColumn || e.Column != 3 {
		t.Errorf("%v", err)
	}
}
