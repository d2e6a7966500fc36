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
	s           *Vectors
	bound       []float64 // by variable: 2k and 2k + 1 are the sides of row list[k]; 0: none
	beta, slack []float64
	low, high   []float64
	inverse     []float64 // 1/D
	r, d, left  []float64
	ones        []float64 // (Q + D)⁻¹σ
	dLow, dHigh []float64
	e           []float64 // n: E
	h, m        []float64 // n
	g           []float64 // p, or the rows
	scratch     []float64 // n
	matrix      []float64
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

// sides calls do for every variable with its row and sign.
func (ip *vectorsInterior) sides(do func(v int, i int32, sign float64)) {
	for k, i := range ip.s.list {
		if ip.bound[2*k] > 0 {
			do(2*k, i, 1)
		}
		if ip.bound[2*k+1] > 0 {
			do(2*k+1, i, -1)
		}
	}
}

func (ip *vectorsInterior) begin(s *Vectors) {
	ip.s = s
	size := 2 * len(s.list)
	for _, v := range []*[]float64{&ip.bound, &ip.beta, &ip.slack, &ip.low, &ip.high, &ip.inverse, &ip.r, &ip.d, &ip.left, &ip.ones, &ip.dLow, &ip.dHigh} {
		*v = grow(*v, size)
		clear(*v)
	}
	for _, v := range []*[]float64{&ip.e, &ip.h, &ip.m, &ip.scratch} {
		*v = grow(*v, s.n)
		clear(*v)
	}
	for k, i := range s.list {
		lower, upper := s.fit.Interval(int(i), s.c)
		ip.bound[2*k], ip.bound[2*k+1] = upper, -lower
	}
	copy(s.a, s.sol.Dual)
	s.b = s.sol.Intercept
	ip.sides(func(v int, i int32, sign float64) {
		bound := ip.bound[v]
		edge := bound / 4
		if l := s.square[i]; l > 0 {
			edge = min(edge, 1/l)
		}
		ip.beta[v] = min(max(sign*s.a[i], edge), bound-edge)
		ip.slack[v] = bound - ip.beta[v]
	})
	ip.predict()
	ip.sides(func(v int, i int32, sign float64) {
		g := float64(sign*ip.m[i]) - ip.cost(i, sign)
		ip.low[v], ip.high[v] = max(g, 0)+1, max(-g, 0)+1
	})
}

func (ip *vectorsInterior) cost(i int32, sign float64) float64 {
	return float64(sign*ip.s.fit.Target()[i]) - ip.s.epsilon
}

// predict sets a and the predictions m, with b, from β.
func (ip *vectorsInterior) predict() {
	s := ip.s
	for _, i := range s.list {
		s.a[i] = 0
	}
	ip.sides(func(v int, i int32, sign float64) { s.a[i] += float64(sign * ip.beta[v]) })
	s.fit.SetPrimal(s.a, s.w)
	s.fit.Predict(s.w, s.b, ip.m)
}

// evaluate judges the point, and leaves its predictions in m.
func (ip *vectorsInterior) evaluate() float64 {
	ip.predict()
	return ip.s.evaluate()
}

