package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestMethodsAgree: every method finds the slope of the implicit one, and a search
// by them ends at the same λ; what there is not is refused.
func TestMethodsAgree(t *testing.T) {
	x, y := load(t)
	px, py := patients(t)
	ctx := context.Background()
	top := lambdaMax(t, x, y, pare.Config{})
	want, err := pare.Gradient(ctx, x, y, []float64{top - 2}, pare.Validation{InOrder: true}, pare.Config{Tol: 1e-10, Certify: true})
	if err != nil {
		t.Fatal(err)
	}
	if !want.SupportCertified {
		t.Error("no proof of a regular support")
	}
	chosen, err := pare.Select(ctx, x, y, pare.SelectOptions{Precision: true}, pare.Config{Tol: 1e-8})
	if err != nil {
		t.Fatal(err)
	}
	machine, err := pare.Gradient(ctx, px, py, []float64{1}, pare.Validation{InOrder: true}, pare.Config{Model: pare.SVM, Tol: 1e-10})
	if err != nil {
		t.Fatal(err)
	}
	methods := pare.Methods()[1:]
	if oracle.Few() {
		methods = []pare.Method{pare.ForwardPCD}
	}
	for _, m := range methods {
		g, err := pare.Gradient(ctx, x, y, []float64{top - 2}, pare.Validation{InOrder: true}, pare.Config{Tol: 1e-10, Method: m, Certify: true})
		if err != nil {
			t.Fatal(err)
		}
		if g.Status != outcome.Converged || math.Abs(g.Gradient[0]/want.Gradient[0]-1) > 1e-6 || g.SupportCertified || !math.IsNaN(g.InjectivityMargin) {
			t.Errorf("%s: %+v, implicit %+v", m, g, want)
		}
		if m == pare.ForwardPCD || m == pare.BackwardPCD { // proximal gradient takes 10⁴ epochs here
			g, err = pare.Gradient(ctx, px, py, []float64{1}, pare.Validation{InOrder: true}, pare.Config{Model: pare.SVM, Tol: 1e-10, Method: m})
			if err != nil || math.Abs(g.Gradient[0]/machine.Gradient[0]-1) > 1e-5 {
				t.Errorf("%s, svm: %v, %+v, implicit %+v", m, err, g, machine)
			}
		}
		s, err := pare.Select(ctx, x, y, pare.SelectOptions{Precision: true}, pare.Config{Tol: 1e-8, Method: m})
		if err != nil || math.Abs(s.LogLambda[0]-chosen.LogLambda[0]) > 1e-2 || math.Abs(s.Value/chosen.Value-1) > 1e-6 {
			t.Errorf("%s: %v, chose %v (%v), implicit %v (%v)", m, err, s.LogLambda, s.Value, chosen.LogLambda, chosen.Value)
		}
		if _, err := pare.Gradient(ctx, x, y, []float64{0}, pare.Validation{InOrder: true}, pare.Config{Model: pare.Multiclass, Method: m}); outcome.KindOf(err) != outcome.Usage {
			t.Errorf("%s, multiclass: %v", m, err)
		}
	}
	if _, err := pare.Fit(ctx, x, y, []float64{0}, pare.Config{Method: "sideways"}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("an unknown method: %v", err)
	}
}
