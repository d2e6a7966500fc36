package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// repeated is a problem with integer weights, and the same with every row as many
// times.
type repeated struct {
	x, rowsX     sparse.Matrix
	y, rowsY     []float64
	weights      []float64
	folds, times []int // by row, and by repeated row
}

func drawRepeated(t *testing.T, m pare.Model, seed uint64) *repeated {
	t.Helper()
	const n, p = 60, 12
	r := oracle.NewRandom(seed)
	q := r.Problem(oracle.Shape{N: n, P: p, Density: 0.5, Active: 5})
	out := &repeated{x: matrixOf(t, q.X, p, false)}
	var rows [][]float64
	for i, y := range targetsFor(m, q.Y) {
		if m.Traits().Classes {
			y = float64(r.Intn(3))
		}
		weight := r.Intn(4)
		out.y, out.weights, out.folds = append(out.y, y), append(out.weights, float64(weight)), append(out.folds, i%3)
		for range weight {
			rows, out.rowsY, out.times = append(rows, q.X[i]), append(out.rowsY, y), append(out.times, i%3)
		}
	}
	out.rowsX = matrixOf(t, rows, p, false)
	return out
}

// matrixOf stores rows of p numbers.
func matrixOf(t *testing.T, rows [][]float64, p int, dense bool) sparse.Matrix {
	t.Helper()
	return fixture.Matrix(t, &oracle.Problem{X: rows, Y: make([]float64, len(rows)), Alpha: make([]float64, p)}, dense)
}

// somewhere is a λ for a model, well inside.
func somewhere(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) []float64 {
	t.Helper()
	l, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	for i := range l {
		if l[i] -= 2 + 0.1*float64(i%3); math.IsNaN(l[i]) {
			l[i] = -2
		}
	}
	return l
}

// TestWeightIsRepetition: integer weights do what repeated rows do, for every model,
// fitted and differentiated.
func TestWeightIsRepetition(t *testing.T) {
	ctx := context.Background()
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-10*(1e-3+math.Abs(b)) }
	for _, m := range pare.Models() {
		for seed := range uint64(3) {
			q := drawRepeated(t, m, seed)
			c := pare.Config{Model: m, Tol: 1e-15, NoIntercept: seed == 2, Standardize: !m.Traits().Convex}
			w := c
			w.Weights = q.weights
			lambda := somewhere(t, q.rowsX, q.rowsY, c)
			if l := somewhere(t, q.x, q.y, w); !slices.EqualFunc(l, lambda, near) {
				t.Fatalf("%s: λmax − 2 is %v with weights, %v repeated", m, l, lambda)
			}
			a, err := pare.Fit(ctx, q.x, q.y, lambda, w)
			if err != nil {
				t.Fatal(err)
			}
			b, err := pare.Fit(ctx, q.rowsX, q.rowsY, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			all, each := []*pare.Fitted{a}, []*pare.Fitted{b}
			if a.PerClass != nil {
				all, each = a.PerClass, b.PerClass
			}
			for k, f := range all {
				g := each[k]
				if !slices.Equal(f.Support, g.Support) || !near(f.Intercept, g.Intercept) || !near(f.Objective, g.Objective) {
					t.Errorf("%s, seed %d: %+v with weights, %+v repeated", m, seed, f, g)
				}
				for i := range f.Coef {
					if math.Abs(f.Coef[i]-g.Coef[i]) > 1e-10 {
						t.Errorf("%s, seed %d: coefficient %g with weights, %g repeated", m, seed, f.Coef[i], g.Coef[i])
					}
				}
			}
			h, err := pare.Gradient(ctx, q.x, q.y, lambda, pare.Validation{FoldIDs: q.folds}, w)
			if err != nil {
				t.Fatal(err)
			}
			i, err := pare.Gradient(ctx, q.rowsX, q.rowsY, lambda, pare.Validation{FoldIDs: q.times}, c)
			if err != nil {
				t.Fatal(err)
			}
			if m == pare.Lasso || m == pare.Logistic || m == pare.SVM {
				w.Method, w.Tol = pare.BackwardPCD, 1e-10
				along, err := pare.Gradient(ctx, q.x, q.y, lambda, pare.Validation{FoldIDs: q.folds}, w)
				if err != nil || math.Abs(along.Gradient[0]-h.Gradient[0]) > 1e-5*math.Abs(h.Gradient[0]) {
					t.Errorf("%s, seed %d: %v, gradient %v along the iterates, %v at the solution", m, seed, err, along, h.Gradient)
				}
			}
			if !near(h.Value, i.Value) || !slices.EqualFunc(h.Gradient, i.Gradient, near) {
				t.Errorf("%s, seed %d: value %.15g and gradient %v with weights, %.15g and %v repeated", m, seed, h.Value, h.Gradient, i.Value, i.Gradient)
			}
		}
	}
}

// TestWeightsAreChecked, and information criteria do not take them.
func TestWeightsAreChecked(t *testing.T) {
	ctx := context.Background()
	x, y := load(t)
	one := func(at int, v float64) []float64 {
		w := slices.Repeat([]float64{1}, len(y))
		w[at] = v
		return w
	}
	for name, c := range map[string]struct {
		weights []float64
		kind    outcome.Kind
		row     int
	}{
		"too few":  {[]float64{1, 2}, outcome.Shape, -1},
		"negative": {one(3, -1), outcome.BadParameter, 3},
		"NaN":      {one(5, math.NaN()), outcome.BadParameter, 5},
		"infinite": {one(7, math.Inf(1)), outcome.BadParameter, 7},
		"all zero": {make([]float64, len(y)), outcome.Shape, -1},
	} {
		_, err := pare.Fit(ctx, x, y, []float64{-1}, pare.Config{Weights: c.weights})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != c.kind || e.HasRow != (c.row >= 0) || e.HasRow && e.Row != c.row {
			t.Errorf("%s: %v", name, err)
		}
	}
	w := slices.Repeat([]float64{1}, len(y))
	for i := range 5 {
		w[i] = 0 // fold 2 of those below
	}
	ids := make([]int, len(y))
	for i := range ids {
		ids[i] = i % 2
		if i < 5 {
			ids[i] = 2
		}
	}
	if _, err := pare.Gradient(ctx, x, y, []float64{-1}, pare.Validation{FoldIDs: ids}, pare.Config{Weights: w}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("a fold of weight 0: %v", err)
	}
	if _, err := pare.Gradient(ctx, x, y, []float64{-1}, pare.Validation{Criterion: pare.SURE, Sigma: 1}, pare.Config{Weights: w}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("SURE with weights: %v", err)
	}
}
