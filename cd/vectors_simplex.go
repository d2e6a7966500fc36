package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// vectorsSimplex is Mehrotra's predictor–corrector method for [Vectors] on the simplex, in the
// variables β of [vectorsInterior], a = Σσβ, and w ≥ 0 of sum 1,
//
//	σm − q = s − t, βs = μ, (C − β)t = μ,  w − X̃ᵀa + ν = z, wz = μ,  m = X̃w,  μ → 0.
//
// A step solves (H + X̃ᵀEX̃)Δw + Δν = g, Σ Δw = 1 − Σw, H = I + z/w and E the sums of 1/D over the sides of a
// row, directly or through the matrix of the rows where the rows are fewer. Each w also has an upper
// bound of 2, which never binds, so that one barrier covers β and w.
type vectorsSimplex struct {
	s    *Vectors
	row  []int32   // of each β
	sign []float64 // σ
	barrier
	nu      float64   // ν
	edge    float64   // √μ of the best point
	r, d    []float64 // right-hand side and step, of β, then of w
	a, m    []float64 // n: a and the predictions of the point
	e       []float64 // n: E
	h       []float64 // p: H
	g, ones []float64 // p
	u, left []float64 // p
	scratch []float64 // n
	reduced []float64 // of the rows in list
	matrix  []float64
	outer   support.Outer
	byRows  bool      // the matrix of the rows is factorised
	compact []float64 // a dense column, of the rows in list
}

const (
	simplexBound = 2    // upper bound of each w
	simplexEdge  = 0.25 // the least initial w, relative to their mean
)

// price returns the modelled cost of a run.
func (ip *vectorsSimplex) price(s *Vectors) float64 {
	return interiorExpected * (float64(interiorPasses*s.pass()) + float64(2*interiorRow*float64(len(s.list))) + s.simplexSystem())
}

// simplexSystem returns the modelled cost of the system of a step.
func (s *Vectors) simplexSystem() float64 {
	size := min(len(s.list), s.p)
	cost := support.CholeskyCost(size)
	switch {
	case size == s.p:
		return cost + s.sumRowsCost()
	case s.dense():
		return cost + support.OuterCost(s.p, size)
	}
	return cost + s.productsOfColumns()
}

// productsOfColumns returns the modelled cost of the products of the entries within each column.
func (s *Vectors) productsOfColumns() (cost float64) {
	for _, j := range s.fit.Matrix().Order() {
		from, to := s.fit.Matrix().Span(int(j))
		cost += float64(0.5 * sparseValue * float64((to-from)*(to-from)))
	}
	return cost
}

// begin starts near the best point, inside the box and the simplex.
func (ip *vectorsSimplex) begin(s *Vectors) {
	ip.s, ip.byRows = s, len(s.list) < s.p
	ip.row, ip.sign = ip.row[:0], ip.sign[:0]
	for _, i := range kernels.Each(s.k, s.list) {
		ip.row, ip.sign = append(ip.row, i, i), append(ip.sign, 1, -1)
	}
	sides := len(ip.row)
	ip.resize(s.k, sides+s.p)
	for _, v := range []*[]float64{&ip.r, &ip.d} {
		*v = grow(*v, sides+s.p)
	}
	for _, v := range []*[]float64{&ip.a, &ip.m, &ip.e, &ip.scratch} {
		*v = grow(*v, s.n)
		s.k.Clear(*v)
	}
	for _, v := range []*[]float64{&ip.h, &ip.g, &ip.ones, &ip.u, &ip.left} {
		*v = grow(*v, s.p)
	}
	mean := 1 / float64(s.p)
	for v, i := range kernels.Each(s.k, ip.row) {
		_, bound := s.fit.Interval(int(i), s.c)
		edge := bound / 4
		if l := s.square[i]; l > 0 {
			edge = min(edge, 1/l)
		}
		ip.start(v, ip.sign[v]*s.sol.Dual[i], bound, edge)
	}
	for j := range s.k.Range(s.p) {
		ip.start(sides+j, s.sol.W[j], simplexBound, float64(simplexEdge*mean))
	}
	ip.nu, ip.edge = 0, 0
	ip.residuals()
	var most float64
	for _, g := range kernels.Each(s.k, ip.r[sides:]) {
		most = max(most, g)
	}
	ip.nu = most // so that w − X̃ᵀa + ν ≥ 0
	for v, r := range kernels.Each(s.k, ip.r) {
		if g := -r; v < sides {
			ip.setMultipliers(v, g, 1)
		} else {
			ip.setMultipliers(v, g+ip.nu, 1)
		}
	}
}

// residuals sets a, g = X̃ᵀa, the predictions m, and r, the right-hand side of a step to μ = 0.
func (ip *vectorsSimplex) residuals() {
	s, sides := ip.s, len(ip.row)
	s.k.Clear(ip.a)
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.a[i] += float64(ip.sign[v] * ip.beta[v])
	}
	for _, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), s.c)
		ip.a[i] = max(lower, min(upper, ip.a[i]))
	}
	s.fit.SetCombination(ip.a, ip.g)
	s.fit.Predict(ip.beta[sides:], 0, ip.m)
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.r[v] = float64(ip.sign[v]*(s.fit.Target()[i]-ip.m[i])) - s.epsilon
	}
	for j, w := range kernels.Each(s.k, ip.beta[sides:]) {
		ip.r[sides+j] = ip.g[j] - w - ip.nu
	}
	s.sol.Work += 2 * s.pass()
}

