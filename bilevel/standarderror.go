package bilevel

import (
	"math"

	"github.com/seed-45b9a24c/pare/criterion"
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

// mostBatches is how many parts of a hold-out's rows its standard error is taken over.
const mostBatches = 20

// errorOf returns the standard error of a value of the criterion on the rows of a hold-out, from
// its values on interleaved batches of them, each with its share of the weight; 0 for one of
// several folds, whose values have a spread of their own, for a single row, and where the
// criterion is not a mean over rows.
func (j *judged) errorOf(value float64, prediction []float64) float64 {
	batches := min(mostBatches, len(j.rows))
	if !j.holdOut || batches < 2 || !criterion.RowMean(j.criterion) {
		return 0
	}
	values, weight := make([]float64, batches), make([]float64, batches)
	rows, pace := make([]int32, 0, len(j.rows)/batches+1), j.k.Pace()
	for b := range batches {
		rows = rows[:0]
		for i := b; i < len(j.rows); i += batches {
			pace.Did(1)
			rows = append(rows, j.rows[i])
			weight[b] += j.weight(j.rows[i])
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
