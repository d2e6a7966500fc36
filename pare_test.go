package pare_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// diabetes reads the embedded data into sparse storage.
func diabetes() (*sparse.CSC, []float64, error) {
	return embedded.Diabetes(context.Background(), sparse.ReadOptions{})
}

func load(t *testing.T) (sparse.Matrix, []float64) {
	t.Helper()
	x, y, err := diabetes()
	if err != nil {
		t.Fatal(err)
	}
	return sparse.Compact(x), y
}

// text draws a sparse problem that resembles text: short columns, some of them empty.
func text(t *testing.T) (sparse.Matrix, []float64) {
	t.Helper()
	r := oracle.NewRandom(20)
	q := r.Problem(oracle.Shape{N: 150, P: 400, Density: 0.03, Active: 25})
	return fixture.Matrix(t, q, false), q.Y
}

// squared lists the models of the squared loss.
var squared = []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge}

// fingerprint hashes every number of X and y.
func fingerprint(x sparse.Matrix, y []float64) uint64 {
	h := fnv.New64a()
	word := func(v uint64) {
		var b [8]byte
		for i := range b {
			b[i] = byte(v >> (8 * i))
		}
		h.Write(b[:])
	}
	_, p := x.Dims()
	for j := range p {
		rows, values := x.Column(j)
		for _, i := range rows {
			word(uint64(i))
		}
		for _, v := range values {
			word(math.Float64bits(v))
		}
	}
	for _, v := range y {
		word(math.Float64bits(v))
	}
	return h.Sum64()
}

// problemOf returns the same data as a problem of the oracle.
func problemOf(x sparse.Matrix, y []float64, intercept bool) *oracle.Problem {
	n, p := x.Dims()
	q := &oracle.Problem{X: make([][]float64, n), Y: y, Alpha: make([]float64, p), Intercept: intercept}
	for i := range q.X {
		q.X[i] = make([]float64, p)
	}
	for j := range p {
		rows, values := x.Column(j)
		for k, v := range values {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			q.X[i][j] = v
		}
	}
	return q
}

func lambdaMax(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) float64 {
	t.Helper()
	top, err := pare.LogLambdaMax(x, y, c)
	if err != nil {
		t.Fatal(err)
	}
	return top[0]
}

