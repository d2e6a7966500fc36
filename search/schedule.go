package search

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Schedule names how the tolerances of evaluations decrease to [Options].Tol. Early
// steps need less precision than the last one. Whatever the schedule, a search ends
// only on evaluations at the final tolerance. An evaluation that is not trusted is
// repeated at the final tolerance, which then holds for all that follow; a start that
// is not trusted is first replaced by a point above it.
type Schedule string

// The schedules.
const (
	Exact  Schedule = "exact"  // the final tolerance throughout
	Approx Schedule = "approx" // the paper's: geometric from 1e-2, in ten evaluations
	// Auto begins with 1e-3. Then [Secant] and [TrustRegion] ask for what their next step
	// needs, 1e-4 or less; other methods for 1e-4, 1e-4, 1e-5, 1e-6, then the final one.
	Auto Schedule = "auto"
)

const (
	defaultTol   = 1e-6 // the final tolerance where none is given
	approxFirst  = 1e-2
	approxLength = 10
	loosestTol   = 1e-4 // the loosest tolerance after the first evaluation
	nearFinal    = 10   // times the final tolerance: below that the final one is asked for at once
)

// tolerances returns what the first evaluations ask for, none tighter than
// final; those that follow ask for final.
func (s Schedule) tolerances(final float64, evaluations int) ([]float64, error) {
	var loose []float64
	switch s {
	case "", Exact:
	case Approx:
		span := kernels.Log(final) - kernels.Log(approxFirst)
		steps := min(evaluations, approxLength) - 1
		for k := range steps {
			loose = append(loose, float64(approxFirst*kernels.Exp(span*float64(k)/float64(steps))))
		}
	case Auto:
		loose = []float64{1e-3, 1e-4, 1e-4, 1e-5, 1e-6}
	default:
		return nil, outcome.At(outcome.BadParameter, "tol-schedule", "unknown schedule %q; the schedules are %v", s, []Schedule{Exact, Approx, Auto})
	}
	for k := range loose {
		loose[k] = max(loose[k], final)
	}
	return loose, nil
}

// sufficientTol returns the tolerance to ask for if a step needs the tolerance need.
func sufficientTol(need, final float64) float64 {
	if need < nearFinal*final {
		return final
	}
	return min(need, max(loosestTol, final))
}
