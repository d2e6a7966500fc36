package pare_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// tallChoices yields choices with so few columns that they are made on condensed rows.
func tallChoices(t *testing.T, check func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config)) {
	for name, c := range oracle.Kinds(map[string]pare.Config{
		"lasso":         {},
		"ridge":         {Model: pare.Ridge},
		"elastic net":   {Model: pare.ElasticNet},
		"no intercept":  {NoIntercept: true},
		"standardised":  {Standardize: true},
		"factors":       {PenaltyFactors: []float64{1, 2, 1, 0.5, 1, 1, 3, 1, 1, 1, 1, 1}},
		"unpenalised":   {PenaltyFactors: []float64{0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1}},
		"not negative":  {Positive: true},
		"mcp":           {Model: pare.MCP, Standardize: true},
		"sparse groups": {Model: pare.SparseGroup, Groups: []int{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3}},
	}) {
		for _, dense := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, dense %v", name, dense), func(t *testing.T) {
				density := 0.4
				if dense {
					density = 1
				}
				q := oracle.NewRandom(41).Problem(oracle.Shape{N: 700, P: 12, Mean: 5, Correlation: 0.6, Weights: true, Active: 6, Noise: 4, Density: density})
				c.Weights, c.Tol = q.Weights, 1e-12
				check(t, fixture.Matrix(t, q, dense), q.Y, c)
			})
		}
	}
}

// TestTallChoicesAreMadeAsOnX checks that the values of a choice are the mean squared errors of models fitted to the
// original rows, for a hold-out with their standard error, and that the final model is the fit to the original rows.
func TestTallChoicesAreMadeAsOnX(t *testing.T) {
	tallChoices(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) {
		for _, v := range []pare.Validation{{}, {Split: pare.Forward}, {Criterion: pare.HoldOut}} {
			s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Search: pare.Grid, Points: 8, MinRatio: 1e-5, Validation: v, Measures: true}, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range s.Evaluations {
				held, err := pare.OutOfFold(t.Context(), x, y, e.LogLambda, v, c)
				if err != nil {
					t.Fatal(err)
				}
				if want := meanSquaredError(held, y, c.Weights); math.Abs(e.Value-want) > 1e-6*want {
					t.Errorf("at λ = %v %g, want %g", e.LogLambda, e.Value, want)
				}
				if want := batchedError(held, y, c.Weights); v.Criterion == pare.HoldOut && math.Abs(e.StandardError-want) > 1e-5*want {
					t.Errorf("at λ = %v ± %g, want %g", e.LogLambda, e.StandardError, want)
				}
			}
			if m := s.Measures[0]; math.Abs(m.Value-s.Value) > 1e-6*s.Value {
				t.Errorf("%+v, want %g", m, s.Value)
			}
			one, err := pare.Fit(t.Context(), x, y, s.LogLambda, c)
			if err != nil {
				t.Fatal(err)
			}
			if f := s.Final; !f.Status.OK() || math.Abs(f.Objective-one.Objective) > 1e-9*one.Objective {
				t.Errorf("%+v\nwant %+v", f, one)
			}
		}
	})
}

// meanSquaredError returns the mean squared error over the folds.
func meanSquaredError(held *pare.HeldOut, y, weights []float64) (mean float64) {
	sum, weight := make([]float64, len(held.Status)), make([]float64, len(held.Status))
	for i, fold := range held.Fold {
		if fold >= 0 {
			d := y[i] - held.Scores[i][0]
			sum[fold] += weights[i] * d * d
			weight[fold] += weights[i]
		}
	}
	for fold := range sum {
		mean += sum[fold] / weight[fold] / float64(len(sum))
	}
	return mean
}

