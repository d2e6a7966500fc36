package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// interior solves the problem by Mehrotra's predictor–corrector method, an
// interior-point method: with multipliers sᵢ and tᵢ of the bounds 0 and Cᵢ,
//
//	mᵢ − 1 = sᵢ − tᵢ,  βᵢsᵢ = μ,  (Cᵢ − βᵢ)tᵢ = μ,  μ → 0.
//
// It solves a few dozen systems of size p, whatever the scales of the columns, whereas
// bad scaling can increase the number of sweeps without bound. So where p is small, it
// runs once sweeps have cost as much as a run.
//
// A step solves (Q + D)Δβ = r, D = s/β + t/(C − β), through the p × p matrix
// I + Σ xᵢxᵢᵀ/Dᵢ of Woodbury's formula (Ferris and Munson, 2002).
type interior struct {
	s    *SVM
	cost float64 // modelled cost of a whole run; 0: not computed yet

	helpCalls int // number of calls of help in this solve

	list      []int32   // positions of the samples that may move; the slices that follow have its order
	barrier             // of their βᵢ
	rhs, left []float64 // r, then Δβ; the residual of r
	least     float64   // least gap of the run
	best      []float64 // β at the least gap
	a         []float64 // p × p
	u         []float64 // p
	products  []float64 // of the samples with u
	outer     support.Outer
	columns   []float64 // few dense samples times their signs, by feature; empty: too many
}

const (
	mostHelp           = 2    // calls of help in a solve
	largestInterior    = 1000 // features
	interiorIterations = 100
	interiorExpected   = 15      // iterations that the price assumes
	interiorPasses     = 12      // passes over the samples per iteration
	interiorRow        = 100.0   // nanoseconds per sample and iteration, besides the passes
	interiorTarget     = 1e-13   // relative gap at which it is clear which samples are at which bound
	interiorStalled    = 10      // iterations without a better gap, after which rounding dominates
	fractionToBoundary = 0.99    // largest step, relative to the distance to the nearest bound
	cachedNumbers      = 1 << 17 // numbers that stay in a second-level cache
)

// price returns the modelled cost of a run, +Inf where p is too large for one.
func (ip *interior) price() float64 {
	s := ip.s
	if ip.cost == 0 {
		entries := int(s.from[s.n])
		pass := s.productCost(entries, s.n)
		if s.rows == nil && entries <= cachedNumbers {
			pass = residualCost(entries, 0, true) + float64(denseSample*float64(s.p))
		}
		each := float64(interiorPasses*pass) + float64(interiorRow*float64(s.n))
		each += support.CholeskyCost(s.p)
		if s.rows == nil {
			each += support.OuterCost(s.n, s.p)
		} else {
			for pos := range s.k.Range(s.n) {
				own := float64(s.entries(pos))
				each += float64(0.5 * sparseValue * own * own)
			}
		}
		ip.cost = interiorExpected * each
		if s.p > largestInterior {
			ip.cost = math.Inf(1)
		}
	}
	return ip.cost
}

// help is called when sweeps have cost the price of a run. The first call runs the method
// as far as rounding allows, moves the samples that belong to a bound onto it and solves
// for the free ones; sweeps continue from there. If they do not converge either, the second
// call returns to the interior point of least gap, at which no sample is at a bound, unless
// sweeps have reached a smaller gap. It returns false if ctx ended.
func (ip *interior) help(ctx context.Context) bool {
	ip.helpCalls++
	if ip.helpCalls == 1 {
		return ip.run(ctx)
	}
	if s := ip.s; ip.least < s.recompute() {
		ip.restore()
	}
	return true
}

