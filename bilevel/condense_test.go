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
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

func condensed(t *testing.T, q *oracle.Problem, spec *bilevel.Spec) *bilevel.Condensed {
	t.Helper()
	c, err := bilevel.Condense(fixture.Kernels(t), nil, fixture.Matrix(t, q, true).(*sparse.Dense), q.Y, spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tall returns n rows of 8 columns, some of which are constant, equal, opposite, far from 0 or with few entries,
// and a spec of four folds; some rows are in none of the folds.
func tall(n int, intercept, weighted bool) (*oracle.Problem, bilevel.Spec) {
	random := oracle.NewRandom(8)
	q := random.Problem(oracle.Shape{N: n, P: 8, Mean: 3, Weights: weighted})
	folds := make(bilevel.Folds, n)
	for i, row := range q.X {
		folds[i] = random.Intn(6) + bilevel.TestOnly
		row[1] = 1e6 + 0.01*row[1]
		row[2] = 0.3
		row[3] = -row[0]
		row[4] = row[0]
		row[5] = 0
		if folds[i] == 1 && i%50 == 0 {
			row[5] = 1
		}
	}
	spec := bilevel.Spec{Folds: folds, Intercept: intercept}
	if weighted {
		for i := range n / 10 {
			q.Weights[i*7] = 0
		}
		spec.Weights = q.Weights
	}
	return q, spec
}

// TestCondensedRowsHaveTheMomentsOfTheirFolds checks that in every fold condensed rows have the sum of weights,
// the means and the products of the original rows, up to rounding.
func TestCondensedRowsHaveTheMomentsOfTheirFolds(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		if !intercept && oracle.Fewest() {
			continue
		}
		for _, weighted := range []bool{false, true} {
			t.Run(fmt.Sprint(intercept, weighted), func(t *testing.T) {
				q, spec := tall(1<<16+4173, intercept, weighted) // two stretches, of several pieces
				c := condensed(t, q, &spec)
				small := sameMoments(t, q, &spec, c)
				for i, row := range small.X { // columns that are equal, opposite or constant remain so to the bit
					if row[4] != row[0] || row[3] != -row[0] || intercept && row[2] != small.X[0][2] {
						t.Errorf("row %d: %g", i, row)
					}
				}
			})
		}
	}
}

// sameMoments checks the moments of condensed rows in every fold, and returns these rows.
func sameMoments(t *testing.T, q *oracle.Problem, spec *bilevel.Spec, c *bilevel.Condensed) *oracle.Problem {
	t.Helper()
	of := c.Spec(*spec)
	_, p := c.X.Dims()
	small := rowsOf(c, of.Weights)
	if len(c.Y) > 6*(p+2) {
		t.Errorf("%d rows", len(c.Y))
	}
	for fold := bilevel.TestOnly; fold < 4; fold++ {
		want, got := momentsOf(q, spec.Folds, fold, spec.Intercept), momentsOf(small, of.Folds, fold, spec.Intercept)
		near(t, "weight", got.total, want.total, 1e-14)
		for i := range want.products {
			if spec.Intercept && want.constant[i] != got.constant[i] {
				t.Errorf("fold %d: column %d is constant: %t, want %t", fold, i, got.constant[i], want.constant[i])
			}
			for j, w := range want.products[i] {
				if spec.Intercept && (want.constant[i] || want.constant[j]) {
					continue
				}
				scale := math.Sqrt(want.products[i][i] * want.products[j][j])
				if math.Abs(got.products[i][j]-w) > 1e-12*scale {
					t.Errorf("fold %d: columns %d and %d have %g, want %g", fold, i, j, got.products[i][j], w)
				}
			}
		}
	}
	return small
}

// TestListedEntriesHaveTheMomentsOfTheirFolds checks the path for columns with few entries, which are accumulated
// by rows. Where they are far from 0 in some fold, all columns are stored densely again, and the result has the
// bits of that of a dense matrix.
func TestListedEntriesHaveTheMomentsOfTheirFolds(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		if !intercept && oracle.Fewest() {
			continue
		}
		for _, far := range []bool{false, true} {
			t.Run(fmt.Sprint(intercept, far), func(t *testing.T) {
				random := oracle.NewRandom(12)
				n := 1<<16 + 4173
				q := random.Problem(oracle.Shape{N: n, P: 16, Weights: true})
				spec := bilevel.Spec{Folds: make(bilevel.Folds, n), Intercept: intercept, Weights: q.Weights}
				for i, row := range q.X {
					spec.Folds[i] = random.Intn(6) + bilevel.TestOnly
					clear(row[3:])
					row[3+random.Intn(9)] = 1 // one of nine columns
					row[12] = row[3]          // a copy
					row[13] = -2 * row[4]
					if spec.Folds[i] == 2 {
						row[14] = 0.1 // constant in one fold and 0 elsewhere
						row[15] = 0.2
						if far {
							row[15] = 5000 + row[1]
						}
					}
				}
				dense := condensed(t, q, &spec)
				c, err := bilevel.Condense(fixture.Kernels(t), nil, fixture.Matrix(t, q, false), q.Y, &spec)
				if err != nil || c == nil {
					t.Fatal(c, err)
				}
				if spread := c.Rounding == dense.Rounding; spread != (far && intercept) {
					t.Errorf("rounding %g, of dense rows %g", c.Rounding, dense.Rounding)
				}
				for i, row := range sameMoments(t, q, &spec, c).X {
					if row[12] != row[3] {
						t.Errorf("row %d: %g", i, row)
					}
				}
			})
		}
	}
}

