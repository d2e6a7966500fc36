package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// vectorsInterior is Mehrotra's predictor–corrector method for [Vectors], as [interior] is
// for an SVM: in the variables β of the two sides of each row's tube, aᵢ = βᵢ⁺ − βᵢ⁻, with
// signs σ, costs q = σy − ε and bounds C,
//
//	σm − q = s − t,  βs = μ,  (C − β)t = μ,  Σσβ = 0,  μ → 0.
//
// A step solves (Q + D)Δβ + σΔb = r through (I + X̃ᵀEX̃)⁻¹, E the sums of 1/D over the sides
// of a row, or through the matrix of the rows where the rows are fewer.
type vectorsInterior struct {
	s          *Vectors
	row        []int32   // of each variable, which is a side of the row's tube that can bind
	sign       []float64 // σ
	barrier              // of β
	r, d, left []float64 // right-hand side, step, residual
	ones       []float64 // (Q + D)⁻¹σ
	e          []float64 // n: E
	h, m       []float64 // n
	b          float64   // the intercept at the end of the last run
	edge       float64   // √μ of the best point
	g          []float64 // p, or the rows
	scratch    []float64 // n
	matrix     []float64
	outer      support.Outer
}

// price returns the modelled cost of a run.
func (ip *vectorsInterior) price(s *Vectors) float64 {
	size := min(len(s.columns), len(s.list))
	each := float64(interiorPasses*s.pass()) + float64(2*interiorRow*float64(len(s.list))) + support.CholeskyCost(size)
	if !s.byRows {
		each += s.sumRowsCost()
	}
	return interiorExpected * each
}

// solvedTo is the relative residual to which systems are solved.
const solvedTo = 1e-10

// imbalance is the largest |Σσβ|, relative to Σβ, that counts as rounding.
const imbalance = 1e-9

// run iterates until the gap is at most the target; if settled, until that holds after the rows
// that belong to an end of their interval have been moved there. It reports whether it succeeded.
func (ip *vectorsInterior) run(ctx context.Context, target float64, settled bool) bool {
	s := ip.s
	s.b = ip.b
	defer func() { ip.b = s.b }()
	least, since := math.Inf(1), 0
	for range interiorIterations {
		if ctx.Err() != nil {
			return false
		}
		best := s.bestGap
		gap := ip.evaluate()
		if s.bestGap < best {
			ip.edge = math.Sqrt(ip.complementarity() / float64(2*len(ip.beta)))
		}
		if gap < least {
			least, since = gap, 0
		} else if !(ip.complementarity() >= least) && ip.balanced() {
			since++ // without rounding, the gap would be at most the complementarity, as in [interior]
		}
		if gap <= target && (!settled || ip.snapToBounds(target)) {
			return true
		}
		if since == interiorStalled || !ip.advance() {
			return false
		}
		s.sol.Epochs++
	}
	return false
}

// begin starts inside the box, near the best point, or near a = 0 if anew. In regression every β starts at half its bound, where the
// two sides of a tube cancel.
func (ip *vectorsInterior) begin(s *Vectors, anew bool) {
	ip.s = s
	ip.row, ip.sign = ip.row[:0], ip.sign[:0]
	for _, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), s.c)
		if upper > 0 {
			ip.row, ip.sign = append(ip.row, i), append(ip.sign, 1)
		}
		if -lower > 0 {
			ip.row, ip.sign = append(ip.row, i), append(ip.sign, -1)
		}
	}
	ip.resize(s.k, len(ip.row))
	for _, v := range []*[]float64{&ip.r, &ip.d, &ip.left, &ip.ones} {
		*v = grow(*v, len(ip.row))
		s.k.Clear(*v)
	}
	for _, v := range []*[]float64{&ip.e, &ip.h, &ip.m, &ip.scratch} {
		*v = grow(*v, s.n)
		s.k.Clear(*v)
	}
	s.k.Copy(s.a, s.sol.Dual)
	if !anew {
		ip.edge = 0
	}
	if s.b = s.sol.Intercept; anew {
		s.k.Clear(s.a)
		s.b = 0
	}
	ip.b = s.b
	for v, i := range kernels.Each(s.k, ip.row) {
		lower, bound := s.fit.Interval(int(i), s.c)
		if ip.sign[v] < 0 {
			bound = -lower
		}
		edge := bound / 2
		if l := s.square[i]; s.fit.Classes() && l > 0 {
			edge = min(bound/4, 1/l)
		}
		ip.start(v, ip.sign[v]*s.a[i], bound, edge)
	}
	ip.predictions()
	room := ip.room()
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.setMultipliers(v, float64(ip.sign[v]*ip.m[i])-ip.cost(v), room)
	}
}

