package choose_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/choose"
	"github.com/seed-45b9a24c/pare/search"
)

// bowl is a criterion of two λ's that is least at a point.
type bowl struct{ least [2]float64 }

func (b bowl) Eval(_ context.Context, r search.Request) (search.Evaluation, error) {
	e := search.Evaluation{LogLambda: r.LogLambda, Value: 1, Trusted: true, Tol: r.Tol, Curvature: []float64{0.02, 0, 0, 0.02}}
	for i, l := range r.LogLambda {
		away := l - b.least[i]
		e.Value += 0.01 * away * away
		e.Gradient = append(e.Gradient, 0.02*away)
	}
	return e, nil
}

func (b bowl) Null() search.Evaluation { return search.Evaluation{Value: 10} }

// Where the best share of αmax for both strengths is as small as the bounds around αmax, or smaller,
// each of the two is looked for below it, too.
func TestTwoStrengthsAreLookedForBelowTheirBestShare(t *testing.T) {
	for _, least := range [][2]float64{{-4, -3}, {-9, -7}, {-16, -14}} {
		p := choose.Problem{Objective: bowl{least}, Top: []float64{0, 0}, Ranges: []choose.Range{{Below: 9}, {Below: 9, Above: 4}}, Curved: true}
		result, common, err := choose.Minimise(t.Context(), p, choose.Options{Precision: true})
		if err != nil {
			t.Fatal(err)
		}
		if want := (least[0] + least[1]) / 2; math.Abs(common.Best.LogLambda[0]-want) > 1 {
			t.Errorf("least at %g: the best share is e^%g", least, common.Best.LogLambda[0])
		}
		for i, l := range result.Best.LogLambda {
			if math.Abs(l-least[i]) > 0.1 {
				t.Errorf("least at %g: %s at %g", least, result.Status, result.Best.LogLambda)
				break
			}
		}
	}
}
