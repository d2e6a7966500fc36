package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/support"
)

// vectorsFree solves the conditions yᵢ − mᵢ = ±ε of the free rows S,
//
//	A_SS·a_S + b·1 = y_S ∓ ε − A_SB·a_B,  Σa_S = −Σa_B,
//
// through A_SS + τ11ᵀ, which is positive definite where the rows are affinely independent.
type vectorsFree struct {
	rows  []int32 // S
	sign  []float64
	m     []float64 // predictions of a, which is not clipped
	x     []float64 // the rows S, where p is small
	q     []float64 // the matrix
	faceW []float64 // w, which determines the face on the simplex
	face  []int32

	bordered support.Bordered     // the system of a large problem
	system   support.Semidefinite // rows may depend on one another
	rhs      []float64
	ones     []float64
	spare    []float64
	known    []int32   // S of the step before
	sides    []float64 // sign of the step before
}

// point returns a spare vector of n zeros.
func (v *vectorsFree) point(k *kernels.Set, n int) []float64 {
	if len(v.spare) != n {
		v.spare = make([]float64, n)
	}
	k.Clear(v.spare)
	return v.spare
}

// mostActiveSetSteps bounds the steps of activeSet.
const mostActiveSetSteps = 60

// activeSet is a primal–dual active set method (Hintermüller, Ito and Kunisch, SIAM Journal on
// Optimization 13, 2002): each step classifies the rows and solves the conditions of the free ones,
// exactly or by conjugate gradients. It reports whether it reached a set of free rows that stays the
// same, or a gap that is rounding.
func (s *Vectors) activeSet(ctx context.Context) (ended bool) {
	s.k.Copy(s.a, s.sol.Dual)
	if s.sol.Passes > 0 {
		s.b = s.sol.Intercept
	}
	s.fit.SetPrimal(s.a, s.w)
	return s.activeSetFrom(ctx)
}

// activeSetNear is activeSet after an interior-point method: entries of the best point within edge, √μ, of a bound are moved to it.
func (s *Vectors) activeSetNear(ctx context.Context, edge float64) (ended bool) {
	s.k.Clear(s.a)
	for _, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), s.c)
		switch a := s.sol.Dual[i]; {
		case math.Abs(a) <= edge:
		case upper-a <= edge:
			s.a[i] = upper
		case a-lower <= edge:
			s.a[i] = lower
		default:
			s.a[i] = a
		}
	}
	for j, w := range s.sol.W {
		if s.w[j] = w; s.fit.Simplex() && w <= edge {
			s.w[j] = 0
		}
	}
	s.b = s.sol.Intercept
	return s.activeSetFrom(ctx)
}

// activeSetFrom is activeSet from the current a, w and b.
func (s *Vectors) activeSetFrom(ctx context.Context) (ended bool) {
	v := &s.free
	v.m = grow(v.m, s.n)
	idle := 0 // consecutive steps that have not halved the gap
	for round := 0; round < mostActiveSetSteps && ctx.Err() == nil; round++ {
		s.fit.Predict(s.w, s.b, v.m)
		s.sol.Work += float64(2 * s.pass())
		v.faceW, v.face = append(v.faceW[:0], s.w...), s.fit.Face(s.w)
		v.known, v.rows, v.sides, v.sign = v.rows, v.known, v.sign, v.sides
		moved := s.classify()
		stays := round > 0 && !moved && slices.Equal(v.known, v.rows) && slices.Equal(v.sides, v.sign)
		if solved := s.iterative && s.stepFree(ctx, stays) || !s.iterative && s.solveFree(); !solved {
			return false
		}
		s.sol.Steps++
		before := s.bestGap
		gap := s.evaluate()
		if s.iterative {
			if idle++; s.bestGap <= 0.5*before {
				idle = 0
			}
			if idle > mostIdle {
				return s.bestGap <= float64(interiorRough*s.null)
			}
		}
		if stays {
			kept := gap <= s.bestGap
			sharper := s.fit.Simplex() && s.moveToTubeEdges()
			if !kept && !sharper {
				s.keepClassified()
			}
			return true
		}
		if gap <= float64(leastGap*s.null) {
			return true
		}
		s.fit.SetPrimal(s.a, s.w)
	}
	return false
}

// classify moves every row whose coordinate step leads to an end of its interval, or to 0,
// there, and lists the other rows as free. It reports whether a row has moved.
func (s *Vectors) classify() (moved bool) {
	v := &s.free
	v.rows, v.sign = v.rows[:0], v.sign[:0]
	for _, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), s.c)
		switch a := s.step(i, s.a[i], v.m[i]); a {
		case 0, lower, upper:
			moved = moved || s.a[i] != a
			s.a[i] = a
		default:
			v.rows, v.sign = append(v.rows, i), append(v.sign, math.Copysign(1, a))
		}
	}
	return moved
}

// solveFree sets a on the free rows and b to the solution of their conditions. It returns
// false if the system is singular to working precision, or larger than mostFree or the budget allow.
func (s *Vectors) solveFree() bool {
	v, size := &s.free, len(s.free.rows)
	if size == 0 {
		return true
	}
	cost := support.CholeskyCost(size)
	if s.budget -= cost; size > s.mostFree || s.budget < 0 {
		return false
	}
	var fixed float64
	for _, i := range v.rows {
		s.a[i] = 0
	}
	for _, i := range kernels.Each(s.k, s.list) {
		fixed += s.a[i]
	}
	s.fit.SetMotion(s.a, v.faceW, s.w)
	if s.fit.Simplex() { // relative to the middle of the face
		for _, j := range v.face {
			s.w[j] += 1 / float64(len(v.face))
		}
	}
	s.fit.Predict(s.w, 0, v.m)
	v.rhs, v.ones = grow(v.rhs, size), grow(v.ones, size)
	lift := s.freeMatrix()
	for k, i := range v.rows {
		v.rhs[k] = s.fit.Target()[i] - float64(v.sign[k]*s.epsilon) - v.m[i] - float64(lift*fixed)
		v.ones[k] = 1
	}
	if s.sol.Work += cost; !v.system.Factorise(v.q, size) || !v.system.Solve(v.rhs) {
		return false
	}
	if s.fit.Centred() {
		if !v.system.Solve(v.ones) {
			return false
		}
		var a, one float64
		for k := range v.rows {
			a, one = a+v.rhs[k], one+v.ones[k]
		}
		s.b = (a + fixed) / one
		s.k.Axpy(-s.b, v.ones, v.rhs)
	}
	for k, i := range v.rows {
		s.a[i] = v.rhs[k]
	}
	return true
}

// freeMatrix sets q to A_SS + τ11ᵀ, A on the columns of the face, and returns τ, 0 without an intercept.
func (s *Vectors) freeMatrix() (tau float64) {
	v, size := &s.free, len(s.free.rows)
	v.q = grow(v.q, size*size)
	if s.fit.Centred() {
		for _, i := range v.rows {
			tau += s.square[i] / float64(size)
		}
		if tau == 0 {
			tau = 1
		}
	}
	if s.byRows {
		s.products()
		all := len(s.list)
		for k, i := range v.rows {
			row := s.gram[int(s.place[i])*all:]
			for l, other := range v.rows[:k+1] {
				v.q[k*size+l] = row[s.place[other]] + tau
			}
		}
		return tau
	}
	v.x = s.fit.Rows(v.rows, v.face, v.x)
	p := len(v.face)
	for k := range v.rows {
		for l := range k + 1 {
			v.q[k*size+l] = s.k.Dot(v.x[k*p:][:p], v.x[l*p:][:p]) + tau
		}
	}
	return tau
}
