package bilevel

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// evaluated is a bilevel problem of any kind.
type evaluated interface {
	Evaluate(ctx context.Context, r search.Request) (Report, error)
}

// searched is one that a search may ask, and have remember.
type searched interface {
	evaluated
	leftBy(ctx context.Context, logLambda []float64) (search.Memory, error)
}

// Where a column is about to enter or to leave, the criterion has a slope to either side of
// λ: that of the segment which begins there, taken a little further on.
const (
	beside   = 1e-7 // the shift of all λ's that the slopes of a side are taken at
	sidesTol = 1e-14
)

// OneSided returns the gradients just below and just above λ, all λ's shifted together. ok is
// false where one of the sides has none either, as where columns depend on one another.
func OneSided(ctx context.Context, p evaluated, logLambda []float64) (below, above []float64, ok bool, err error) {
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
	below, down := side(-beside)
	if err != nil || !down {
		return nil, nil, false, err
	}
	above, up := side(beside)
	return below, above, up, err
}

// evalOnSide is what a search sees: on a knot the slope of the side that the criterion falls
// to, or none where it rises to both.
func evalOnSide(ctx context.Context, p searched, r search.Request) (search.Evaluation, error) {
	report, err := p.Evaluate(ctx, r)
	if err == nil && !r.ValueOnly && report.Status == outcome.NotDifferentiable {
		var below, above []float64
		var ok bool
		if below, above, ok, err = OneSided(ctx, p, r.LogLambda); ok && err == nil {
			report.Gradient, report.Trusted = downhill(below, above), !math.IsNaN(report.Value)
		}
	}
	if err == nil {
		report.Memory, err = p.leftBy(ctx, r.LogLambda)
	}
	return report.Evaluation, err
}

// downhill returns the gradient of the side that a common shift of the λ's falls to, zeros
// where it falls to neither.
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
