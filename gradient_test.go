package pare_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// knotted is a Lasso whose training columns are orthogonal, with correlations ¾, ½, ¼ and ⅛,
// and whose held-out rows are random: its solution and its hypergradient have closed forms.
type knotted struct {
	columns []float64
	y       []float64
	folds   []int
}

const knotTrain, knotRows, knotColumns = 8, 12, 4

func newKnotted() *knotted {
	k := &knotted{columns: make([]float64, knotRows*knotColumns), y: []float64{3, -3, 2, -2, 1, -1, 0.5, -0.5, 1, 0, -1, 2}, folds: make([]int, knotRows)}
	rng := rand.New(rand.NewPCG(1, 2))
	for j := range knotColumns {
		k.columns[j*knotRows+2*j], k.columns[j*knotRows+2*j+1] = 1, -1
		for i := knotTrain; i < knotRows; i++ {
			k.columns[j*knotRows+i] = rng.NormFloat64()
		}
	}
	for i := range knotTrain {
		k.folds[i] = -1
	}
	return k
}

// slope returns L′(α) for the solution whose support is the columns with a correlation above
// edge.
func (k *knotted) slope(alpha, edge float64) (sum float64) {
	beta := make([]float64, knotColumns)
	for j := range beta {
		if c := k.y[2*j] / 4; c > edge {
			beta[j] = 4 * (c - alpha)
		}
	}
	for i := knotTrain; i < knotRows; i++ {
		off, moves := -k.y[i], 0.0
		for j, b := range beta {
			x := k.columns[j*knotRows+i]
			if off += x * b; k.y[2*j]/4 > edge {
				moves -= 4 * alpha * x
			}
		}
		sum += 2 * off * moves / (knotRows - knotTrain)
	}
	return sum
}

// TestGradientsOnAKnot checks that at a knot, where the derivative does not exist, the status
// says so without certificates, and both one-sided derivatives are returned.
func TestGradientsOnAKnot(t *testing.T) {
	k := newKnotted()
	x, err := sparse.NewDense(knotRows, knotColumns, k.columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, knot := range []float64{0.25, 0.5} { // exactly representable: the correlations of columns 2 and 1
		for _, certify := range []bool{false, true} {
			c := pare.Config{NoIntercept: true, Certify: certify}
			g, err := pare.Gradient(context.Background(), x, k.y, []float64{kernels.Log(knot)}, pare.Validation{FoldIDs: k.folds}, c)
			if err != nil {
				t.Fatal(err)
			}
			below, above := k.slope(knot, knot-1e-9), k.slope(knot, knot+1e-9)
			if g.Status != outcome.NotDifferentiable || len(g.Below) != 1 || len(g.Above) != 1 {
				t.Fatalf("α = %g: %s, %v, %v", knot, g.Status, g.Below, g.Above)
			}
			if math.Abs(g.Below[0]-below) > 1e-5 || math.Abs(g.Above[0]-above) > 1e-5 || math.Abs(below-above) < 0.1 {
				t.Errorf("α = %g: slopes %g and %g, want %g and %g", knot, g.Below[0], g.Above[0], below, above)
			}
		}
		// Close to the knot, but not on it, the derivative exists.
		g, err := pare.Gradient(context.Background(), x, k.y, []float64{kernels.Log(knot) + 1e-6}, pare.Validation{FoldIDs: k.folds}, pare.Config{NoIntercept: true})
		if err != nil || g.Status != outcome.Converged || g.Below != nil || math.Abs(g.Gradient[0]-k.slope(knot*math.Exp(1e-6), knot)) > g.ErrorBound+1e-12 {
			t.Errorf("beside α = %g: %v, %+v", knot, err, g)
		}
	}
}

// TestDependenceThatHeldOutRowsSee checks solutions that differ only on held-out rows. One-hot
// columns of four groups and an intercept are linearly dependent: with two groups above and two
// below, the intercept is determined only up to an interval. Held-out rows belong to no group,
// so that the solutions predict differently there, and no gradient may be trusted, with or
// without certificates.
func TestDependenceThatHeldOutRowsSee(t *testing.T) {
	const n, groups = 24, 4
	columns, y, folds := make([]float64, n*groups), make([]float64, n), make([]int, n)
	for i := range n {
		if folds[i] = -1; i >= n-4 {
			folds[i] = 0
		} else {
			columns[(i%groups)*n+i] = 1
		}
		y[i] = []float64{-2, -1, 1, 2}[i%groups] + 0.1*float64(i%5)
	}
	x, err := sparse.NewDense(n, groups, columns)
	if err != nil {
		t.Fatal(err)
	}
	for _, certify := range []bool{false, true} {
		g, err := pare.Gradient(context.Background(), x, y, []float64{math.Log(0.05)}, pare.Validation{FoldIDs: folds}, pare.Config{Certify: certify})
		if err != nil || g.Status.OK() {
			t.Errorf("certify %v: %v, %s, bound %g, %s", certify, err, g.Status, g.ErrorBound, g.Bound)
		}
	}
}

// TestMethodsAgree checks that every differentiation method agrees with the implicit one, that
// searches with them end at the same λ, and that methods which a model lacks are refused.
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
		if err != nil || math.Abs(s.LogLambda[0]-chosen.LogLambda[0]) > 2e-2 || math.Abs(s.Value/chosen.Value-1) > 1e-6 { // λ's that differ by 0.018 change the value by a millionth
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
