package pare_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestLeaveOneOutIsThatOfFitsWithoutARow checks that one fit approximates the scores of the fits that leave out one row
// each: to second order in 1/n for each score of a ridge, and on average for sparse models, whose support a single row
// may change.
func TestLeaveOneOutIsThatOfFitsWithoutARow(t *testing.T) {
	ctx := context.Background()
	for turn := range uint64(12) {
		m := []pare.Model{pare.Ridge, pare.Lasso, pare.Logistic, pare.ElasticNet, pare.Poisson, pare.WeightedLasso}[turn%6]
		kind := m
		if m == pare.WeightedLasso {
			kind = pare.Lasso
		}
		f := drawFactored(oracle.NewRandom(300+turn), kind, false)
		f.config = pare.Config{Model: m, Tol: 1e-12, NoIntercept: turn >= 6}
		x := matrixOf(t, f.rows, 12, turn%2 == 0)
		lambda, err := pare.LogLambdaMax(x, f.y, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		for i := range lambda {
			lambda[i] -= 2
		}
		got, err := pare.LeaveOneOut(ctx, x, f.y, lambda, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		ids := make([]int, len(f.y))
		for i := range ids {
			ids[i] = i
		}
		held, err := pare.OutOfFold(ctx, x, f.y, lambda, pare.Validation{FoldIDs: ids}, f.config)
		if err != nil {
			t.Fatal(m, err)
		}
		for e, err := range pare.Validate(ctx, x, f.y, [][]float64{lambda}, pare.Validation{FoldIDs: ids}, f.config) {
			near := 0.05
			switch m {
			case pare.Ridge:
				near = 2e-3
			case pare.WeightedLasso: // single rows change the support most
				near = 0.15
			}
			if err != nil || math.Abs(got.Value-e.Value) > near*e.Value {
				t.Errorf("turn %d, %s: %g, by fits without a row %g, %v", turn, m, got.Value, e.Value, err)
			}
			if m != pare.Poisson && math.Abs(got.GCV-e.Value) > 0.15*e.Value {
				t.Errorf("turn %d, %s: GCV %g, leave-one-out %g", turn, m, got.GCV, e.Value)
			}
		}
		if !(got.Freedom > 1) || got.Freedom > 14 {
			t.Errorf("turn %d, %s: %g degrees of freedom", turn, m, got.Freedom)
		}
		var off, size float64
		for i, score := range held.Scores {
			off = max(off, math.Abs(score[0]-got.Scores[i]))
			size = max(size, math.Abs(score[0]))
		}
		if m == pare.Ridge && off > 5e-3*size {
			t.Errorf("turn %d: a score is off by %g of %g", turn, off, size)
		}
	}
	var e *outcome.Error
	if _, err := pare.LeaveOneOut(ctx, matrixOf(t, [][]float64{{1}, {2}}, 1, true), []float64{-1, 1}, []float64{0}, pare.Config{Model: pare.SVM}); !errors.As(err, &e) || e.Kind != outcome.Usage {
		t.Errorf("svm: %v", err)
	}
}

// TestLeaveOneOutOfARidgeIsOffByTheSecondOrder checks that the scores of a ridge equal those of refits at the same α up
// to second order in 1/n, with and without intercept: doubling the rows divides the error by about four.
func TestLeaveOneOutOfARidgeIsOffByTheSecondOrder(t *testing.T) {
	for _, bare := range []bool{true, false} {
		c := pare.Config{Model: pare.Ridge, Tol: 1e-15, NoIntercept: bare}
		off := func(n int) (mean float64) {
			r := oracle.NewRandom(8)
			rows, y, ids := make([][]float64, n), make([]float64, n), make([]int, n)
			for i := range rows {
				rows[i] = []float64{r.Normal(), r.Normal(), r.Normal()}
				y[i], ids[i] = rows[i][0]+0.3*r.Normal(), i
			}
			x := matrixOf(t, rows, 3, true)
			got, err := pare.LeaveOneOut(t.Context(), x, y, []float64{0}, c)
			if err != nil {
				t.Fatal(err)
			}
			refits, err := pare.OutOfFold(t.Context(), x, y, []float64{0}, pare.Validation{FoldIDs: ids}, c)
			if err != nil {
				t.Fatal(err)
			}
			for i, score := range refits.Scores {
				mean += math.Abs(score[0]-got.Scores[i]) / float64(n)
			}
			return mean
		}
		few, many := off(20), off(160)
		if t.Logf("without intercept %v: off by %.2g of 20 rows, %.2g of 160", bare, few, many); !(few < 5e-3) || !(many < few/40) {
			t.Errorf("without intercept %v: off by %.2g of 20 rows, %.2g of 160", bare, few, many)
		}
	}
}

// TestStandardErrorOfRowsLeftOut checks that the standard error is that of the weighted mean of the losses of the
// scores.
func TestStandardErrorOfRowsLeftOut(t *testing.T) {
	x, y := load(t)
	weights := make([]float64, len(y))
	for i := range weights {
		weights[i] = []float64{0, 1e-6, 1, 3}[i%4]
	}
	got, err := pare.LeaveOneOut(t.Context(), x, y, []float64{-1}, pare.Config{Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	var total, mean, square, count float64
	loss := func(i int) float64 { return (y[i] - got.Scores[i]) * (y[i] - got.Scores[i]) }
	for i, w := range weights {
		total += w
		mean += w * loss(i)
	}
	mean /= total
	for i, w := range weights {
		if w > 0 {
			count++
			square += (w / total * (loss(i) - mean)) * (w / total * (loss(i) - mean))
		}
	}
	if want := math.Sqrt(square * count / (count - 1)); !(math.Abs(got.Value-mean) <= 1e-12*mean) || !(math.Abs(got.StandardError-want) <= 1e-12*want) {
		t.Errorf("%.15g ± %.15g, want %.15g ± %.15g", got.Value, got.StandardError, mean, want)
	}
}

// TestLeftOutRowsKnowNoUnitOfWeights checks that doubling all weights, of rows or of classes, does not change the
// result.
func TestLeftOutRowsKnowNoUnitOfWeights(t *testing.T) {
	x, y := patients(t)
	logLambda := []float64{-7}
	of := func(c pare.Config) *pare.LeftOut {
		c.Loss, c.Tol = loss.Logistic{}, 1e-12
		got, err := pare.LeaveOneOut(t.Context(), x, y, logLambda, c)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	plain := of(pare.Config{})
	weights := slices.Repeat([]float64{2}, len(y))
	for name, c := range map[string]pare.Config{"rows": {Weights: weights}, "classes": {ClassWeights: []float64{2, 2}}} {
		got := of(c)
		for _, pair := range [][2]float64{{got.Value, plain.Value}, {got.GCV, plain.GCV}, {got.Freedom, plain.Freedom}, {got.StandardError, plain.StandardError}} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-9*pair[1]) {
				t.Errorf("weights of %s: %.15g, want %.15g", name, pair[0], pair[1])
			}
		}
	}
}

// TestChoiceByLeftOutRows checks that approximate leave-one-out and generalised cross-validation equal the values of
// [pare.LeaveOneOut], that their slopes agree with finite differences, and that the choice is as good as the best point
// of a grid. By approximate leave-one-out it is also close to the choice by exact leave-one-out.
func TestChoiceByLeftOutRows(t *testing.T) {
	ctx := context.Background()
	for k, c := range []pare.Config{{}, {Model: pare.Ridge}, {Loss: loss.Logistic{}}, {Model: pare.ElasticNet}} {
		name := [...]string{"lasso", "ridge", "logistic", "elastic net"}[k]
		x, y := load(t)
		if c.Loss != nil {
			x, y = patients(t)
		}
		for second, by := range []pare.Criterion{pare.ALO, pare.GCV} {
			if !oracle.Turn(2*k+second, 1) {
				continue
			}
			v := pare.Validation{Criterion: by}
			s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, c)
			if err != nil || !s.Status.OK() || s.Final.Status != outcome.Converged {
				t.Fatalf("%s, %s: %+v, %v", name, by, s, err)
			}
			value := func(lambda []float64) float64 {
				l, err := pare.LeaveOneOut(ctx, x, y, lambda, pare.Config{Model: c.Model, Loss: c.Loss, Tol: 1e-12})
				if err != nil {
					t.Fatal(err)
				}
				return map[pare.Criterion]float64{pare.ALO: l.Value, pare.GCV: l.GCV}[by]
			}
			if want := value(s.LogLambda); math.Abs(s.Value-want) > 1e-3*want || !(s.Value < s.NullValue) || s.StandardError <= 0 {
				t.Errorf("%s, %s: %g, of one fit %g; the null model has %g, the standard error is %g", name, by, s.Value, want, s.NullValue, s.StandardError)
			}
			best := math.Inf(1)
			for k := range 40 {
				if !oracle.Turn(k, 1) {
					continue
				}
				at := append([]float64(nil), s.LogLambda...)
				at[0] = s.LogLambdaMax[0] - 0.2*float64(k)
				best = min(best, value(at))
			}
			near := 0.05 // in standard errors
			if len(s.LogLambda) > 1 {
				near = 0.1 // the search over two λ's follows slopes, and the criterion has jumps
			}
			if s.Value > best*(1+1e-3) && s.Value > best+near*s.StandardError {
				t.Errorf("%s, %s: %g chosen, %g on a grid", name, by, s.Value, best)
			}
			at := append([]float64(nil), s.LogLambda...)
			at[0]++
			h, err := pare.Gradient(ctx, x, y, at, v, c)
			if err != nil {
				t.Fatal(err)
			}
			const step = 1e-3
			up, down := append([]float64(nil), at...), append([]float64(nil), at...)
			up[0] += step
			down[0] -= step
			if slope := (value(up) - value(down)) / (2 * step); math.Abs(h.Gradient[0]-slope) > 1e-3*(math.Abs(slope)+h.Value) {
				t.Errorf("%s, %s: slope %g, by differences %g", name, by, h.Gradient[0], slope)
			}
		}
	}
}

// TestLeftOutSlopesAreWithinTheirBound checks the error bounds of the slopes. Finite differences amplify the errors of
// the fits, so the fits must be solved to more than the tolerance.
func TestLeftOutSlopesAreWithinTheirBound(t *testing.T) {
	for seed := range uint64(20) {
		for _, of := range []loss.Loss{loss.Logistic{}, loss.Gamma{}} {
			r := oracle.NewRandom(seed)
			q := r.Problem(oracle.Shape{N: 10 + r.Intn(10), P: 15, Density: 1})
			for i, row := range q.X {
				q.Y[i] = math.Exp(row[0] + r.Normal())
				if of == (loss.Logistic{}) {
					q.Y[i] = math.Copysign(1, math.Log(q.Y[i]))
				}
			}
			_, p := q.Dims()
			x := matrixOf(t, q.X, p, true)
			c := pare.Config{Model: pare.Ridge, Loss: of}
			const lambda, h = -5.0, 1e-3
			got, err := pare.Gradient(t.Context(), x, q.Y, []float64{lambda}, pare.Validation{Criterion: pare.ALO}, c)
			if err != nil {
				t.Fatal(err)
			}
			c.Tol = 1e-15
			value := func(steps float64) float64 {
				left, err := pare.LeaveOneOut(t.Context(), x, q.Y, []float64{lambda + steps*h}, c)
				if err != nil {
					t.Fatal(err)
				}
				return left.Value
			}
			want := (8*(value(1)-value(-1)) - (value(2) - value(-2))) / (12 * h) // with an error of order h⁴
			if !(math.Abs(got.Gradient[0]-want) <= got.ErrorBound+1e-9*math.Abs(want)) {
				t.Errorf("%s, %d: slope %.12g ± %g, differences %.12g", of.Name(), seed, got.Gradient[0], got.ErrorBound, want)
			}
		}
	}
}

// TestLeftOutRowsAreRefused checks that models without such a criterion refuse it by name.
func TestLeftOutRowsAreRefused(t *testing.T) {
	x, y := patients(t)
	for _, wrong := range []struct {
		flag string
		c    pare.Config
		v    pare.Validation
	}{
		{"criterion", pare.Config{Model: pare.SVM}, pare.Validation{}},
		{"criterion", pare.Config{Model: pare.WeightedLasso}, pare.Validation{}},
		{"method", pare.Config{Method: pare.ForwardPGD}, pare.Validation{}},
		{"sigma", pare.Config{}, pare.Validation{Sigma: 1}},
		{"folds", pare.Config{}, pare.Validation{Folds: 3}},
		{"validation-loss", pare.Config{}, pare.Validation{Loss: criterion.Func("own", squares)}},
	} {
		for _, by := range []pare.Criterion{pare.ALO, pare.GCV} {
			wrong.v.Criterion = by
			_, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: wrong.v}, wrong.c)
			if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Flag != wrong.flag || e.Kind != outcome.Usage {
				t.Errorf("%s, %s: %v", by, wrong.flag, err)
			}
		}
	}
}

