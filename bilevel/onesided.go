package bilevel

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// evaluable is a bilevel problem of any kind.
type evaluable interface {
	Evaluate(ctx context.Context, r search.Request) (Report, error)
}

// searchable is a bilevel problem for a search, with the memory of its evaluations.
type searchable interface {
	evaluable
	memoryAfter(ctx context.Context, logLambda []float64) (search.Memory, error)
}

// Where a column is about to enter or to leave the support, the criterion has a different slope on either
// side of λ, which is computed at a small distance from λ.
const (
	sideDistance = 1e-7  // the distance: all λ's are shifted by it
	sidesTol     = 1e-14 // the relative gap of the inner problems there
)

// OneSided returns the gradients just below and just above λ, where all λ's are shifted together. ok is
// false if there is no gradient on one of the sides either, for example because columns depend on one another.
func OneSided(ctx context.Context, p evaluable, logLambda []float64) (below, above []float64, ok bool, err error) {
	side := func(shift float64) ([]float64, bool) {
		r := search.Request{LogLambda: make([]float64, len(logLambda)), Tol: sidesTol}
		for k, l := range logLambda {
			r.LogLambda[k] = l + shift
		}
		var report Report
		if report, err = p.Evaluate(ctx, r); err != nil {
			return nil, false
		}
		return report.Gradient, report.Status.OK()
	}
	below, down := side(-sideDistance)
	if err != nil || !down {
		return nil, nil, false, err
	}
	above, up := side(sideDistance)
	return below, above, up, err
}

// evalOnSide evaluates a problem for a search. At a knot the gradient is that of the side on which the
// criterion decreases, or zero if it increases on both sides.
func evalOnSide(ctx context.Context, p searchable, r search.Request) (search.Evaluation, error) {
	report, err := p.Evaluate(ctx, r)
	if err == nil && !r.ValueOnly && report.Status == outcome.NotDifferentiable {
		var below, above []float64
		var ok bool
		if below, above, ok, err = OneSided(ctx, p, r.LogLambda); ok && err == nil {
			report.Gradient, report.Trusted = downhill(below, above), !math.IsNaN(report.Value)
		}
	}
	if err == nil {
		report.Memory, err = p.memoryAfter(ctx, r.LogLambda)
	}
	return report.Evaluation, err
}

// downhill returns the gradient of the side on which the criterion decreases when all λ's are shifted
// together, the steeper one of two; zeros if it decreases on neither side.
func downhill(below, above []float64) []float64 {
	var down, up float64
	for k := range below {
		down -= below[k]
		up += above[k]
	}
	switch {
	case down < 0 && down <= up:
		return below
	case up < 0:
		return above
	default:
		return make([]float64, len(below))
	}
}
