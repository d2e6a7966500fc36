package peers

import (
	"fmt"
	"math"
)

// Certificate is what we compute about a contestant's coefficients.
type Certificate struct {
	Objective float64 `json:"objective"`
	// Gap is the duality gap at the coefficients, relative to the objective at β = 0, with the dual point that
	// their residual gives when it is scaled to be feasible. With a ridge the point need not be scaled; the
	// smaller of the two gaps counts. For support vectors, whose coefficients do not determine a dual point,
	// Gap is the distance to the problem's Bound. For a penalty that is not convex there is no gap: Gap is then
	// the largest violation of stationarity of a column, relative to the largest correlation at β = 0, and
	// other stationary points with other Objectives may exist. It is the largest float64 if β is not finite.
	Gap     float64 `json:"gap"`
	Support int     `json:"support"`
}

// Certify recomputes everything from X, y and the nonzero coefficients, in plain loops. It returns an error for
// indices that are not columns.
func (p *Problem) Certify(index []int32, value []float64) (Certificate, error) {
	n, columns := p.X.Dims()
	if len(index) != len(value) {
		return Certificate{}, fmt.Errorf("%d columns with %d coefficients", len(index), len(value))
	}
	q := p.scores()
	beta := make([]float64, columns*q)
	for k, j := range index {
		if j < 0 || int(j) >= len(beta) {
			return Certificate{}, fmt.Errorf("a coefficient for column %d of %d", j, len(beta))
		}
		beta[j] += value[k]
	}
	prediction := make([]float64, n*q)
	support, l2 := 0, 0.0
	for at, b := range beta {
		if b == 0 {
			continue
		}
		support++
		l2 += b * b
		rows, values := p.X.Column(at / q)
		for k, v := range values {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			prediction[i*q+at%q] += v * b
		}
	}
	var c Certificate
	switch {
	case p.Model.family().kind == ofVectors:
		c = p.certifyVectors(prediction, l2)
	case p.Model.family().kind == concave:
		c = p.certifyStationary(prediction, beta)
	default:
		c = p.certifyRows(prediction, beta, l2)
	}
	c.Support = support
	if !(c.Gap < math.MaxFloat64 && math.Abs(c.Objective) < math.MaxFloat64) {
		c.Objective, c.Gap = math.MaxFloat64, math.MaxFloat64 // JSON has no infinity
	}
	return c, nil
}

// certifyRows uses the dual point that the residual gives, scaled into the domain of the conjugate of the norm;
// with a ridge, whose conjugate is finite everywhere, it also tries the unscaled point.
func (p *Problem) certifyRows(prediction, beta []float64, l2 float64) Certificate {
	value, _, slope := p.rows(prediction, 1)
	z := p.correlations(slope)
	reach, norm, free, scaled := 1.0, 0.0, 0.0, 0.0
	p.blocks(func(weight float64, entries []int) {
		alpha, size, excess, inner := (1-p.tau())*p.Alpha*weight, 0.0, 0.0, 0.0
		away := make([]float64, 0, len(entries))
		for _, at := range entries {
			size += beta[at] * beta[at]
			excess += z[at] * z[at]
			away = append(away, z[at]-p.Ridge*beta[at])
			inner += z[at] * beta[at]
			norm += p.tau() * p.Alpha * math.Abs(beta[at])
		}
		norm += alpha * math.Sqrt(size)
		reach = min(reach, p.reach(p.Alpha, weight, away)) // NaN where away is
		excess = max(0, math.Sqrt(excess)-alpha)
		free += alpha*math.Sqrt(size) + p.Ridge*size/2 - inner + excess*excess/(2*p.Ridge)
		scaled += inner - p.Ridge*size
	})
	_, lack, _ := p.rows(prediction, reach)
	gap := lack + norm - reach*scaled + (1-reach)*(1-reach)*p.Ridge*l2/2
	if p.Ridge > 0 {
		gap = min(gap, free)
	}
	return Certificate{Objective: value + norm + p.Ridge*l2/2, Gap: gap / p.null()}
}

// rows returns the mean loss at the predictions, the Fenchel–Young deficit at the dual point of c times the
// residual, and the residual.
func (p *Problem) rows(prediction []float64, c float64) (value, lack float64, slope []float64) {
	loss, q, n := p.Model.family().loss, p.scores(), float64(len(p.Y))
	slope = make([]float64, len(prediction))
	for i, y := range p.Y {
		v, l := loss(y, prediction[i*q:][:q], c, slope[i*q:][:q])
		value += v / n
		lack += l / n
	}
	return value, lack, slope
}

// correlations returns Xᵀslope/n, by column and score.
func (p *Problem) correlations(slope []float64) []float64 {
	q := p.scores()
	_, columns := p.X.Dims()
	z, one := make([]float64, columns*q), make([]float64, len(p.Y))
	for k := range q {
		for i := range one {
			one[i] = slope[i*q+k]
		}
		for j := range columns {
			z[j*q+k] = dot(p.X, j, one) / float64(len(p.Y))
		}
	}
	return z
}

// blocks calls f for each block of entries of β that share a norm, with the weight of the norm.
func (p *Problem) blocks(f func(weight float64, entries []int)) {
	q := p.scores()
	_, columns := p.X.Dims()
	of := p.Model.family()
	entries, group := []int(nil), 0
	for at := range columns * q {
		own := at
		switch {
		case p.Groups != nil:
			own = p.Groups[at]
		case of.kind == ofGroups:
			own = at / q
		}
		if own != group && entries != nil {
			f(p.blockWeight(len(entries)), entries)
			entries = entries[:0]
		}
		entries, group = append(entries, at), own
	}
	f(p.blockWeight(len(entries)), entries)
}

