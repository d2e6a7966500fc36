package pare

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// The factors f of [Config].PenaltyFactors become numbers u that columns are multiplied by, and
// weights w of the ℓ1 strengths on them: with β̃ⱼ = βⱼ/uⱼ,
//
//	Σ fⱼα|βⱼ|               u = 1/f,  w = 1   for one strength
//	Σ fⱼα₂βⱼ²/2             u = 1/√f          for a ridge
//	Σ fⱼ(α|βⱼ| + α₂βⱼ²/2)   u = 1/√f, w = √f  for both
//
// so that what works for any columns works for these. A factor of +Inf makes its column one of
// zeros; one of 0, under one strength, is a weight of 0: the column is unpenalised.

// extremeFactor bounds factors other than 0 and +Inf from above, and their inverses.
const extremeFactor = 1e100

// checkFactors refuses factors that are not valid, or not for this model, and keeps what
// follows from the others.
func (e *engine) checkFactors() error {
	factors := e.config.PenaltyFactors
	if factors == nil {
		return nil
	}
	bad := func(column int, message string) error {
		return &outcome.Error{Kind: outcome.BadParameter, Flag: "penalty-factors", HasColumn: true, Column: column, Message: message}
	}
	if _, p := e.x.Dims(); len(factors) != p {
		return outcome.At(outcome.Shape, "penalty-factors", "%d factors for %d columns; there must be one a column", len(factors), p)
	}
	if e.family.rescale == nil {
		return outcome.At(outcome.Usage, "penalty-factors", "%s has none; models with one strength for all columns have them", e.config.Model)
	}
	e.times, e.weighing = slices.Repeat([]float64{1}, len(factors)), slices.Repeat([]float64{1}, len(factors))
	even := true
	for j, f := range factors {
		switch {
		case math.IsInf(f, 1):
			e.times[j] = 0
		case f == 0 && !e.family.free:
			return outcome.At(outcome.Usage, "penalty-factors", "%s has no factor of 0, a column without penalty; models of one predictor with one ℓ1 strength have it", e.config.Model)
		case f == 0:
			e.weighing[j], e.unpenalised = 0, true
		case !(f >= 1/extremeFactor && f <= extremeFactor):
			return bad(j, "a factor is 0, +Inf, or a number between 1e-100 and 1e100")
		default:
			e.times[j], e.weighing[j] = e.family.rescale(f)
		}
		even = even && e.weighing[j] == 1
	}
	switch {
	case e.unpenalised && e.config.Positive:
		return outcome.At(outcome.BadParameter, "positive", "β ≥ 0 needs an ℓ1 strength on every column, and a penalty factor is 0")
	case !even:
		e.family.form = e.family.weighted(e.weighing)
	}
	return nil
}

// weighted returns the form with the ℓ1 strength of every column weighed.
func (f form) weighted(weights []float64) form {
	alike, most := f.penalty, f.max
	f.max = func(z *model.Null) float64 { return most(z.Weighted(weights)) }
	f.penalty = func(l []float64) (model.Penalty, error) {
		g, err := alike(l)
		if err != nil {
			return g, err
		}
		return g.Weighted(weights), nil
	}
	return f
}

// The ways of the forms to take a factor in.
func rescaleL1(f float64) (times, weight float64)    { return 1 / f, 1 }
func rescaleRidge(f float64) (times, weight float64) { return 1 / math.Sqrt(f), 1 }
func rescaleBoth(f float64) (times, weight float64)  { return 1 / math.Sqrt(f), math.Sqrt(f) }
