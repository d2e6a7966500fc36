package bilevel

import (
	"context"
	"math"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Multiclass is the bilevel problem of one-versus-rest logistic regression with
// one λ per class: q inner problems for each fold, coupled by the cross-entropy
// of their scores on the held-out rows (Bertrand et al., section 4.2). It
// implements [search.Objective] and is not safe for concurrent use.
//
// All classes of a fold share its view. Solvers belong to workers, not to
// classes: a class keeps the non-zero coefficients of its last solution, from
// which the next starts, so memory grows with the supports and not with q·n.
type Multiclass struct {
	// Curvature asks for the curvature with gradients, at q·n numbers in memory and
	// q²·n operations; see gaussnewton.go.
	Curvature bool
	// Keep makes classes remember the solutions of every evaluation, sparse, for
	// [search.Request].From.
	Keep bool

	spec    Spec
	classes []float64 // labels, ascending
	label   []int32   // n: class of each row
	folds   []*multiclassFold
	null    search.Evaluation
}

type multiclassFold struct {
	view    *sparse.View
	rows    []int32
	test    []int32     // rows that neither train nor validate
	class   []int32     // of each validation row
	weights []float64   // of each validation row; nil: all 1
	scores  [][]float64 // q × n_val: scores, then probabilities
	tested  [][]float64 // q × rows for testing: scores
	motion  [][]float64 // q × n_val: how scores move with their λ
	own     []float64   // q; see weigh
	lanes   []classLane
	led     bool // see lead
	workers chan *worker
}

// NewMulticlass prepares the problem: O(n + p) memory for each fold and worker.
// Labels are any finite numbers; the classes are their distinct values, in
// ascending order. Datafit and Criterion of the spec are not used; Penalty takes
// the one λ of a class. Every class must have rows to train on and rows to tell
// it from in every fold.
func NewMulticlass(k *kernels.Set, x sparse.Matrix, y []float64, spec Spec) (*Multiclass, error) {
	n, _ := x.Dims()
	if len(y) != n {
		return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(y), n)
	}
	if err := spec.Check(n); err != nil {
		return nil, err
	}
	if spec.Threads <= 0 {
		spec.Threads = runtime.GOMAXPROCS(0)
	}
	m := &Multiclass{spec: spec}
	var err error
	if m.classes, m.label, err = Classes(y); err != nil {
		return nil, err
	}
	for fold := range spec.Folds.Count() {
		f, err := m.newFold(k, x, fold)
		if err != nil {
			return nil, err
		}
		m.folds = append(m.folds, f)
	}
	m.judgeNull()
	return m, nil
}

// Classes returns the distinct labels, ascending, and the class of every row:
// y[i] = classes[label[i]]. The error is an [outcome.Error]: NonFinite with the
// row, or SingleClass.
func Classes(y []float64) (classes []float64, label []int32, err error) {
	for i, t := range y {
		if math.IsNaN(t) || math.IsInf(t, 0) {
			return nil, nil, &outcome.Error{Kind: outcome.NonFinite, HasRow: true, Row: i, Message: "the label is not finite"}
		}
	}
	classes = slices.Compact(slices.Sorted(slices.Values(y)))
	if len(classes) < 2 {
		return nil, nil, outcome.Errorf(outcome.SingleClass, "all rows are of one class")
	}
	label = make([]int32, len(y))
	for i, t := range y {
		at, _ := slices.BinarySearch(classes, t)
		label[i] = int32(at)
	}
	return classes, label, nil
}

func (m *Multiclass) newFold(k *kernels.Set, x sparse.Matrix, fold int) (*multiclassFold, error) {
	weights, rows := m.spec.Split(fold)
	view, err := m.spec.view(k, x, weights)
	if err != nil {
		return nil, err
	}
	f := &multiclassFold{view: view, rows: rows, test: m.spec.test(), lanes: make([]classLane, len(m.classes))}
	for _, i := range rows {
		f.class = append(f.class, m.label[i])
		if m.spec.Weights != nil {
			f.weights = append(f.weights, m.spec.Weights[i])
		}
	}
	seen := make([]bool, len(m.classes))
	for i, w := range weights {
		seen[m.label[i]] = seen[m.label[i]] || w > 0
	}
	if missing := slices.Index(seen, false); missing >= 0 {
		rows := 0
		for _, class := range m.label {
			if int(class) == missing {
				rows++
			}
		}
		if rows == 1 {
			return nil, outcome.Errorf(outcome.SingleClass, "class %g has a single row, and fold %d holds it out", m.classes[missing], fold)
		}
		return nil, outcome.Errorf(outcome.SingleClass, "class %g has no row to train on in fold %d", m.classes[missing], fold)
	}
	f.scores, f.tested = make([][]float64, len(m.classes)), make([][]float64, len(m.classes))
	for c := range f.scores {
		f.scores[c], f.tested[c] = make([]float64, len(rows)), make([]float64, len(f.test))
	}
	n, _ := x.Dims()
	atOnce := min(m.spec.Threads, len(m.classes))
	f.workers = make(chan *worker, atOnce)
	for range atOnce {
		f.workers <- &worker{y: make([]float64, n), slope: make([]float64, n), curvature: make([]float64, n)}
	}
	return f, nil
}

