package sparse_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// dense returns the values of a matrix, table[i][j].
func dense(m sparse.Matrix) [][]float64 {
	n, p := m.Dims()
	table := make([][]float64, n)
	for i := range table {
		table[i] = make([]float64, p)
	}
	for j := range p {
		rows, values := m.Column(j)
		for k, v := range values {
			if rows == nil {
				table[k][j] = v
			} else {
				table[rows[k]][j] = v
			}
		}
	}
	return table
}

// exactNorm returns the ℓ2 norm, computed with 200 bits.
func exactNorm(values []float64) *big.Float {
	sum := new(big.Float).SetPrec(200)
	for _, v := range values {
		square := new(big.Float).SetPrec(200).SetFloat64(v)
		sum.Add(sum, square.Mul(square, square))
	}
	return sum.Sqrt(sum)
}

// checkUnit compares scaled with v over its norm, element by element.
func checkUnit(t *testing.T, what string, v, scaled []float64) {
	t.Helper()
	norm := exactNorm(v)
	for k := range v {
		want := 0.0
		if v[k] != 0 {
			quotient := new(big.Float).SetPrec(200).SetFloat64(v[k])
			want, _ = quotient.Quo(quotient, norm).Float64()
		}
		if got := scaled[k]; math.Abs(got-want) > 1e-14*math.Abs(want)+5e-324 {
			t.Errorf("%s: element %d is %v, want %v", what, k, got, want)
		}
	}
}

// checkNorm compares a norm with that of v. Subnormal norms have few digits.
func checkNorm(t *testing.T, what string, v []float64, norm float64) {
	t.Helper()
	if want, _ := exactNorm(v).Float64(); math.Abs(norm-want) > 1e-14*want+5e-324 {
		t.Errorf("%s: its norm is %v, want %v", what, norm, want)
	}
}

func column(table [][]float64, j int) []float64 {
	var c []float64
	for _, row := range table {
		c = append(c, row[j])
	}
	return c
}

// TestPreparationStepByStep checks the order of the steps, which is to drop columns, then scale
// rows, then scale columns, against exact norms.
func TestPreparationStepByStep(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		a := randomArrays(r, r.IntN(12), r.IntN(12))
		for k := range a.values { // the whole range of float64
			a.values[k] = math.Ldexp(a.values[k], r.IntN(1+r.IntN(40))-20+[]int{0, 0, 900, -1000}[seed%4])
		}
		x := a.matrix(t)
		before := fmt.Sprint(x.Storage())
		c := sparse.Preparation{MinNNZ: r.IntN(4)}
		if seed%2 == 0 {
			c.Columns = []int32{}
			for j := range a.p {
				if r.IntN(3) > 0 {
					c.Columns = append(c.Columns, int32(j))
				}
			}
		}
		dropped, done, err := c.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		kept := done.Kept
		var want []int32
		for j := range a.p {
			if rows, _ := x.Column(j); len(rows) >= c.MinNNZ && (c.Columns == nil || slices.Contains(c.Columns, int32(j))) {
				want = append(want, int32(j))
			}
		}
		if !slices.Equal(kept, want) {
			t.Fatalf("seed %d: kept %v, want %v", seed, kept, want)
		}
		if _, p := dropped.Dims(); p != len(kept) {
			t.Fatalf("seed %d: %d columns, kept %d", seed, p, len(kept))
		}
		for k, j := range kept {
			gotRows, gotValues := dropped.Column(k)
			rows, values := x.Column(int(j))
			if !slices.Equal(gotRows, rows) || !slices.Equal(gotValues, values) {
				t.Fatalf("seed %d: column %d, once %d, changed", seed, k, j)
			}
		}

		c.UnitRows = true
		rowsScaled, _, err := c.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		from, to := dense(dropped), dense(rowsScaled)
		for i := range from {
			checkUnit(t, fmt.Sprintf("seed %d, row %d", seed, i), from[i], to[i])
		}

		c.UnitColumns = true
		both, scaled, err := c.Apply(x)
		if err != nil {
			t.Fatal(err)
		}
		for j := range kept {
			where := fmt.Sprintf("seed %d, column %d", seed, j)
			checkUnit(t, where, column(to, j), column(dense(both), j))
			checkNorm(t, where, column(to, j), scaled.Norms[j])
		}
		if !slices.Equal(kept, scaled.Kept) || scaled.Columns != a.p || !scaled.UnitRows || done.UnitRows || done.Norms != nil {
			t.Errorf("seed %d: the preparations were %+v and %+v", seed, done, scaled)
		}
		for _, m := range []*sparse.CSC{dropped, rowsScaled, both} {
			if err := checkInvariants(m); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		if fmt.Sprint(x.Storage()) != before {
			t.Errorf("seed %d: the matrix was modified", seed)
		}
	}
}

