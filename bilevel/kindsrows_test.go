package bilevel_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// evaluated is a problem of any kind with its null model.
type evaluated interface {
	Evaluate(ctx context.Context, r search.Request) (bilevel.Report, error)
	Null() search.Evaluation
	AskCurvature()
}

// kind is a kind of inner problem, opened from rows and a spec that says which of them are held out.
type kind struct {
	lambda []float64
	open   func(q *oracle.Problem, spec bilevel.Spec) (evaluated, error)
}

// kindsOfRows returns the kinds of inner problems that support weighted rows; each takes numbers, signs or three
// classes from the targets.
func kindsOfRows(t *testing.T) map[string]kind {
	t.Helper()
	k := fixture.Kernels(t)
	matrix := func(q *oracle.Problem) sparse.Matrix { return fixture.Matrix(t, q, true) }
	signs := func(q *oracle.Problem) []float64 {
		y := make([]float64, len(q.Y))
		for i, v := range q.Y {
			y[i] = math.Copysign(1, v)
		}
		return y
	}
	three := func(q *oracle.Problem) []float64 {
		y := make([]float64, len(q.Y))
		for i, v := range q.Y {
			y[i] = math.Mod(math.Floor(10*math.Abs(v)), 3)
		}
		return y
	}
	logistic := func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(v, y) }
	squared := func(v *sparse.View, y []float64) (model.Datafit, error) { return model.NewSquared(v, y) }
	forward := iterdiff.ForwardPCD
	plain := func(lambda float64, targets func(q *oracle.Problem) []float64, change func(q *oracle.Problem, s *bilevel.Spec)) kind {
		return kind{[]float64{lambda}, func(q *oracle.Problem, spec bilevel.Spec) (evaluated, error) {
			spec.Penalty = lasso
			change(q, &spec)
			return bilevel.New(k, matrix(q), targets(q), spec)
		}}
	}
	numbers := func(q *oracle.Problem) []float64 { return q.Y }
	two := func(q *oracle.Problem) []float64 {
		y := signs(q)
		for i := range y {
			y[i] = (y[i] + 1) / 2
		}
		return y
	}
	softmax := func(classes int, targets func(q *oracle.Problem) []float64) func(q *oracle.Problem, s *bilevel.Spec) {
		return func(q *oracle.Problem, s *bilevel.Spec) {
			class := make([]int32, len(q.Y))
			for i, y := range targets(q) {
				class[i] = int32(y)
			}
			s.Intercept = true
			s.Blocked = &bilevel.Blocked{
				Partition: model.Singletons(len(q.Alpha)), Count: classes, Penalty: func(l []float64) (model.Blocks, error) { return model.ScoresLasso(classes, l) },
				Scores: func(v *sparse.View) (model.Scores, error) {
					return model.NewSoftmax(v, class, []float64{0, 1, 2}[:classes])
				},
			}
		}
	}
	return map[string]kind{
		"lasso":    plain(-3, numbers, func(_ *oracle.Problem, s *bilevel.Spec) { s.Intercept = true }),
		"scaled":   plain(-2, numbers, func(_ *oracle.Problem, s *bilevel.Spec) { s.Standardise = true }),
		"iterated": plain(-3, numbers, func(_ *oracle.Problem, s *bilevel.Spec) { s.Iterate, s.Intercept = &forward, true }),
		"logistic": plain(-4, signs, func(_ *oracle.Problem, s *bilevel.Spec) {
			s.Datafit, s.Criterion, s.Intercept = logistic, criterion.Of(loss.Logistic{}), true
		}),
		"groups": plain(-3, numbers, func(q *oracle.Problem, s *bilevel.Spec) {
			groups := make([]int, len(q.Alpha))
			for j := range groups {
				groups[j] = j / 2
			}
			pairs, err := model.NewPartition(groups)
			if err != nil {
				t.Fatal(err)
			}
			s.Datafit, s.Blocked = squared, &bilevel.Blocked{Partition: pairs, Penalty: func(l []float64) (model.Blocks, error) {
				return model.GroupLasso(slices.Repeat([]float64{1}, (len(q.Alpha)+1)/2), l[0])
			}}
		}),
		"mcp": plain(-2, numbers, func(q *oracle.Problem, s *bilevel.Spec) {
			s.Datafit, s.Blocked = squared, &bilevel.Blocked{
				Partition: model.Singletons(len(q.Alpha)), Descend: true, Max: k.MaxAbs,
				Penalty: func(l []float64) (model.Blocks, error) {
					g, err := model.NewMCP(l[0], kernels.Log(3))
					return model.Elementwise{Of: g}, err
				},
			}
		}),
		"softmax":        plain(-4, three, softmax(3, three)),
		"softmax of two": plain(-4, two, softmax(2, two)),
		"classes": {[]float64{-4, -3.5, -3}, func(q *oracle.Problem, spec bilevel.Spec) (evaluated, error) {
			spec.Penalty, spec.Intercept = lasso, true
			return bilevel.NewMulticlass(k, matrix(q), three(q), spec)
		}},
		"svm": {[]float64{-1}, func(q *oracle.Problem, spec bilevel.Spec) (evaluated, error) {
			return bilevel.NewSVM(k, sparse.Transpose(matrix(q)), signs(q), spec)
		}},
		"svr": {[]float64{-1, -2}, func(q *oracle.Problem, spec bilevel.Spec) (evaluated, error) {
			spec.Criterion, spec.Intercept = criterion.MeanSquaredError{}, true
			return bilevel.NewVectors(k, matrix(q), q.Y, bilevel.VectorRegression, spec)
		}},
		"vectors of classes": {[]float64{-1}, func(q *oracle.Problem, spec bilevel.Spec) (evaluated, error) {
			spec.Criterion, spec.Intercept, spec.Standardise = criterion.Of(loss.SmoothedHinge{}), true, true
			return bilevel.NewVectors(k, matrix(q), signs(q), bilevel.VectorClasses, spec)
		}},
		"simplex": {[]float64{1, -2}, func(q *oracle.Problem, spec bilevel.Spec) (evaluated, error) {
			spec.Criterion = criterion.MeanSquaredError{}
			return bilevel.NewVectors(k, matrix(q), q.Y, bilevel.VectorsOnSimplex, spec)
		}},
	}
}