// TestRowsThatCannotBeLeftOut checks that a row which alone determines its score has a score of NaN, not one made of
// rounding errors, and that a choice avoids such λ's. A single row cannot be left out.
func TestRowsThatCannotBeLeftOut(t *testing.T) {
	x, err := sparse.NewDense(3, 2, []float64{1, 0, 0.5, 1, 0.2, -2})
	if err != nil {
		t.Fatal(err)
	}
	y := []float64{1, 3, -4}
	out, err := pare.LeaveOneOut(t.Context(), x, y, []float64{-12}, pare.Config{})
	if err != nil || out.Support != 2 || !math.IsInf(out.Value, 1) || !math.IsInf(out.GCV, 1) {
		t.Errorf("as many coefficients as rows: %v, %+v", err, out)
	}
	for _, score := range out.Scores {
		if !math.IsNaN(score) {
			t.Errorf("scores %g", out.Scores)
		}
	}
	for _, c := range []pare.Criterion{pare.ALO, pare.GCV} {
		v := pare.Validation{Criterion: c}
		s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{Validation: v}, pare.Config{})
		if err != nil || s.Status == outcome.Failed || !(s.Value <= s.NullValue) {
			t.Errorf("%s: %v, %+v", c, err, s)
		}
		h, err := pare.Gradient(t.Context(), x, y, []float64{-12}, v, pare.Config{})
		if err != nil || h.Status != outcome.NotDifferentiable || len(h.Gradient) != 1 {
			t.Errorf("%s: gradient: %v, %+v", c, err, h)
		}
		for _, config := range []pare.Config{{NoIntercept: true}, {NoIntercept: true, Weights: []float64{0, 2, 0}}} {
			one, own := sparse.Matrix(x), y
			if config.Weights == nil {
				if one, err = sparse.NewDense(1, 2, []float64{1, 2}); err != nil {
					t.Fatal(err)
				}
				own = y[:1]
			}
			if _, err := pare.Select(t.Context(), one, own, pare.SelectOptions{Validation: v}, config); outcome.KindOf(err) != outcome.BadParameter {
				t.Errorf("%s of one row: %v", c, err)
			}
		}
	}
}