func (ip *interior) run(ctx context.Context) bool {
	s := ip.s
	ip.begin()
	ip.least = math.Inf(1)
	since := 0
	for range interiorIterations {
		if ctx.Err() != nil {
			return false
		}
		ip.writeBack()
		gap := s.recompute()
		if gap < ip.least {
			ip.least, since = gap, 0
			for k, pos := range kernels.Each(ip.s.k, ip.list) {
				ip.best[k] = s.at[pos].Value
			}
		} else if !(ip.complementarity() >= ip.least) {
			since++ // without rounding, the gap would be at most the complementarity
		}
		if gap <= interiorTarget*s.fit.Null(s.c) || since == interiorStalled || !ip.advance() {
			break
		}
	}
	ip.restore()
	for _, pos := range kernels.Each(ip.s.k, ip.list) {
		v := &s.at[pos]
		if z := v.Value - float64((s.margin[pos]-1)*v.Inverse); !(z > 0 && z < v.Bound) {
			v.Value = model.Clip(z, v.Bound)
		}
	}
	s.recompute()
	s.newton.polish(ctx)
	return true
}

// begin starts near the current point, inside the box.
func (ip *interior) begin() {
	s := ip.s
	ip.list = ip.list[:0]
	for pos := range s.k.Range(s.n) {
		if v := &s.at[pos]; v.Bound > 0 && v.Inverse > 0 {
			ip.list = append(ip.list, int32(pos))
		}
	}
	ip.resize(s.k, len(ip.list))
	for _, v := range []*[]float64{&ip.rhs, &ip.left, &ip.best, &ip.products} {
		*v = grow(*v, len(ip.list))
	}
	ip.a, ip.u = grow(ip.a, s.p*s.p), grow(ip.u, s.p)
	ip.storeByFeature()
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		v := &s.at[pos]
		edge := min(v.Bound/4, v.Inverse) // moving βᵢ by edge changes the sample's own margin by at most 1
		ip.start(k, v.Value, v.Bound, edge)
	}
	ip.writeBack()
	s.recompute()
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		ip.setMultipliers(k, s.margin[pos]-1, 1)
	}
}

// writeBack writes β to the solver.
func (ip *interior) writeBack() {
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		v := &ip.s.at[pos]
		if v.Value = ip.beta[k]; ip.slack[k] < ip.beta[k] {
			v.Value = v.Bound - ip.slack[k]
		}
	}
}

// restore makes the point of least gap the current one.
func (ip *interior) restore() {
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		ip.s.at[pos].Value = ip.best[k]
	}
	ip.s.recompute()
}

// certifyBest certifies the interior point of least gap if the certified gap is larger.
func (ip *interior) certifyBest(null float64) {
	if ip.helpCalls > 0 && ip.least < ip.s.sol.Gap {
		ip.restore()
		ip.s.certify(context.Background(), null)
	}
}

// advance takes a step from the point evaluated. It returns false where rounding prevents
// a step.
func (ip *interior) advance() bool {
	s := ip.s
	ip.scale()
	if !ip.factorise() {
		return false
	}
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		ip.rhs[k] = 1 - s.margin[pos]
	}
	ip.solve()
	ip.predict(ip.rhs)
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		ip.rhs[k] = ip.corrected(k, 1-s.margin[pos])
	}
	ip.solve()
	return ip.step(ip.rhs) > 0
}

// factorise computes I + Σ xᵢxᵢᵀ/Dᵢ and its Cholesky factor. It reports whether the
// matrix is positive definite to working precision.
func (ip *interior) factorise() bool {
	s, p := ip.s, ip.s.p
	s.work += ip.price() / interiorExpected
	if s.rows == nil {
		if m := len(ip.list); len(ip.columns) > 0 {
			ip.outer.SumColumns(s.k, ip.inverse, p, func(j int) []float64 { return ip.columns[j*m:][:m] }, ip.a)
		} else {
			ip.outer.Sum(s.k, m, p, func(k int) (float64, []float64) {
				pos := ip.list[k]
				return ip.inverse[k], s.values[s.from[pos]:s.from[pos+1]]
			}, ip.a)
		}
		for j := range p {
			ip.a[j*p+j]++
		}
		return support.Cholesky(s.k, ip.a, p) == p
	}
	clear(ip.a)
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		scale := ip.inverse[k]
		from, to := s.from[pos], s.from[pos+1]
		values := s.values[from:to]
		rows := s.rows[from:to]
		for at, j := range rows {
			s.k.AxpyIndexed(scale*values[at], values[:at+1], rows[:at+1], ip.a[int(j)*p:][:p])
		}
	}
	for j := range p {
		ip.a[j*p+j]++
	}
	return support.Cholesky(s.k, ip.a, p) == p
}

