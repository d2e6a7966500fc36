package bilevel_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// TestErrorBoundsOfEveryKindOfLane checks that a gradient whose supports are confirmed is within its error bound
// of the gradient at the exact solutions, however loosely the inner problems are solved.
func TestErrorBoundsOfEveryKindOfLane(t *testing.T) {
	for name, open := range rememberedKinds(t) {
		checked := 0
		for _, request := range requestsOf(name) {
			report := func(tol float64) bilevel.Report {
				p, _, err := open(0, nil) // a cold start
				if err != nil {
					t.Fatal(name, err)
				}
				r, err := p.(interface {
					Evaluate(ctx context.Context, r search.Request) (bilevel.Report, error)
				}).Evaluate(t.Context(), search.Request{LogLambda: request.LogLambda, Tol: tol})
				if err != nil {
					t.Fatal(name, err)
				}
				return r
			}
			exact := report(1e-13)
			for _, tol := range []float64{1e-2, 1e-4, 1e-6, 1e-8} {
				got := report(tol)
				if got.Status != outcome.Converged {
					continue
				}
				checked++
				for i, g := range got.Gradient {
					off := math.Abs(g - exact.Gradient[i])
					if off > got.ErrorBound+exact.ErrorBound+1e-14*math.Abs(g) || !(got.ErrorBound > 0) {
						t.Errorf("%s at %v, tolerance %g: ∂/∂λ%d = %.12g is off by %.3g, the bound is %.3g and %.3g", name, request.LogLambda, tol, i, g, off, got.ErrorBound, exact.ErrorBound)
					}
				}
			}
		}
		if checked == 0 {
			t.Errorf("%s: no gradient was confirmed", name)
		}
	}
}
