package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/sparse"
)

// TestSummaryAgreesWithATable compares the counts with brute force over the dense table, for
// both kinds of matrix.
func TestSummaryAgreesWithATable(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := randomArrays(r, r.IntN(6), r.IntN(25))
		for k := range a.values {
			a.values[k] = float64(r.IntN(3) - 1)
		}
		x := a.matrix(t)
		table := dense(x)
		flat := make([]float64, 0, a.n*a.p)
		for j := range a.p {
			flat = append(flat, column(table, j)...)
		}
		d, err := sparse.NewDense(a.n, a.p, flat)
		if err != nil {
			t.Fatal(err)
		}

		var nnz int64
		emptyRows, emptyColumns, duplicates := 0, 0, 0
		for _, row := range table {
			if !slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
				emptyRows++
			}
		}
		seen := map[string]bool{}
		for j := range a.p {
			c := column(table, j)
			count := 0
			for k, v := range c {
				if v != 0 {
					count++
				}
				c[k] = v + 0 // turns −0 into 0
			}
			nnz += int64(count)
			switch key := fmt.Sprint(c); {
			case count == 0:
				emptyColumns++
			case seen[key]:
				duplicates++
			default:
				seen[key] = true
			}
		}
		for _, m := range []sparse.Matrix{x, d} {
			s := sparse.Summarise(m, nil)
			density := 0.0
			if a.n*a.p > 0 {
				density = float64(nnz) / float64(a.n*a.p)
			}
			if s.Rows != a.n || s.Columns != a.p || s.NNZ != nnz || math.Abs(s.Density-density) > 1e-15 ||
				s.EmptyRows != emptyRows || s.EmptyColumns != emptyColumns || s.DuplicateColumns != duplicates {
				t.Errorf("seed %d, %T: %+v; want %d nonzeros, %d empty rows, %d empty and %d duplicate columns", seed, m, s, nnz, emptyRows, emptyColumns, duplicates)
			}
		}
	}
}

func TestSummaryOfLabels(t *testing.T) {
	many := func(distinct, each int, step float64) []float64 {
		var y []float64
		for k := range distinct * each {
			y = append(y, float64(k%distinct)*step)
		}
		return y
	}
	for _, c := range []struct {
		name     string
		y        []float64
		kind     sparse.LabelKind
		distinct int
		classes  string
	}{
		{"none", nil, sparse.NoLabels, 0, "[]"},
		{"constant", []float64{2, 2, 2}, sparse.OneClass, 1, "[{2 3}]"},
		{"binary", []float64{1, -1, 1}, sparse.TwoClasses, 2, "[{-1 1} {1 2}]"},
		{"binary, not integers", []float64{0.5, 0.25}, sparse.TwoClasses, 2, "[{0.25 1} {0.5 1}]"},
		{"three classes", many(3, 10, 1), sparse.Classes, 3, "[{0 10} {1 10} {2 10}]"},
		{"too few of each", many(3, 9, 1), sparse.RealLabels, 3, "[]"},
		{"no integers", many(3, 10, 0.5), sparse.RealLabels, 3, "[]"},
		{"signed zeros are one value", []float64{0, math.Copysign(0, -1)}, sparse.OneClass, 1, "[{0 2}]"},
	} {
		l := sparse.Summarise(sparse.Compact(arrays{n: len(c.y), colPtr: []int64{0}}.matrix(t)), c.y).Labels
		if l.Kind != c.kind || l.Distinct != c.distinct || fmt.Sprint(l.Classes) != c.classes && fmt.Sprint(l.Classes) != "[{-0 2}]" {
			t.Errorf("%s: %+v, want %s, %d distinct, %s", c.name, l, c.kind, c.distinct, c.classes)
		}
		if len(c.y) > 0 && (l.Min != slices.Min(c.y) || l.Max != slices.Max(c.y)) {
			t.Errorf("%s: from %v to %v", c.name, l.Min, l.Max)
		}
	}
}

// TestBytes checks that a matrix reports the memory that it holds.
func TestBytes(t *testing.T) {
	a := randomArrays(rand.New(rand.NewPCG(1, 2)), 300, 200)
	x := a.matrix(t)
	order, colPtr, rows, values := x.Storage()
	arrays := int64(4*len(order) + 8*len(colPtr) + 4*len(rows) + 8*len(values))
	if got := x.Bytes(); got < arrays || got > arrays+4*int64(a.p) {
		t.Errorf("%d bytes, its arrays hold %d", got, arrays)
	}
	if s := sparse.Summarise(x, make([]float64, 300)); s.Bytes != x.Bytes()+8*300 {
		t.Errorf("summary says %d bytes, want %d", s.Bytes, x.Bytes()+8*300)
	}
}
