package criterion

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
)

// Of returns the mean of a loss over the rows, (1/n_val)Σ ℓ(yᵢ, mᵢ), under the loss's name:
// of [loss.Logistic] the log-loss, of [loss.SmoothedHinge] the criterion of table 2.
func Of(l loss.Loss) Criterion { return rowwise{loss: l, name: l.Name(), factor: 1} }

// Deviance returns the mean unit deviance, twice that of [Of]: what other tools report of
// counts.
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

// Quadratic reports that second derivatives do not vary; see [Quadratic].
func (c rowwise) Quadratic() bool {
	_, squared := c.loss.(loss.Squared)
	return squared
}

// Concordance returns the loss's; see [Concordance].
func (c rowwise) Concordance() (float64, bool) { return c.loss.Concordance() }

// Eval implements [Criterion].
func (c rowwise) Eval(rows []int32, y, m, slope, curvature []float64) float64 {
	count := float64(len(rows))
	values, first, second := c.rows(rows, y, m, slope != nil)
	var all float64
	for _, v := range values {
		all += v
	}
	if slope != nil {
		for at, i := range rows {
			slope[i], curvature[i] = first[at]/count, second[at]/count
		}
	}
	return all / count
}

// weighted is Eval with weights, as [Weighted] has it.
func (c rowwise) weighted(weights []float64, rows []int32, y, m, slope, curvature []float64) float64 {
	total := sum(weights, rows)
	values, first, second := c.rows(rows, y, m, slope != nil)
	var value float64
	for at, i := range rows {
		share := weights[i] / total
		value = math.FMA(share, values[at], value)
		if slope != nil {
			slope[i], curvature[i] = first[at]*share, second[at]*share
		}
	}
	return value
}

// rows returns the terms of the rows and, if they are wanted, their derivatives.
func (c rowwise) rows(rows []int32, y, m []float64, derivatives bool) (values, first, second []float64) {
	k := kernels.Available()[0] // all sets return the same bits, and vectors are short
	n := len(rows)
	memory := make([]float64, 5*n)
	vector := func(i int) []float64 { return memory[i*n:][:n:n] }
	targets, predictions := vector(0), vector(1)
	for at, i := range rows {
		targets[at], predictions[at] = y[i], m[i]
	}
	values, first, second = vector(2), vector(3), vector(4)
	c.loss.Value(k, targets, predictions, values)
	if derivatives {
		c.loss.Slope(k, targets, predictions, first)
		c.loss.Curvature(k, targets, predictions, second)
	}
	for at := range values {
		values[at] *= c.factor
		first[at] *= -c.factor
		second[at] *= c.factor
	}
	return values, first, second
}