// room returns the least initial value of the multipliers: 1, a margin, for classes; for a tube, in the units of the target,
// interiorRoom times the mean size of their differences. Where multipliers are of similar size, the first steps are long.
func (ip *vectorsInterior) room() float64 {
	var size float64
	for v, i := range kernels.Each(ip.s.k, ip.row) {
		size += math.Abs(float64(ip.sign[v]*ip.m[i]) - ip.cost(v))
	}
	if ip.s.fit.Classes() || size == 0 {
		return 1
	}
	return float64(interiorRoom*size) / float64(len(ip.row))
}

// interiorRoom is the factor in room.
const interiorRoom = 4

// cost returns q of a variable.
func (ip *vectorsInterior) cost(v int) float64 {
	return float64(ip.sign[v]*ip.s.fit.Target()[ip.row[v]]) - ip.s.epsilon
}

// predictions sets a and the predictions m, with b, from β.
func (ip *vectorsInterior) predictions() {
	s := ip.s
	for _, i := range kernels.Each(s.k, s.list) {
		s.a[i] = 0
	}
	for v, i := range kernels.Each(s.k, ip.row) {
		s.a[i] += float64(ip.sign[v] * ip.beta[v])
	}
	s.fit.SetPrimal(s.a, s.w)
	s.fit.Predict(s.w, s.b, ip.m)
}

// evaluate returns the gap of the point, and sets m to its predictions.
func (ip *vectorsInterior) evaluate() float64 {
	ip.predictions()
	return ip.s.evaluate()
}

// snapToBounds moves every row whose coordinate step leads to an end of its interval, or to 0, there.
// It makes that the best point if its gap is at most the target, and reports whether it is.
func (ip *vectorsInterior) snapToBounds(target float64) bool {
	s := ip.s
	for _, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), s.c)
		switch a := s.step(i, s.a[i], ip.m[i]); a {
		case 0, lower, upper:
			s.a[i] = a
		}
	}
	return s.replace(target)
}

// advance takes a step. It returns false where rounding prevents one.
func (ip *vectorsInterior) advance() bool {
	s := ip.s
	ip.scale()
	s.k.Clear(ip.e)
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.e[i] += ip.inverse[v]
	}
	if !ip.factorise() {
		return false
	}
	var excess float64 // Σσβ
	for v, sign := range kernels.Each(s.k, ip.sign) {
		excess += float64(sign * ip.beta[v])
	}
	if s.fit.Centred() {
		ip.solve(ip.sign, ip.ones)
	}
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.r[v] = ip.cost(v) - float64(ip.sign[v]*ip.m[i])
	}
	ip.bordered(-excess)
	ip.predict(ip.d)
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.r[v] = ip.corrected(v, ip.cost(v)-float64(ip.sign[v]*ip.m[i]))
	}
	shift := ip.bordered(-excess)
	length := ip.step(ip.d)
	s.b = math.FMA(length, shift, s.b)
	return length > 0
}

// balanced reports whether Σσβ is negligible next to Σβ, or there is no intercept. Full steps
// make Σσβ = 0.
func (ip *vectorsInterior) balanced() bool {
	var excess, all float64
	for v, sign := range kernels.Each(ip.s.k, ip.sign) {
		excess += float64(sign * ip.beta[v])
		all += ip.beta[v]
	}
	return !ip.s.fit.Centred() || !(math.Abs(excess) > float64(imbalance*all))
}

// bordered sets d to the step for r, with Σσd = excess where there is an intercept, and
// returns the step of b.
func (ip *vectorsInterior) bordered(excess float64) (shift float64) {
	ip.solve(ip.r, ip.d)
	if !ip.s.fit.Centred() {
		return 0
	}
	var own, ones float64
	for v, sign := range kernels.Each(ip.s.k, ip.sign) {
		own += float64(sign * ip.d[v])
		ones += float64(sign * ip.ones[v])
	}
	shift = (own - excess) / ones
	ip.s.k.Axpy(-shift, ip.ones, ip.d)
	return shift
}

// solve sets out = (Q + D)⁻¹r, by iterative refinement for as long as that halves the residual.
func (ip *vectorsInterior) solve(r, out []float64) {
	s := ip.s
	s.k.Clear(out)
	s.k.Copy(ip.left, r)
	size := s.k.Nrm2(r)
	for enough, before := float64(solvedTo*size), math.Inf(1); size > enough && size < 0.5*before; {
		ip.invert(ip.left, ip.left)
		s.k.Axpy(1, ip.left, out)
		s.k.Clear(ip.h)
		for v, i := range kernels.Each(s.k, ip.row) {
			ip.h[i] += float64(ip.sign[v] * out[v])
		}
		s.fit.SetPrimal(ip.h, s.w)
		s.fit.Predict(s.w, 0, ip.scratch)
		for v, i := range kernels.Each(s.k, ip.row) {
			ip.left[v] = r[v] - float64(ip.sign[v]*ip.scratch[i]) - out[v]/ip.inverse[v]
		}
		s.sol.Work += float64(2 * s.pass())
		before, size = size, s.k.Nrm2(ip.left)
	}
}

