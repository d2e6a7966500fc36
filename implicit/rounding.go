package implicit

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// The contribution of rounding to a bound. A sum of k products has an error of k·u·Σ|aᵢbᵢ| at most, in any
// order (Higham, section 3.1), and by the Cauchy–Schwarz inequality of k·u·‖a‖‖b‖ at most. An error that is
// X̂ᵀz/√N of a vector z over the rows has the norm ‖z‖ under A⁻¹ whatever the condition of A; the errors of
// the dot products themselves have no such form, and are divided by η.

// residualRounding bounds the error of a computed residual b − A·x in the norm of the last solve, that of the
// factor or that of the diagonal.
func (s *Solver) residualRounding(at []int32, b, x []float64) float64 {
	var predicted, right, scaled, growth float64
	for k, d := range s.diag {
		wide := s.uncentredSquare(k, at[k])
		predicted = math.FMA(math.Sqrt(wide), math.Abs(x[k]), predicted)
		right = math.FMA(b[k]/d, b[k], right)
		scaled = math.FMA(d*x[k], x[k], scaled)
		growth += wide / d
	}
	growth = math.Sqrt(growth)
	energy := math.Sqrt(max(0, s.k.Dot(x, b)))
	outside := float64(sumRoundings(s.store.Rows())*growth*energy) + float64(extraRoundings*(math.Sqrt(right)+math.Sqrt(scaled)+float64(growth*predicted)))
	inside := float64(float64(len(x)+extraRoundings) * predicted)
	if s.direct.ready {
		return float64(unitRoundoff * (inside + outside/math.Sqrt(s.direct.inverseTrace)))
	}
	return unitRoundoff * (float64(growth*inside) + outside)
}

// uncentredSquare returns wⱼ² of column j, at position k of the support: Aⱼⱼ before a mean is subtracted.
func (s *Solver) uncentredSquare(k int, j int32) float64 {
	mean := s.store.Mean(j)
	return s.diag[k] + float64(mean*mean*s.store.Total()/s.view.Total())
}

// roundingError bounds the error of the computed ρ, in the norm of the last solve, and that of the
// predictions on all rows.
func (s *Solver) roundingError(g model.Penalty, at Point) (rho, prediction float64) {
	total, y := s.view.Total(), s.fit.Target()
	residual, level := s.sizes()
	var columns, linear, products, all float64
	predicted := func(j int32, b float64) (norm float64) {
		mean := s.view.Mean(int(j))
		norm = math.Sqrt(s.view.Square(int(j))/total + float64(mean*mean))
		columns = math.FMA(norm, b, columns)
		all = math.FMA(math.Sqrt(s.view.Whole(int(j), mean)+float64(float64(len(y))*mean*mean)), b, all)
		return norm
	}
	if len(at.held) > 0 { // held coefficients do not move, but the predictions include them
		steepest := math.Sqrt(s.fit.Steepest(s.state))
		for k, j := range at.held {
			b := math.Abs(at.heldCoef[k])
			linear = math.FMA(steepest*predicted(j, b), b, linear)
		}
	}
	for k, j := range at.Support {
		b := math.Abs(at.Coef[k])
		norm := predicted(j, b)
		linear = math.FMA(math.Sqrt(s.uncentredSquare(k, j)), b, linear)
		off := float64(sumRoundings(len(y))*norm*residual) + float64(extraRoundings*(g.Alpha(int(j))+float64(g.Ridge()*b)))
		products = math.FMA(off/s.diag[k], off, products)
	}
	intercept := math.Abs(s.state.Intercept)
	inside := columns + level + intercept
	if s.curved != nil {
		inside = linear + float64(intercept*math.Sqrt(s.store.Total()/total))
		if s.view.Centred() { // residuals sum to 0 up to rounding
			inside += float64(residual * math.Sqrt(total/s.store.Total()))
		}
	}
	mu, least := s.mu(), s.eta()
	if least == 0 {
		least = mu
	}
	width := float64(len(at.Support) + len(at.held) + extraRoundings)
	rho = unitRoundoff * math.Sqrt(mu) * (float64(width*inside) + math.Sqrt(products/least))
	return rho, unitRoundoff * width * (all + float64(intercept*math.Sqrt(float64(len(y)))))
}

// sizes returns √(Σsᵢrᵢ²/N) and √(Σsᵢ(|yᵢ| + |mᵢ|)²/N), computed once for a point.
func (s *Solver) sizes() (residual, level float64) {
	if s.size.known {
		return s.size.residual, s.size.level
	}
	weights, y := s.view.Weights(), s.fit.Target()
	pace := s.k.Pace()
	for i, r := range s.state.Residual {
		pace.Did(1)
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		size := math.Abs(s.state.Prediction[i]) + math.Abs(y[i])
		residual = math.FMA(weight*r, r, residual)
		level = math.FMA(weight*size, size, level)
	}
	total := s.view.Total()
	s.size.residual, s.size.level, s.size.known = math.Sqrt(residual/total), math.Sqrt(level/total), true
	return s.size.residual, s.size.level
}

// slopeRounding bounds the error of the computed ∇Cᵀ_S·x: that of the slopes at rounded predictions, that of
// their products with the columns, and that of the sum.
func (s *Solver) slopeRounding(at Point, outer Outer, x []float64, prediction float64) float64 {
	var moved, sum float64
	for k, j := range at.Support {
		centre := s.store.Centre(j)
		moved = math.FMA(math.Sqrt(s.view.Whole(int(j), centre)+float64(float64(len(s.u))*centre*centre)), math.Abs(x[k]), moved)
		sum = math.FMA(math.Abs(s.h[k]), math.Abs(x[k]), sum)
	}
	slopes := float64(sumRoundings(len(s.u)) * unitRoundoff * s.k.Nrm2(outer.Slope))
	return float64(moved*(slopes+float64(s.k.MaxAbs(outer.Curvature)*prediction))) + float64(float64(len(x)+extraRoundings)*unitRoundoff*sum)
}