// TestGeneralisedOnManyRows checks generalised cross-validation on condensed rows: it is the mean squared error over (1
// − dof/n)² of fits on a sparse matrix, which use X itself, and its standard error is that of twenty batches.
func TestGeneralisedOnManyRows(t *testing.T) {
	x, y, weights := manyRows(t)
	n, _ := x.Dims()
	alike := sparsely(t, x)
	present := 0
	for _, w := range weights {
		if w > 0 {
			present++
		}
	}
	for name, c := range oracle.Kinds(map[string]pare.Config{"lasso": {Weights: weights}, "standardised": {Standardize: true}, "ridge": {Model: pare.Ridge, NoIntercept: true}}) {
		c.Tol = 1e-10
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		at := []float64{top[0] - 3}
		one, err := pare.LeaveOneOut(t.Context(), alike, y, at, c)
		if err != nil {
			t.Fatal(err)
		}
		fit, err := pare.Fit(t.Context(), alike, y, at, c)
		if err != nil {
			t.Fatal(err)
		}
		held := &pare.HeldOut{Fold: make([]int, n), Scores: make([][]float64, n)}
		of, rows := c.Weights, n
		if of == nil {
			of = slices.Repeat([]float64{1}, n)
		} else {
			rows = present
		}
		for i := range n {
			held.Scores[i] = []float64{fit.Intercept}
		}
		for k, j := range fit.Support {
			_, column := x.Column(int(j))
			for i, v := range column {
				held.Scores[i][0] += fit.Coef[k] * v
			}
		}
		held.Status = make([]outcome.Status, 1)
		rest := 1 - one.Freedom/float64(rows)
		want, spread := meanSquaredError(held, y, of)/(rest*rest), batchedError(held, y, of)/(rest*rest)
		v := pare.Validation{Criterion: pare.GCV}
		for got, err := range pare.Validate(t.Context(), x, y, [][]float64{at}, v, c) {
			if err != nil || math.Abs(got.Value-want) > 1e-8*want || math.Abs(got.StandardError-spread) > 1e-6*spread {
				t.Errorf("%s: %g ± %g, %v, want %g ± %g", name, got.Value, got.StandardError, err, want, spread)
			}
		}
		got, err := pare.Gradient(t.Context(), x, y, at, v, c)
		if err != nil {
			t.Fatal(err)
		}
		onX, err := pare.Gradient(t.Context(), alike, y, at, v, c)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Gradient[0]-onX.Gradient[0]) > 1e-6*math.Abs(onX.Gradient[0]) {
			t.Errorf("%s: slope %g, want %g", name, got.Gradient[0], onX.Gradient[0])
		}
	}
	for _, threads := range []int{1, 2} {
		o := pare.SelectOptions{Validation: pare.Validation{Criterion: pare.GCV}, Evaluations: 3}
		resumesAnywhere(t, "gcv", x, y, o, pare.Config{Threads: threads}, false)
	}
}

// batchedError returns the standard error of the weighted mean squared error, estimated from twenty batches: held-out
// rows are dealt to the batches in turn.
func batchedError(held *pare.HeldOut, y, weights []float64) float64 {
	const batches = 20
	var sum, weight [batches]float64
	var all, total, square float64
	next := 0
	for i, fold := range held.Fold {
		if fold == 0 && weights[i] > 0 {
			d := y[i] - held.Scores[i][0]
			sum[next%batches] += weights[i] * d * d
			weight[next%batches] += weights[i]
			next++
		}
	}
	for b := range batches {
		all += sum[b]
		total += weight[b]
	}
	for b := range batches {
		d := (sum[b] - weight[b]*all/total) / total
		square += d * d
	}
	return math.Sqrt(square * batches / (batches - 1))
}

// TestTallChoicesWhereTheFirstRowsAreElsewhere checks that values are the mean squared errors of models fitted to the
// original rows even if columns and target move far away from their first rows.
func TestTallChoicesWhereTheFirstRowsAreElsewhere(t *testing.T) {
	q := oracle.NewRandom(6).Problem(oracle.Shape{N: 9000, P: 3, Active: 3, Noise: 1})
	c := pare.Config{Tol: 1e-9, Weights: slices.Repeat([]float64{1}, len(q.Y))}
	for i, row := range q.X {
		if i < 3000 {
			c.Weights[i] = 0
			continue
		}
		row[0] += 1e7
		q.Y[i] += 1e8
	}
	x := fixture.Matrix(t, q, true)
	top, err := pare.LogLambdaMax(x, q.Y, c)
	if err != nil {
		t.Fatal(err)
	}
	at := []float64{top[0] - 3}
	for e, err := range pare.Validate(t.Context(), x, q.Y, [][]float64{at}, pare.Validation{}, c) {
		if err != nil {
			t.Fatal(err)
		}
		held, err := pare.OutOfFold(t.Context(), x, q.Y, at, pare.Validation{}, c)
		if err != nil {
			t.Fatal(err)
		}
		if want := meanSquaredError(held, q.Y, c.Weights); !(math.Abs(e.Value-want) <= 1e-6*want) {
			t.Errorf("%g, want %g", e.Value, want)
		}
	}
}