// blockWeight returns √p_g for a group of columns, and 1 for the scores of a column.
func (p *Problem) blockWeight(size int) float64 {
	if p.Groups == nil {
		return 1
	}
	return math.Sqrt(float64(size))
}

// scores returns the number of scores of a row.
func (p *Problem) scores() int {
	if !p.Model.family().together {
		return 1
	}
	largest := 0.0
	for _, y := range p.Y {
		largest = max(largest, y)
	}
	return int(largest) + 1
}

// AlphaMax returns the smallest Alpha at which β = 0 is optimal.
func (p *Problem) AlphaMax() float64 {
	_, _, slope := p.rows(make([]float64, len(p.Y)*p.scores()), 1)
	z, least := p.correlations(slope), math.Inf(1)
	p.blocks(func(weight float64, entries []int) {
		own := make([]float64, 0, len(entries))
		for _, at := range entries {
			own = append(own, z[at])
		}
		least = min(least, p.reach(1, weight, own))
	})
	return 1 / least
}

// tau is the weight of ‖β‖₁ in the norm of sparse groups.
func (p *Problem) tau() float64 {
	if p.Model.family().kind == ofSparseGroups {
		return 0.5
	}
	return 0
}

// reach returns the largest c for which ca is in the domain of the conjugate of the norm of a block of weight w
// at strength α: ‖ca‖ ≤ αw, or for sparse groups ‖ST(ca, τα)‖ ≤ (1 − τ)αw, by bisection.
func (p *Problem) reach(alpha, weight float64, a []float64) float64 {
	tau := p.tau()
	size := func(c float64) float64 {
		sum := 0.0
		for _, v := range a {
			over := math.Max(0, c*math.Abs(v)-tau*alpha)
			sum += over * over
		}
		return math.Sqrt(sum)
	}
	low, high, most := 0.0, 1.0, (1-tau)*alpha*weight
	switch whole := size(math.MaxFloat64); {
	case whole == 0:
		return math.Inf(1)
	case tau == 0 || math.IsNaN(whole):
		return most / size(1)
	}
	for size(high) <= most {
		low, high = high, 2*high
	}
	for range 100 {
		if c := (low + high) / 2; size(c) <= most {
			low = c
		} else {
			high = c
		}
	}
	return low
}

// null returns the objective at β = 0.
func (p *Problem) null() float64 {
	if p.Model.family().kind == ofVectors {
		return p.Alpha * p.hinge(make([]float64, len(p.Y)))
	}
	value, _, _ := p.rows(make([]float64, len(p.Y)*p.scores()), 1)
	return value
}

// The parameters of the penalties that are not convex.
const (
	mcpGamma = 3
	scadA    = 3.7
)

// certifyStationary compares correlations with the derivatives of a nonconvex penalty.
func (p *Problem) certifyStationary(prediction, beta []float64) Certificate {
	value, _, slope := p.rows(prediction, 1)
	lack := 0.0
	for j, z := range p.correlations(slope) {
		size, alpha := math.Abs(beta[j]), p.Alpha
		var penalty, derivative float64
		switch {
		case p.Model == MCP && size <= mcpGamma*alpha:
			penalty, derivative = alpha*size-size*size/(2*mcpGamma), alpha-size/mcpGamma
		case p.Model == MCP:
			penalty = mcpGamma * alpha * alpha / 2
		case size <= alpha:
			penalty, derivative = alpha*size, alpha
		case size <= scadA*alpha:
			penalty, derivative = (2*scadA*alpha*size-size*size-alpha*alpha)/(2*(scadA-1)), (scadA*alpha-size)/(scadA-1)
		default:
			penalty = alpha * alpha * (scadA + 1) / 2
		}
		value += penalty
		if size > 0 {
			lack = max(lack, math.Abs(z-math.Copysign(derivative, beta[j])))
		} else {
			lack = max(lack, math.Abs(z)-alpha)
		}
	}
	return Certificate{Objective: value, Gap: lack / p.AlphaMax()}
}

func (p *Problem) certifyVectors(prediction []float64, l2 float64) Certificate {
	objective := l2/2 + p.Alpha*p.hinge(prediction)
	return Certificate{Objective: objective, Gap: (objective - p.Bound) / p.null()}
}

// tube is the ε of SVR: residuals up to it cost nothing.
const tube = 0.1

// hinge returns the sum of the losses of support vectors.
func (p *Problem) hinge(prediction []float64) (sum float64) {
	for i, y := range p.Y {
		if p.Model == SVR {
			sum += max(0, math.Abs(y-prediction[i])-tube)
		} else {
			sum += max(0, 1-y*prediction[i])
		}
	}
	return sum
}

// ProveBound sets Bound to the dual objective, a lower bound of every primal objective: for an SVM Σdᵢ −
// ½‖Σdᵢyᵢxᵢ‖² for any 0 ≤ dᵢ ≤ Alpha, for an SVR Σ(dᵢyᵢ − tube|dᵢ|) − ½‖Σdᵢxᵢ‖² for any |dᵢ| ≤ Alpha. It clips
// d to this box; rows not listed have dᵢ = 0.
func (p *Problem) ProveBound(rows []int32, d []float64) {
	multiplier := make([]float64, len(p.Y))
	sum := 0.0
	for k, i := range rows {
		if p.Model == SVR {
			v := min(max(d[k], -p.Alpha), p.Alpha)
			multiplier[i] = v
			sum += v*p.Y[i] - tube*math.Abs(v)
			continue
		}
		v := min(max(d[k], 0), p.Alpha)
		multiplier[i] = v * p.Y[i]
		sum += v
	}
	_, columns := p.X.Dims()
	squares := 0.0
	for j := range columns {
		w := dot(p.X, j, multiplier)
		squares += w * w
	}
	p.Bound = sum - squares/2
}
