package bilevel_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestGradientsSayWhatTheyAreWorth checks the status of cases that the theorem does not cover: λ on a kink, and
// columns of the support that depend on others at its edge. Copies of a column are covered, because their shared
// coefficient is differentiable, and a regular point is certified.
func TestGradientsSayWhatTheyAreWorth(t *testing.T) {
	k := fixture.Kernels(t)
	const train, all, p = 8, 12, 4
	rng := rand.New(rand.NewPCG(1, 2))
	// Training columns are orthogonal: column j is 1 on rows 2j and −1 on 2j+1.
	columns := make([]float64, all*p)
	for j := range p {
		columns[j*all+2*j], columns[j*all+2*j+1] = 1, -1
		for i := train; i < all; i++ {
			columns[j*all+i] = rng.NormFloat64()
		}
	}
	y := []float64{3, -3, 2, -2, 1, -1, 0.5, -0.5, 1, 0, -1, 2}
	folds := make(bilevel.Folds, all)
	for i := range train {
		folds[i] = bilevel.AlwaysTrain
	}
	evaluate := func(columns []float64, lambda []float64, penalty func([]float64) (model.Penalty, error)) bilevel.Report {
		x, err := sparse.NewDense(all, len(columns)/all, columns)
		if err != nil {
			t.Fatal(err)
		}
		problem, err := bilevel.New(k, x, y, bilevel.Spec{Folds: folds, Penalty: penalty, Solver: cd.Options{Tol: 1e-12}, Certify: true})
		if err != nil {
			t.Fatal(err)
		}
		report, err := problem.Evaluate(context.Background(), search.Request{LogLambda: lambda})
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	if r := evaluate(columns, []float64{kernels.Log(0.3)}, lasso); r.Status != outcome.Converged || !r.SupportCertified || !r.Trusted {
		t.Errorf("a regular point: %s, certified %v", r.Status, r.SupportCertified)
	}
	// The correlation of column 2 is 2·1/8, so it is about to enter.
	if r := evaluate(columns, []float64{kernels.Log(0.25)}, lasso); r.Status != outcome.NotDifferentiable || r.SupportCertified {
		t.Errorf("on a kink: %s, certified %v", r.Status, r.SupportCertified)
	}
	// A copy of column 0 on the training rows, with other values on the validation rows.
	copied := append([]float64(nil), columns...)
	copied = append(copied, columns[:all]...)
	copied[p*all+train] += 5
	if r := evaluate(copied, []float64{kernels.Log(0.3)}, lasso); r.Status != outcome.Converged || !r.SupportCertified {
		t.Errorf("a copied column: %s, certified %v", r.Status, r.SupportCertified)
	}
	// Column 4 is the mean of columns 0 and 1: where both are in the support column 4 is on its edge, and the three
	// are linearly dependent.
	mixed := append([]float64(nil), columns...)
	for i := range all {
		mixed = append(mixed, 0.5*(columns[i]+columns[all+i]))
	}
	if r := evaluate(mixed, []float64{kernels.Log(0.3)}, lasso); r.Status != outcome.NotUnique {
		t.Errorf("dependent columns: %s", r.Status)
	}
	if r := evaluate(columns, []float64{kernels.Log(2)}, lasso); r.Status != outcome.Flat {
		t.Errorf("above λmax: %s", r.Status)
	}
}