// judgeNull evaluates the null model.
func (m *Multiclass) judgeNull() {
	values := make([]float64, 0, len(m.folds))
	for _, f := range m.folds {
		value, spread := f.null(len(m.classes), m.label, m.spec)
		values = append(values, value)
		m.null.Value += value / float64(len(m.folds))
		m.null.StandardError = spread
	}
	if len(values) > 1 {
		m.null.StandardError = standardError(values, m.null.Value)
	}
	m.null.TrainLoss, m.null.Trusted, m.null.Status = 1, true, outcome.Converged
}

// null returns the cross-entropy of predicting the training rows' shares of the
// classes, or equal shares without an intercept, and its standard error.
func (f *multiclassFold) null(q int, label []int32, spec Spec) (value, spread float64) {
	share := make([]float64, q)
	for k := range share {
		share[k] = 1 / float64(q)
	}
	if spec.Intercept {
		clear(share)
		for i, w := range f.view.Weights() {
			share[label[i]] += w / f.view.Total()
		}
	}
	return f.loss(func(_ int, class int32) float64 { return share[class] })
}

// loss returns the weighted mean over the validation rows of −ln of the probability of
// their class, and its standard error over the rows.
func (f *multiclassFold) loss(probability func(row int, class int32) float64) (value, spread float64) {
	total := f.criterion().Total(len(f.class))
	losses := make([]float64, len(f.class))
	for i, c := range f.class {
		losses[i] = -kernels.Log(probability(i, c))
		value = math.FMA(f.weight(i)/total, losses[i], value)
	}
	for i, l := range losses {
		deviation := f.weight(i) / total * (l - value)
		spread = math.FMA(deviation, deviation, spread)
	}
	return value, math.Sqrt(spread)
}

// weight is that of a validation row.
func (f *multiclassFold) weight(i int) float64 {
	if f.weights == nil {
		return 1
	}
	return f.weights[i]
}

func (f *multiclassFold) criterion() criterion.CrossEntropy {
	return criterion.CrossEntropy{Weights: f.weights}
}

// Classes returns the labels, ascending: hyperparameter k belongs to Classes()[k].
func (m *Multiclass) Classes() []float64 { return m.classes }

// NullValue returns the criterion of predicting the shares of the classes.
func (m *Multiclass) NullValue() float64 { return m.null.Value }

// Null returns the evaluation of predicting the shares of the classes; it has no λ.
func (m *Multiclass) Null() search.Evaluation { return m.null }

// Eval implements [search.Objective].
func (m *Multiclass) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	return evalOnSide(ctx, m, r)
}