// TestSparseRowsAreCondensedAsDenseOnes checks that sparse and dense rows give the same bits, whatever the columns
// are shifted by.
func TestSparseRowsAreCondensedAsDenseOnes(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		if !intercept && oracle.Fewest() {
			continue
		}
		for _, batches := range []bool{false, true} {
			q, spec := tall(1<<16+4173, intercept, true)
			for i, row := range q.X {
				if row[6] < 3 {
					row[6] = 0
				}
				if batches {
					spec.Folds[i] = min(spec.Folds[i], 0)
				}
			}
			want := condensed(t, q, &spec)
			got, err := bilevel.Condense(fixture.Kernels(t), nil, fixture.Matrix(t, q, false), q.Y, &spec)
			if err != nil || got == nil {
				t.Fatal(got, err)
			}
			for j := range q.X[0] {
				_, w := want.X.Column(j)
				if _, g := got.X.Column(j); !slices.Equal(g, w) {
					t.Errorf("intercept %v, batches %v, column %d: %v\nof a dense matrix %v", intercept, batches, j, g, w)
				}
			}
			if !slices.Equal(got.Y, want.Y) || !slices.Equal(got.Norms, want.Norms) || got.Rounding != want.Rounding || !slices.Equal(got.Batches(), want.Batches()) {
				t.Errorf("intercept %v, batches %v: %v, %v, %g\nof a dense matrix %v, %v, %g", intercept, batches, got.Y, got.Norms, got.Rounding, want.Y, want.Norms, want.Rounding)
			}
		}
	}
}

func rowsOf(c *bilevel.Condensed, weights []float64) *oracle.Problem {
	_, p := c.X.Dims()
	q := &oracle.Problem{X: make([][]float64, len(c.Y)), Y: c.Y, Weights: weights}
	for i := range q.X {
		q.X[i] = make([]float64, p)
		for j := range p {
			_, column := c.X.Column(j)
			q.X[i][j] = column[i]
		}
	}
	return q
}

// TestMeansFarFromThoseOfTheFirstRows checks that products keep their accuracy where columns and target are
// shifted by the values of the first rows, but have means far from these values in most folds, or where none of
// the first rows has weight.
func TestMeansFarFromThoseOfTheFirstRows(t *testing.T) {
	for _, absent := range []bool{false, true} {
		q := oracle.NewRandom(5).Problem(oracle.Shape{N: 9000, P: 4, Weights: true})
		folds := make(bilevel.Folds, len(q.Y))
		for i, row := range q.X {
			folds[i] = i / 3000
			if absent {
				folds[i] = i % 3
			}
			if absent && i < 3000 {
				q.Weights[i] = 0
			}
			if i >= 3000 {
				row[0] += 1e8
				row[1] -= 1e7
				row[2] = 0.1
				q.Y[i] += 1e8
			}
			row[3] = -row[0]
		}
		spec := bilevel.Spec{Folds: folds, Intercept: true, Weights: q.Weights}
		c := condensed(t, q, &spec)
		of := c.Spec(spec)
		small := rowsOf(c, of.Weights)
		for fold := range 3 {
			want, got := momentsOf(q, folds, fold, true), momentsOf(small, of.Folds, fold, true)
			for i := range want.products {
				if constant := i == 2 && (absent || fold > 0); got.constant[i] != constant {
					t.Errorf("no weight %t, fold %d: column %d is constant: %t", absent, fold, i, got.constant[i])
				}
				for j, w := range want.products[i] {
					scale := math.Sqrt(want.products[i][i] * want.products[j][j])
					if varies := !got.constant[i] && !got.constant[j]; varies && math.Abs(got.products[i][j]-w) > 1e-7*scale { // the rows of X themselves resolve their differences to eight digits only
						t.Errorf("no weight %t, fold %d: columns %d and %d have %g, want %g", absent, fold, i, j, got.products[i][j], w)
					}
				}
			}
		}
		for i, row := range small.X {
			if row[3] != -row[0] {
				t.Errorf("row %d: %g", i, row)
			}
		}
	}
}

