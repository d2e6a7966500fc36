package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/support"
)

// The error bound of an SVM's gradient. If the free samples S and those at their bound are right,
// ŵ − w = X_Sᵀ(yQ_SS⁻¹ρ), ρ = 1 − m_S, so that ‖ŵ − w‖² = ρᵀQ_SS⁻¹ρ; the duality gap bounds it, too, whatever
// S is. ∂w/∂λ depends on the two sets alone, and a linear solve with the residual r leaves an error of length
// √(rᵀQ_SS⁻¹r) in it. Both are bounded by the factor of Q_SS, as in [direct], where S is small, else by a
// Ritz value over a safety factor.
type freeSystem struct {
	ready         bool
	q             []float64
	inverse       []float64 // diagonal of (LLᵀ)⁻¹
	y             []float64
	mu            float64 // μLLᵀ ≼ Q_SS, or without the factor μD ≼ Q_SS, D the diagonal of Q_SS
	eta           float64 // ηD ≼ Q_SS
	margin        float64
	roundingError float64 // a bound of the error of w by rounding
}

// largestFree is the number of samples up to which their products with one another cost less than conjugate
// gradients.
const largestFree = 128

// factorise factorises Q_SS where S is small, in the variables yᵢvᵢ.
func (s *SVM) factorise() {
	f, size := &s.free, len(s.samples)
	s.system.Take(s.fit.Samples(), s.samples)
	f.ready, f.mu, f.eta, f.margin = size == 0, 1, 1, 1
	var sum float64
	terms := extraRoundings
	for i, b := range s.beta {
		if b != 0 {
			sum = math.FMA(b, math.Sqrt(s.fit.Square(i)), sum)
			terms++
		}
	}
	f.roundingError = unitRoundoff * float64(terms) * sum
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
	sure := 1 - float64(float64((p+2*size+extraRoundings)*size)*unitRoundoff*trace)
	if f.ready = sure > mostRoundingShare; f.ready {
		f.mu, f.eta = sure, sure/trace
		f.margin = f.eta
	}
}

// norm returns ‖v‖ in the norm of the last solve: √(vᵀ(LLᵀ)⁻¹v) with the factor.
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

// solveSystem sets x to the solution of Q_SS·x = b. The residual it reports is in the norm of Q_SS⁻¹.
func (s *SVM) solveSystem(ctx context.Context, b, x []float64, opts Options) support.Report {
	f := &s.free
	clear(x)
	if !f.ready {
		report := s.cg.Solve(ctx, s, b, x, opts.Tol, opts.MaxIterations)
		smallest, largest := s.cg.Ritz()
		f.mu, f.margin = smallest/safety, smallest/largest
		f.eta = f.mu
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

// productRounding bounds, in the norm of Q_SS⁻¹, the rounding of the products of the free samples with w.
func (s *SVM) productRounding() float64 {
	_, p := s.fit.Dims()
	return unitRoundoff * sumRoundings(p) * math.Sqrt(float64(len(s.samples))/s.free.eta) * s.normW
}

// residualRounding bounds the rounding in the residual of the last solution x.
func (s *SVM) residualRounding() float64 {
	var sum float64
	for k, i := range s.samples {
		sum = math.FMA(math.Abs(s.x[k]), math.Sqrt(s.fit.Square(int(i))), sum)
	}
	return float64(unitRoundoff*float64(len(s.samples)+extraRoundings)*sum) + float64(2*s.productRounding())
}

// distance bounds ‖ŵ − w‖: rho by ρ alone, which holds if the sets are right, and radius by the gap, too.
func (s *SVM) distance() (rho, radius float64) {
	size := 0.0
	if len(s.samples) > 0 {
		for k, i := range s.samples {
			s.rho[k] = (1 - s.margins[i]) * s.fit.Labels()[i]
		}
		size = s.norm(s.rho) / math.Sqrt(s.free.mu)
	}
	rho = size + s.free.roundingError + s.productRounding()
	return rho, min(rho, math.Sqrt(s.gap)+s.free.roundingError)
}

// staysFree reports that no free sample can reach an end of its box, by η.
func (s *SVM) staysFree(rho float64) bool {
	for _, i := range s.samples {
		reach := rho / math.Sqrt(s.free.eta*s.fit.Square(int(i)))
		if !(s.beta[i] > reach && s.bound[i]-s.beta[i] > reach) {
			return false
		}
	}
	return true
}

// confirmsSets reports that the free samples and those at their bound are those of the solution: between the
// point and the solution, no margin can reach 1, and no free sample an end of its box. Samples on the margin
// to rounding are left to [SVM.checkKinks].
func (s *SVM) confirmsSets(ctx context.Context, opts Options) bool {
	rho, radius := s.distance()
	_, p := s.fit.Dims()
	radius += float64(unitRoundoff * float64(p+extraRoundings) * s.normW)
	for i, bound := range s.bound {
		off := math.Abs(1 - s.margins[i])
		if bound == 0 || s.beta[i] != 0 && s.beta[i] != bound || off <= edgeTol {
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
	case s.staysFree(rho):
		return true
	case len(s.samples) > largestFree:
		return false // a further check would cost as much again
	}
	// Samples depend on one another: a step to a solution has to stay inside the box.
	report := s.solveSystem(ctx, s.rho, s.x, opts)
	for k, i := range s.samples {
		if b := s.beta[i] + float64(s.x[k]*s.fit.Labels()[i]); !report.Converged || !(b > 0 && b < s.bound[i]) {
			return false
		}
	}
	return true
}
