package bilevel

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Multiclass is the bilevel problem of one-versus-rest logistic regression with
// one λ per class: q inner problems for each fold, coupled by the cross-entropy
// of their scores on the held-out rows (Bertrand et al., section 4.2). It
// implements [search.Objective] and is not safe for concurrent use.
//
// This file has what couples the classes; their inner problems are lanes (classlane.go).
type Multiclass struct {
	// Curvature asks for the curvature with gradients, at q·n numbers in memory and
	// q²·n operations; see gaussnewton.go.
	Curvature bool
	// Keep makes the lanes of the classes keep the solution of every evaluation, as a sparse vector, for
	// [search.Request].From.
	Keep bool

	k           *kernels.Set
	spec        Spec
	runner      Runner
	classes     []float64 // labels, ascending
	label       []int32   // n: the class of each row
	folds       []*multiclassFold
	kept        points
	start       startPoint
	null        search.Evaluation
	logAlphaMax []float64 // the largest ln αmax over the folds, for each class
	memory      memory
}

// multiclassFold holds what the criterion needs of a fold.
type multiclassFold struct {
	heldOut
	scores     [][]float64 // q × n_val: the scores, and after addCriterion the probabilities
	testScores [][]float64 // q × test rows: the same
	started    bool        // rare classes have solutions or a start, see startRareClasses
}

// NewMulticlass prepares the problem: O(n + p) memory for each fold and worker.
// Labels are any finite numbers; the classes are their distinct values, in
// ascending order. Datafit and Criterion of the spec are not used; Penalty has
// one hyperparameter, the λ of a class. There must be two classes or more, each with
// training rows in every fold.
func NewMulticlass(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Multiclass, error) {
	lanes, err := NewMulticlassLanes(k, x, y, spec)
	if err != nil {
		return nil, err
	}
	return NewMulticlassOver(context.Background(), k, lanes, y, spec)
}

// NewMulticlassOver returns a problem over existing lanes, which were prepared for the same spec and
// labels. The error is that of a lane that cannot be made, or of ctx.
func NewMulticlassOver(ctx context.Context, k *kernels.Set, runner Runner, y []float64, spec Spec) (*Multiclass, error) {
	spec.withThreads()
	m := &Multiclass{k: k, spec: spec, runner: runner}
	var err error
	if m.classes, m.label, err = Classes(k, y); err != nil {
		return nil, err
	}
	for fold := range spec.Folds.Count(k) {
		held, err := newHeldOut(k, &m.spec, m.classes, m.label, fold)
		if err != nil {
			return nil, err
		}
		q := len(m.classes)
		m.folds = append(m.folds, &multiclassFold{heldOut: *held, scores: make([][]float64, q), testScores: make([][]float64, q)})
	}
	results, err := runner.Run(ctx, m.toAllLanes(LaneRequest{Ask: AskNull}), nil)
	if err != nil {
		return nil, err
	}
	m.logAlphaMax = slices.Repeat([]float64{math.Inf(-1)}, len(m.classes))
	for i := range results {
		if top := &m.logAlphaMax[i%len(m.classes)]; results[i].Top > *top {
			*top = results[i].Top
		}
	}
	m.evaluateNull()
	return m, nil
}

// toAllLanes returns the request r addressed to every class of the first fold, then of the second, and so on.
func (m *Multiclass) toAllLanes(r LaneRequest) []LaneRequest {
	requests := make([]LaneRequest, 0, len(m.folds)*len(m.classes))
	for fold := range m.folds {
		for k := range m.classes {
			r.Lane = LaneID{fold, k}
			requests = append(requests, r)
		}
	}
	return requests
}

// Classes returns the distinct labels, ascending, and the class of every row:
// y[i] = classes[label[i]]. The error is an [outcome.Error]: NonFinite with the
// row, or SingleClass.
//
// Its loops end with k, which may be nil; see [kernels.Set.Until].
func Classes(k *kernels.Set, y []float64) (classes []float64, label []int32, err error) {
	pace := k.Pace()
	for i, t := range y {
		pace.Did(1)
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return nil, nil, &outcome.Error{Kind: outcome.NonFinite, HasRow: true, Row: i, Message: "the label is not finite"}
		}
	}
	classes = Distinct(k, y)
	if len(classes) < 2 {
		return nil, nil, outcome.Errorf(outcome.SingleClass, "all rows have the same class")
	}
	label = make([]int32, len(y))
	for i, t := range y {
		pace.Did(1)
		at, _ := slices.BinarySearch(classes, t)
		label[i] = int32(at)
	}
	return classes, label, nil
}

