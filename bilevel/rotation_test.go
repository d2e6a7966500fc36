package bilevel_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

func rotated(t *testing.T, q *oracle.Problem, intercept bool) *bilevel.Rotation {
	t.Helper()
	r, err := bilevel.Rotate(fixture.Kernels(t), fixture.Matrix(t, q, true).(*sparse.Dense), nil, intercept)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRotationHasTheProductsOfRows checks that the rotated rows have the inner products of the original rows, with
// as many columns as there are independent rows.
func TestRotationHasTheProductsOfRows(t *testing.T) {
	const n, p = 14, 45
	for _, intercept := range []bool{false, true} {
		for _, scale := range []float64{1, 0x1p-520, 0x1p511} { // the squares of the scaled entries underflow or overflow
			t.Run(fmt.Sprint(intercept, scale), func(t *testing.T) {
				q := oracle.NewRandom(31).Problem(oracle.Shape{N: n, P: p, Mean: 40})
				copy(q.X[9], q.X[4])
				for j := range p {
					q.X[11][j] = 2*q.X[1][j] - q.X[0][j]
					q.X[3][j] *= 1e-3
				}
				rank := n - 2
				if intercept {
					rank--
				}
				product := func(i, k int) float64 {
					var sum oracle.Sum
					for j := range p {
						var mean float64
						if intercept {
							for i := range q.X {
								mean += q.X[i][j] / n
							}
						}
						sum.AddProduct(q.X[i][j]-mean, q.X[k][j]-mean)
					}
					return sum.Value()
				}
				scaled := q.Clone()
				scaled.X = make([][]float64, n)
				for i, row := range q.X {
					for _, v := range row {
						scaled.X[i] = append(scaled.X[i], v*scale)
					}
				}
				l := rotated(t, scaled, intercept).L
				if rows, columns := l.Dims(); rows != n || columns != rank {
					t.Fatalf("%d × %d", rows, columns)
				}
				var largest float64
				for i := range n {
					largest = max(largest, product(i, i))
				}
				for i := range n {
					for k := range n {
						var got float64
						for c := range rank {
							_, column := l.Column(c)
							got += column[i] / scale * (column[k] / scale)
						}
						if want := product(i, k); math.Abs(got-want) > 1e-13*largest {
							t.Errorf("rows %d and %d: %g, want %g", i, k, got, want)
						}
					}
				}
			})
		}
	}
}

// TestNothingToRotate checks that there is no rotation where all rows are equal, nor where their distances
// overflow.
func TestNothingToRotate(t *testing.T) {
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 4, P: 9})
	for i := range q.X {
		copy(q.X[i], q.X[0])
	}
	if r := rotated(t, q, true); r != nil {
		t.Errorf("%+v", r)
	}
	for i := range q.X {
		q.X[i][0] = math.MaxFloat64
	}
	q.X[1][0] = -math.MaxFloat64
	if r := rotated(t, q, true); r != nil {
		t.Errorf("%+v", r)
	}
}

