package peers

import (
	"fmt"
	"math"
)

// Certificate is what we find out about somebody's coefficients.
type Certificate struct {
	Objective float64 `json:"objective"`
	// Gap is the duality gap at the coefficients, with the dual point that their
	// residual gives when it is scaled to be feasible, relative to the objective at
	// β = 0. With a ridge the point need not be scaled; the lower of the two
	// gaps counts. For an SVM, whose coefficients say nothing about a dual point, it
	// is the distance to the problem's Bound. The largest number there is where β is not finite.
	Gap     float64 `json:"gap"`
	Support int     `json:"support"`
}

// Certify recomputes everything from X, y and the nonzero coefficients, in plain
// loops. The error is about indices that are not columns.
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
	if p.Model == SVM {
		c = p.certifySVM(prediction, l2)
	} else {
		c = p.certifyRows(prediction, beta, l2)
	}
	c.Support = support
	if !(c.Gap < math.MaxFloat64 && math.Abs(c.Objective) < math.MaxFloat64) {
		c.Objective, c.Gap = math.MaxFloat64, math.MaxFloat64 // JSON has no infinity
	}
	return c, nil
}

// certifyRows takes the dual point that the residual gives: scaled to be in the domain of the
// conjugate of the norm, and with a ridge, whose conjugate has no bounds, also as it is.
func (p *Problem) certifyRows(prediction, beta []float64, l2 float64) Certificate {
	value, _, slope := p.rows(prediction, 1)
	z := p.correlations(slope)
	reach, norm, free, scaled := 1.0, 0.0, 0.0, 0.0
	p.blocks(func(weight float64, entries []int) {
		alpha, size, excess, away, inner := p.Alpha*weight, 0.0, 0.0, 0.0, 0.0
		for _, at := range entries {
			size += beta[at] * beta[at]
			excess += z[at] * z[at]
			away += (z[at] - p.Ridge*beta[at]) * (z[at] - p.Ridge*beta[at])
			inner += z[at] * beta[at]
		}
		norm += alpha * math.Sqrt(size)
		if away = math.Sqrt(away); !(away <= alpha) {
			reach = min(reach, alpha/away) // NaN where away is
		}
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

// rows returns the mean loss at the predictions, what the dual point of c times the residual lacks
// there, and the residual.
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

// correlations is Xᵀslope/n, by column and score.
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

// blocks calls f with the entries of β that have a norm together, and its weight.
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

// blockWeight is √p_g of columns, 1 of the scores of a column.
func (p *Problem) blockWeight(size int) float64 {
	if p.Groups == nil {
		return 1
	}
	return math.Sqrt(float64(size))
}

// scores is the number of them that a row has.
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

// AlphaMax is the least Alpha at which β = 0 is optimal.
func (p *Problem) AlphaMax() float64 {
	_, _, slope := p.rows(make([]float64, len(p.Y)*p.scores()), 1)
	z, largest := p.correlations(slope), 0.0
	p.blocks(func(weight float64, entries []int) {
		squares := 0.0
		for _, at := range entries {
			squares += z[at] * z[at]
		}
		largest = max(largest, math.Sqrt(squares)/weight)
	})
	return largest
}

// null is the objective at β = 0.
func (p *Problem) null() float64 {
	if p.Model == SVM {
		return p.Alpha * float64(len(p.Y))
	}
	value, _, _ := p.rows(make([]float64, len(p.Y)*p.scores()), 1)
	return value
}

func (p *Problem) certifySVM(prediction []float64, l2 float64) Certificate {
	hinge := 0.0
	for i, y := range p.Y {
		hinge += max(0, 1-y*prediction[i])
	}
	objective := l2/2 + p.Alpha*hinge
	return Certificate{Objective: objective, Gap: (objective - p.Bound) / p.null()}
}

// ProveBound sets Bound to the dual objective Σdᵢ − ½‖Σdᵢyᵢxᵢ‖², which is below
// every primal one for any 0 ≤ dᵢ ≤ Alpha; what leaves that box is brought back.
// Rows not listed have dᵢ = 0.
func (p *Problem) ProveBound(rows []int32, d []float64) {
	multiplier := make([]float64, len(p.Y))
	sum := 0.0
	for k, i := range rows {
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