// Distinct returns the distinct numbers in y, ascending. It ends with k, as [Classes] does.
func Distinct(k *kernels.Set, y []float64) (kinds []float64) {
	pace := k.Pace()
	var fresh []float64 // new numbers, merged into kinds once there are more of them than there are kinds
	add := func() {
		kinds = append(kinds, fresh...)
		slices.SortFunc(kinds, func(a, b float64) int {
			pace.Did(1)
			return cmp.Compare(a, b)
		})
		kinds, fresh = slices.Compact(kinds), fresh[:0]
	}
	for _, t := range y {
		pace.Did(1)
		if _, known := slices.BinarySearch(kinds, t); known {
			continue
		}
		if fresh = append(fresh, t); len(fresh) > len(kinds) {
			add()
		}
	}
	add()
	return kinds
}

// evaluateNull evaluates the null model.
func (m *Multiclass) evaluateNull() {
	values := make([]float64, 0, len(m.folds))
	for _, f := range m.folds {
		value, spread := f.null(m.k, len(m.classes), m.label, m.spec)
		values = append(values, value)
		m.null.Value += value / float64(len(m.folds))
		m.null.StandardError = spread
	}
	if len(values) > 1 {
		m.null.StandardError = standardError(values, m.null.Value)
	}
	m.null.TrainLoss, m.null.Trusted, m.null.Status = 1, true, outcome.Converged
}

// Classes returns the labels, ascending: hyperparameter k belongs to Classes()[k].
func (m *Multiclass) Classes() []float64 { return m.classes }

// NullValue returns the criterion of the null model.
func (m *Multiclass) NullValue() float64 { return m.null.Value }

// Null returns the evaluation of the null model, in which each class has only the intercept of its
// one-versus-rest problem; it has no λ.
func (m *Multiclass) Null() search.Evaluation { return m.null }

// Excess returns the largest difference, over folds and classes k, between ln αmax of the class and top[k];
// −Inf where no column matters, or without [Spec].AlphaMax.
func (m *Multiclass) Excess(top []float64) float64 {
	excess := math.Inf(-1)
	for k, l := range top {
		if e := m.logAlphaMax[k] - l; e > excess {
			excess = e
		}
	}
	return excess
}

// Eval implements [search.Objective].
func (m *Multiclass) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	return evalOnSide(ctx, m, r)
}