// penalties makes those of the classes.
func (m *Multiclass) penalties(logLambda []float64) (all []model.Penalty, err error) {
	all = make([]model.Penalty, len(m.classes))
	for k, l := range logLambda {
		if all[k], err = m.spec.Penalty([]float64{l}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// everyLane calls f for every class of every fold.
func (m *Multiclass) everyLane(f func(*classLane)) {
	for _, fold := range m.folds {
		for k := range fold.lanes {
			f(&fold.lanes[k])
		}
	}
}

// Evaluate solves every class of every fold at r.LogLambda, one entry per class,
// and returns the mean over folds of the cross-entropy and its hypergradient.
func (m *Multiclass) Evaluate(ctx context.Context, r search.Request) (Report, error) {
	start := time.Now()
	if len(r.LogLambda) != len(m.classes) {
		return Report{}, outcome.At(outcome.Shape, "log-lambda", "%d classes, got %d hyperparameters", len(m.classes), len(r.LogLambda))
	}
	penalties, err := m.penalties(r.LogLambda)
	if err != nil {
		return Report{}, err
	}
	options := m.spec.Solver
	if r.Tol != 0 {
		options.Tol = r.Tol
	}
	options = sharpen(options)
	if r.From != nil {
		m.everyLane(func(l *classLane) { l.recall(r.From) })
	}
	if err := m.lead(ctx, r.LogLambda, penalties, options); err != nil {
		return Report{}, err
	}
	tell := m.spec.tally(len(m.folds) * len(m.classes))
	if err := m.each(ctx, func(ctx context.Context, f *multiclassFold, w *worker, k int) error {
		defer tell(r.LogLambda)
		return m.solve(ctx, f, w, k, r.LogLambda[k], penalties[k], options)
	}); err != nil {
		return Report{}, err
	}
	report := newReport(r, len(m.classes))
	for _, f := range m.folds {
		value := f.criterion().Eval(f.class, f.scores)
		report.FoldValues = append(report.FoldValues, value)
		report.Value += value / float64(len(m.folds))
		if len(f.test) > 0 {
			report.addTest(m.lossOn(f.test, f.tested), 1/float64(len(m.folds)))
		}
	}
	if !r.ValueOnly {
		if m.Curvature {
			m.prepareCurvature()
		}
		if err := m.each(ctx, func(ctx context.Context, f *multiclassFold, w *worker, k int) error {
			return m.differentiate(ctx, f, w, k, r.LogLambda[k], penalties[k], options)
		}); err != nil {
			return Report{}, err
		}
	}
	m.collect(&report)
	if len(m.folds) > 1 {
		report.StandardError = standardError(report.FoldValues, report.Value)
	} else { // scores are probabilities now
		f := m.folds[0]
		_, report.StandardError = f.loss(func(row int, class int32) float64 { return f.scores[class][row] })
	}
	if m.Keep {
		m.everyLane(func(l *classLane) { l.keep(r.LogLambda) })
	}
	if m.Curvature && !r.ValueOnly {
		report.Curvature = m.curvature()
	}
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// lossOn returns the cross-entropy of scores on rows, which turn into probabilities.
func (m *Multiclass) lossOn(rows []int32, scores [][]float64) float64 {
	class := make([]int32, len(rows))
	var of criterion.CrossEntropy
	for at, i := range rows {
		class[at] = m.label[i]
		if m.spec.Weights != nil {
			of.Weights = append(of.Weights, m.spec.Weights[i])
		}
	}
	return of.Eval(class, scores)
}

// each runs a task for every class of every fold, workers in parallel.
func (m *Multiclass) each(ctx context.Context, task func(context.Context, *multiclassFold, *worker, int) error) error {
	group, inner := errgroup.WithContext(ctx)
	group.SetLimit(m.spec.Threads)
	for _, f := range m.folds {
		for k := range m.classes {
			group.Go(func() error {
				w := <-f.workers
				defer func() { f.workers <- w }()
				return task(inner, f, w, k)
			})
		}
	}
	return group.Wait()
}

// rare is the share of the rows up to which a class is one of many: its problem is
// mostly that of telling the others' rows from nothing, which all such classes share.
const rare = 0.05

// collect folds the lanes' results together, in order. A class's own entry of the
// gradient is the mean over folds; the bound is that of its worst entry.
func (m *Multiclass) collect(report *Report) {
	share := 1 / float64(len(m.folds))
	for k := range m.classes {
		var bound float64
		for _, f := range m.folds {
			// Scores of the other classes that are off move the slope of this one, and
			// P_kP_l ≤ √(P_k(1 − P_k)P_l(1 − P_l)).
			var wander float64
			for l := range f.lanes {
				if l != k {
					wander += f.lanes[l].wander
				}
			}
			bound += float64(share * f.lanes[k].steep * wander)
			lane := &f.lanes[k]
			report.addSolution(lane.solved)
			if report.Gradient == nil {
				continue
			}
			report.Gradient[k] = math.FMA(share, lane.gradient, report.Gradient[k])
			report.addGradient(lane.derived, 0)
			bound += float64(share * lane.derived.bound)
		}
		report.ErrorBound = max(report.ErrorBound, bound)
	}
	report.finish(len(m.folds) * len(m.classes))
}

// KeepSolutions makes classes remember the solutions of every evaluation, see
// [Multiclass.Keep].
func (m *Multiclass) KeepSolutions() { m.Keep = true }

// AskCurvature asks for second derivatives, see [Multiclass.Curvature].
func (m *Multiclass) AskCurvature() { m.Curvature = true }
