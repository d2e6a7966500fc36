package sparse_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

func write(t *testing.T, x sparse.Matrix, y []float64) string {
	t.Helper()
	var b strings.Builder
	if err := sparse.WriteSVMLight(&b, x, y); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestWhatIsWrittenIsReadBack checks that a matrix is read back with the same bits, and written
// again as the same text, over the whole range of float64.
func TestWhatIsWrittenIsReadBack(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := randomArrays(r, r.IntN(15), r.IntN(15))
		for k := range a.values {
			if r.IntN(2) == 0 {
				a.values[k] = math.Float64frombits(r.Uint64()&(1<<63) | r.Uint64()%0x7ff0000000000000)
			}
		}
		y := make([]float64, a.n)
		for i := range y {
			y[i] = []float64{1, -1, 0, math.Copysign(0, -1), 5e-324, math.MaxFloat64, r.NormFloat64()}[r.IntN(7)]
		}
		x := a.matrix(t)
		text := write(t, x, y)
		if a.p == 0 {
			a.p = 1 // Features 0 would mean that the file determines it
			x = arrays{n: a.n, p: 1, colPtr: make([]int64, 2)}.matrix(t)
		}
		again, yAgain, err := read(text, sparse.ReadOptions{Features: a.p})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		o1, c1, r1, v1 := x.Storage()
		o2, c2, r2, v2 := again.Storage()
		if !slices.Equal(o1, o2) || !slices.Equal(c1, c2) || !slices.Equal(r1, r2) || !slices.EqualFunc(v1, v2, sameBits) || !slices.EqualFunc(y, yAgain, sameBits) {
			t.Fatalf("seed %d: another matrix came back\n%s", seed, text)
		}
		if write(t, again, yAgain) != text {
			t.Fatalf("seed %d: written again, the text differs", seed)
		}
		if write(t, sparse.Compact(x), y) != text {
			t.Fatalf("seed %d: a dense matrix is written otherwise", seed)
		}
	}
}

// TestWritingIsIdempotentOnAnyText checks that reading, writing and reading any valid text
// gives the same matrix.
func TestWritingIsIdempotentOnAnyText(t *testing.T) {
	accepted := 0
	for seed := range uint64(500) {
		g := &textMaker{Rand: rand.New(rand.NewPCG(seed, 9)), base: 1, p: 50}
		m, y, err := read(string(g.file(10)), sparse.ReadOptions{})
		if err != nil {
			continue
		}
		accepted++
		once := write(t, m, y)
		m2, y2, err := read(once, sparse.ReadOptions{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if twice := write(t, m2, y2); twice != once {
			t.Fatalf("seed %d: no fixed point", seed)
		}
	}
	if accepted < 50 {
		t.Errorf("only %d texts were valid", accepted)
	}
}

func TestWriteErrors(t *testing.T) {
	x := arrays{n: 2, p: 1, colPtr: []int64{0, 1}, rows: []int32{1}, values: []float64{2}}.matrix(t)
	for _, c := range []struct {
		y    []float64
		kind outcome.Kind
		row  int
	}{
		{nil, outcome.Shape, 0},
		{[]float64{1, 2, 3}, outcome.Shape, 0},
		{[]float64{1, math.NaN()}, outcome.NonFinite, 1},
		{[]float64{math.Inf(1), 0}, outcome.NonFinite, 0},
	} {
		var b strings.Builder
		err := sparse.WriteSVMLight(&b, x, c.y)
		var e *outcome.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Row != c.row || b.Len() > 0 {
			t.Errorf("%v: %v, %d bytes written", c.y, err, b.Len())
		}
	}
	full := errors.New("disk full")
	for _, n := range []int{2, 200_000} { // the failure shows at the end, or before it
		x := arrays{n: n, p: 0, colPtr: []int64{0}}.matrix(t)
		err := sparse.WriteSVMLight(brokenWriter{full}, x, make([]float64, n))
		if !errors.Is(err, full) || !strings.Contains(fmt.Sprint(err), "writing failed") {
			t.Errorf("%d rows on a full disk: %v", n, err)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }
