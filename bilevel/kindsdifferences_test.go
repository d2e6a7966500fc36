package bilevel_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/search"
)

// TestGradientsOfEveryKindOfLane are the limit of differences, where these have one.
func TestGradientsOfEveryKindOfLane(t *testing.T) {
	const h = 1e-4
	for name, open := range rememberedKinds(t) {
		p, _, err := open(0, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		at, checked := requestsOf(name)[0].LogLambda, 0
		for i := range at {
			value := func(step float64, only bool) search.Evaluation {
				moved := slices.Clone(at)
				moved[i] += step
				e, err := p.Eval(t.Context(), search.Request{LogLambda: moved, Tol: 1e-12, ValueOnly: only})
				if err != nil {
					t.Fatal(name, err)
				}
				return e
			}
			got := value(0, false)
			coarse := (value(h, true).Value - value(-h, true).Value) / (2 * h)
			fine := (value(h/2, true).Value - value(-h/2, true).Value) / h
			if math.Abs(coarse-fine) > 1e-5*(math.Abs(fine)+0.01*got.Value) {
				continue // a kink between
			}
			checked++
			if math.Abs(got.Gradient[i]-fine) > 1e-5*(math.Abs(fine)+0.01*math.Abs(got.Value)) {
				t.Errorf("%s: ∂/∂λ%d = %.10g, differences %.10g", name, i, got.Gradient[i], fine)
			}
		}
		if checked == 0 {
			t.Errorf("%s: nowhere smooth", name)
		}
	}
}