// TestUnitNormsAtTheEdges checks norms at the edges of float64: nothing overflows or
// underflows, and a value that cannot be represented is dropped, not stored as 0.
func TestUnitNormsAtTheEdges(t *testing.T) {
	for _, c := range []struct{ v, want []float64 }{
		{[]float64{3, 4}, []float64{0.6, 0.8}},
		{[]float64{-7}, []float64{-1}},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, []float64{math.Sqrt(0.5), math.Sqrt(0.5)}},
		{[]float64{5e-324}, []float64{1}},
		{[]float64{-5e-324, 5e-324}, []float64{-math.Sqrt(0.5), math.Sqrt(0.5)}},
		{[]float64{3e-310, 4e-310}, []float64{0.6, 0.8}},
		{[]float64{math.MaxFloat64, 5e-324}, []float64{1}},
		{[]float64{1, 1e-200}, []float64{1, 1e-200}},
	} {
		for _, unitRows := range []bool{true, false} {
			a := arrays{n: len(c.v), p: 1, colPtr: []int64{0, int64(len(c.v))}, values: c.v}
			for i := range c.v {
				a.rows = append(a.rows, int32(i))
			}
			if unitRows {
				a = arrays{n: 1, p: len(c.v), colPtr: []int64{0}, values: c.v}
				for k := range c.v {
					a.colPtr, a.rows = append(a.colPtr, int64(k+1)), append(a.rows, 0)
				}
			}
			m, _, err := sparse.Preparation{UnitRows: unitRows, UnitColumns: !unitRows}.Apply(a.matrix(t))
			if err != nil {
				t.Fatal(err)
			}
			_, _, _, values := m.Storage()
			if !slices.EqualFunc(values, c.want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-15*math.Abs(b) }) {
				t.Errorf("%v becomes %v, want %v", c.v, values, c.want)
			}
			if err := checkInvariants(m); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestUnitNormsScaleExactly checks that scaling the data by a power of two does not change a
// bit of the result, as long as nothing is subnormal.
func TestUnitNormsScaleExactly(t *testing.T) {
	a := randomArrays(rand.New(rand.NewPCG(7, 1)), 30, 40)
	c := sparse.Preparation{MinNNZ: 2, UnitRows: true, UnitColumns: true}
	want, _, err := c.Apply(a.matrix(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []int{-900, -37, 512, 1000} {
		scaled := a
		scaled.values = slices.Clone(a.values)
		for k := range scaled.values {
			scaled.values[k] = math.Ldexp(scaled.values[k], e)
		}
		got, _, err := c.Apply(scaled.matrix(t))
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Storage()) != fmt.Sprint(want.Storage()) {
			t.Errorf("2^%d on the data changes the result", e)
		}
	}
}

func TestPreparationCorners(t *testing.T) {
	x := randomArrays(rand.New(rand.NewPCG(3, 1)), 6, 6).matrix(t)
	if m, done, err := (sparse.Preparation{}).Apply(x); m != x || len(done.Kept) != 6 || done.Columns != 6 || err != nil {
		t.Errorf("nothing to do gives %v, %+v, %v", m, done, err)
	}
	m, done, err := sparse.Preparation{MinNNZ: 7, UnitRows: true, UnitColumns: true}.Apply(x)
	if n, p := m.Dims(); n != 6 || p != 0 || len(done.Kept) != 0 || err != nil {
		t.Errorf("every column dropped: %d × %d, kept %v, %v", n, p, done.Kept, err)
	}
	m, _, err = sparse.Preparation{MinNNZ: -1}.Apply(x)
	if outcome.KindOf(err) != outcome.BadParameter || m != nil {
		t.Errorf("MinNNZ −1: %v", err)
	}
	empty := arrays{n: 0, p: 0, colPtr: []int64{0}}.matrix(t)
	if m, _, err := (sparse.Preparation{UnitRows: true}).Apply(empty); err != nil || m.NNZ() != 0 {
		t.Errorf("empty matrix: %v", err)
	}
}