// TestTallChoicesAreTheSameAnywhere checks that a choice is the same with any number of threads, with remote lanes, and
// when an interrupted search is resumed.
func TestTallChoicesAreTheSameAnywhere(t *testing.T) {
	tallChoices(t, func(t *testing.T, x sparse.Matrix, y []float64, c pare.Config) {
		if c.Model == pare.MCP {
			t.Skip("whose path takes long")
		}
		sameBits(t, x, y, c, 1)
		for _, threads := range []int{1, 2} {
			c.Threads = threads
			o := pare.SelectOptions{Validation: pare.Validation{Criterion: pare.HoldOut}}
			if resumesAnywhere(t, "hold-out", x, y, o, c, false) == 0 {
				t.Error("nothing chosen")
			}
		}
	})
}

// TestHoldOutsOfFewRows checks that hold-outs of few rows give the values computed on X itself, which an offset of 0
// selects: one row has no standard error, a few rows have the standard error of single rows, and rows of weight 0 and
// test rows have no influence.
func TestHoldOutsOfFewRows(t *testing.T) {
	const n = 900
	q := oracle.NewRandom(43).Problem(oracle.Shape{N: n, P: 5, Weights: true, Noise: 1})
	for i := range q.Weights {
		q.Weights[i] = float64(i % 4)
	}
	for _, held := range []int{1, 2, 3, 25} {
		v := pare.Validation{Criterion: pare.HoldOut, FoldIDs: make([]int, n)}
		for i := range v.FoldIDs {
			switch {
			case i < 4*held: // of every four rows one is held out and two are test rows
				v.FoldIDs[i] = -2 * (i % 2)
			default:
				v.FoldIDs[i] = -1
			}
		}
		c := pare.Config{Weights: q.Weights, Tol: 1e-12}
		grid := [][]float64{{-2}, {-4}}
		var want []search.Evaluation
		onX := c
		onX.Offset = make([]float64, n)
		for e, err := range pare.Validate(t.Context(), fixture.Matrix(t, q, true), q.Y, grid, v, onX) {
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, e)
		}
		for e, err := range pare.Validate(t.Context(), fixture.Matrix(t, q, true), q.Y, grid, v, c) {
			if err != nil {
				t.Fatal(err)
			}
			w := want[0]
			want = want[1:]
			if math.Abs(e.Value-w.Value) > 1e-6*w.Value || math.Abs(e.StandardError-w.StandardError) > 1e-6*w.StandardError || math.Abs(e.Test-w.Test) > 1e-6*w.Test || (w.StandardError > 0) != (held > 1) {
				t.Errorf("%d rows: %g ± %g, tested %g, want %g ± %g, tested %g", held, e.Value, e.StandardError, e.Test, w.Value, w.StandardError, w.Test)
			}
		}
	}
}

// manyRows returns 2¹⁷ rows of 8 columns: one far from 0, one with a heavy tail, one nearly equal to another, and one
// of zeros and ones.
func manyRows(t *testing.T) (x *sparse.Dense, y, weights []float64) {
	t.Helper()
	const n, p = 1 << 17, 8
	r := oracle.NewRandom(19)
	columns := make([]float64, n*p)
	y, weights = make([]float64, n), make([]float64, n)
	for i := range n {
		common := r.Normal()
		for j := range p {
			columns[j*n+i] = r.Normal() + common
		}
		columns[i] += 1e3
		columns[n+i] = math.Exp(2 * columns[n+i])
		columns[2*n+i] = columns[3*n+i] + 1e-5*columns[2*n+i] // nearly a copy
		columns[4*n+i] = math.Round(r.Float64())
		y[i] = columns[3*n+i] - columns[4*n+i] + 0.3*columns[5*n+i] + 0.01*columns[n+i] + 3*r.Normal()
		weights[i] = float64(i % 3)
	}
	x, err := sparse.NewDense(n, p, columns)
	if err != nil {
		t.Fatal(err)
	}
	return x, y, weights
}