// Evaluate solves every class of every fold at r.LogLambda, one entry per class,
// and returns the mean over folds of the cross-entropy and its hypergradient.
func (m *Multiclass) Evaluate(ctx context.Context, r search.Request) (_ Report, err error) {
	defer outcome.Caught(&err)
	start := time.Now()
	if len(r.LogLambda) != len(m.classes) {
		return Report{}, outcome.At(outcome.Shape, "log-lambda", "there are %d classes, but %d hyperparameters", len(m.classes), len(r.LogLambda))
	}
	keep := 0
	if m.Keep {
		keep = m.kept.nextNumber(r.LogLambda)
	}
	results, err := m.solve(ctx, r, keep)
	if err != nil {
		return Report{}, err
	}
	report := newReport(r, len(m.classes))
	m.addCriterion(results, &report)
	if !r.ValueOnly {
		slopes, err := m.differentiate(ctx, r, keep)
		if err != nil {
			return Report{}, err
		}
		for i := range slopes {
			slopes[i].Solved = results[i].Solved
		}
		results = slopes
	}
	m.collect(&report, results)
	if len(m.folds) > 1 {
		report.StandardError = standardError(report.FoldValues, report.Value)
	} else { // addCriterion has turned the scores into probabilities
		f := m.folds[0]
		_, report.StandardError = f.loss(m.k, func(row int, class int32) float64 { return f.scores[class][row] })
	}
	if m.Keep {
		m.kept.add(r.LogLambda)
	}
	if m.Curvature && !r.ValueOnly {
		if report.Curvature, err = m.curvature(ctx, results); err != nil {
			return Report{}, err
		}
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// setClassLambda sets the λ of every request to the entry of its class, and returns the requests.
func setClassLambda(requests []LaneRequest, logLambda []float64) []LaneRequest {
	for i := range requests {
		k := requests[i].Lane.Class
		requests[i].LogLambda = logLambda[k : k+1]
	}
	return requests
}

// solve asks all lanes for their solutions.
func (m *Multiclass) solve(ctx context.Context, r search.Request, keep int) ([]LaneResult, error) {
	request := LaneRequest{Ask: AskSolve, Tol: r.Tol, ValueOnly: r.ValueOnly}
	if r.From != nil {
		request.From = m.kept.number(r.From)
	}
	if r.ValueOnly {
		request.Keep = keep
	}
	requests := setClassLambda(m.toAllLanes(request), r.LogLambda)
	if err := m.startRareClasses(ctx, requests); err != nil {
		return nil, err
	}
	m.start.setOn(requests)
	return m.runner.Run(ctx, requests, m.spec.progressCounter(len(requests))(r.LogLambda))
}

// addCriterion adds the cross-entropy to a report, and turns the scores into probabilities.
func (m *Multiclass) addCriterion(results []LaneResult, report *Report) {
	for fold, f := range m.folds {
		for k := range m.classes {
			at := &results[fold*len(m.classes)+k]
			f.scores[k], f.testScores[k] = at.Scores, at.TestScores
		}
		value := f.criterion().Eval(m.k, f.class, f.scores)
		report.FoldValues = append(report.FoldValues, value)
		report.Value += value / float64(len(m.folds))
		if len(f.test) > 0 {
			report.addTest(m.lossOn(f.test, f.testScores), 1/float64(len(m.folds)))
		}
	}
}

// differentiate asks all lanes for their gradients.
func (m *Multiclass) differentiate(ctx context.Context, r search.Request, keep int) ([]LaneResult, error) {
	requests := setClassLambda(m.toAllLanes(LaneRequest{Ask: AskSlope, Tol: r.Tol, Rough: r.Rough, Curvature: m.Curvature, Keep: keep}), r.LogLambda)
	for fold, f := range m.folds {
		others := f.othersProbability()
		for k := range m.classes {
			at := &requests[fold*len(m.classes)+k]
			at.Probability, at.Others = f.scores[k], others[k]
		}
	}
	return m.runner.Run(ctx, requests, nil)
}

// othersProbability returns, for each class, the sum of the probabilities of all other classes on the
// validation rows of the class. The sum is accurate where 1 − P would suffer from cancellation.
func (f *multiclassFold) othersProbability() [][]float64 {
	sum := make([]float64, len(f.rows))
	for l, probability := range f.scores {
		for at, p := range probability {
			if int(f.class[at]) != l {
				sum[at] += p
			}
		}
	}
	byClass := make([][]float64, len(f.scores))
	for at, c := range f.class {
		byClass[c] = append(byClass[c], sum[at])
	}
	return byClass
}

// lossOn returns the cross-entropy of the scores on the given rows, and turns the scores into probabilities.
func (m *Multiclass) lossOn(rows []int32, scores [][]float64) float64 {
	class := make([]int32, len(rows))
	var of criterion.CrossEntropy
	for at, i := range rows {
		class[at] = m.label[i]
		if m.spec.Weights != nil {
			of.Weights = append(of.Weights, m.spec.Weights[i])
		}
	}
	return of.Eval(m.k, class, scores)
}

// rareShare is the share of the rows up to which a class is rare. Nearly all rows of its problem
// belong to other classes, so the problems of rare classes have much in common.
const rareShare = 0.05

// collect adds up the results of the lanes, in order. The entry of a class in the gradient is
// its mean over folds; the error bound is the largest over the entries.
func (m *Multiclass) collect(report *Report, results []LaneResult) {
	share, q := 1/float64(len(m.folds)), len(m.classes)
	for k := range m.classes {
		var bound float64
		for fold := range m.folds {
			// Errors in the scores of the other classes change the slope of this one. They are weighted by
			// P_kP_l ≤ √(P_k(1 − P_k)P_l(1 − P_l)).
			classes := results[fold*q : (fold+1)*q]
			var wander float64
			for l := range classes {
				if l != k {
					wander += classes[l].ErrorNorm
				}
			}
			lane := &classes[k]
			bound += float64(share * lane.MotionNorm * wander)
			report.addSolution(&lane.Solved)
			if report.Gradient == nil {
				continue
			}
			report.Gradient[k] = math.FMA(share, lane.Gradient[0], report.Gradient[k])
			report.addGradient(&lane.Derived)
			bound += float64(share * lane.Derived.ErrorBound)
		}
		report.ErrorBound = max(report.ErrorBound, bound)
	}
	report.finish(len(m.folds) * len(m.classes))
}

// KeepSolutions makes the lanes keep the solution of every evaluation, see [Multiclass.Keep].
func (m *Multiclass) KeepSolutions() { m.Keep = true }

// AskCurvature asks for second derivatives, see [Multiclass.Curvature].
func (m *Multiclass) AskCurvature() { m.Curvature = true }