// TestLeaveOneOutWithoutCurvature checks a case in which no curvature determines the intercept: rows of one class with
// scores of at least 1 have no loss, whichever row is left out. If some rows still have a slope there, the score
// without a row is undetermined (NaN).
func TestLeaveOneOutWithoutCurvature(t *testing.T) {
	rows := [][]float64{{1}, {-2}, {0.5}, {3}}
	for _, m := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge} {
		for _, l := range []loss.Loss{loss.SquaredHinge{}, loss.SmoothedHinge{}} {
			for _, weights := range [][]float64{nil, {1, 0, 2, 1}} {
				for _, dense := range []bool{false, true} {
					x := matrixOf(t, rows, 1, dense)
					c := pare.Config{Model: m, Loss: l, Weights: weights}
					lambda := repeat(-1, m.Hyperparameters(x, nil))
					got, err := pare.LeaveOneOut(t.Context(), x, repeat(1, 4), lambda, c)
					if err != nil || got.Value != 0 || got.GCV != 0 || got.Freedom != 0 || got.StandardError != 0 || !got.Status.OK() {
						t.Errorf("%s, %s, weights %v, dense %v: %+v, %v", m, l.Name(), weights, dense, got, err)
					}
				}
			}
		}
	}
	got, err := pare.LeaveOneOut(t.Context(), matrixOf(t, rows, 1, true), []float64{1, 1, -1, -1}, []float64{3}, pare.Config{Loss: loss.SmoothedHinge{}})
	if err != nil || !math.IsInf(got.Value, 1) || !math.IsNaN(got.Scores[0]) || math.IsNaN(got.Freedom) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLeaveOneOutOfSparseColumnsFarFromZero checks that the rounding errors that a mean of 2²⁶ leaves in products of