// TestGapsOnCondensedRowsHold checks that fits and paths on condensed rows converge to their tolerance, and that their
// suboptimality does not exceed the gap that they report. Sparse matrices are solved by a Fitter, since single fits of
// them use X itself.
func TestGapsOnCondensedRowsHold(t *testing.T) {
	x, y, weights := manyRows(t)
	alike := sparsely(t, x)
	for name, c := range oracle.Kinds(map[string]pare.Config{
		"lasso":        {},
		"no intercept": {NoIntercept: true, Weights: weights},
		"weights":      {Weights: weights, Standardize: true},
		"factors":      {PenaltyFactors: []float64{1, 2, 1, 1, 1, 0.1, 1, 1}},
		"elastic net":  {Model: pare.ElasticNet, Weights: weights},
		"ridge":        {Model: pare.Ridge},
		"loose":        {Tol: 1e-3},
		"tight":        {Tol: 1e-13}, // beyond the accuracy of the sums
		"groups":       {Model: pare.GroupLasso, Groups: []int{0, 0, 1, 1, 1, 2, 2, 3}, Weights: weights},
		"group net":    {Model: pare.GroupNet, Groups: []int{0, 0, 1, 1, 1, 2, 2, 3}, Standardize: true},
		"sparse group": {Model: pare.SparseGroup, Groups: []int{0, 0, 1, 1, 1, 2, 2, 3}, Standardize: true},
	}) {
		t.Run(name, func(t *testing.T) {
			top, err := pare.LogLambdaMax(x, y, c)
			if err != nil {
				t.Fatal(err)
			}
			var grid [][]float64
			for _, depth := range []float64{0.5, 3, 8} {
				at := make([]float64, len(top))
				for i := range at {
					at[i] = top[i] - depth - float64(i)
				}
				grid = append(grid, at)
			}
			exact := c
			exact.Tol = 1e-14
			onX, err := pare.NewFitter(alike, y, exact)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []sparse.Matrix{x, alike} {
				at := 0
				for got, err := range pare.Path(t.Context(), of, y, grid, c) {
					if err != nil {
						t.Fatal(err)
					}
					want, err := onX.Fit(t.Context(), grid[at])
					if err != nil {
						t.Fatal(err)
					}
					objective, tol := squaredObjective(x, y, got, c), cmp.Or(c.Tol, 1e-6)
					if !got.Status.OK() || !(got.RelativeGap <= tol) || objective-want.Objective > got.Gap+1e-12*objective || math.Abs(got.Objective-objective) > got.Gap+1e-12*objective {
						t.Errorf("at %v: %+v\nobjective %.16g, least %.16g", grid[at], got, objective, want.Objective)
					}
					if at++; got.Columns != 8 || len(got.LogLambdaMax) != len(top) || math.Abs(got.LogLambdaMax[0]-top[0]) > 1e-9 {
						t.Errorf("%+v", got)
					}
				}
			}
		})
	}
}

