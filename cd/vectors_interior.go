package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/support"
)

// vectorsInterior is Mehrotra's predictor–corrector method for [Vectors], as [interior] is
// for an SVM: in the variables β of the two sides of each row's tube, aᵢ = βᵢ⁺ − βᵢ⁻, of
// signs σ, costs q = σy − ε and bounds,
//
//	σm − q = s − t,  βs = μ,  (C − β)t = μ,  Σσβ = 0,  μ → 0.
//
// A step solves (Q + D)Δβ + σΔb = r through (I + X̃ᵀEX̃)⁻¹, E the sums of 1/D over the sides
// of a row, or the matrix of the rows where those are fewer.
type vectorsInterior struct {
	s          *Vectors
	row        []int32   // of each variable, a side of a row's tube that can bind
	sign       []float64 // σ
	barrier              // of the β's
	r, d, left []float64
	ones       []float64 // (Q + D)⁻¹σ
	e          []float64 // n: E
	h, m       []float64 // n
	g          []float64 // p, or the rows
	scratch    []float64 // n
	matrix     []float64
}

// imbalance is where Σσβ is rounding's, next to Σβ.
const imbalance = 1e-9

func (ip *vectorsInterior) run(ctx context.Context, s *Vectors, target float64) {
	ip.begin(s)
	least, since := math.Inf(1), 0
	for range interiorIterations {
		if ctx.Err() != nil {
			return
		}
		gap := ip.evaluate()
		if gap < least {
			least, since = gap, 0
		} else if !(ip.complementarity() >= least) && ip.balanced() {
			since++ // but for rounding, the gap would be no more than that, as in [interior]
		}
		if gap <= target || since == interiorStalled || !ip.advance() {
			return
		}
		s.sol.Epochs++
	}
}

func (ip *vectorsInterior) begin(s *Vectors) {
	ip.s = s
	ip.row, ip.sign = ip.row[:0], ip.sign[:0]
	for _, i := range s.list {
		lower, upper := s.fit.Interval(int(i), s.c)
		if upper > 0 {
			ip.row, ip.sign = append(ip.row, i), append(ip.sign, 1)
		}
		if -lower > 0 {
			ip.row, ip.sign = append(ip.row, i), append(ip.sign, -1)
		}
	}
	ip.resize(len(ip.row))
	for _, v := range []*[]float64{&ip.r, &ip.d, &ip.left, &ip.ones} {
		*v = grow(*v, len(ip.row))
		clear(*v)
	}
	for _, v := range []*[]float64{&ip.e, &ip.h, &ip.m, &ip.scratch} {
		*v = grow(*v, s.n)
		clear(*v)
	}
	copy(s.a, s.sol.Dual)
	s.b = s.sol.Intercept
	for v, i := range ip.row {
		lower, bound := s.fit.Interval(int(i), s.c)
		if ip.sign[v] < 0 {
			bound = -lower
		}
		edge := bound / 4
		if l := s.square[i]; l > 0 {
			edge = min(edge, 1/l)
		}
		ip.start(v, ip.sign[v]*s.a[i], bound, edge)
	}
	ip.predictions()
	for v, i := range ip.row {
		ip.setMultipliers(v, float64(ip.sign[v]*ip.m[i])-ip.cost(v))
	}
}

// cost returns q of a variable.
func (ip *vectorsInterior) cost(v int) float64 {
	return float64(ip.sign[v]*ip.s.fit.Target()[ip.row[v]]) - ip.s.epsilon
}

// predictions sets a and the predictions m, with b, from β.
func (ip *vectorsInterior) predictions() {
	s := ip.s
	for _, i := range s.list {
		s.a[i] = 0
	}
	for v, i := range ip.row {
		s.a[i] += float64(ip.sign[v] * ip.beta[v])
	}
	s.fit.SetPrimal(s.a, s.w)
	s.fit.Predict(s.w, s.b, ip.m)
}

// evaluate judges the point, and leaves its predictions in m.
func (ip *vectorsInterior) evaluate() float64 {
	ip.predictions()
	return ip.s.evaluate()
}