// invert sets out = (Q + D)⁻¹r without refinement. out may be r.
func (ip *vectorsInterior) invert(r, out []float64) {
	s := ip.s
	s.k.Clear(ip.h)
	for v, i := range kernels.Each(s.k, ip.row) {
		ip.h[i] += float64(ip.sign[v] * r[v] * ip.inverse[v])
	}
	s.fit.SetPrimal(ip.h, s.w)
	if !s.byRows {
		for k, j := range s.columns {
			ip.g[k] = s.w[j]
		}
		support.CholeskySolve(s.k, ip.matrix, len(s.columns), ip.g)
		for k, j := range s.columns {
			s.w[j] = ip.g[k]
		}
		s.fit.Predict(s.w, 0, ip.scratch)
	} else {
		s.fit.Predict(s.w, 0, ip.scratch)
		for k, i := range kernels.Each(s.k, s.list) {
			ip.g[k] = math.Sqrt(ip.e[i]) * ip.scratch[i]
		}
		support.CholeskySolve(s.k, ip.matrix, len(s.list), ip.g)
		for k, i := range kernels.Each(s.k, s.list) {
			ip.scratch[i] = ip.g[k] / math.Sqrt(ip.e[i])
		}
	}
	for v, i := range kernels.Each(s.k, ip.row) {
		out[v] = ip.inverse[v] * (r[v] - float64(ip.sign[v]*ip.scratch[i]))
	}
	s.sol.Work += float64(2 * s.pass())
}

// factorise computes I + X̃ᵀEX̃, or I + √E·X̃X̃ᵀ·√E, and its Cholesky factor.
func (ip *vectorsInterior) factorise() bool {
	s := ip.s
	size := len(s.columns)
	if s.byRows {
		size = len(s.list)
	}
	ip.matrix, ip.g = grow(ip.matrix, size*size), grow(ip.g, size)
	s.sol.Work += support.CholeskyCost(size)
	if s.byRows {
		s.products()
		for k, i := range kernels.Each(s.k, s.list) {
			root := math.Sqrt(ip.e[i])
			for l, other := range s.list[:k+1] {
				ip.matrix[k*size+l] = root * math.Sqrt(ip.e[other]) * s.gram[k*size+l]
			}
			ip.matrix[k*size+k]++
		}
		return support.Cholesky(s.k, ip.matrix, size) == size
	}
	s.sumRows(ip.e, &ip.outer, ip.matrix)
	s.sol.Work += s.sumRowsCost()
	for k, j := range s.columns {
		row := ip.matrix[k*size:][:k+1]
		for l, other := range s.columns[:k+1] {
			row[l] *= float64(s.fit.Scale(int(j)) * s.fit.Scale(int(other)))
		}
		row[k]++
	}
	return support.Cholesky(s.k, ip.matrix, size) == size
}

// sumRows sets the lower triangle of the matrix to XᵀEX, of the columns in s.columns, not scaled. E must be 0
// on rows outside s.list.
func (s *Vectors) sumRows(e []float64, outer *support.Outer, matrix []float64) {
	size := len(s.columns)
	if s.full() {
		outer.SumColumns(s.k, e, size, func(k int) []float64 {
			_, values := s.fit.Matrix().Column(int(s.columns[k]))
			return values
		}, matrix)
		return
	}
	samples := sparse.Transpose(s.fit.Matrix())
	clear(matrix)
	for _, i := range kernels.Each(s.k, s.list) {
		features, values := samples.Column(int(i))
		s.at = s.at[:0]
		for _, j := range features {
			s.at = append(s.at, s.order[j])
		}
		for k, v := range values {
			s.k.AxpyIndexed(e[i]*v, values[:k+1], s.at[:k+1], matrix[int(s.at[k])*size:][:size])
		}
	}
}

// sumRowsCost returns the modelled cost of sumRows.
func (s *Vectors) sumRowsCost() float64 {
	if s.full() {
		return support.OuterCost(s.n, len(s.columns))
	}
	return s.productsOfRows()
}

// productsOfRows returns the modelled cost of the products of the entries within each row.
func (s *Vectors) productsOfRows() (cost float64) {
	samples := sparse.Transpose(s.fit.Matrix())
	for _, i := range kernels.Each(s.k, s.list) {
		from, to := samples.Span(int(i))
		cost += float64(0.5 * sparseValue * float64((to-from)*(to-from)))
	}
	return cost
}