// sparse columns do not enter the leverages. With orthogonal centred columns d of variances v, a ridge has βⱼ =
// Σdᵢⱼyᵢ/n(vⱼ + α), leverages 1/n + Σdᵢⱼ²/n(vⱼ + α), and predictions whose derivative in ln α is −Σαβⱼdᵢⱼ/(vⱼ + α).
func TestLeaveOneOutOfSparseColumnsFarFromZero(t *testing.T) {
	const n, far, alpha = 24, 1 << 26, 2.0
	var pointers []int64
	var rows []int32
	var values []float64
	deviations, y, mean := [2][n]float64{}, make([]float64, n), 0.0
	for j := range deviations {
		pointers = append(pointers, int64(len(rows)))
		for i := range n {
			deviations[j][i] = float64(i%8) + 0.125*float64(i%8*(i%8)) - 5.6875 // with mean 0
			if j == 1 {
				deviations[j][i] = float64(i/8 - 1)
			}
			rows, values = append(rows, int32(i)), append(values, far+deviations[j][i])
		}
	}
	x, err := sparse.NewCSC(n, 2, append(pointers, int64(len(rows))), rows, values)
	if err != nil {
		t.Fatal(err)
	}
	for i := range y {
		y[i] = deviations[0][i] - 3*deviations[1][i] + float64(i*i%7)
		mean += y[i] / n
	}
	want, leverage, motion, freedom := make([]float64, n), make([]float64, n), make([]float64, n), 1.0
	for _, d := range deviations {
		var square, product float64
		for i, v := range d {
			square, product = square+v*v, product+v*y[i]
		}
		whole := square + n*alpha
		freedom += square / whole
		for i, v := range d {
			want[i] += v * product / whole
			leverage[i] += v * v / whole
			motion[i] -= n * alpha * product / whole * v / whole
		}
	}
	out, err := pare.LeaveOneOut(context.Background(), x, y, []float64{math.Log(alpha)}, pare.Config{Model: pare.Ridge, Tol: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range out.Scores {
		h := leverage[i] + 1.0/n
		want[i] += mean
		want[i] += (want[i]-y[i])*h/(1-h) + math.Log1p(-1.0/n)*motion[i]
		if math.Abs(got-want[i]) > 1e-6 {
			t.Errorf("row %d: %.12g, want %.12g", i, got, want[i])
		}
	}
	if math.Abs(out.Freedom-freedom) > 1e-8 {
		t.Errorf("%.12g degrees of freedom, want %.12g", out.Freedom, freedom)
	}
}

// TestLeftOutNamesAFitThatHasNotConverged checks that NaN scores of a fit with too few sweeps are not blamed on λ.
func TestLeftOutNamesAFitThatHasNotConverged(t *testing.T) {
	x, err := sparse.NewDense(3, 2, []float64{1, 0, 0.5, 1, 0.2, -2})
	if err != nil {
		t.Fatal(err)
	}
	c := pare.Config{MaxEpochs: 1, Loss: loss.Poisson{}}
	for _, criterion := range []pare.Criterion{pare.ALO, pare.GCV} {
		h, err := pare.Gradient(t.Context(), x, []float64{1, 3, 9}, []float64{-12}, pare.Validation{Criterion: criterion}, c)
		if err != nil || !math.IsInf(h.Value, 1) || h.RelativeGap < 1e-3 || h.Status != outcome.NotConverged {
			t.Errorf("%s: %v, %g, gap %g: %s", criterion, err, h.Value, h.RelativeGap, h.Status)
		}
	}
}