// reported returns what a kind reports at λ, solved to a tight tolerance.
func reported(t *testing.T, name string, of kind, q *oracle.Problem, spec bilevel.Spec, lambda []float64, valueOnly bool) (bilevel.Report, search.Evaluation) {
	t.Helper()
	spec.Solver = cd.Options{Tol: 1e-12}
	p, err := of.open(q, spec)
	if err != nil {
		t.Fatal(name, err)
	}
	p.AskCurvature()
	r, err := p.Evaluate(t.Context(), search.Request{LogLambda: lambda, ValueOnly: valueOnly})
	if err != nil {
		t.Fatal(name, err)
	}
	return r, p.Null()
}

// TestWeightsAreCopies checks that a row of weight k has the effect of k equal rows of the same fold, and a row of
// weight 0 that of no row, in training, validation and testing.
func TestWeightsAreCopies(t *testing.T) {
	q := oracle.NewRandom(71).Problem(oracle.Shape{N: 40, P: 7, Noise: 1})
	copies := &oracle.Problem{Alpha: q.Alpha}
	weights, folds := make([]float64, len(q.Y)), make(bilevel.Folds, len(q.Y))
	var copied bilevel.Folds
	for i, y := range q.Y {
		weights[i], folds[i] = float64(i%4), (i/4)%3
		if i > 34 {
			folds[i] = bilevel.TestOnly
		}
		for range i % 4 {
			copies.X, copies.Y, copied = append(copies.X, q.X[i]), append(copies.Y, y), append(copied, folds[i])
		}
	}
	for name, of := range kindsOfRows(t) {
		a, nullA := reported(t, name, of, q, bilevel.Spec{Folds: folds, Weights: weights}, of.lambda, false)
		b, nullB := reported(t, name, of, copies, bilevel.Spec{Folds: copied}, of.lambda, false)
		near := func(what string, got, want, size float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-6*(math.Abs(want)+size)+1e-12) {
				t.Errorf("%s: %s %.12g by weights, %.12g of copies", name, what, got, want)
			}
		}
		near("value", a.Value, b.Value, 0)
		near("test", a.Test, b.Test, 0)
		near("null model", nullA.Value, nullB.Value, 0)
		near("its standard error", nullA.StandardError, nullB.StandardError, 0)
		near("standard error", a.StandardError, b.StandardError, 0)
		near("training loss", a.TrainLoss, b.TrainLoss, 0)
		if name == "svm" || name == "svr" || name == "simplex" || name == "vectors of classes" { // copies may share their dual variables in any way
			continue
		}
		near("support", float64(a.Support), float64(b.Support), 0)
		for i := range b.Gradient {
			near("slope", a.Gradient[i], b.Gradient[i], 0.01*b.Value)
		}
		if len(a.Curvature) != len(b.Curvature) {
			t.Fatalf("%s: curvatures %v and %v", name, a.Curvature, b.Curvature)
		}
		for i := range b.Curvature {
			near("curvature", a.Curvature[i], b.Curvature[i], 0.01*b.Value)
		}
	}
}

