package bilevel

import (
	"math"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
)

// standardError returns the standard error of the mean of two values or more.
func standardError(values []float64, mean float64) float64 {
	k := float64(len(values))
	var square float64
	_, unit := math.Frexp(mean) // scaled by 2^−unit, squares neither overflow nor vanish
	for _, v := range values {
		d := math.Ldexp(v-mean, -unit)
		square = math.FMA(d, d, square)
	}
	return math.Ldexp(math.Sqrt(square/(k-1))/math.Sqrt(k), unit)
}

// mostBatches is the number of batches of a hold-out's rows from which its standard error is computed.
const mostBatches = 20

// Parts returns the number of sets of rows that are condensed apart: the folds, or of a hold-out its batches and its
// training rows.
func Parts(folds int) int {
	if folds == 1 {
		return mostBatches + 1
	}
	return folds
}

// inBatches returns the batch of each row of a hold-out: held-out rows are dealt to the batches in turn, and other rows keep
// their fold id. It is nil unless there is exactly one fold.
func (s *Spec) inBatches(k *kernels.Set) Folds {
	switch {
	case s.batches != nil:
		return s.batches
	case s.Risk != nil || s.Folds.Count(k) != 1:
		return nil
	}
	batches, held, pace := make(Folds, len(s.Folds)), 0, k.Pace()
	for i, id := range s.Folds {
		pace.Did(1)
		if batches[i] = id; id == 0 && s.weight(i) > 0 {
			batches[i] = held % mostBatches
			held++
		}
	}
	return batches
}

// byBatch returns the held-out rows of each batch; nil without batches.
func byBatch(k *kernels.Set, batches Folds, held []int32) [][]int32 {
	if batches == nil {
		return nil
	}
	rows, pace := make([][]int32, min(mostBatches, len(held))), k.Pace() // every batch has rows
	for _, i := range held {
		pace.Did(1)
		rows[batches[i]] = append(rows[batches[i]], i)
	}
	return rows
}

// valueError returns the standard error of the criterion's value on the rows of a hold-out, from
// its values on batches of these rows, each with its share of the weight. It is 0 for one of
// several folds, since their standard error is computed from the folds' values; for a single row; and for a
// criterion that is not a mean over rows. The [riskPart] of a risk has a standard error of its own.
func (j *foldCriterion) valueError(value float64, prediction []float64) float64 {
	if p, ok := j.criterion.(riskPart); ok {
		return p.standardError
	}
	batches := len(j.batches)
	if batches < 2 || !criterion.RowMean(j.criterion) {
		return 0
	}
	values, weight, pace := make([]float64, batches), make([]float64, batches), j.k.Pace()
	for b, rows := range j.batches {
		for _, i := range rows {
			pace.Did(1)
			weight[b] += j.weight(i)
		}
		values[b] = j.loss(rows, prediction, nil)
	}
	return criterion.StandardError(j.k, values, weight, value)
}

// weight returns the weight of a row.
func (j *foldCriterion) weight(i int32) float64 {
	if j.weights == nil {
		return 1
	}
	return j.weights[i]
}
