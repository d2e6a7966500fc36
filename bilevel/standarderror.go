package bilevel

import (
	"math"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
)

// standardError is the standard error of the mean of a few values.
func standardError(values []float64, mean float64) float64 {
	k := float64(len(values))
	var square float64
	_, unit := math.Frexp(mean) // in which squares neither overflow nor vanish
	for _, v := range values {
		d := math.Ldexp(v-mean, -unit)
		square = math.FMA(d, d, square)
	}
	return math.Ldexp(math.Sqrt(square/(k-1))/math.Sqrt(k), unit)
}

// mostBatches is how many batches of a hold-out's rows its standard error is taken over.
const mostBatches = 20

// Parts returns how many sets of rows so many folds are judged by: of a hold-out, its batches and the rows that train.
func Parts(folds int) int {
	if folds == 1 {
		return mostBatches + 1
	}
	return folds
}

// inBatches returns the batch of each row that is held out by one fold alone, the next for every row; nil where there are others.
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

// byBatch lists the rows held out of each batch; nil where there are none.
func byBatch(k *kernels.Set, batches Folds, held []int32) [][]int32 {
	if batches == nil {
		return nil
	}
	rows, pace := make([][]int32, min(mostBatches, len(held))), k.Pace() // each has some
	for _, i := range held {
		pace.Did(1)
		rows[batches[i]] = append(rows[batches[i]], i)
	}
	return rows
}

// errorOf returns the standard error of a value of the criterion on the rows of a hold-out, from
// its values on batches of them, each with its share of the weight; 0 for one of
// several folds, whose values have a spread of their own, for a single row, and where the
// criterion is not a mean over rows. Part of a risk has its own.
func (j *judged) errorOf(value float64, prediction []float64) float64 {
	if p, ok := j.criterion.(part); ok {
		return p.spread
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

// weight is the weight of a row.
func (j *judged) weight(i int32) float64 {
	if j.weights == nil {
		return 1
	}
	return j.weights[i]
}
