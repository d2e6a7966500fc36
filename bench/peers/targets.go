package peers

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// draw draws a target with the given mean.
type draw func(r *rand.Rand, mean float64) float64

// drawCount draws from a Poisson distribution.
func drawCount(r *rand.Rand, mean float64) float64 {
	count := -1.0
	for left := mean; left >= 0; count++ {
		left -= r.ExpFloat64()
	}
	return count
}

// drawAmount draws from a gamma distribution of shape 2.
func drawAmount(r *rand.Rand, mean float64) float64 {
	return mean * (r.ExpFloat64() + r.ExpFloat64()) / 2
}

// drawTotal draws the sum of a Poisson number of exponential amounts: the Tweedie distribution of power 3/2.
func drawTotal(r *rand.Rand, mean float64) (total float64) {
	for range int(drawCount(r, 2*mean)) {
		total += r.ExpFloat64() / 2
	}
	return total
}

// drawOutlier draws a number around the logarithm of the mean; every tenth number is an outlier.
func drawOutlier(r *rand.Rand, mean float64) float64 {
	spread := 0.3
	if r.IntN(10) == 0 {
		spread = 5
	}
	return math.Log(mean) + spread*r.NormFloat64()
}

// Draw draws targets with a log link from the columns of X, the same in every run. Scores are sums of ten of
// the fullest columns, chosen with a fixed seed, with alternating signs, and have mean 0 and standard deviation
// 0.7.
func (p *Problem) Draw(of draw) {
	n, columns := p.X.Dims()
	random := rand.New(rand.NewPCG(0, 19))
	count := make([]int, columns)
	p.each(func(j int, rows []int32, _ []float64) { count[j] = len(rows) })
	fullest := make([]int, columns)
	for j := range fullest {
		fullest[j] = j
	}
	slices.SortStableFunc(fullest, func(a, b int) int { return cmp.Compare(count[b], count[a]) })
	fullest = fullest[:min(columns, 100)]
	random.Shuffle(len(fullest), func(i, j int) { fullest[i], fullest[j] = fullest[j], fullest[i] })
	sign := make([]float64, columns)
	for k, j := range fullest[:min(len(fullest), 10)] {
		sign[j] = float64(1 - 2*(k%2))
	}
	score := make([]float64, n)
	p.each(func(j int, rows []int32, values []float64) {
		scale := 0.0
		for _, v := range values {
			scale += v * v
		}
		for k, i := range rows {
			score[i] += sign[j] * values[k] / math.Sqrt(scale)
		}
	})
	mean, squares := 0.0, 0.0
	for _, m := range score {
		mean += m / float64(n)
		squares += m * m / float64(n)
	}
	spread := math.Sqrt(squares - mean*mean)
	p.Y = make([]float64, n)
	for i, m := range score {
		p.Y[i] = of(random, math.Exp(0.7*(m-mean)/spread))
	}
}

// OneHot returns groups of consecutive columns such that no row has a nonzero in two columns of a group, as
// when a group encodes one attribute. Groups are the longest such runs, from the left.
func (p *Problem) OneHot() []int {
	n, columns := p.X.Dims()
	groups, taken, group := make([]int, columns), make([]bool, n), 0
	p.each(func(j int, rows []int32, _ []float64) {
		for _, i := range rows {
			if taken[i] {
				clear(taken)
				group++
				break
			}
		}
		for _, i := range rows {
			taken[i] = true
		}
		groups[j] = group
	})
	return groups
}