// TestRotatedProblemIsThatOfX checks that a rotated problem has the values, slopes, supports, predictions and
// solutions of the original, for several losses and selections of rows.
func TestRotatedProblemIsThatOfX(t *testing.T) {
	k, random := fixture.Kernels(t), oracle.NewRandom(12)
	for name, l := range map[string]loss.Loss{"squared": loss.Squared{}, "logistic": loss.Logistic{}, "poisson": loss.Poisson{}} {
		for _, intercept := range []bool{false, true} {
			for _, forward := range []bool{false, true} {
				t.Run(fmt.Sprint(name, intercept, forward), func(t *testing.T) {
					q := random.Problem(oracle.Shape{N: 30, P: 90, Mean: 2, Weights: true})
					offset, middle := make([]float64, len(q.Y)), slices.Sorted(slices.Values(q.Y))[15]
					for i, v := range q.Y {
						offset[i] = 0.3 * random.Normal()
						switch name {
						case "logistic":
							q.Y[i] = math.Copysign(1, v-middle)
						case "poisson":
							q.Y[i] = math.Floor(math.Abs(v))
						}
					}
					for i := range q.X {
						q.X[i][17] = 1.5 // a constant column
						if !intercept {
							q.X[i][17] = 0
						}
					}
					folds := make(bilevel.Folds, len(q.Y))
					for i := range folds {
						folds[i] = i % 3
						if forward && i < 9 {
							folds[i] = bilevel.AlwaysTrain
						}
					}
					spec := bilevel.Spec{
						Folds: folds, Weights: q.Weights, Intercept: intercept, Forward: forward, Solver: cd.Options{Tol: 1e-12},
						Penalty: func(logLambda []float64) (model.Penalty, error) { return model.Ridge(logLambda[0]) },
						Datafit: func(view *sparse.View, y []float64) (model.Datafit, error) {
							return model.NewOffset(view, y, offset, l)
						},
						AlphaMax: (*model.Null).RidgeMax,
					}
					by := rotated(t, q, intercept)
					onX, err := bilevel.New(k, fixture.Matrix(t, q, true), q.Y, spec)
					if err != nil {
						t.Fatal(err)
					}
					onL, err := bilevel.New(k, by.L, q.Y, spec)
					if err != nil {
						t.Fatal(err)
					}
					turned := bilevel.NewRotated(onL, by)
					near(t, "null model", turned.NullValue(), onX.NullValue(), 1e-14)
					near(t, "ln αmax", turned.LogLambdaMax(), onX.LogLambdaMax(), 1e-12)
					onX.KeepSolutions()
					turned.KeepSolutions()
					for depth := 0.5; depth < 12; depth += 2.3 {
						at := search.Request{LogLambda: []float64{onX.LogLambdaMax() - depth}}
						want, err := onX.Evaluate(t.Context(), at)
						if err != nil {
							t.Fatal(err)
						}
						got, err := turned.Evaluate(t.Context(), at)
						if err != nil {
							t.Fatal(err)
						}
						near(t, "value", got.Value, want.Value, 1e-7)
						near(t, "slope", got.Gradient[0], want.Gradient[0], 1e-5*max(1, math.Abs(want.Value/want.Gradient[0])))
						if got.Support != want.Support || got.Status != want.Status || got.Trusted != want.Trusted || !(got.RelativeGap <= 1e-12) {
							t.Errorf("%+v\nwant %+v", got, want)
						}
						solutions, err := turned.Solutions(t.Context(), at.LogLambda)
						if err != nil {
							t.Fatal(err)
						}
						others, err := onX.Solutions(t.Context(), at.LogLambda)
						if err != nil || len(solutions) != 3 || len(others) != 3 {
							t.Fatal(err, solutions, others)
						}
						for fold := range others {
							a, b := whole(solutions[fold], 90), whole(others[fold], 90)
							for j := range b {
								if math.Abs(a[j]-b[j]) > 1e-5*norm(b) {
									t.Errorf("fold %d, column %d: %g, want %g", fold, j, a[j], b[j])
								}
							}
						}
						turned.BeginEach(solutions)
						again, err := turned.Evaluate(t.Context(), at)
						if err != nil {
							t.Fatal(err)
						}
						if again.Steps > want.Steps {
							t.Errorf("%d steps from the solutions, %d on the way there", again.Steps, want.Steps)
						}
					}
				})
			}
		}
	}
}

// whole returns a dense vector of coefficients, with zeros outside the support.
func whole(s *bilevel.Solution, p int) []float64 {
	beta := make([]float64, p)
	for k, j := range s.Support {
		beta[j] = s.Coef[k]
	}
	return beta
}

func near(t *testing.T, what string, got, want, off float64) {
	t.Helper()
	if !(math.Abs(got-want) <= off*math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

func norm(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}
