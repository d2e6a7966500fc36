package bilevel_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/search"
)

// TestGradientsOfEveryKindOfLane checks that gradients are the limit of difference quotients, where these
// converge.
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
				continue // a kink lies between
			}
			checked++
			if !(math.Abs(got.Gradient[i]-fine) <= 1e-5*(math.Abs(fine)+0.01*math.Abs(got.Value))) {
				t.Errorf("%s: ∂/∂λ%d = %.10g, differences %.10g", name, i, got.Gradient[i], fine)
			}
		}
		if checked == 0 {
			t.Errorf("%s: nowhere smooth", name)
		}
	}
}

// TestNullModelsAreTheLimit checks for every kind of lane that the null model is the solution at strengths so
// large that no column enters.
func TestNullModelsAreTheLimit(t *testing.T) {
	for name, open := range rememberedKinds(t) {
		p, _, err := open(0, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		at := slices.Clone(requestsOf(name)[0].LogLambda)
		for i := range at {
			switch {
			case name != "svm" && name != "svr":
				at[i] = 10
			case i == 0:
				at[i] = -40 // C is tiny; the width of the tube stays as it was
			}
		}
		e, err := p.Eval(t.Context(), search.Request{LogLambda: at, ValueOnly: true, Tol: 1e-12})
		if err != nil {
			t.Fatal(name, err)
		}
		want := p.(interface{ NullValue() float64 }).NullValue()
		if name == "svr" { // its intercept is not unique
			continue
		}
		if !(math.Abs(e.Value-want) <= 1e-9*math.Abs(want)) {
			t.Errorf("%s: %.12g, the null model's %.12g", name, e.Value, want)
		}
	}
}

// TestValuesAreThoseOfHeldOutPredictions checks that the value is the mean over folds of the mean squared error,
// or of minus the logarithm of the probability, of the held-out predictions.
func TestValuesAreThoseOfHeldOutPredictions(t *testing.T) {
	q := oracle.NewRandom(44).Problem(oracle.Shape{N: 40, P: 10, Density: 0.6, Mean: 1})
	for name, open := range rememberedKinds(t) {
		p, _, err := open(0, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		p.KeepSolutions()
		at := requestsOf(name)[0].LogLambda
		e, err := p.Eval(t.Context(), search.Request{LogLambda: at, ValueOnly: true})
		if err != nil {
			t.Fatal(name, err)
		}
		if name == "sure" || name == "svm" { // nothing is held out, or the loss is another
			continue
		}
		predicted, err := p.(interface {
			HeldOut(ctx context.Context, logLambda []float64) ([]bilevel.Predicted, error)
		}).HeldOut(t.Context(), at)
		if err != nil || len(predicted) != 2 {
			t.Fatal(name, len(predicted), err)
		}
		var value float64
		for _, fold := range predicted {
			for k, i := range fold.Rows {
				off := fold.Scores[0][k] - q.Y[i]
				switch name {
				case "classes", "softmax":
					var sum float64
					for _, of := range fold.Scores {
						sum += math.Exp(of[k])
					}
					value -= (fold.Scores[int(i)%3][k] - math.Log(sum)) / float64(2*len(fold.Rows))
				case "logistic":
					value += math.Log1p(math.Exp(-math.Copysign(1, q.Y[i])*fold.Scores[0][k])) / float64(2*len(fold.Rows))
				case "svr": // half the squared error
					value += off * off / float64(4*len(fold.Rows))
				default:
					value += off * off / float64(2*len(fold.Rows))
				}
			}
		}
		if !(math.Abs(value-e.Value) <= 1e-5*e.Value) {
			t.Errorf("%s: %.12g by held-out predictions, the value is %.12g", name, value, e.Value)
		}
	}
}