// run iterates until the gap is so small that it is clear which variables are at a bound, or until it is within tol
// and falls no more.
func (ip *vectorsSimplex) run(ctx context.Context, tol float64) {
	s := ip.s
	target := float64(interiorTarget * s.null)
	least, since := math.Inf(1), 0
	for range interiorIterations {
		if ctx.Err() != nil {
			return
		}
		ip.residuals()
		gap := ip.evaluate()
		if gap < least {
			least, since = gap, 0
		} else if !(ip.complementarity() >= least) {
			since++
		}
		if gap <= target || least <= tol && since > 0 || since == interiorStalled || !ip.advance() {
			return
		}
		s.sol.Epochs++
	}
}

// moveToTubeEdges moves w, which has been computed from a, so that the free rows are on the edges of their tubes. It keeps a and w if
// they are feasible and their gap is the least so far, and reports whether they are. It leaves a as it is: where C is large,
// the move is below the last digits of a.
func (s *Vectors) moveToTubeEdges() bool {
	v := &s.free
	for k, i := range v.rows {
		if lower, upper := s.fit.Interval(int(i), s.c); s.a[i] < lower || s.a[i] > upper {
			return false
		}
		v.rhs[k] = s.fit.Target()[i] - float64(v.sign[k]*s.epsilon) - s.m[i]
	}
	if len(v.rows) == 0 || !v.system.Solve(v.rhs) {
		return false
	}
	move := v.point(s.k, s.n)
	for k, i := range v.rows {
		move[i] = v.rhs[k]
	}
	v.faceW = append(v.faceW[:0], s.w...)
	s.fit.SetMotion(move, v.faceW, s.w)
	for j, w := range v.faceW {
		if s.w[j] += w; s.w[j] < 0 {
			return false
		}
	}
	s.fit.SetCombination(s.a, v.faceW)
	s.fit.Predict(s.w, 0, s.m)
	s.sol.Work += float64(3 * s.pass())
	return s.keep(s.gapAt(s.a, 0)+model.SimplexLack(v.faceW, s.w), s.a)
}

// evaluate returns the gap of a and w, and keeps them if it is the least so far.
func (ip *vectorsSimplex) evaluate() float64 {
	s, w := ip.s, ip.beta[len(ip.row):]
	var sum float64
	for _, v := range kernels.Each(s.k, w) {
		sum += v
	}
	for j, v := range kernels.Each(s.k, w) {
		s.w[j] = v / sum
	}
	s.fit.Predict(s.w, 0, s.m)
	s.sol.Passes++
	s.sol.Work += float64(s.pass())
	gap := s.gapAt(ip.a, 0) + model.SimplexLack(ip.g, s.w)
	if s.keep(gap, ip.a) {
		ip.edge = math.Sqrt(ip.complementarity() / float64(2*len(ip.beta)))
	}
	return gap
}

// advance takes a step. It returns false where rounding prevents one.
func (ip *vectorsSimplex) advance() bool {
	s, sides := ip.s, len(ip.row)
	ip.scale()
	s.k.Clear(ip.e)
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.e[i] += ip.inverse[v]
	}
	for j, inverse := range kernels.Each(s.k, ip.inverse[sides:]) {
		ip.h[j] = 1 + 1/inverse
	}
	if !ip.factorise() {
		return false
	}
	for j := range s.k.Range(s.p) {
		ip.ones[j] = 1
	}
	ip.solve(ip.ones)
	copy(ip.ones, ip.u)
	excess := 1.0
	for _, w := range kernels.Each(s.k, ip.beta[sides:]) {
		excess -= w
	}
	s.k.Copy(ip.d, ip.r)
	ip.bordered(ip.d, excess)
	ip.predict(ip.d)
	for v, r := range kernels.Each(s.k, ip.r) {
		ip.d[v] = ip.corrected(v, r)
	}
	shift := ip.bordered(ip.d, excess)
	length := ip.step(ip.d)
	ip.nu = math.FMA(length, shift, ip.nu)
	return length > 0
}

// bordered turns the right-hand side r into the step, with ΣΔw = excess, and returns the step of ν.
func (ip *vectorsSimplex) bordered(r []float64, excess float64) (shift float64) {
	s, sides := ip.s, len(ip.row)
	s.k.Clear(ip.scratch)
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.scratch[i] += float64(ip.sign[v] * r[v] * ip.inverse[v])
	}
	s.fit.SetCombination(ip.scratch, ip.g)
	s.k.Axpy(1, r[sides:], ip.g)
	ip.solve(ip.g)
	var own, ones float64
	for j, u := range kernels.Each(s.k, ip.u) {
		own, ones = own+u, ones+ip.ones[j]
	}
	shift = (own - excess) / ones
	s.k.Axpy(-shift, ip.ones, ip.u)
	s.fit.Predict(ip.u, 0, ip.scratch)
	for v, i := range kernels.Each(s.k, ip.row) {
		r[v] = ip.inverse[v] * (r[v] - float64(ip.sign[v]*ip.scratch[i]))
	}
	s.k.Copy(r[sides:], ip.u)
	s.sol.Work += 2 * s.pass()
	return shift
}

