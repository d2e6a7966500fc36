package bilevel_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestInformationCriteria checks that the gradients of SURE, AIC and BIC agree with central differences, and that
// the degrees of freedom agree with the size of the support.
func TestInformationCriteria(t *testing.T) {
	x, y, err := sparse.OpenSVMLight(context.Background(), "../internal/embedded/diabetes.svm.gz", sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n, p := x.Dims()
	k := fixture.Kernels(t)
	const sigma = 54.0
	for name, c := range map[string]bilevel.Information{"sure": bilevel.SURE(n, sigma), "aic": bilevel.AIC(sigma), "bic": bilevel.BIC(n, sigma)} {
		for kind, penalty := range penalties {
			problem, err := bilevel.New(k, sparse.Compact(x), y, bilevel.Spec{
				Risk: &bilevel.Risk{Information: c, Sigma: sigma, Seed: 42}, Penalty: penalty, Intercept: true, Solver: cd.Options{Tol: 1e-13},
			})
			if err != nil {
				t.Fatal(err)
			}
			lambda := []float64{-1.7}
			switch kind {
			case "enet":
				lambda = []float64{-1.7, -6}
			case "wlasso":
				lambda = make([]float64, p)
				for j := range lambda {
					lambda[j] = -1.7 + 0.1*float64(j)
				}
			}
			at := func(i int, by float64) float64 {
				l := append([]float64(nil), lambda...)
				l[i] += by
				e, err := problem.Evaluate(context.Background(), search.Request{LogLambda: l, ValueOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				return e.Value
			}
			report, err := problem.Evaluate(context.Background(), search.Request{LogLambda: lambda})
			if err != nil {
				t.Fatal(err)
			}
			if report.Status != outcome.Converged {
				t.Errorf("%s %s: status %s", name, kind, report.Status)
			}
			for i, g := range report.Gradient {
				const h = 1e-4
				want := (at(i, h) - at(i, -h)) / (2 * h)
				if !(math.Abs(g-want) <= 1e-5*(math.Abs(want)+1e-3*math.Abs(report.Value))) {
					t.Errorf("%s %s: gradient %d is %g, differences give %g", name, kind, i, g, want)
				}
			}
			if kind == "lasso" && name == "aic" {
				// The support has 8 columns, each of about one degree of freedom.
				rss := report.Value
				fitted, err := bilevel.New(k, sparse.Compact(x), y, bilevel.Spec{
					Risk: &bilevel.Risk{Information: bilevel.Information{Fit: 1 / (sigma * sigma)}, Sigma: sigma, Seed: 42}, Penalty: penalty, Intercept: true, Solver: cd.Options{Tol: 1e-13},
				})
				if err != nil {
					t.Fatal(err)
				}
				only, err := fitted.Evaluate(context.Background(), search.Request{LogLambda: lambda, ValueOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				if dof := (rss - only.Value) / 2; !(math.Abs(dof-float64(report.Support)) <= 8) {
					t.Errorf("%g degrees of freedom for a support of %d", dof, report.Support)
				}
			}
		}
	}
	if _, err := bilevel.New(k, x, y, bilevel.Spec{Risk: &bilevel.Risk{Information: bilevel.AIC(1)}, Penalty: model.WeightedLasso}); err == nil {
		t.Error("a noise level of 0 was accepted")
	}
	if _, err := bilevel.NewSVM(k, sparse.Transpose(x), y, bilevel.Spec{Risk: &bilevel.Risk{Information: bilevel.AIC(1), Sigma: 1}}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("the risk of an SVM: %v", err)
	}
}
