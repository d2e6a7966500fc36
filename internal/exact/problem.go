package exact

import (
	"errors"
	"math"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// Problem is the problem of package oracle or, with Logistic, the same with the logistic loss of y = ±1. With
// Standardise, columns are centred and divided by their standard deviations over the weighted rows or, without
// an intercept, divided by their root mean squares; strengths are in these units.
type Problem struct {
	*oracle.Problem
	Logistic, Standardise bool
}

// Solution is the minimiser, with its implicit linear system.
type Solution struct {
	q       *Problem
	total   *Number     // N
	columns [][]*Number // on all rows; the last is a column of ones if there is an intercept
	beta    []*Number   // by column, the intercept last
	sign    []int       // signs of active columns, 0: not active; 1 for the intercept and for unpenalised columns
	m       []*Number   // Xβ + b on all rows
	nu, d   []*Number   // −∂f/∂m and ∂²f/∂m², times N
	z       []*Number   // Xᵀν/N at the solution
	factor  factor
	active  []int
}

// Errors of [Problem.Solve].
var (
	ErrNotUnique = errors.New("exact: the solution is not unique")
	ErrTooLong   = errors.New("exact: the method has not ended")
)

const mostSteps = 400

// Solve returns the solution, starting from a guess of the coefficients and the intercept for the original
// columns.
func (q *Problem) Solve(guess []float64, intercept float64) (*Solution, error) {
	s := q.lay(guess, intercept)
	for range mostSteps {
		s.evaluate()
		s.assemble()
		var regular bool
		if s.factor, regular = factorise(s.system()); !regular {
			if !s.leave(s.factor.null(len(s.active))) {
				return nil, ErrNotUnique
			}
			continue
		}
		if s.step() {
			continue
		}
		s.evaluate()
		if !s.enter() {
			s.assemble()
			if s.factor, regular = factorise(s.system()); !regular {
				return nil, ErrNotUnique
			}
			return s, nil
		}
	}
	return nil, ErrTooLong
}

// lay sets up the columns and the starting point.
func (q *Problem) lay(guess []float64, intercept float64) *Solution {
	n, p := q.Dims()
	s := &Solution{q: q, total: zero(), m: vector(n), nu: vector(n), d: vector(n)}
	shift := of(intercept)
	for i := range n {
		s.total.Add(s.total, of(q.Weight(i)))
	}
	for j := range p {
		column := make([]*Number, n)
		for i := range n {
			column[i] = of(q.X[i][j])
		}
		beta := of(guess[j])
		if q.Standardise {
			mean, spread := q.standardise(column, s.total)
			shift.Add(shift, mean.Mul(mean, beta))
			beta.Mul(beta, spread)
		}
		s.columns, s.beta, s.sign = append(s.columns, column), append(s.beta, beta), append(s.sign, 0)
		switch {
		case math.IsInf(q.Alpha[j], 1) || s.curvature(j).Sign() == 0:
			s.beta[j].SetInt64(0)
		case q.Alpha[j] == 0:
			s.sign[j] = 1
		default:
			s.sign[j] = s.beta[j].Sign()
		}
	}
	if q.Intercept {
		ones := make([]*Number, n)
		for i := range n {
			ones[i] = of(1)
		}
		s.columns, s.beta, s.sign = append(s.columns, ones), append(s.beta, shift), append(s.sign, 1)
	}
	s.z = vector(len(s.columns))
	return s
}

// standardise scales a column and, if there is an intercept, centres it; a column without spread becomes 0. It
// returns the mean subtracted and the divisor.
func (q *Problem) standardise(column []*Number, total *Number) (mean, spread *Number) {
	mean, square, t := zero(), zero(), zero()
	if q.Intercept {
		for i, v := range column {
			mean.Add(mean, t.Mul(of(q.Weight(i)), v))
		}
		mean.Quo(mean, total)
	}
	for i, v := range column {
		v.Sub(v, mean)
		square.Add(square, t.Mul(of(q.Weight(i)), t.Mul(v, v)))
	}
	square.Quo(square, total)
	if below(square, zero().Mul(mean, mean), 90) { // rounding errors of a constant in 53 bits
		square.SetInt64(0)
	}
	square.Sqrt(square)
	for _, v := range column {
		if square.Sign() == 0 {
			v.SetInt64(0)
			continue
		}
		v.Quo(v, square)
	}
	return mean, square
}

// curvature returns Σ sᵢxᵢⱼ².
func (s *Solution) curvature(j int) *Number {
	sum, t := zero(), zero()
	for i, v := range s.columns[j] {
		sum.Add(sum, t.Mul(of(s.q.Weight(i)), t.Mul(v, v)))
	}
	return sum
}

// evaluate sets m, ν, d and z at β.
func (s *Solution) evaluate() {
	for i := range s.m {
		s.m[i].SetInt64(0)
	}
	for j, b := range s.beta {
		if b.Sign() != 0 {
			axpy(b, s.columns[j], s.m)
		}
	}
	for i, m := range s.m {
		weight, y := of(s.q.Weight(i)), of(s.q.Y[i])
		switch {
		case weight.Sign() == 0:
			s.nu[i].SetInt64(0)
			s.d[i].SetInt64(0)
		case s.q.Logistic:
			up, down := sigmoid(m)
			s.d[i].Mul(weight, zero().Mul(up, down))
			if y.Sign() < 0 {
				down = up.Neg(up)
			}
			s.nu[i].Mul(weight, down)
		default:
			s.nu[i].Mul(weight, zero().Sub(y, m))
			s.d[i].Set(weight)
		}
	}
	for j, column := range s.columns {
		s.z[j] = dot(column, s.nu)
		s.z[j].Quo(s.z[j], s.total)
	}
}

// assemble lists the active columns.
func (s *Solution) assemble() {
	s.active = s.active[:0]
	for j, sign := range s.sign {
		if sign != 0 {
			s.active = append(s.active, j)
		}
	}
}

// penalised reports whether the penalty of column j contains |β|.
func (s *Solution) penalised(j int) bool { return j < len(s.q.Alpha) && s.q.Alpha[j] > 0 }

// ridge returns α₂ for a column, and 0 for the intercept.
func (s *Solution) ridge(j int) float64 {
	if j < len(s.q.Alpha) {
		return s.q.Ridge
	}
	return 0
}

// system returns the lower triangle of A on the active columns.
func (s *Solution) system() [][]*Number {
	a, weighted := make([][]*Number, len(s.active)), vector(len(s.m))
	for k, j := range s.active {
		for i, v := range s.columns[j] {
			weighted[i].Mul(s.d[i], v)
		}
		for _, other := range s.active[:k+1] {
			entry := dot(weighted, s.columns[other])
			a[k] = append(a[k], entry.Quo(entry, s.total))
		}
		a[k][k].Add(a[k][k], of(s.ridge(j)))
	}
	return a
}

// lack returns the residual of the optimality conditions, z − α·sign − α₂β, on the active columns.
func (s *Solution) lack() []*Number {
	out := vector(len(s.active))
	for k, j := range s.active {
		out[k].Sub(s.z[j], zero().Mul(of(s.ridge(j)), s.beta[j]))
		if s.penalised(j) {
			out[k].Sub(out[k], zero().Mul(of(float64(s.sign[j])), of(s.q.Alpha[j])))
		}
	}
	return out
}

// step makes a Newton step on the active columns, at most to the first coefficient that reaches zero; that
// column leaves. It returns false if the point is the minimiser.
func (s *Solution) step() bool {
	lack := s.lack()
	delta := s.factor.solve(lack)
	length, leaving := s.reach(delta, of(1))
	before := dot(lack, delta)
	was := make([]*Number, len(s.active))
	for k, j := range s.active {
		was[k] = zero().Set(s.beta[j])
	}
	for {
		for k, j := range s.active {
			s.beta[j].Add(was[k], zero().Mul(length, delta[k]))
		}
		if !s.q.Logistic {
			break
		}
		s.evaluate()
		// The slope along the step may not reverse to more than half of its initial size.
		if after := dot(s.lack(), delta); zero().Mul(of(-2), after).Cmp(before) <= 0 {
			break
		}
		length, leaving = length.Quo(length, of(2)), -1
	}
	if leaving >= 0 {
		s.beta[leaving].SetInt64(0)
		s.sign[leaving] = 0
		return true
	}
	return !s.still(delta, length)
}

// still reports whether the step was full and moved no prediction by more than the square root of the
// precision.
func (s *Solution) still(delta []*Number, length *Number) bool {
	if length.Cmp(of(1)) < 0 {
		return false
	}
	moved, largest := vector(len(s.m)), of(1)
	for k, j := range s.active {
		axpy(delta[k], s.columns[j], moved)
	}
	for i, m := range s.m {
		if s.q.Weight(i) > 0 && zero().Abs(m).Cmp(largest) > 0 {
			largest.Abs(m)
		}
	}
	for i, v := range moved {
		if s.q.Weight(i) > 0 && !below(v, largest, precision/3) {
			return false
		}
	}
	return true
}

// reach returns how far to go along a direction, at most most, and the column that reaches zero there, −1:
// none.
func (s *Solution) reach(delta []*Number, most *Number) (length *Number, leaving int) {
	length, leaving = most, -1
	for k, j := range s.active {
		if !s.penalised(j) || delta[k].Sign()*s.sign[j] >= 0 {
			continue
		}
		t := zero().Quo(s.beta[j], delta[k])
		if t.Neg(t); length == nil || t.Cmp(length) <= 0 {
			length, leaving = t, j
		}
	}
	return length, leaving
}

// leave moves along a direction that changes no prediction, with the sign that does not increase the penalty,
// until a coefficient reaches zero and its column leaves.
func (s *Solution) leave(null []*Number) bool {
	slope := zero()
	for k, j := range s.active {
		if s.penalised(j) {
			slope.Add(slope, zero().Mul(null[k], zero().Mul(of(float64(s.sign[j])), of(s.q.Alpha[j]))))
		}
	}
	if slope.Sign() > 0 {
		for _, v := range null {
			v.Neg(v)
		}
	}
	length, leaving := s.reach(null, nil)
	if leaving < 0 {
		return false
	}
	for k, j := range s.active {
		s.beta[j].Add(s.beta[j], zero().Mul(length, null[k]))
	}
	s.beta[leaving].SetInt64(0)
	s.sign[leaving] = 0
	return true
}

// tie is the relative distance, as a negative power of 2, within which |z| counts as equal to α.
const tie = 90

// enter makes the column active whose |z| exceeds its strength most. It returns false if there is none.
func (s *Solution) enter() bool {
	best, worst := -1, zero()
	for j, alpha := range s.q.Alpha {
		pull := zero().Abs(s.z[j])
		if s.sign[j] != 0 || alpha == 0 || math.IsInf(alpha, 1) || s.q.Positive && s.z[j].Sign() < 0 {
			continue
		}
		excess := pull.Sub(pull, of(alpha))
		if excess.Sign() > 0 && !below(excess, of(alpha), tie) {
			if excess.Quo(excess, of(alpha)); excess.Cmp(worst) > 0 {
				best, worst = j, excess
			}
		}
	}
	if best < 0 {
		return false
	}
	s.sign[best] = s.z[best].Sign()
	return true
}