// TestRowsOfWeight0AreJudgedByNobody checks that rows of weight 0, whatever they contain, change neither the value
// of a hold-out nor its standard error and slope.
func TestRowsOfWeight0AreJudgedByNobody(t *testing.T) {
	q := oracle.NewRandom(73).Problem(oracle.Shape{N: 66, P: 5, Noise: 1})
	without := &oracle.Problem{Alpha: q.Alpha}
	weights, folds := make([]float64, len(q.Y)), make(bilevel.Folds, len(q.Y))
	var left []float64
	var kept bilevel.Folds
	for i, y := range q.Y {
		weights[i], folds[i] = 1+float64(i%2), bilevel.AlwaysTrain
		if i >= 20 {
			folds[i] = 0
		}
		if i%20 < 6 { // among held-out rows these are whole batches
			weights[i], q.X[i][0] = 0, 1e150
			continue
		}
		without.X, without.Y, left, kept = append(without.X, q.X[i]), append(without.Y, y), append(left, weights[i]), append(kept, folds[i])
	}
	for name, of := range kindsOfRows(t) {
		a, nullA := reported(t, name, of, q, bilevel.Spec{Folds: folds, Weights: weights}, of.lambda, false)
		b, nullB := reported(t, name, of, without, bilevel.Spec{Folds: kept, Weights: left}, of.lambda, false)
		for k, pair := range [][2]float64{{a.Value, b.Value}, {a.StandardError, b.StandardError}, {nullA.Value, nullB.Value}, {nullA.StandardError, nullB.StandardError}, {a.Gradient[0], b.Gradient[0]}} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-6*(math.Abs(pair[1])+0.01*b.Value)) {
				t.Errorf("%s, %d: %.12g with rows of weight 0, %.12g without", name, k, pair[0], pair[1])
			}
		}
	}
}