// TestPathsOfManyRowsOfFewEntries checks paths on sparse matrices with many rows, which use condensed rows built from
// sums of products of entries: they pass over X once, and differ from paths on X itself, which an offset of 0 selects,
// by no more than both gaps allow.
func TestPathsOfManyRowsOfFewEntries(t *testing.T) {
	const n, levels = 1 << 18, 8
	r := oracle.NewRandom(23)
	lists, numbers, y := make([][]int32, 3*levels), make([]float64, n), make([]float64, n)
	for i := range y {
		y[i] = 3 * r.Normal()
		for k := range 3 {
			level := r.Intn(levels)
			lists[k*levels+level] = append(lists[k*levels+level], int32(i))
			y[i] += float64(level*k) / 4
		}
		numbers[i] = 40 + 12*r.Normal()
		y[i] += numbers[i] / 9
	}
	pointers, rows, values := []int64{0}, []int32(nil), []float64(nil)
	for _, list := range lists {
		rows, values = append(rows, list...), append(values, slices.Repeat([]float64{1}, len(list))...)
		pointers = append(pointers, int64(len(rows)))
	}
	for i, v := range numbers {
		rows, values = append(rows, int32(i)), append(values, v)
	}
	x, err := sparse.NewCSC(n, len(lists)+1, append(pointers, int64(len(rows))), rows, values)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range oracle.Kinds(map[string]pare.Config{
		"lasso": {}, "no intercept": {NoIntercept: true}, "ridge": {Model: pare.Ridge},
		"groups": {Model: pare.GroupLasso, Groups: []int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3}, Standardize: true},
	}) {
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		onX := c
		onX.Offset, onX.Tol = make([]float64, n), 1e-11
		passes, at := 0, 0
		var grid [][]float64
		for k := range 10 {
			grid = append(grid, []float64{top[0] - 0.9*float64(k)})
		}
		for got, err := range pare.Path(t.Context(), x, y, grid, c) {
			if err != nil {
				t.Fatal(err)
			}
			passes += got.Passes
			if at++; !oracle.Turn(at, 3) {
				continue
			}
			want, err := pare.Fit(t.Context(), x, y, got.LogLambda, onX)
			if err != nil {
				t.Fatal(err)
			}
			if off := math.Abs(got.Objective - want.Objective); !got.Status.OK() || off > got.Gap+want.Gap+1e-12*want.Objective {
				t.Errorf("%s: %+v\nwant %+v", name, got, want)
			}
		}
		if passes != 1 {
			t.Errorf("%s: %d passes", name, passes)
		}
	}
}

// TestPathsUnderConcavePenaltiesOnManyRows checks that paths on condensed rows lead to points that are stationary on
// the original rows, by the derivative of the penalty, and equal to the points of the path on X itself, which an offset
// of 0 selects. Each point costs one pass over X, and the sums one more.
func TestPathsUnderConcavePenaltiesOnManyRows(t *testing.T) {
	x, y, weights := manyRows(t)
	for model, slope := range oracle.Kinds(map[pare.Model]func(beta, alpha float64) float64{
		pare.MCP: func(beta, alpha float64) float64 { return max(0, alpha-beta/3) },
		pare.SCAD: func(beta, alpha float64) float64 {
			if beta <= alpha {
				return alpha
			}
			return max(0, (3.7*alpha-beta)/2.7)
		},
	}) {
		c := pare.Config{Model: model, Standardize: true, Weights: weights}
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		grid := [][]float64{{top[0] - 0.5}, {top[0] - 2}, {top[0] - 5}}
		shared, onX := c, c
		onX.Offset = make([]float64, len(y))
		c.Threads, shared.Threads = 1, 3
		fitter, err := pare.NewFitter(x, y, shared)
		if err != nil {
			t.Fatal(err)
		}
		passes, at := 0, 0
		for got, err := range pare.Path(t.Context(), x, y, grid, c) {
			if err != nil {
				t.Fatal(err)
			}
			want, err := pare.Fit(t.Context(), x, y, grid[at], onX)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.Stationary || !slices.Equal(got.Support, want.Support) || math.Abs(got.Objective-want.Objective) > 1e-9*want.Objective {
				t.Errorf("%s: %+v\nwant %+v", model, got, want)
			}
			if lack := stationary(x, y, got, weights, slope); !(lack <= 1e-6*math.Exp(top[0])) {
				t.Errorf("%s at %v: a column lacks %g, αmax is %g", model, grid[at], lack, math.Exp(top[0]))
			}
			passes += got.Passes
			if again, err := fitter.Fit(t.Context(), grid[at]); err != nil || again.Objective != got.Objective || !slices.Equal(again.Coef, got.Coef) {
				t.Errorf("%s at %v: a Fitter on three threads has %+v, %v\nwant %+v", model, grid[at], again, err, got)
			}
			at++
		}
		if passes != 1+len(grid) {
			t.Errorf("%s: %d passes", model, passes)
		}
	}
}

