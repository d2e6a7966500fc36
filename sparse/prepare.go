package sparse

import (
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Preparation says what to do to a whole matrix before a model uses it. The zero value does nothing. The steps
// are taken in the order of the fields.
type Preparation struct {
	// Columns lists the columns to keep, ascending, without repetition; the columns kept are renumbered. nil:
	// every column.
	Columns []int32

	// MinNNZ drops the columns with fewer nonzeros than this and renumbers the rest. The paper uses 3. 0: keep
	// every column.
	MinNNZ int

	// UnitRows divides every row that is not zero by its l2 norm.
	UnitRows bool

	// UnitColumns divides every column that is not zero by its l2 norm.
	UnitColumns bool
}

// Prepared says what a [Preparation] did, so that models of the prepared matrix can be used on the original
// data.
type Prepared struct {
	Columns  int       // number of columns before
	Kept     []int32   // for each column after, its index before; ascending
	UnitRows bool      // rows were divided by their l2 norms, over the columns kept
	Norms    []float64 // divisors of the columns after, 0 for a column of zeros; nil: columns were not divided
}

// Apply returns the prepared matrix and what was done to x, which is not modified
// (and may be returned, where there is nothing to do).
//
// A norm is 2ᵉ·√Σ(v/2ᵉ)², with 2ᵉ just above the largest |v| and the sum taken
// by increasing index, each operation rounded once: it neither overflows nor
// underflows, and has the same bits on every CPU. An entry whose quotient is
// smaller than any float64 is dropped.
//
// The error is an [*outcome.Error] of kind BadParameter for a negative MinNNZ, and for Columns
// out of order or out of range.
func (c Preparation) Apply(x *CSC) (*CSC, Prepared, error) {
	if c.MinNNZ < 0 {
		return nil, Prepared{}, outcome.At(outcome.BadParameter, "min-nnz", "%d nonzeros", c.MinNNZ)
	}
	listed, err := c.listed(x.p)
	if err != nil {
		return nil, Prepared{}, err
	}
	var kept []int32
	nonempty := []int32{} // their new indices
	for _, j := range listed {
		rows, _ := x.Column(int(j))
		if len(rows) < c.MinNNZ {
			continue
		}
		if len(rows) > 0 {
			nonempty = append(nonempty, int32(len(kept)))
		}
		kept = append(kept, j)
	}
	done := Prepared{Columns: x.p, Kept: kept, UnitRows: c.UnitRows}
	if len(kept) == x.p && !c.UnitRows && !c.UnitColumns {
		return x, done, nil
	}

	var rowNorms []norm
	if c.UnitRows {
		rowNorms = normsOfRows(x, kept)
	}
	if c.UnitColumns {
		done.Norms = make([]float64, len(kept))
	}
	scratch := make([]float64, x.n)
	prepared := build(x.n, len(kept), nonempty, func(k int) ([]int32, []float64) {
		rows, values := x.Column(int(kept[k]))
		if c.UnitRows {
			for at, i := range rows {
				scratch[at] = rowNorms[i].divide(values[at])
			}
			values = scratch[:len(rows)]
		}
		if c.UnitColumns {
			l2 := normOf(values)
			done.Norms[k] = l2.value()
			for at, v := range values {
				scratch[at] = l2.divide(v)
			}
			values = scratch[:len(rows)]
		}
		return rows, values
	})
	return prepared, done, nil
}

// listed returns the columns to keep of p.
func (c Preparation) listed(p int) ([]int32, error) {
	if c.Columns == nil {
		return allColumns(p), nil
	}
	before := int32(-1)
	for _, j := range c.Columns {
		if j <= before || int(j) >= p {
			return nil, outcome.At(outcome.BadParameter, "columns", "the columns to keep must ascend from 0 to below %d, got %d after %d", p, j, before)
		}
		before = j
	}
	return c.Columns, nil
}

// allColumns returns 0, 1, …, p − 1.
func allColumns(p int) []int32 {
	all := make([]int32, p)
	for j := range all {
		all[j] = int32(j)
	}
	return all
}

// Prepare is [Preparation.Apply] for either form of a matrix; it returns the result in its smaller form.
func (c Preparation) Prepare(x Matrix) (Matrix, Prepared, error) {
	if c.Columns == nil && c.MinNNZ == 0 && !c.UnitRows && !c.UnitColumns {
		_, p := x.Dims()
		return x, Prepared{Columns: p, Kept: allColumns(p)}, nil
	}
	m, done, err := c.Apply(Compressed(x))
	if err != nil {
		return nil, Prepared{}, err
	}
	return Compact(m), done, nil
}

// norm is an l2 norm root/scale, kept apart so that neither leaves the range
// of float64. scale is a power of two; a norm of 0 has both fields 0.
type norm struct{ scale, root float64 }

// divide returns v over the norm, 0/0 being 0.
func (l norm) divide(v float64) float64 {
	if v == 0 {
		return 0
	}
	return v * l.scale / l.root
}

// value returns the norm as one number, +Inf where it is larger than any.
func (l norm) value() float64 {
	if l.scale == 0 {
		return 0
	}
	return l.root / l.scale
}

// scaleFor returns 1/2ᵉ with 2ᵉ just above largest; 0 for 0. At most 2¹⁰⁰⁰, so
// that it is finite for subnormals too.
func scaleFor(largest float64) float64 {
	if largest == 0 {
		return 0
	}
	_, e := math.Frexp(largest)
	return math.Ldexp(1, min(-e, 1000))
}

func normOf(values []float64) norm {
	largest, sum := 0.0, 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	scale := scaleFor(largest)
	for _, v := range values {
		v *= scale
		sum += float64(v * v)
	}
	return norm{scale, math.Sqrt(sum)}
}

// normsOfRows returns the norm of every row over the columns kept.
func normsOfRows(x *CSC, kept []int32) []norm {
	norms := make([]norm, x.n)
	for _, j := range kept {
		rows, values := x.Column(int(j))
		for k, i := range rows {
			norms[i].scale = max(norms[i].scale, math.Abs(values[k]))
		}
	}
	for i := range norms {
		norms[i].scale = scaleFor(norms[i].scale)
	}
	for _, j := range kept {
		rows, values := x.Column(int(j))
		for k, i := range rows {
			v := values[k] * norms[i].scale
			norms[i].root += float64(v * v)
		}
	}
	for i := range norms {
		norms[i].root = math.Sqrt(norms[i].root)
	}
	return norms
}