// advance takes a step. It returns false where rounding has the last word.
func (ip *vectorsInterior) advance() bool {
	s := ip.s
	ip.scale()
	clear(ip.e)
	for v, i := range ip.row {
		ip.e[i] += ip.inverse[v]
	}
	if !ip.factorise() {
		return false
	}
	var excess float64 // Σσβ
	for v, sign := range ip.sign {
		excess += float64(sign * ip.beta[v])
	}
	if s.fit.Centred() {
		ip.solve(ip.sign, ip.ones)
	}
	for v, i := range ip.row {
		ip.r[v] = ip.cost(v) - float64(ip.sign[v]*ip.m[i])
	}
	ip.bordered(-excess)
	ip.predict(ip.d)
	for v, i := range ip.row {
		ip.r[v] = ip.corrected(v, ip.cost(v)-float64(ip.sign[v]*ip.m[i]))
	}
	shift := ip.bordered(-excess)
	length := ip.step(ip.d)
	s.b = math.FMA(length, shift, s.b)
	return length > 0
}

// balanced reports whether Σσβ = 0 where there is an intercept, next to Σβ. Whole steps make
// it so.
func (ip *vectorsInterior) balanced() bool {
	var excess, all float64
	for v, sign := range ip.sign {
		excess += float64(sign * ip.beta[v])
		all += ip.beta[v]
	}
	return !ip.s.fit.Centred() || !(math.Abs(excess) > float64(imbalance*all))
}

// bordered sets d to the step for r, with Σσd = excess where there is an intercept, and
// returns that of b.
func (ip *vectorsInterior) bordered(excess float64) (shift float64) {
	ip.solve(ip.r, ip.d)
	if !ip.s.fit.Centred() {
		return 0
	}
	var own, ones float64
	for v, sign := range ip.sign {
		own += float64(sign * ip.d[v])
		ones += float64(sign * ip.ones[v])
	}
	shift = (own - excess) / ones
	ip.s.k.Axpy(-shift, ip.ones, ip.d)
	return shift
}

// solve sets out = (Q + D)⁻¹r. What rounding leaves of r is solved for once more.
func (ip *vectorsInterior) solve(r, out []float64) {
	s := ip.s
	clear(out)
	ip.invert(r, out)
	clear(ip.h)
	for v, i := range ip.row {
		ip.h[i] += float64(ip.sign[v] * out[v])
	}
	s.fit.SetPrimal(ip.h, s.w)
	s.fit.Predict(s.w, 0, ip.scratch)
	for v, i := range ip.row {
		ip.left[v] = r[v] - float64(ip.sign[v]*ip.scratch[i]) - out[v]/ip.inverse[v]
	}
	ip.invert(ip.left, ip.left)
	s.k.Axpy(1, ip.left, out)
}

// invert sets out = (Q + D)⁻¹r to first order in rounding. out may be r.
func (ip *vectorsInterior) invert(r, out []float64) {
	s := ip.s
	clear(ip.h)
	for v, i := range ip.row {
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
		for k, i := range s.list {
			ip.g[k] = math.Sqrt(ip.e[i]) * ip.scratch[i]
		}
		support.CholeskySolve(s.k, ip.matrix, len(s.list), ip.g)
		for k, i := range s.list {
			ip.scratch[i] = ip.g[k] / math.Sqrt(ip.e[i])
		}
	}
	for v, i := range ip.row {
		out[v] = ip.inverse[v] * (r[v] - float64(ip.sign[v]*ip.scratch[i]))
	}
	s.sol.Work += float64(4 * s.pass())
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
		for k, i := range s.list {
			root := math.Sqrt(ip.e[i])
			for l, other := range s.list[:k+1] {
				ip.matrix[k*size+l] = root * math.Sqrt(ip.e[other]) * s.gram[k*size+l]
			}
			ip.matrix[k*size+k]++
		}
		return support.Cholesky(s.k, ip.matrix, size) == size
	}
	for k, j := range s.columns {
		rows, values := s.fit.Matrix().Column(int(j))
		if rows == nil {
			for i, v := range values {
				ip.scratch[i] = ip.e[i] * v
			}
		} else {
			clear(ip.scratch)
			for e, i := range rows {
				ip.scratch[i] = ip.e[i] * values[e]
			}
		}
		for l, other := range s.columns[:k+1] {
			rows, values := s.fit.Matrix().Column(int(other))
			var dot float64
			if rows == nil {
				dot = s.k.Dot(values, ip.scratch)
			} else {
				dot = s.k.DotIndexed(values, rows, ip.scratch)
			}
			ip.matrix[k*size+l] = s.fit.Scale(int(j)) * s.fit.Scale(int(other)) * dot
		}
		ip.matrix[k*size+k]++
		s.sol.Work += float64(0.5 * s.pass())
	}
	return support.Cholesky(s.k, ip.matrix, size) == size
}
