package sparse

import (
	"math"
	"sync"

	"github.com/seed-45b9a24c/pare/outcome"
)

// moments are what a view knows of its columns. They are never written again.
type moments struct {
	means []float64 // x̄, nil: not centred
	norms []float64 // ‖X̃_j‖ₛ
}

// kept are the moments of the columns of a matrix on rows of weight 1, not centred and
// centred, once a view has asked for them.
type kept [2]struct {
	once sync.Once
	moments
	err error
}

// columns returns the moments of the columns.
func (v *View) columns(centre bool) (moments, error) {
	var of *kept
	switch x := v.x.(type) {
	case *CSC:
		of = &x.moments
	case *Dense:
		of = &x.moments
	}
	if v.weights != nil || of == nil {
		return v.measure(centre)
	}
	m := &of[0]
	if centre {
		m = &of[1]
	}
	m.once.Do(func() { m.moments, m.err = v.measure(centre) })
	return m.moments, m.err
}

// measure computes the moments of the columns.
func (v *View) measure(centre bool) (moments, error) {
	m := moments{norms: make([]float64, v.p)}
	if centre {
		m.means = make([]float64, v.p)
	}
	positive := v.positive()
	for _, j := range v.x.Order() {
		rows, values := v.x.Column(int(j))
		var mean float64
		if centre {
			if constant, ok := v.constant(rows, values, positive); ok {
				m.means[j] = constant // and nothing is left of it
				continue
			}
			mean = v.weightedSum(rows, values) / v.total
			m.means[j] = mean
		}
		m.norms[j] = math.Sqrt(v.squaredNorm(mean, rows, values))
		if math.IsInf(m.norms[j], 1) {
			return m, &outcome.Error{Kind: outcome.NonFinite, HasColumn: true, Column: int(j), Message: "the squared norm overflows: scale the column"}
		}
	}
	return m, nil
}

// constant returns the number that a column has in every one of the rows of positive
// weight, if it has one there. Zeros that are not stored are taken for no constant.
func (v *View) constant(rows []int32, values []float64, positive int) (value float64, ok bool) {
	if len(values) < positive {
		return 0, false
	}
	stored := 0
	for k, x := range values {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		if v.weights != nil && v.weights[i] == 0 {
			continue
		}
		if stored++; stored == 1 {
			value = x
		} else if x != value {
			return 0, false
		}
	}
	return value, stored == positive
}

// positive returns the number of rows of positive weight.
func (v *View) positive() int {
	if v.weights == nil {
		return v.n
	}
	count := 0
	for _, s := range v.weights {
		if s > 0 {
			count++
		}
	}
	return count
}

// The sums of one column (rows nil: a dense one). With weights they are taken one
// term after the other, so that a row of weight 0 leaves no trace, not even in the
// last bit: [View.Copies] relies on columns that are equal elsewhere having equal
// norms. Both change their sign, or nothing, with the sign of the column.

// weightedSum returns Σ sᵢxᵢ.
func (v *View) weightedSum(rows []int32, values []float64) float64 {
	if v.weights == nil {
		return sum(values)
	}
	var sum float64
	for k, x := range values {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		sum = math.FMA(v.weights[i], x, sum)
	}
	return sum
}

// squaredNorm returns Σ sᵢ(xᵢ − x̄)², every term of which is ≥ 0, so that
// nothing cancels for a column whose mean is large beside its spread.
func (v *View) squaredNorm(mean float64, rows []int32, values []float64) float64 {
	var sum, seen float64
	if v.weights == nil {
		sum, seen = spread(values, mean), float64(len(values))
	} else {
		for k, x := range values {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			s, d := v.weights[i], x-mean
			sum = math.FMA(s*d, d, sum)
			seen += s
		}
	}
	if rows != nil && mean != 0 {
		// The rows that are not stored hold zeros.
		sum = math.FMA((v.total-seen)*mean, mean, sum)
	}
	return sum
}

// sum returns Σx, in four partial sums that do not wait for one another.
func sum(x []float64) float64 {
	var a, b, c, d float64
	for len(x) >= 4 {
		a, b, c, d = a+x[0], b+x[1], c+x[2], d+x[3]
		x = x[4:]
	}
	for _, v := range x {
		a += v
	}
	return (a + b) + (c + d)
}

// spread returns Σ(x − mean)², likewise.
func spread(x []float64, mean float64) float64 {
	var a, b, c, d float64
	for len(x) >= 4 {
		p, q, r, s := x[0]-mean, x[1]-mean, x[2]-mean, x[3]-mean
		a, b, c, d = math.FMA(p, p, a), math.FMA(q, q, b), math.FMA(r, r, c), math.FMA(s, s, d)
		x = x[4:]
	}
	for _, v := range x {
		v -= mean
		a = math.FMA(v, v, a)
	}
	return (a + b) + (c + d)
}
