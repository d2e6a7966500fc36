package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
)

// Of returns the mean of a loss over the rows, (1/n_val)Σ ℓ(yᵢ, mᵢ), with the name of the loss:
// for [loss.Logistic] the log-loss, for [loss.SmoothedHinge] the criterion of table 2.
func Of(l loss.Loss) Criterion { return rowwise{loss: l, name: l.Name(), factor: 1} }

// Deviance returns the mean unit deviance, twice the value of [Of], which other tools report
// for counts.
func Deviance(l loss.Loss) Criterion {
	return rowwise{loss: l, name: l.Name() + "_deviance", factor: 2}
}

// rowwise is factor times the mean of a loss.
type rowwise struct {
	loss   loss.Loss
	name   string
	factor float64
}

// Name implements [Criterion].
func (c rowwise) Name() string { return c.name }

// Quadratic reports whether the loss is the squared one; see [Quadratic].
func (c rowwise) Quadratic() bool {
	_, squared := c.loss.(loss.Squared)
	return squared
}

// Concordance returns the constant of the loss; see [Concordance].
func (c rowwise) Concordance() (float64, bool) { return c.loss.Concordance() }

// Eval implements [Criterion].
func (c rowwise) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	return c.eval(nil, nil, rows, y, m, slope, curvature)
}

func (c rowwise) eval(k *kernels.Set, weights []float64, rows []int32, y, m, slope, curvature []float64) float64 {
	if weights != nil {
		return c.weighted(k, weights, rows, y, m, slope, curvature)
	}
	count := float64(len(rows))
	var value float64
	for t := newTerms(k, len(rows)); len(rows) > 0; rows = rows[len(t.value):] {
		c.compute(t, rows, y, m, slope != nil)
		for at, v := range t.value {
			value += v
			if i := rows[at]; slope != nil {
				slope[i], curvature[i] = t.slope[at]/count, t.curvature[at]/count
			}
		}
	}
	return value / count
}

// weighted is eval with the weights of [Weighted].
func (c rowwise) weighted(k *kernels.Set, weights []float64, rows []int32, y, m, slope, curvature []float64) float64 {
	total := sum(k, weights, rows)
	var value float64
	for t := newTerms(k, len(rows)); len(rows) > 0; rows = rows[len(t.value):] {
		c.compute(t, rows, y, m, slope != nil)
		for at, v := range t.value {
			i := rows[at]
			share := weights[i] / total
			value = math.FMA(share, v, value)
			if slope != nil {
				slope[i], curvature[i] = t.slope[at]*share, t.curvature[at]*share
			}
		}
	}
	return value
}

// EachRow sets out[at] to the value of a criterion on the row rows[at] alone. It ends with k, as [Eval] does.
func EachRow(k *kernels.Set, c Criterion, rows []int32, y, m, out []float64) {
	if of, ok := c.(rowwise); ok {
		for t := newTerms(k, len(rows)); len(rows) > 0; rows, out = rows[len(t.value):], out[len(t.value):] {
			of.compute(t, rows, y, m, false)
			copy(out, t.value)
		}
		return
	}
	pace := k.Pace()
	for at := range rows {
		pace.Did(8)
		out[at] = Eval(nil, c, rows[at:at+1], y, m, nil, nil)
	}
}

// curvatureWithin is [CurvatureWithin]; weights may be nil.
func (c rowwise) curvatureWithin(k *kernels.Set, weights []float64, rows []int32, y, m []float64, reach float64, out []float64) bool {
	jumping, ok := c.loss.(loss.Jumping)
	if !ok {
		return false
	}
	total := float64(len(rows))
	if weights != nil {
		total = sum(k, weights, rows)
	}
	for t := newTerms(k, len(rows)); len(rows) > 0; rows = rows[len(t.y):] {
		t.gather(rows, y, m)
		jumping.CurvatureWithin(reach, t.y, t.m, t.curvature)
		for at, v := range t.curvature {
			i, share := rows[at], c.factor/total
			if weights != nil {
				share *= weights[i]
			}
			out[i] = v * share
		}
	}
	return true
}

// blockRows is the number of rows that are gathered into vectors for one call of a loss.
const blockRows = 512

// lossTerms are the losses of up to a block of rows, and their derivatives.
type lossTerms struct {
	k                       *kernels.Set
	pace                    kernels.Pace
	y, m                    []float64
	value, slope, curvature []float64
}

func newTerms(k *kernels.Set, rows int) *lossTerms {
	sets := kernels.Available() // all return the same bits
	n := min(rows, blockRows)
	memory := make([]float64, 5*n)
	vector := func(i int) []float64 { return memory[i*n:][:n:n] }
	return &lossTerms{k: sets[len(sets)-1], pace: k.Pace(), y: vector(0), m: vector(1), value: vector(2), slope: vector(3), curvature: vector(4)}
}

// gather copies the targets and predictions of the first block of the rows, and cuts all vectors to its length.
func (t *lossTerms) gather(rows []int32, y, m []float64) {
	n := min(len(rows), len(t.value))
	t.pace.Did(n)
	t.y, t.m, t.value, t.slope, t.curvature = t.y[:n], t.m[:n], t.value[:n], t.slope[:n], t.curvature[:n]
	for at, i := range rows[:n] {
		t.y[at], t.m[at] = y[i], m[i]
	}
}

// compute computes the terms of the first block of the rows.
func (c rowwise) compute(t *lossTerms, rows []int32, y, m []float64, derivatives bool) {
	t.gather(rows, y, m)
	c.loss.Value(t.k, t.y, t.m, t.value)
	if derivatives {
		c.loss.Slope(t.k, t.y, t.m, t.slope)
		c.loss.Curvature(t.k, t.y, t.m, t.curvature)
	}
	for at := range t.value {
		t.value[at] *= c.factor
		t.slope[at] *= -c.factor
		t.curvature[at] *= c.factor
	}
}
