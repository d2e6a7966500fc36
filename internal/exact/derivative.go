package exact

import "math"

// Beta returns the coefficients, in the units of the penalty, rounded.
func (s *Solution) Beta() []float64 { return floats(s.beta[:len(s.q.Alpha)]) }

// Intercept returns the intercept for the columns as they are in the penalty, rounded.
func (s *Solution) Intercept() float64 {
	if !s.q.Intercept {
		return 0
	}
	return float(s.beta[len(s.q.Alpha)])
}

// Support lists the columns that are nonzero or unpenalised.
func (s *Solution) Support() (columns []int) {
	for _, j := range s.active {
		if j < len(s.q.Alpha) {
			columns = append(columns, j)
		}
	}
	return columns
}

// Margin returns the distance of the solution from a knot: the least 1 − |zⱼ|/αⱼ off the support; coefficients
// on the support are not looked at. Columns that are multiples of a support column on all rows are left out,
// since they do not change the predictions. It is 1 if there is no other column.
func (s *Solution) Margin() float64 {
	least := 1.0
	for j, alpha := range s.q.Alpha {
		if s.sign[j] != 0 || alpha == 0 || math.IsInf(alpha, 1) || s.q.Positive && s.z[j].Sign() < 0 {
			continue
		}
		gap := zero().Quo(zero().Abs(s.z[j]), of(alpha))
		if margin := float(gap.Sub(of(1), gap)); margin < least && !s.copied(j) {
			least = margin
		}
	}
	return least
}

// copied reports whether column j is a multiple of an active column.
func (s *Solution) copied(j int) bool {
	for _, other := range s.active {
		if other < len(s.q.Alpha) && parallel(s.columns[j], s.columns[other]) {
			return true
		}
	}
	return false
}

func parallel(a, b []*Number) bool {
	at := 0
	for at < len(a) && a[at].Sign() == 0 && b[at].Sign() == 0 {
		at++
	}
	if at == len(a) || b[at].Sign() == 0 {
		return false
	}
	factor := zero().Quo(a[at], b[at])
	for i, v := range a {
		if off := zero().Sub(v, zero().Mul(factor, b[i])); !below(off, v, singular) {
			return false
		}
	}
	return true
}

// Gradient returns ∂L/∂λ for the slope ∂C/∂m of a criterion on all rows: for an ℓ1 strength common to all
// columns, for the ridge, and for each column's own strength.
func (s *Solution) Gradient(slope Slope) (common, ridge float64, each []float64) {
	right := vector(len(s.active))
	for k, j := range s.active {
		right[k] = dot(s.columns[j], slope)
	}
	v := s.factor.solve(right)
	each = make([]float64, len(s.q.Alpha))
	all, square := zero(), zero()
	for k, j := range s.active {
		square.Sub(square, zero().Mul(zero().Mul(of(s.ridge(j)), s.beta[j]), v[k]))
		if s.penalised(j) {
			own := zero().Mul(zero().Mul(of(-float64(s.sign[j])), of(s.q.Alpha[j])), v[k])
			each[j] = float(own)
			all.Add(all, own)
		}
	}
	return float(all), float(square), each
}

// Slope is ∂C/∂m of a criterion on all rows, 0 on rows that the criterion does not use.
type Slope []*Number

// Criterion is a loss of one row, given by its slope in m.
type Criterion func(y, m *Number) *Number

// Square is the slope of (y − m)².
func Square(y, m *Number) *Number { return zero().Mul(of(2), zero().Sub(m, y)) }

// LogLoss is the slope of ln(1 + e^−ym).
func LogLoss(y, m *Number) *Number {
	up, down := sigmoid(m)
	if y.Sign() > 0 {
		return down.Neg(down)
	}
	return up
}

// Hinge is the slope of the smoothed hinge loss of table 2.
func Hinge(y, m *Number) *Number {
	t := zero().Mul(y, m)
	switch {
	case t.Sign() <= 0:
		return zero().Neg(y)
	case t.Cmp(of(1)) < 0:
		return t.Mul(y, t.Sub(t, of(1)))
	default:
		return zero()
	}
}

// judge returns the slope of the weighted mean of a criterion over rows.
func judge(c Criterion, q *Problem, m []*Number, rows []int, weight func(int) float64) Slope {
	out, total := Slope(vector(len(m))), zero()
	for _, i := range rows {
		total.Add(total, of(weight(i)))
	}
	for _, i := range rows {
		out[i].Quo(zero().Mul(of(weight(i)), c(of(q.Y[i]), m[i])), total)
	}
	return out
}

// Judge returns the slope of the weighted mean of a criterion over held-out rows; weight returns the weight of
// a row in the criterion.
func (s *Solution) Judge(c Criterion, rows []int, weight func(int) float64) Slope {
	return judge(c, s.q, s.m, rows, weight)
}

// Entropy returns the slopes of the cross-entropy of the scores, one solution per class, over rows; label has
// the class of each row.
func Entropy(classes []*Solution, label, rows []int, weight func(int) float64) []Slope {
	out, total := make([]Slope, len(classes)), zero()
	for k, s := range classes {
		out[k] = vector(len(s.m))
	}
	for _, i := range rows {
		total.Add(total, of(weight(i)))
	}
	for _, i := range rows {
		share, sum, top := make([]*Number, len(classes)), zero(), classes[0].m[i]
		for _, s := range classes {
			if s.m[i].Cmp(top) > 0 {
				top = s.m[i]
			}
		}
		for k, s := range classes {
			share[k] = exp(zero().Sub(s.m[i], top))
			sum.Add(sum, share[k])
		}
		for k := range classes {
			share[k].Quo(share[k], sum)
			if label[i] == k {
				share[k].Sub(share[k], of(1))
			}
			out[k][i].Quo(share[k].Mul(share[k], of(weight(i))), total)
		}
	}
	return out
}
