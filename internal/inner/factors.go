package inner

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Penalty factors f become scales u of the columns, and weights w of their ℓ1 strengths: with β̃ⱼ = βⱼ/uⱼ,
//
//	Σ fⱼα|βⱼ|               u = 1/f,  w = 1   for one strength
//	Σ fⱼα₂βⱼ²/2             u = 1/√f          for a ridge
//	Σ fⱼ(α|βⱼ| + α₂βⱼ²/2)   u = 1/√f, w = √f  for both
//
// so that solvers need no special case. A factor of +Inf makes its column zero. A factor of 0, available with
// one strength, becomes a weight of 0: the column is unpenalised.

// extremeFactor is an upper bound of factors other than 0 and +Inf, and of their inverses.
const extremeFactor = 1e100

// checkFactors returns an error for factors that are invalid or not available for this model, and stores the
// scales and weights of valid ones.
func (s *Statement) checkFactors() error {
	factors := s.Factors
	if factors == nil {
		return nil
	}
	bad := func(column int, message string) error {
		return &outcome.Error{Kind: outcome.BadParameter, Flag: "penalty-factors", HasColumn: true, Column: column, Message: message}
	}
	if _, p := s.X.Dims(); len(factors) != p {
		return outcome.At(outcome.Shape, "penalty-factors", "%d factors for %d columns; there must be one per column", len(factors), p)
	}
	if s.Form.Rescale == nil {
		return outcome.At(outcome.Usage, "penalty-factors", "%s does not support penalty factors; models with one strength for all columns do", s.Name)
	}
	s.Times, s.l1Factors = slices.Repeat([]float64{1}, len(factors)), slices.Repeat([]float64{1}, len(factors))
	even := true
	for j, f := range factors {
		switch {
		case math.IsInf(f, 1):
			s.Times[j] = 0
		case f == 0 && !s.Form.Free:
			return outcome.At(outcome.Usage, "penalty-factors", "%s does not support a factor of 0, a column without penalty; models with one predictor and one ℓ1 strength do", s.Name)
		case f == 0:
			s.l1Factors[j], s.unpenalised = 0, true
		case !(f >= 1/extremeFactor && f <= extremeFactor):
			return bad(j, "a factor must be 0, +Inf, or between 1e-100 and 1e100")
		default:
			s.Times[j], s.l1Factors[j] = s.Form.Rescale(f)
		}
		even = even && s.l1Factors[j] == 1
	}
	switch {
	case s.unpenalised && s.Positive:
		return outcome.At(outcome.BadParameter, "positive", "β ≥ 0 needs an ℓ1 strength on every column, but a penalty factor is 0")
	case !even:
		s.Form = s.Form.weighted(s.l1Factors)
	}
	return nil
}

// The values of [Form].Rescale.
func rescaleL1(f float64) (times, weight float64)    { return 1 / f, 1 }
func rescaleRidge(f float64) (times, weight float64) { return 1 / math.Sqrt(f), 1 }
func rescaleBoth(f float64) (times, weight float64)  { return 1 / math.Sqrt(f), math.Sqrt(f) }