// advance takes a step. It returns false where rounding has the last word.
func (ip *vectorsInterior) advance() bool {
	s := ip.s
	var size float64
	clear(ip.e)
	ip.sides(func(v int, i int32, _ float64) {
		ip.inverse[v] = 1 / (ip.low[v]/ip.beta[v] + ip.high[v]/ip.slack[v])
		ip.e[i] += ip.inverse[v]
		size += 2
	})
	mu := ip.complementarity() / size
	if !ip.factorise() {
		return false
	}
	var excess float64 // Σσβ
	ip.sides(func(v int, i int32, sign float64) {
		excess += float64(sign * ip.beta[v])
		ip.r[v] = sign
	})
	if s.fit.Centred() {
		ip.solve(ip.r, ip.ones)
	}
	ip.sides(func(v int, i int32, sign float64) { ip.r[v] = ip.cost(i, sign) - float64(sign*ip.m[i]) })
	ip.bordered(-excess)
	ip.sides(func(v int, _ int32, _ float64) {
		ip.dLow[v] = -ip.low[v] - float64(ip.low[v]/ip.beta[v]*ip.d[v])
		ip.dHigh[v] = float64(ip.high[v]/ip.slack[v]*ip.d[v]) - ip.high[v]
	})
	length := ip.reach()
	var ahead float64
	ip.sides(func(v int, _ int32, _ float64) {
		ahead = math.FMA(math.FMA(length, ip.d[v], ip.beta[v]), math.FMA(length, ip.dLow[v], ip.low[v]), ahead)
		ahead = math.FMA(math.FMA(-length, ip.d[v], ip.slack[v]), math.FMA(length, ip.dHigh[v], ip.high[v]), ahead)
	})
	share := max(0, ahead/size/mu)
	centre := float64(float64(share*share*share) * mu)
	ip.sides(func(v int, i int32, sign float64) {
		d := ip.d[v]
		ip.dLow[v] = centre - float64(d*ip.dLow[v])
		ip.dHigh[v] = centre + float64(d*ip.dHigh[v])
		ip.r[v] = ip.cost(i, sign) - float64(sign*ip.m[i]) + ip.dLow[v]/ip.beta[v] - ip.dHigh[v]/ip.slack[v]
	})
	shift := ip.bordered(-excess)
	ip.sides(func(v int, _ int32, _ float64) {
		ip.dLow[v] = (ip.dLow[v]-float64(ip.low[v]*ip.d[v]))/ip.beta[v] - ip.low[v]
		ip.dHigh[v] = (ip.dHigh[v]+float64(ip.high[v]*ip.d[v]))/ip.slack[v] - ip.high[v]
	})
	length = min(1, toTheWall*ip.reach())
	ip.sides(func(v int, _ int32, _ float64) {
		ip.beta[v] = math.FMA(length, ip.d[v], ip.beta[v])
		ip.slack[v] = math.FMA(-length, ip.d[v], ip.slack[v])
		ip.low[v] = math.FMA(length, ip.dLow[v], ip.low[v])
		ip.high[v] = math.FMA(length, ip.dHigh[v], ip.high[v])
	})
	s.b = math.FMA(length, shift, s.b)
	return length > 0
}

// complementarity returns Σ βs + (C − β)t, as [interior.complementarity] does.
func (ip *vectorsInterior) complementarity() (sum float64) {
	ip.sides(func(v int, _ int32, _ float64) {
		sum = math.FMA(ip.low[v], ip.beta[v], sum)
		sum = math.FMA(ip.high[v], ip.slack[v], sum)
	})
	return sum
}

// balanced reports whether Σσβ = 0 where there is an intercept, next to Σβ. Whole steps make
// it so.
func (ip *vectorsInterior) balanced() bool {
	var excess, all float64
	ip.sides(func(v int, _ int32, sign float64) {
		excess += float64(sign * ip.beta[v])
		all += ip.beta[v]
	})
	return !ip.s.fit.Centred() || !(math.Abs(excess) > float64(imbalance*all))
}

// reach returns the length at which the first of β, C − β, s and t becomes 0, 1/toTheWall
// at most.
func (ip *vectorsInterior) reach() float64 {
	length := 1 / toTheWall
	ip.sides(func(v int, _ int32, _ float64) {
		if d := ip.d[v]; d < 0 {
			length = min(length, -ip.beta[v]/d)
		} else if d > 0 {
			length = min(length, ip.slack[v]/d)
		}
		if d := ip.dLow[v]; d < 0 {
			length = min(length, -ip.low[v]/d)
		}
		if d := ip.dHigh[v]; d < 0 {
			length = min(length, -ip.high[v]/d)
		}
	})
	return length
}

// bordered sets d to the step for r, with Σσd = excess where there is an intercept, and
// returns that of b.
func (ip *vectorsInterior) bordered(excess float64) (shift float64) {
	ip.solve(ip.r, ip.d)
	if !ip.s.fit.Centred() {
		return 0
	}
	var own, ones float64
	ip.sides(func(v int, _ int32, sign float64) {
		own += float64(sign * ip.d[v])
		ones += float64(sign * ip.ones[v])
	})
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
	ip.sides(func(v int, i int32, sign float64) { ip.h[i] += float64(sign * out[v]) })
	s.fit.SetPrimal(ip.h, s.w)
	s.fit.Predict(s.w, 0, ip.scratch)
	ip.sides(func(v int, i int32, sign float64) {
		ip.left[v] = r[v] - float64(sign*ip.scratch[i]) - out[v]/ip.inverse[v]
	})
	ip.invert(ip.left, ip.left)
	s.k.Axpy(1, ip.left, out)
}

// invert sets out = (Q + D)⁻¹r to first order in rounding. out may be r.
func (ip *vectorsInterior) invert(r, out []float64) {
	s := ip.s
	clear(ip.h)
	ip.sides(func(v int, i int32, sign float64) { ip.h[i] += float64(sign * r[v] * ip.inverse[v]) })
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
	ip.sides(func(v int, i int32, sign float64) { out[v] = ip.inverse[v] * (r[v] - float64(sign*ip.scratch[i])) })
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
