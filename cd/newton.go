package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/support"
)

// newton solves the optimality conditions on the support of the working set:
// with signs fixed they are the linear system A·d = ρ, ρ = z_S − α sign(β_S) −
// α₂β_S. Coordinate descent finds the support quickly and converges slowly on
// it; one Newton step does the rest.
//
// When to take it is a ski rental: sweeps go on until they have cost a share of
// what the step is modelled to cost, so that at worst a constant factor is
// lost. Costs are counted in values visited.
type newton struct {
	system support.System
	cg     support.CG

	columns    []int32 // the support
	position   []int32 // its positions in the working set
	rho, d     []float64
	from       []float64 // coefficients before the step
	iterations int       // CG iterations of the last step
}

const (
	newtonShare      = 0.3  // sweeps' cost, relative to the step's, that triggers one
	newtonTol        = 1e-2 // of the linear system
	newtonIterations = 200
	firstGuess       = 15 // CG iterations expected of the first step
	shortening       = 0.3
	trials           = 3
)

// newtonPrice models the cost of a step in values visited.
func (s *Solver) newtonPrice() int {
	nw := &s.newt
	values := 0
	for k, j := range s.set.columns {
		if s.in.coef[k] != 0 {
			values += s.pack.length(j)
		}
	}
	iterations := nw.iterations
	if iterations == 0 {
		iterations = firstGuess
	}
	return s.in.reluctant * int(newtonShare*float64(2*iterations*(values+s.pack.m/4)))
}

// newton takes a step on the support, if one that does not raise the objective
// is found. Coefficients that would cross zero become zero.
func (s *Solver) newton(ctx context.Context) {
	nw, in, total := &s.newt, &s.in, s.view.Total()
	nw.columns, nw.position = nw.columns[:0], nw.position[:0]
	for k, j := range s.set.columns {
		if in.coef[k] != 0 {
			nw.columns = append(nw.columns, j)
			nw.position = append(nw.position, int32(k))
		}
	}
	size := len(nw.columns)
	if size == 0 {
		return
	}
	nw.rho, nw.d, nw.from = grow(nw.rho, size), grow(nw.d, size), grow(nw.from, size)
	ridge := total * s.pen.Ridge()
	for i, k := range nw.position {
		index, values := s.pack.column(nw.columns[i])
		var c float64
		if index == nil {
			c = s.k.Dot(values, in.r)
		} else {
			c = math.FMA(in.offset*total, in.mean[k], s.k.DotIndexed(values, index, in.r))
		}
		b := in.coef[k]
		nw.from[i] = b
		nw.rho[i] = (c - math.Copysign(in.threshold[k], b) - float64(ridge*b)) / total
	}
	clear(nw.d)
	nw.system.Reset(s.view, nw.columns, s.pen.Ridge())
	report := nw.cg.Solve(ctx, &nw.system, nw.rho, nw.d, newtonTol, min(newtonIterations, 2*size+10))
	nw.iterations = max(1, report.Iterations)

	before := s.innerObjective()
	length := 1.0
	for range trials {
		s.step(length)
		if s.innerObjective() <= before+roundoff*total*s.fit.Null() {
			s.sol.Steps++
			in.reluctant = 1
			return
		}
		length *= shortening
	}
	s.step(0)
	in.reluctant = min(2*in.reluctant, 64)
}

// roundoff is the rise of the objective, relative to P₀, that is put down to
// rounding.
const roundoff = 1e-15

// step sets the coefficients of the support to from + length·d, zero where that
// changes the sign, and moves the residual along.
func (s *Solver) step(length float64) {
	nw, in := &s.newt, &s.in
	for i, k := range nw.position {
		b := math.FMA(length, nw.d[i], nw.from[i])
		if b != 0 && math.Signbit(b) != math.Signbit(nw.from[i]) {
			b = 0
		}
		if move := b - in.coef[k]; move != 0 {
			in.coef[k] = b
			index, values := s.pack.column(nw.columns[i])
			s.shift(index, values, in.mean[k], move)
		}
	}
}