// TestRoundingOfCondensedRowsIsBounded checks that the error of the products over all rows is at most Rounding,
// also where two columns differ by so little that the difference is lost.
func TestRoundingOfCondensedRowsIsBounded(t *testing.T) {
	for _, off := range []float64{1, 1e-7, 1e-8, 1e-9} {
		for _, intercept := range []bool{false, true} {
			q, spec := tall(9000, intercept, true)
			for _, row := range q.X {
				row[7] = 2*row[6] + off*row[7]
			}
			spec.Folds = nil
			c := condensed(t, q, &spec)
			small := rowsOf(c, c.Spec(spec).Weights)
			all, few := make(bilevel.Folds, len(q.Y)), make(bilevel.Folds, len(c.Y))
			want, got := momentsOf(q, all, 0, intercept), momentsOf(small, few, 0, intercept)
			worst := 0.0
			for i := range want.products {
				for j, w := range want.products[i] {
					constant := intercept && (want.constant[i] || want.constant[j])
					if unit := c.Norms[i] * c.Norms[j]; unit > 0 && !constant {
						worst = max(worst, math.Abs(got.products[i][j]-w)/unit)
					}
				}
			}
			if !(worst <= c.Rounding) || c.Rounding > 1e-6 || off == 1 && intercept && c.Rounding > 1e-11 {
				t.Errorf("columns %g apart, intercept %t: off by %g, bound %g", off, intercept, worst, c.Rounding)
			}
		}
	}
}

type moments struct {
	total    float64
	constant []bool      // by column, the target last
	products [][]float64 // of the columns and the target, centred if asked for
}

func momentsOf(q *oracle.Problem, folds bilevel.Folds, fold int, centre bool) (m moments) {
	var rows [][]float64
	var weights []float64
	for i, row := range q.X {
		w := 1.0
		if q.Weights != nil {
			w = q.Weights[i]
		}
		if folds[i] == fold {
			rows, weights = append(rows, append(append([]float64(nil), row...), q.Y[i])), append(weights, w)
			m.total += w
		}
	}
	size := len(q.X[0]) + 1
	mean := make([]float64, size)
	for j := range mean {
		varies := slices.ContainsFunc(rows, func(row []float64) bool { return row[j] != rows[0][j] })
		m.constant = append(m.constant, !varies)
		var sum oracle.Sum
		for i, row := range rows {
			sum.AddProduct(weights[i], row[j])
		}
		if centre {
			mean[j] = sum.Value() / m.total
		}
	}
	for i := range size {
		m.products = append(m.products, make([]float64, size))
		for j := range size {
			var sum oracle.Sum
			for t, row := range rows {
				sum.AddProduct(weights[t]*(row[i]-mean[i]), row[j]-mean[j])
			}
			m.products[i][j] = sum.Value()
		}
	}
	return m
}