// solve turns r into Δβ, with one step of iterative refinement: where D is small, Δβ is the
// small difference of large numbers.
func (ip *interior) solve() {
	s := ip.s
	s.k.Copy(ip.left, ip.rhs)
	ip.invert(ip.rhs)
	ip.combine(ip.rhs)
	ip.multiply()
	for k, product := range kernels.Each(ip.s.k, ip.products) {
		ip.left[k] -= product + ip.rhs[k]/ip.inverse[k]
	}
	ip.invert(ip.left)
	s.k.Axpy(1, ip.left, ip.rhs)
}

// invert turns v into (Q + D)⁻¹v.
func (ip *interior) invert(v []float64) {
	s := ip.s
	for k, inverse := range kernels.Each(ip.s.k, ip.inverse) {
		v[k] *= inverse
	}
	ip.combine(v)
	support.CholeskySolve(s.k, ip.a, s.p, ip.u)
	ip.multiply()
	for k, product := range kernels.Each(ip.s.k, ip.products) {
		v[k] -= float64(ip.inverse[k] * product)
	}
}

// combine sets u to Σ vₖyₖxₖ.
func (ip *interior) combine(v []float64) {
	if m := len(ip.list); len(ip.columns) > 0 {
		for j := range ip.u {
			ip.u[j] = ip.s.k.Dot(ip.columns[j*m:][:m], v)
		}
		return
	}
	clear(ip.u)
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		ip.s.add(int(pos), v[k]*ip.s.at[pos].Sign, ip.u)
	}
}

// multiply sets the products to yₖxₖ·u.
func (ip *interior) multiply() {
	if m := len(ip.list); len(ip.columns) > 0 {
		ip.s.k.Clear(ip.products)
		for j, u := range ip.u {
			ip.s.k.Axpy(u, ip.columns[j*m:][:m], ip.products)
		}
		return
	}
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		ip.products[k] = ip.s.at[pos].Sign * ip.s.dot(int(pos), ip.u)
	}
}

// storeByFeature stores few dense samples by feature: vector operations over short samples would cost mostly calls.
func (ip *interior) storeByFeature() {
	s, m := ip.s, len(ip.list)
	if ip.columns = ip.columns[:0]; s.rows != nil || m*s.p > cachedNumbers {
		return
	}
	ip.columns = grow(ip.columns, m*s.p)
	for k, pos := range kernels.Each(ip.s.k, ip.list) {
		for j, x := range s.values[s.from[pos]:s.from[pos+1]] {
			ip.columns[j*m+k] = s.at[pos].Sign * x
		}
	}
}

// recompute rebuilds w and the margins from β, and returns the gap.
func (s *SVM) recompute() float64 {
	s.sums.begin()
	for pos := range s.k.Range(s.n) {
		if v := &s.at[pos]; v.Value != 0 && s.entries(pos) > 0 {
			s.sums.add(pos, v.Value*v.Sign)
		}
	}
	clear(s.w)
	s.sums.addTo(s.w)
	s.dots(0, s.n)
	var dual model.BoxDual
	for pos := range s.k.Range(s.n) {
		v := &s.at[pos]
		s.margin[pos] *= v.Sign
		if v.Bound > 0 {
			dual.Add(s.margin[pos], v.Value, v.Bound, 0)
		}
	}
	return dual.Gap()
}
