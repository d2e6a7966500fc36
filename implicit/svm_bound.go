package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/support"
)

// What an SVM's gradient is worth. With the free samples S and those at their bound right,
// ŵ − w = X_Sᵀ(yQ_SS⁻¹ρ), ρ = 1 − m_S, so that ‖ŵ − w‖² = ρᵀQ_SS⁻¹ρ; the gap is another
// bound of it, whatever S. ∂w/∂λ depends on the two sets alone, and what a linear solve
// leaves of it, of residual r, is √(rᵀQ_SS⁻¹r) long. Both are bounded by the factor of Q_SS
// as those of [direct] are, where S is small, else by a Ritz value over a safety.
type free struct {
	ready   bool
	q       []float64
	inverse []float64 // diagonal of (LLᵀ)⁻¹
	y       []float64
	mu      float64 // μLLᵀ ≼ Q_SS, or as M is the diagonal of it
	least   float64 // ηD ≼ Q_SS
	margin  float64
	blurred float64 // how far w may be off by rounding
}

// largestFree is the number of samples whose products with one another cost less than
// conjugate gradients.
const largestFree = 128

// prepare factorises Q_SS where S is small, in the variables yᵢvᵢ.
func (s *SVM) prepare() {
	f, size := &s.free, len(s.samples)
	s.system.Take(s.fit.Samples(), s.samples)
	f.ready, f.mu, f.least, f.margin = size == 0, 1, 1, 1
	var sum float64
	terms := constant
	for i, b := range s.beta {
		if b != 0 {
			sum = math.FMA(b, math.Sqrt(s.fit.Square(i)), sum)
			terms++
		}
	}
	f.blurred = unit * float64(terms) * sum
	if size == 0 || size > largestFree {
		return
	}
	f.q = resize(f.q, size*size)
	s.system.Gram(f.q)
	if support.Cholesky(s.k, f.q, size) < size {
		return
	}
	f.inverse, f.y = resize(f.inverse, size), resize(f.y, size)
	support.InverseDiagonal(s.k, f.q, size, f.inverse, f.y)
	var trace float64
	for k, i := range s.samples {
		trace = math.FMA(s.fit.Square(int(i)), f.inverse[k], trace)
	}
	trace *= traceSlack
	_, p := s.fit.Dims()
	sure := 1 - float64(float64((p+2*size+constant)*size)*unit*trace)
	if f.ready = sure > mostLost; f.ready {
		f.mu, f.least = sure, sure/trace
		f.margin = f.least
	}
}

// norm returns ‖v‖ of the last solve, √(vᵀ(LLᵀ)⁻¹v) with the factor.
func (s *SVM) norm(v []float64) float64 {
	f := &s.free
	if f.ready {
		f.y = append(f.y[:0], v...)
		support.CholeskySolve(s.k, f.q, len(v), f.y)
		return math.Sqrt(max(0, s.k.Dot(v, f.y)))
	}
	var sum float64
	for k, i := range s.samples {
		sum = math.FMA(v[k]/s.fit.Square(int(i)), v[k], sum)
	}
	return math.Sqrt(sum)
}

// project sets x to the solution of Q_SS·x = b. The residual is in the norm of Q_SS⁻¹.
func (s *SVM) project(ctx context.Context, b, x []float64, opts Options) support.Report {
	f := &s.free
	clear(x)
	if !f.ready {
		report := s.cg.Solve(ctx, s, b, x, opts.Tol, opts.MaxIterations)
		smallest, largest := s.cg.Ritz()
		f.mu, f.margin = smallest/safety, smallest/largest
		f.least = f.mu
		report.Residual /= math.Sqrt(f.mu)
		return report
	}
	size, norm, left := len(b), s.norm(b), math.Inf(1)
	rest, step := append([]float64(nil), b...), make([]float64, size)
	for range refinements {
		copy(step, rest)
		support.CholeskySolve(s.k, f.q, size, step)
		s.k.Axpy(1, step, x)
		s.Apply(x, rest)
		for k, v := range b {
			rest[k] = v - rest[k]
		}
		now := s.norm(rest)
		if !(now < left) {
			s.k.Axpy(-1, step, x)
			break
		}
		if left = now; left <= opts.Tol*norm {
			break
		}
	}
	return support.Report{Residual: left / math.Sqrt(f.mu), Relative: left / norm, Converged: true}
}

// products bounds the rounding of products of the free samples with w, under Q_SS⁻¹.
func (s *SVM) products() float64 {
	_, p := s.fit.Dims()
	return unit * inSum(p) * math.Sqrt(float64(len(s.samples))/s.free.least) * s.length
}

// residualRounding bounds the rounding in the residual of the last solution, x.
func (s *SVM) residualRounding() float64 {
	var sum float64
	for k, i := range s.samples {
		sum = math.FMA(math.Abs(s.x[k]), math.Sqrt(s.fit.Square(int(i))), sum)
	}
	return float64(unit*float64(len(s.samples)+constant)*sum) + float64(2*s.products())
}

// distance bounds ‖ŵ − w‖: by ρ, if the sets are right, or by the gap.
func (s *SVM) distance() (rho, radius float64) {
	size := 0.0
	if len(s.samples) > 0 {
		for k, i := range s.samples {
			s.rho[k] = (1 - s.margins[i]) * s.fit.Labels()[i]
		}
		size = s.norm(s.rho) / math.Sqrt(s.free.mu)
	}
	rho = size + s.free.blurred + s.products()
	return rho, min(rho, math.Sqrt(s.gap)+s.free.blurred)
}

// near reports that no free sample can reach the end of its box, by η.
func (s *SVM) near(rho float64) bool {
	for _, i := range s.samples {
		reach := rho / math.Sqrt(s.free.least*s.fit.Square(int(i)))
		if !(s.beta[i] > reach && s.bound[i]-s.beta[i] > reach) {
			return false
		}
	}
	return true
}

// confirms reports that the free samples and those at their bound are the solution's: no
// margin can reach 1, nor a free sample the end of its box, on the way to it. Samples on the
// margin to rounding are for [SVM.kink].
func (s *SVM) confirms(ctx context.Context, opts Options) bool {
	rho, radius := s.distance()
	_, p := s.fit.Dims()
	radius += float64(unit * float64(p+constant) * s.length)
	for i, bound := range s.bound {
		off := math.Abs(1 - s.margins[i])
		if bound == 0 || s.beta[i] != 0 && s.beta[i] != bound || off <= onEdge {
			continue
		}
		if wrong := (s.margins[i] < 1) != (s.beta[i] == bound); wrong || !(off > radius*math.Sqrt(s.fit.Square(i))) {
			return false
		}
	}
	if s.free.ready {
		for k, i := range s.samples {
			if reach := rho * math.Sqrt(s.free.inverse[k]/s.free.mu); !(s.beta[i] > reach && s.bound[i]-s.beta[i] > reach) {
				return false
			}
		}
		return true
	}
	switch {
	case s.near(rho):
		return true
	case len(s.samples) > largestFree:
		return false // to know would cost as much again
	}
	// Samples depend on one another: one step to a solution has to stay inside.
	report := s.project(ctx, s.rho, s.x, opts)
	for k, i := range s.samples {
		if b := s.beta[i] + float64(s.x[k]*s.fit.Labels()[i]); !report.Converged || !(b > 0 && b < s.bound[i]) {
			return false
		}
	}
	return true
}