// solve sets u = (H + X̃ᵀEX̃)⁻¹v, by iterative refinement for as long as that halves the residual.
func (ip *vectorsSimplex) solve(v []float64) {
	s := ip.s
	s.k.Clear(ip.u)
	s.k.Copy(ip.left, v)
	size := s.k.Nrm2(v)
	for enough, before := float64(solvedTo*size), math.Inf(1); size > enough && size < 0.5*before; {
		ip.invert(ip.left)
		s.k.Axpy(1, ip.left, ip.u)
		s.fit.Predict(ip.u, 0, ip.scratch)
		for i, e := range kernels.Each(s.k, ip.e) {
			ip.scratch[i] *= e
		}
		s.fit.SetCombination(ip.scratch, ip.left)
		for j, h := range kernels.Each(s.k, ip.h) {
			ip.left[j] = v[j] - math.FMA(h, ip.u[j], ip.left[j])
		}
		s.sol.Work += 2 * s.pass()
		before, size = size, s.k.Nrm2(ip.left)
	}
}

// invert replaces v by (H + X̃ᵀEX̃)⁻¹v, without refinement.
func (ip *vectorsSimplex) invert(v []float64) {
	s := ip.s
	if !ip.byRows {
		support.CholeskySolve(s.k, ip.matrix, s.p, v)
		return
	}
	for j, h := range kernels.Each(s.k, ip.h) {
		v[j] /= h
	}
	s.fit.Predict(v, 0, ip.scratch)
	for k, i := range kernels.Each(s.k, s.list) {
		ip.reduced[k] = math.Sqrt(ip.e[i]) * ip.scratch[i]
	}
	support.CholeskySolve(s.k, ip.matrix, len(s.list), ip.reduced)
	s.k.Clear(ip.scratch)
	for k, i := range kernels.Each(s.k, s.list) {
		ip.scratch[i] = math.Sqrt(ip.e[i]) * ip.reduced[k]
	}
	s.fit.SetCombination(ip.scratch, s.w)
	for j, h := range kernels.Each(s.k, ip.h) {
		v[j] -= s.w[j] / h
	}
	s.sol.Work += 2 * s.pass()
}

// factorise computes H + X̃ᵀEX̃, or I + √E·X̃H⁻¹X̃ᵀ·√E, and its Cholesky factor.
func (ip *vectorsSimplex) factorise() bool {
	s := ip.s
	size := min(s.p, len(s.list))
	ip.matrix, ip.reduced = grow(ip.matrix, size*size), grow(ip.reduced, size)
	s.sol.Work += s.simplexSystem()
	if !ip.byRows {
		s.sumRows(ip.e, &ip.outer, ip.matrix)
		for j := range s.p {
			row := ip.matrix[j*size:][:j+1]
			for l := range row {
				row[l] *= float64(s.fit.Scale(j) * s.fit.Scale(l))
			}
			row[j] += ip.h[j]
		}
		return support.Cholesky(s.k, ip.matrix, size) == size
	}
	ip.sumColumns()
	for k, i := range kernels.Each(s.k, s.list) {
		root := math.Sqrt(ip.e[i])
		for l, other := range s.list[:k+1] {
			ip.matrix[k*size+l] *= root * math.Sqrt(ip.e[other])
		}
		ip.matrix[k*size+k]++
	}
	return support.Cholesky(s.k, ip.matrix, size) == size
}

// sumColumns sets the matrix to X̃H⁻¹X̃ᵀ of the rows in list.
func (ip *vectorsSimplex) sumColumns() {
	s, size := ip.s, len(ip.s.list)
	if s.dense() {
		ip.compact = grow(ip.compact, size)
		ip.outer.Sum(s.k, s.p, size, func(j int) (float64, []float64) {
			_, values := s.fit.Matrix().Column(j)
			for k, i := range s.list {
				ip.compact[k] = values[i]
			}
			scale := s.fit.Scale(j)
			return scale * scale / ip.h[j], ip.compact
		}, ip.matrix)
		return
	}
	s.k.Clear(ip.matrix)
	s.sumColumns(ip.matrix, func(j int) float64 { return 1 / ip.h[j] })
}

// solveOnSimplex takes accelerated steps until they have cost the price of an interior-point run. Then it makes that
// run, followed by exact steps, and by accelerated ones again if the exact steps do not converge.
func (s *Vectors) solveOnSimplex(ctx context.Context, tol float64, most int) {
	price := s.simplex.price(s)
	s.climb(ctx, tol, price, most)
	if s.bestGap <= tol || ctx.Err() != nil {
		return
	}
	s.simplex.begin(s)
	s.simplex.run(ctx, tol)
	if !s.activeSetNear(ctx, s.simplex.edge) {
		s.climb(ctx, tol, price, most)
	}
}
