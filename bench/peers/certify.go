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
	// β = 0. For the elastic net the point need not be scaled; the lower of the two
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
	beta := make([]float64, columns)
	for k, j := range index {
		if j < 0 || int(j) >= columns {
			return Certificate{}, fmt.Errorf("a coefficient for column %d of %d", j, columns)
		}
		beta[j] += value[k]
	}
	prediction := make([]float64, n)
	support, l1, l2 := 0, 0.0, 0.0
	for j, b := range beta {
		if b == 0 {
			continue
		}
		support++
		l1 += math.Abs(b)
		l2 += b * b
		rows, values := p.X.Column(j)
		for k, v := range values {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			prediction[i] += v * b
		}
	}
	var c Certificate
	switch p.Model {
	case Logistic:
		c = p.certifyLogistic(prediction, l1)
	case SVM:
		c = p.certifySVM(prediction, l2)
	default:
		c = p.certifySquared(prediction, beta, l1, l2)
	}
	c.Support = support
	if !(c.Gap < math.MaxFloat64 && math.Abs(c.Objective) < math.MaxFloat64) {
		c.Objective, c.Gap = math.MaxFloat64, math.MaxFloat64 // JSON has no infinity
	}
	return c, nil
}

func (p *Problem) certifySquared(prediction, beta []float64, l1, l2 float64) Certificate {
	n := float64(len(p.Y))
	residual := make([]float64, len(p.Y))
	squares, null := 0.0, 0.0
	for i, y := range p.Y {
		residual[i] = y - prediction[i]
		squares += residual[i] * residual[i]
		null += y * y
	}
	null /= 2 * n
	objective := squares/(2*n) + p.Alpha*l1 + p.Ridge*l2/2

	// The dual of the Lasso at u: (‖y‖² − ‖y − u‖²)/2n for |X_jᵀu| ≤ nα. A ridge
	// counts as rows √(nα₂)·I with target 0, in which the residual is −√(nα₂)·β.
	largest, conjugate := 0.0, 0.0
	for j, b := range beta {
		z := dot(p.X, j, residual) / n
		largest = max(largest, math.Abs(z-p.Ridge*b))
		if math.IsNaN(z) {
			largest = z
			break
		}
		if p.Ridge > 0 {
			over := max(0, math.Abs(z)-p.Alpha)
			conjugate += over * over / (2 * p.Ridge)
		}
	}
	scale := 1.0
	if !(largest <= p.Alpha) {
		scale = p.Alpha / largest
	}
	away := scale * scale * n * p.Ridge * l2
	for i, y := range p.Y {
		d := y - scale*residual[i]
		away += d * d
	}
	gap := objective - (null - away/(2*n))
	if p.Ridge > 0 {
		away = 0
		for _, m := range prediction { // y − residual
			away += m * m
		}
		gap = min(gap, objective-(null-away/(2*n)-conjugate))
	}
	return Certificate{Objective: objective, Gap: gap / null}
}

func (p *Problem) certifyLogistic(prediction []float64, l1 float64) Certificate {
	n := float64(len(p.Y))
	slope := make([]float64, len(p.Y)) // yᵢσ(−yᵢmᵢ)
	loss := 0.0
	for i, y := range p.Y {
		m := y * prediction[i]
		loss += max(0, -m) + math.Log1p(math.Exp(-math.Abs(m)))
		slope[i] = y / (1 + math.Exp(m))
	}
	objective := loss/n + p.Alpha*l1
	_, columns := p.X.Dims()
	largest := 0.0
	for j := range columns {
		z := math.Abs(dot(p.X, j, slope)) / n
		if math.IsNaN(z) {
			largest = z
			break
		}
		largest = max(largest, z)
	}
	scale := 1.0
	if !(largest <= p.Alpha) {
		scale = p.Alpha / largest
	}
	entropy := 0.0
	for i := range slope {
		t := scale * math.Abs(slope[i])
		entropy -= xlogx(t) + xlogx(1-t)
	}
	return Certificate{Objective: objective, Gap: (objective - entropy/n) / math.Ln2}
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

func xlogx(x float64) float64 {
	if x <= 0 {
		return 0
	}
	return x * math.Log(x)
}