// TestNothingIsCondensed checks that condensing is refused where squares overflow, and where, on the training rows
// of a fold, unpenalised columns nearly depend on one another, or nearly determine another column or the target.
func TestNothingIsCondensed(t *testing.T) {
	for _, off := range []float64{1, 1e-6} {
		q, spec := tall(300, true, false)
		spec.Free = []float64{1, 1, 1, 1, 1, 1, 0, 0}
		for i, row := range q.X {
			if spec.Folds[i] != 2 {
				row[7] = 2*row[6] + off*row[7]
			}
		}
		if c := condensed(t, q, &spec); (c == nil) != (off < 1) {
			t.Errorf("columns %g apart: %v", off, c)
		}
	}
	for _, of := range []string{"a target", "a column"} { // of which the unpenalised column of ones explains nearly everything
		q, spec := tall(300, false, false)
		spec.Free = []float64{1, 1, 1, 1, 1, 1, 1, 0}
		for i, row := range q.X {
			row[7] = 1
			if of == "a target" {
				q.Y[i] += 1e6
			} else {
				row[6] += 1e6
			}
		}
		if c := condensed(t, q, &spec); c != nil {
			t.Errorf("%s that is nearly a multiple of a free column: %d rows", of, len(c.Y))
		}
	}
	for _, scale := range []float64{0x1p-530, 0x1p520} {
		q, spec := tall(300, true, false)
		for i := range q.X {
			q.X[i][6] *= scale
		}
		if c := condensed(t, q, &spec); c != nil {
			t.Errorf("%g: %d rows", scale, len(c.Y))
		}
	}
}

// TestCondensedProblemIsThatOfX checks that a condensed problem has the values, slopes, standard errors, supports,
// solutions and predictions of the original, also on test rows.
func TestCondensedProblemIsThatOfX(t *testing.T) {
	k := fixture.Kernels(t)
	penalties := map[string]func([]float64) (model.Penalty, error){
		"lasso": func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
		"enet":  func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) },
		"ridge": func(l []float64) (model.Penalty, error) { return model.Ridge(l[0]) },
	}
	for name, penalty := range penalties {
		for _, intercept := range []bool{false, true} {
			for _, standardise := range []bool{false, true} {
				t.Run(fmt.Sprint(name, intercept, standardise), func(t *testing.T) {
					q, spec := tall(4173, intercept, standardise != intercept)
					spec.Standardise, spec.Solver = standardise, cd.Options{Tol: 1e-12}
					spec.Penalty, spec.AlphaMax = penalty, (*model.Null).AlphaMax
					x := fixture.Matrix(t, q, true).(*sparse.Dense)
					onX, err := bilevel.New(k, x, q.Y, spec)
					if err != nil {
						t.Fatal(err)
					}
					of := condensed(t, q, &spec)
					onFew, err := bilevel.New(k, of.X, of.Y, of.Spec(spec))
					if err != nil {
						t.Fatal(err)
					}
					few := bilevel.NewOnCondensed(onFew, of, k, x, spec)
					near(t, "null model", few.NullValue(), onX.NullValue(), 1e-12)
					near(t, "its standard error", few.Null().StandardError, onX.Null().StandardError, 1e-10)
					near(t, "ln αmax", few.LogLambdaMax(), onX.LogLambdaMax(), 1e-12)
					onX.KeepSolutions()
					few.KeepSolutions()
					for depth := 0.5; depth < 10; depth += 2.3 {
						at := search.Request{LogLambda: []float64{onX.LogLambdaMax() - depth}}
						if name == "enet" {
							at.LogLambda = append(at.LogLambda, at.LogLambda[0]-2)
						}
						want, err := onX.Evaluate(t.Context(), at)
						if err != nil {
							t.Fatal(err)
						}
						got, err := few.Evaluate(t.Context(), at)
						if err != nil {
							t.Fatal(err)
						}
						near(t, "value", got.Value, want.Value, 1e-8)
						near(t, "test", got.Test, want.Test, 1e-8)
						near(t, "standard error", got.StandardError, want.StandardError, 1e-6)
						for i, slope := range want.Gradient {
							near(t, "slope", got.Gradient[i], slope, 1e-5*max(1, math.Abs(want.Value/slope)))
						}
						if got.Support != want.Support || !(got.RelativeGap <= 1e-12) {
							t.Errorf("%+v\nwant %+v", got, want)
						}
						predicted, err := few.HeldOut(t.Context(), at.LogLambda)
						if err != nil {
							t.Fatal(err)
						}
						others, err := onX.HeldOut(t.Context(), at.LogLambda)
						if err != nil {
							t.Fatal(err)
						}
						for fold, p := range others {
							if len(predicted[fold].Rows) != len(p.Rows) {
								t.Fatalf("fold %d: %d rows, want %d", fold, len(predicted[fold].Rows), len(p.Rows))
							}
							for at, i := range p.Rows {
								if got, want := predicted[fold].Scores[0][at], p.Scores[0][at]; predicted[fold].Rows[at] != i || math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
									t.Fatalf("row %d: %g, want %g", i, got, want)
								}
							}
						}
					}
				})
			}
		}
	}
}
