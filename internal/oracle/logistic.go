package oracle

import "math"

// The same problem with the logistic loss (1/N)Σ sᵢ ln(1 + e^{−yᵢmᵢ}), yᵢ = ±1.

// Classes makes the target ±1 by the side of its mean on which it is, with some noise.
func (q *Problem) Classes(r *Random) *Problem {
	mean := q.Mean(-1)
	y := make([]float64, len(q.Y))
	for i, v := range q.Y {
		y[i] = math.Copysign(1, v-mean+0.3*r.Normal())
	}
	y[0], y[1] = 1, -1 // so that both classes occur
	if q.Weights != nil {
		q.Weights[0], q.Weights[1] = 1, 1
	}
	q.Y = y
	return q
}

func softplus(t float64) float64 { // ln(1 + eᵗ)
	if t > 0 {
		return t + math.Log1p(math.Exp(-t))
	}
	return math.Log1p(math.Exp(t))
}

func sigmoid(t float64) float64 {
	if t >= 0 {
		return 1 / (1 + math.Exp(-t))
	}
	e := math.Exp(t)
	return e / (1 + e)
}

// margins returns yᵢ(xᵢβ + b).
func (q *Problem) margins(beta []float64, b float64) []float64 {
	m := q.predictions(beta, b)
	for i, y := range q.Y {
		m[i] *= y
	}
	return m
}

// LogisticResidual returns yᵢσ(−yᵢmᵢ), the negative derivative of the loss.
func (q *Problem) LogisticResidual(beta []float64, b float64) []float64 {
	r := q.margins(beta, b)
	for i, m := range r {
		r[i] = q.Y[i] * sigmoid(-m)
	}
	return r
}

// LogisticObjective returns Φ(β, b), as [Problem.LossObjective] does.
func (q *Problem) LogisticObjective(beta []float64, b float64) float64 {
	return q.LossObjective(LogisticLoss(), beta, b)
}

// LogisticIntercept returns the b that minimises the objective for β, by bisection.
func (q *Problem) LogisticIntercept(beta []float64) float64 {
	if !q.Intercept {
		return 0
	}
	slope := func(b float64) float64 {
		var sum Sum
		for i, v := range q.LogisticResidual(beta, b) {
			sum.AddProduct(q.Weight(i), v)
		}
		return sum.Value()
	}
	lower, upper := -1.0, 1.0
	for slope(lower) < 0 {
		lower *= 2
	}
	for slope(upper) > 0 {
		upper *= 2
	}
	for range 80 {
		if middle := (lower + upper) / 2; slope(middle) > 0 {
			lower = middle
		} else {
			upper = middle
		}
	}
	return (lower + upper) / 2
}

// LogisticNull returns P₀.
func (q *Problem) LogisticNull() float64 {
	zero := make([]float64, len(q.Alpha))
	return q.LogisticObjective(zero, q.LogisticIntercept(zero))
}

// LogisticAlphaMax returns the smallest α whose solution is 0.
func (q *Problem) LogisticAlphaMax() float64 {
	zero := make([]float64, len(q.Alpha))
	largest := 0.0
	for _, z := range q.Correlations(q.LogisticResidual(zero, q.LogisticIntercept(zero))) {
		largest = math.Max(largest, q.pull(z))
	}
	return largest
}

// LogisticGap returns primal minus dual, as [Problem.LossGap] does.
func (q *Problem) LogisticGap(beta []float64, b float64) float64 {
	return q.LossGap(LogisticLoss(), beta, b)
}

// MeanLogistic returns the mean loss over the rows listed.
func (q *Problem) MeanLogistic(s *Solution, rows []int) float64 {
	m := q.margins(s.Beta, s.Intercept)
	var sum Sum
	for _, i := range rows {
		sum.AddProduct(1/float64(len(rows)), softplus(-m[i]))
	}
	return sum.Value()
}

// SolveLogistic minimises by a proximal Newton method: every step solves a squared-loss problem by
// [Problem.Solve], and is halved until it decreases the objective.
func (q *Problem) SolveLogistic() *Solution {
	beta := make([]float64, len(q.Alpha))
	b := q.LogisticIntercept(beta)
	best := &Solution{Beta: beta, Intercept: b, Objective: q.LogisticObjective(beta, b)}
	for range 60 {
		step := q.Clone()
		step.Weights, step.Y = make([]float64, len(q.Y)), make([]float64, len(q.Y))
		total, bent := q.Total(), 0.0
		for i, m := range q.margins(best.Beta, best.Intercept) {
			d := math.Max(sigmoid(m)*sigmoid(-m), 1e-9)
			step.Weights[i] = q.Weight(i) * d
			step.Y[i] = q.Y[i]*m + q.Y[i]*sigmoid(-m)/d
			bent += step.Weights[i]
		}
		// The step problem's N is Σ sᵢdᵢ, this problem's is Σ sᵢ.
		for j := range step.Alpha {
			step.Alpha[j] *= total / bent
		}
		step.Ridge *= total / bent
		target := step.SolveFrom(best.Beta)
		moved := false
		for length := 1.0; length > 1e-6; length /= 2 {
			trial := make([]float64, len(beta))
			for j := range trial {
				trial[j] = best.Beta[j] + length*(target.Beta[j]-best.Beta[j])
			}
			if length == 1 {
				trial = target.Beta // zeros stay zeros
			}
			b := q.LogisticIntercept(trial)
			if f := q.LogisticObjective(trial, b); f < best.Objective {
				best = &Solution{Beta: trial, Intercept: b, Objective: f, Exact: target.Exact}
				moved = true
				break
			}
		}
		if !moved {
			// Objectives agree to rounding error when coefficients are accurate only to its square root: the
			// last full step squares the coefficients' error.
			b := q.LogisticIntercept(target.Beta)
			if f := q.LogisticObjective(target.Beta, b); f <= best.Objective+1e-14 {
				best = &Solution{Beta: target.Beta, Intercept: b, Objective: f, Exact: target.Exact}
			}
			break
		}
	}
	best.Gap = q.LogisticGap(best.Beta, best.Intercept)
	return best
}
