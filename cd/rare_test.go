package cd_test

import (
	"os"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestRareClasses checks classes with few rows. Such a class has next to no curvature at
// β = 0, and none far away: the quadratic model predicts far too large a decrease, and
// steps must be judged by the actual one. Otherwise class 23 of 53 ends at an intercept
// of −93, with a gap of 0.88.
func TestRareClasses(t *testing.T) {
	const path = "../../shared/data/reuters_multi53.svm.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here", path)
	}
	x, label, err := sparse.OpenSVMLight(t.Context(), path, sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	view, err := sparse.NewView(k, x, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, class := range []float64{23, 24, 35, 37}[:oracle.Draws(4)] {
		y := make([]float64, len(label))
		for i, l := range label {
			if y[i] = -1; l == class {
				y[i] = 1
			}
		}
		fit, err := model.NewLogistic(view, y)
		if err != nil {
			t.Fatal(err)
		}
		g, err := model.Lasso(kernels.Log(0.01 * model.AlphaMax(fit)))
		if err != nil {
			t.Fatal(err)
		}
		sol, err := cd.New(fit).Solve(t.Context(), g, cd.Options{Tol: 1e-6})
		if err != nil || sol.Status != outcome.Converged || sol.Epochs > 5000 {
			t.Errorf("class %g: %s after %d epochs, gap %.1e, intercept %g; %v", class, sol.Status, sol.Epochs, sol.RelativeGap, sol.Intercept, err)
		}
	}
}
