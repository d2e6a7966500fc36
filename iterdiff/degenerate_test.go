package iterdiff_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestDegenerateColumns checks columns that are empty, constant, excluded or copies of others.
func TestDegenerateColumns(t *testing.T) {
	const n = 12
	r := oracle.NewRandom(2)
	problem := &oracle.Problem{Y: make([]float64, n), Alpha: make([]float64, 6), Intercept: true}
	for i := range n {
		a, b := r.Normal(), r.Normal()
		problem.X = append(problem.X, []float64{a, 0, 1, b, a, r.Normal()}) // column 1 is empty, 2 constant, 4 a copy of 0
		problem.Y[i] = 2*a + b + 0.1*r.Normal()
	}
	for _, dense := range []bool{true, false} {
		fit := fitOf(t, problem, squared, dense)
		s, err := iterdiff.New(fit)
		if err != nil {
			t.Fatal(err)
		}
		outer := quadratic(make([]float64, n), []int{0, 1, 2})
		for _, method := range allMethods {
			g, err := model.Lasso(math.Log(0.05))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Solve(t.Context(), g, outer, iterdiff.Options{Method: method, MaxEpochs: 3000})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.NotDifferentiable && got.Status != outcome.SupportUncertified {
				t.Errorf("%s with a copy: %s, margin %g", method, got.Status, got.Margin)
			}
			if slices.Contains(got.Support, 1) || slices.Contains(got.Support, 2) {
				t.Errorf("%s: support %v", method, got.Support)
			}
			excluded := slices.Repeat([]float64{math.Log(0.05)}, 6)
			excluded[4] = math.Inf(1)
			if g, err = model.WeightedLasso(excluded); err != nil {
				t.Fatal(err)
			}
			if got, err = s.Solve(t.Context(), g, outer, iterdiff.Options{Method: method}); err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.Converged || slices.Contains(got.Support, 4) || len(got.Gradient) != len(got.Support) {
				t.Errorf("%s with the copy excluded: %+v", method, got)
			}
		}
	}
}

// TestEmptySample checks that a sample without features stays at its bound and has no influence.
func TestEmptySample(t *testing.T) {
	x, err := sparse.NewDense(4, 2, []float64{1, -1, 0, 0.5, 0.5, 0.2, 0, -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, samples := range []sparse.Matrix{sparse.Transpose(x), sparse.Transpose(toCSC(t, x))} {
		fit, err := model.NewSVM(fixture.Kernels(t), samples, []float64{1, -1, 1, -1}, []float64{1, 1, 2, 0})
		if err != nil {
			t.Fatal(err)
		}
		s := iterdiff.NewSVM(fit)
		var jacobian []float64
		for _, method := range allMethods {
			got, err := s.Solve(t.Context(), math.Log(0.25), quadratic([]float64{1, -1, 1, -1}, []int{3}), iterdiff.Options{
				Method: method, Watch: func(p *iterdiff.Progress) {
					if p.Jacobian != nil {
						jacobian = append(jacobian[:0], p.Jacobian[0]...)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.Converged || !slices.Contains(got.Support, 2) || slices.Contains(got.Support, 3) || jacobian[2] != 0.5 {
				t.Errorf("%s: %+v, ∂β/∂λ %v", method, got, jacobian)
			}
			if rate, err := s.Rate(t.Context(), math.Log(0.25), iterdiff.Options{Method: method}); err != nil || !(rate >= 0 && rate < 1) {
				t.Errorf("%s: rate %g, %v", method, rate, err)
			}
		}
	}
}

func toCSC(tb testing.TB, x sparse.Matrix) sparse.Matrix {
	tb.Helper()
	n, p := x.Dims()
	pointers := []int64{0}
	var rows []int32
	var values []float64
	for j := range p {
		_, column := x.Column(j)
		for i, v := range column {
			if v != 0 {
				rows, values = append(rows, int32(i)), append(values, v)
			}
		}
		pointers = append(pointers, int64(len(rows)))
	}
	c, err := sparse.NewCSC(n, p, pointers, rows, values)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// TestColumnsThatReturn checks that the weighted forward Jacobian is exact for columns that leave the support and
// return to it, by comparison with the reverse sweep.
func TestColumnsThatReturn(t *testing.T) {
	returns := 0
	for seed := range uint64(30) {
		r := oracle.NewRandom(3000 + seed)
		problem := r.Problem(oracle.Shape{N: 20, P: 12, Correlation: 0.9})
		fit := fitOf(t, problem, squared, true)
		each := make([]float64, 12)
		for j := range each {
			each[j] = math.Log(model.AlphaMax(fit)) - 2 - 3*r.Float64()
		}
		g, err := model.WeightedLasso(each)
		if err != nil {
			t.Fatal(err)
		}
		s, err := iterdiff.New(fit)
		if err != nil {
			t.Fatal(err)
		}
		outer := quadratic(make([]float64, 20), []int{0, 1, 2})
		for _, pair := range [][2]iterdiff.Method{{iterdiff.ForwardPCD, iterdiff.BackwardPCD}, {iterdiff.ForwardPGD, iterdiff.BackwardPGD}} {
			var was, left [12]bool
			watch := func(p *iterdiff.Progress) {
				for j, b := range p.Coef {
					left[j] = left[j] || was[j] && b == 0
					if was[j] = b != 0; was[j] && left[j] {
						returns++
						left[j] = false
					}
				}
			}
			solve := func(o iterdiff.Options) []float64 {
				got, err := s.Solve(t.Context(), g, outer, o)
				if err != nil {
					t.Fatal(err)
				}
				return slices.Clone(got.Gradient)
			}
			for _, epochs := range []int{5, 9, 15, 25} {
				was, left = [12]bool{}, [12]bool{}
				forward := solve(iterdiff.Options{Method: pair[0], Epochs: epochs, Watch: watch})
				backward := solve(iterdiff.Options{Method: pair[1], Epochs: epochs})
				if d := apart(forward, backward); d > 1e-11 {
					t.Errorf("seed %d, %s, %d epochs: off by %.1e", seed, pair[0], epochs, d)
				}
			}
		}
	}
	if returns < 10 {
		t.Errorf("%d columns returned", returns)
	}
}

// TestColumnOnTheEdge checks a column with |zⱼ| = αⱼ and βⱼ = 0, for which only one-sided derivatives exist.
func TestColumnOnTheEdge(t *testing.T) {
	fit := fitOf(t, &oracle.Problem{X: [][]float64{{1, 0}, {0, 1}}, Y: []float64{2, 1}, Alpha: make([]float64, 2)}, squared, true)
	s, err := iterdiff.New(fit)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		alpha float64
		want  outcome.Status
	}{{0.5, outcome.SupportUncertified}, {0.51, outcome.Converged}} {
		g, err := model.Lasso(math.Log(c.alpha))
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range allMethods {
			got, err := s.Solve(t.Context(), g, quadratic([]float64{1, 1}, []int{0, 1}), iterdiff.Options{Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != c.want {
				t.Errorf("%s: %s, margin %g, want %s", method, got.Status, got.Margin, c.want)
			}
		}
	}
}