// repeat returns n copies of v.
func repeat(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// TestFitAgainstTheOracle checks λmax, certificate and coefficients of every model on the
// embedded data, with and without intercept.
func TestFitAgainstTheOracle(t *testing.T) {
	x, y := load(t)
	_, p := x.Dims()
	for _, without := range []bool{false, true} {
		q := problemOf(x, y, !without)
		top := lambdaMax(t, x, y, pare.Config{NoIntercept: without})
		if want := math.Log(q.AlphaMax()); math.Abs(top-want) > 1e-13 {
			t.Errorf("ln αmax = %.16g, want %.16g", top, want)
		}
		for _, m := range squared {
			for _, below := range []float64{0.5, 2, 5} {
				lambda := []float64{top - below}
				c := q.Clone().Uniform(math.Exp(top - below))
				switch m {
				default:
				case pare.ElasticNet:
					lambda = append(lambda, top-6)
					c.Ridge = math.Exp(top - 6)
				case pare.WeightedLasso:
					lambda = repeat(top-below, p)
					lambda[2], lambda[3] = math.Inf(1), math.Inf(-1)
					c.Alpha[2], c.Alpha[3] = math.Inf(1), 0
				case pare.Ridge:
					c.Uniform(0).Ridge = math.Exp(top - below)
				}
				name := fmt.Sprintf("%s at λmax − %g, intercept %v", m, below, !without)
				f, err := pare.Fit(context.Background(), x, y, lambda, pare.Config{Model: m, NoIntercept: without, Tol: 1e-13})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				best, null := c.Solve(), c.Null()
				if f.Status != outcome.Converged || f.RelativeGap > 1e-13 || !slices.Equal(f.LogLambda, lambda) || len(f.LogLambdaMax) != len(lambda) {
					t.Errorf("%s: %+v", name, f)
				}
				if math.Abs(f.Objective-best.Objective) > 1e-12*null {
					t.Errorf("%s: objective %.16g, want %.16g", name, f.Objective, best.Objective)
				}
				got := make([]float64, p)
				for k, j := range f.Support {
					got[j] = f.Coef[k]
				}
				for j := range got {
					if math.Abs(got[j]-best.Beta[j]) > 1e-4 { // coefficients are of the order of 500
						t.Errorf("%s: β_%d = %.10g, want %.10g", name, j, got[j], best.Beta[j])
					}
				}
				if math.Abs(f.Intercept-best.Intercept) > 1e-6 {
					t.Errorf("%s: intercept %.10g, want %.10g", name, f.Intercept, best.Intercept)
				}
			}
		}
	}
}

// TestZeroAtLambdaMax checks that every coefficient is 0 from the returned λmax on.
func TestZeroAtLambdaMax(t *testing.T) {
	x, y := load(t)
	top := lambdaMax(t, x, y, pare.Config{})
	for _, above := range []float64{0, 1e-9, 1, 20} {
		f, err := pare.Fit(context.Background(), x, y, []float64{top + above}, pare.Config{})
		if err != nil || len(f.Support) != 0 || f.Status != outcome.Converged || f.Epochs != 0 {
			t.Errorf("λmax + %g: %v, %+v", above, err, f)
		}
		g, err := pare.Gradient(context.Background(), x, y, []float64{top + 1 + above}, pare.Validation{InOrder: true}, pare.Config{})
		if err != nil || g.Status != outcome.Flat || g.Gradient[0] != 0 {
			t.Errorf("gradient at λmax + 1 + %g: %v, %+v", above, err, g)
		}
	}
}

// TestPathIsFits checks that the points of a path equal separate fits, to the tolerance, and
// that a path ends when its caller stops it, at an error, or with its context.
func TestPathIsFits(t *testing.T) {
	x, y := text(t)
	top := lambdaMax(t, x, y, pare.Config{})
	grid := search.Geometric(top, -4, 12)
	null := problemOf(x, y, true).Null()
	count := 0
	for f, err := range pare.Path(context.Background(), x, y, grid, pare.Config{Tol: 1e-8}) {
		if err != nil {
			t.Fatal(err)
		}
		alone, err := pare.Fit(context.Background(), x, y, grid[count], pare.Config{Tol: 1e-8})
		if err != nil {
			t.Fatal(err)
		}
		if f.Status != outcome.Converged || f.RelativeGap > 1e-8 || math.Abs(f.Objective-alone.Objective) > 1e-8*null || f.LogLambda[0] != grid[count][0] {
			t.Errorf("point %d: %+v, alone %+v", count, f, alone)
		}
		count++
	}
	if count != len(grid) {
		t.Errorf("%d of %d points", count, len(grid))
	}
	count = 0
	for _, err := range pare.Path(context.Background(), x, y, grid, pare.Config{}) {
		if err != nil {
			t.Fatal(err)
		}
		if count++; count == 3 {
			break
		}
	}
	if count != 3 {
		t.Errorf("went on after the end: %d", count)
	}
	var failures []error
	for f, err := range pare.Path(context.Background(), x, y, [][]float64{{top}, {math.NaN()}, {top}}, pare.Config{}) {
		if (f == nil) != (err != nil) {
			t.Errorf("%v and %v", f, err)
		}
		failures = append(failures, err)
	}
	if len(failures) != 2 || failures[0] != nil || outcome.KindOf(failures[1]) != outcome.BadParameter {
		t.Errorf("a NaN in the middle: %v", failures)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var statuses []outcome.Status
	for f, err := range pare.Path(ctx, x, y, [][]float64{{top - 1}, {top - 2}}, pare.Config{}) {
		if err != nil {
			t.Fatal(err)
		}
		statuses = append(statuses, f.Status)
	}
	if !slices.Equal(statuses, []outcome.Status{outcome.Cancelled}) {
		t.Errorf("cancelled: %v", statuses)
	}
}

// TestValidateIsTheValueOfGradient checks that Validate and Gradient give the same values along
// a grid, and the same errors.
func TestValidateIsTheValueOfGradient(t *testing.T) {
	x, y := text(t)
	top := lambdaMax(t, x, y, pare.Config{})
	grid := search.Geometric(top, -3, 6)
	v := pare.Validation{Folds: 4, Seed: 3}
	count := 0
	for e, err := range pare.Validate(context.Background(), x, y, grid, v, pare.Config{Tol: 1e-10}) {
		if err != nil {
			t.Fatal(err)
		}
		g, err := pare.Gradient(context.Background(), x, y, grid[count], v, pare.Config{Tol: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(e.Value-g.Value) > 1e-8*g.Value || e.Gradient != nil {
			t.Errorf("point %d: %+v, gradient's value %.15g", count, e, g.Value)
		}
		count++
	}
	if count != len(grid) {
		t.Errorf("%d of %d points", count, len(grid))
	}
}

// TestGradientAgainstDifferences checks the public Gradient of each model against finite
// differences.
func TestGradientAgainstDifferences(t *testing.T) {
	x, y := load(t)
	_, p := x.Dims()
	top := lambdaMax(t, x, y, pare.Config{})
	for _, m := range squared {
		for _, hold := range []bool{false, true} {
			lambda := []float64{top - 2.3}
			switch m {
			default:
			case pare.ElasticNet:
				lambda = append(lambda, top-7)
			case pare.WeightedLasso:
				lambda = repeat(top-2.3, p)
			}
			c := pare.Config{Model: m, Tol: 1e-13}
			v := pare.Validation{Folds: 3, Seed: 1}
			if hold {
				v.Criterion = pare.HoldOut
			}
			value := func(lambda []float64) *pare.Hypergradient {
				g, err := pare.Gradient(context.Background(), x, y, lambda, v, c)
				if err != nil {
					t.Fatal(err)
				}
				return g
			}
			g := value(lambda)
			if g.Status != outcome.Converged || len(g.Gradient) != len(lambda) {
				t.Errorf("%s: %+v", m, g)
			}
			for i := range lambda {
				const h = 1e-4
				up, down := slices.Clone(lambda), slices.Clone(lambda)
				up[i] += h
				down[i] -= h
				want := (value(up).Value - value(down).Value) / (2 * h)
				if math.Abs(g.Gradient[i]-want) > 1e-5*(math.Abs(want)+1e-3*g.Value) {
					t.Errorf("%s, hold-out %v: ∂/∂λ%d = %.10g, differences %.10g", m, hold, i+1, g.Gradient[i], want)
				}
			}
		}
	}
}