// TestTestRowsAreJudgedAlone checks the value on a single test row: it is the mean over the folds of the values of
// hold-outs of that row that train on the same rows.
func TestTestRowsAreJudgedAlone(t *testing.T) {
	q := oracle.NewRandom(72).Problem(oracle.Shape{N: 31, P: 6, Noise: 1})
	folds := make(bilevel.Folds, len(q.Y))
	for i := range folds {
		folds[i] = i % 3
	}
	folds[30] = bilevel.TestOnly
	for name, of := range kindsOfRows(t) {
		got, _ := reported(t, name, of, q, bilevel.Spec{Folds: folds}, of.lambda, true)
		var want float64
		for fold := range 3 {
			only := slices.Clone(folds)
			for i, id := range folds {
				switch id {
				case fold:
					only[i] = bilevel.TestOnly
				case bilevel.TestOnly:
					only[i] = 0
				default:
					only[i] = bilevel.AlwaysTrain
				}
			}
			one, _ := reported(t, name, of, q, bilevel.Spec{Folds: only}, of.lambda, true)
			want += one.Value / 3
		}
		if !got.Tested || !(math.Abs(got.Test-want) <= 1e-6*math.Abs(want)) {
			t.Errorf("%s: %.12g on the row for testing, %.12g by hold-outs of it", name, got.Test, want)
		}
		folds[30] = 0
		if none, _ := reported(t, name, of, q, bilevel.Spec{Folds: folds}, of.lambda, true); none.Tested || none.Test != 0 {
			t.Errorf("%s: %g on no row for testing", name, none.Test)
		}
		folds[30] = bilevel.TestOnly
	}
}

// TestNothingIsLearntAtLargestStrengths checks that at very large strengths the value is that of the null model
// and the training loss, relative to the null model's, is 1; at smaller strengths the training loss is less.
func TestNothingIsLearntAtLargestStrengths(t *testing.T) {
	q := oracle.NewRandom(73).Problem(oracle.Shape{N: 33, P: 6, Noise: 1})
	folds := make(bilevel.Folds, len(q.Y))
	for i := range folds {
		folds[i] = i % 3
	}
	for name, of := range kindsOfRows(t) {
		says := name != "classes" && name != "iterated"
		at := slices.Clone(of.lambda)
		for i := range at {
			at[i] = 8
		}
		slack := 1e-9
		switch name {
		case "svm", "vectors of classes":
			at[0] = -20
		case "svr", "simplex":
			at[0], at[1] = -20, of.lambda[1]
		}
		r, null := reported(t, name, of, q, bilevel.Spec{Folds: folds}, at, true)
		if at[0] < 0 {
			slack = 1e-5
		}
		if says && !(math.Abs(r.TrainLoss-1) <= slack) {
			t.Errorf("%s: training loss %.12g", name, r.TrainLoss)
		}
		if name != "svr" && name != "simplex" && name != "vectors of classes" && name != "classes" && math.Abs(r.Value-null.Value) > slack*null.Value { // their intercepts or weights are not unique or differ
			t.Errorf("%s: value %.12g, the null model's %.12g", name, r.Value, null.Value)
		}
		if below, _ := reported(t, name, of, q, bilevel.Spec{Folds: folds}, of.lambda, true); says && !(below.TrainLoss < 1-1e-3 && below.TrainLoss > 0) {
			t.Errorf("%s: training loss %.12g below", name, below.TrainLoss)
		}
	}
}

// TestNothingIsProvedUnasked checks that gradients converge, and that supports are certified only if that was
// asked for.
func TestNothingIsProvedUnasked(t *testing.T) {
	q := oracle.NewRandom(74).Problem(oracle.Shape{N: 33, P: 6, Noise: 1})
	folds := make(bilevel.Folds, len(q.Y))
	for i := range folds {
		folds[i] = i % 3
	}
	for name, of := range kindsOfRows(t) {
		for _, certify := range []bool{false, true} {
			r, _ := reported(t, name, of, q, bilevel.Spec{Folds: folds, Certify: certify}, of.lambda, false)
			can := map[string]bool{"lasso": true, "scaled": true, "logistic": true, "classes": true, "svm": true}[name]
			if r.SupportCertified != (certify && can) || !r.Status.OK() && name != "softmax of two" { // its classes may share a column in any way
				t.Errorf("%s, asked %t: certified %t, %s", name, certify, r.SupportCertified, r.Status)
			}
		}
	}
}