// sparsely returns a sparse matrix with the entries of a dense one.
func sparsely(t *testing.T, x *sparse.Dense) *sparse.CSC {
	t.Helper()
	n, p := x.Dims()
	pointers, rows, values := []int64{0}, make([]int32, 0, n*p), make([]float64, 0, n*p)
	for j := range p {
		_, column := x.Column(j)
		for i, v := range column {
			rows, values = append(rows, int32(i)), append(values, v)
		}
		pointers = append(pointers, int64(len(rows)))
	}
	out, err := sparse.NewCSC(n, p, pointers, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// stationary returns the largest distance between a column's correlation with the residual and the slope of a penalty
// on standardised columns.
func stationary(x *sparse.Dense, y []float64, f *pare.Fitted, weights []float64, slope func(beta, alpha float64) float64) (most float64) {
	n, p := x.Dims()
	residual, beta, total := make([]float64, n), make([]float64, p), 0.0
	for i := range n {
		residual[i] = y[i] - f.Intercept
		total += weights[i]
	}
	for k, j := range f.Support {
		_, column := x.Column(int(j))
		for i, v := range column {
			residual[i] -= f.Coef[k] * v
		}
		beta[j] = f.Coef[k]
	}
	alpha := math.Exp(f.LogLambda[0])
	for j := range p {
		_, column := x.Column(j)
		var mean, square, z float64
		for i, v := range column {
			mean += weights[i] * v / total
		}
		for i, v := range column {
			square += weights[i] * (v - mean) * (v - mean) / total
			z += weights[i] * (v - mean) * residual[i] / total
		}
		scale := math.Sqrt(square)
		lack := math.Abs(z/scale) - slope(math.Abs(beta[j]*scale), alpha)
		if beta[j] != 0 {
			lack = math.Abs(z/scale - math.Copysign(slope(math.Abs(beta[j]*scale), alpha), beta[j]))
		}
		most = max(most, lack)
	}
	return most
}

// TestFitsOfManyRowsThatSayNothing checks that a constant target, and rows that all have weight 0, give on many rows
// what they give on few.
func TestFitsOfManyRowsThatSayNothing(t *testing.T) {
	const n, p = 1 << 17, 8
	x, err := sparse.NewDense(n, p, slices.Repeat([]float64{1, 2, 4, 8}, n*p/4))
	if err != nil {
		t.Fatal(err)
	}
	y := slices.Repeat([]float64{7.3}, n)
	f, err := pare.Fit(t.Context(), x, y, []float64{-1}, pare.Config{})
	if err != nil || f.Status != outcome.Converged || f.RelativeGap != 0 || len(f.Support) > 0 || math.Abs(f.Intercept-7.3) > 1e-12 {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := pare.Fit(t.Context(), x, y, []float64{-1}, pare.Config{Weights: make([]float64, n)}); outcome.KindOf(err) != outcome.Shape {
		t.Error(err)
	}
	y[5] = math.NaN()
	if _, err := pare.Fit(t.Context(), x, y, []float64{-1}, pare.Config{}); outcome.KindOf(err) != outcome.NonFinite {
		t.Error(err)
	}
}

// squaredObjective returns the objective of the squared loss, computed from its definition.
func squaredObjective(x *sparse.Dense, y []float64, f *pare.Fitted, c pare.Config) float64 {
	n, _ := x.Dims()
	weight := func(i int) float64 {
		if c.Weights == nil {
			return 1
		}
		return c.Weights[i]
	}
	residual := make([]float64, n)
	for i := range residual {
		residual[i] = y[i] - f.Intercept
	}
	var total float64
	for i := range n {
		total += weight(i)
	}
	strength := make([]float64, len(f.LogLambda))
	for i, l := range f.LogLambda {
		strength[i] = math.Exp(l)
	}
	var penalty, loss float64
	groups, members := make([]float64, n), make([]float64, n)
	for _, g := range c.Groups {
		members[g]++
	}
	for k, j := range f.Support {
		_, column := x.Column(int(j))
		var mean, square float64
		for i, v := range column {
			residual[i] -= f.Coef[k] * v
			mean += weight(i) * v / total
		}
		for i, v := range column {
			square += weight(i) * (v - mean) * (v - mean) / total
		}
		beta := f.Coef[k]
		if c.Standardize {
			beta *= math.Sqrt(square)
		}
		if c.PenaltyFactors != nil {
			beta *= c.PenaltyFactors[j]
		}
		if c.Groups != nil {
			groups[c.Groups[j]] += beta * beta
		}
		switch c.Model {
		case pare.GroupLasso:
		case pare.GroupNet:
			penalty += strength[1] / 2 * beta * beta
		case pare.SparseGroup:
			penalty += strength[0] / 2 * math.Abs(beta)
		case pare.Ridge:
			penalty += strength[0] / 2 * beta * beta
		case pare.ElasticNet:
			penalty += strength[0]*math.Abs(beta) + strength[1]/2*beta*beta
		default:
			penalty += strength[0] * math.Abs(beta)
		}
	}
	for g, square := range groups {
		share := 1.0
		if c.Model == pare.SparseGroup {
			share = 0.5
		}
		penalty += strength[0] * share * math.Sqrt(members[g]*square)
	}
	for i, v := range residual {
		loss += weight(i) * v * v / (2 * total)
	}
	return loss + penalty
}

// TestGradientsOfDenseRowsAreWithinTheirBounds checks that gradients on a dense matrix differ from those on a sparse
// one by no more than their error bounds, also if two columns are nearly equal. Gradients on condensed rows, whose
// products are rounded, would not pass.
func TestGradientsOfDenseRowsAreWithinTheirBounds(t *testing.T) {
	const n, p = 71, 5
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		values, y := make([]float64, n*p), make([]float64, n)
		for i := range n {
			for j := range p {
				values[j*n+i] = 30 + r.NormFloat64()
			}
			values[n+i] = values[i] + 1e-8*r.NormFloat64()
			y[i] = values[i] - values[2*n+i] + r.NormFloat64()
		}
		x, err := sparse.NewDense(n, p, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []pare.Config{{Tol: 1e-13}, {Tol: 1e-13, Model: pare.ElasticNet}, {Tol: 1e-13, Model: pare.Ridge}} {
			at, err := pare.LogLambdaMax(x, y, c)
			if err != nil {
				t.Fatal(err)
			}
			for k := range at {
				at[k] -= 9
			}
			for _, v := range []pare.Validation{{}, {Criterion: pare.HoldOut}} {
				got, err := pare.Gradient(t.Context(), x, y, at, v, c)
				if err != nil {
					t.Fatal(err)
				}
				want, err := pare.Gradient(t.Context(), sparsely(t, x), y, at, v, c)
				if err != nil {
					t.Fatal(err)
				}
				for k, g := range got.Gradient {
					if off := math.Abs(g - want.Gradient[k]); got.Status == outcome.Converged && want.Status == outcome.Converged && !(off <= got.ErrorBound+want.ErrorBound) {
						t.Errorf("seed %d, %s, %q: slope %g ± %g, want %g ± %g", seed, c.Model, v.Criterion, g, got.ErrorBound, want.Gradient[k], want.ErrorBound)
					}
				}
			}
		}
	}
}

// TestRisksOnCondensedRows checks the criteria on condensed rows against gradients, which use X itself: the residual
// sum of squares, and the degrees of freedom by finite differences.
func TestRisksOnCondensedRows(t *testing.T) {
	x, y, _ := manyRows(t)
	alike := sparsely(t, x)
	for name, c := range oracle.Kinds(map[string]pare.Config{"lasso": {}, "no intercept": {NoIntercept: true, Standardize: true}, "ridge": {Model: pare.Ridge}}) {
		for _, v := range []pare.Validation{{Criterion: pare.SURE, Sigma: 3, Seed: 4}, {Criterion: pare.BIC, Sigma: 3}, {Criterion: pare.AIC}} {
			c.Tol = 1e-10
			for _, of := range []sparse.Matrix{x, alike} {
				s, err := pare.Select(t.Context(), of, y, pare.SelectOptions{Search: pare.Grid, Points: 3, MinRatio: 1e-3, Validation: v}, c)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range s.Evaluations {
					v.Sigma = s.Sigma
					want, err := pare.Gradient(t.Context(), alike, y, e.LogLambda, v, c)
					if err != nil {
						t.Fatal(err)
					}
					if math.Abs(e.Value-want.Value) > 1e-8*math.Abs(s.NullValue) {
						t.Errorf("%s, %s at λ = %v %g, want %g", name, v.Criterion, e.LogLambda, e.Value, want.Value)
					}
				}
			}
		}
	}
	o := pare.SelectOptions{Validation: pare.Validation{Criterion: pare.SURE, Sigma: 3}, Evaluations: 3}
	resumesAnywhere(t, "sure", x, y, o, pare.Config{}, false)
}
