package pare

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// resumeState is the state that a selection keeps for a later selection that continues from it, on the same
// rows and new ones.
type resumeState struct {
	criterion string              // the criterion, see [Validation.criterionName]
	folds     foldOptions         // how the folds were asked for
	foldOf    bilevel.Folds       // the fold of each row; for a hold-out, before its training folds are joined into one
	checksum  uint64              // a checksum of the rows, see the function of that name
	solutions []*bilevel.Solution // the solutions of the lanes at the best point; nil if they keep none
}

// foldOptions has the options by which rows are dealt into folds.
type foldOptions struct {
	criterion               Criterion
	folds                   int
	split                   Split
	seed                    uint64
	inOrder, grouped, given bool
}

// foldOptions returns the options by which v deals rows into folds; the zero value for a criterion on all rows.
func (v Validation) foldOptions() foldOptions {
	if v.onAllRows() {
		return foldOptions{}
	}
	return foldOptions{cmp.Or(v.Criterion, CV), cmp.Or(v.Folds, defaultFolds), cmp.Or(v.Split, ByRow), v.Seed, v.InOrder, v.Groups != nil, v.FoldIDs != nil}
}

// keepFolds keeps the rows of an earlier selection in their folds and deals the new rows to these folds,
// if the earlier rows come first and the folds are asked for in the same way. It then sets FoldIDs of
// v and returns the folds; for a hold-out, before its training folds are joined into one. It returns
// nil if rows do not stay.
func (e *engine) keepFolds(from *Selection, v *Validation) bilevel.Folds {
	if from == nil || from.resume.foldOf == nil {
		return nil
	}
	was, n := &from.resume, len(e.statement.Y)
	earlier := len(was.foldOf)
	if v.foldOptions() != was.folds || n < earlier || checksum(e.statement.Kernels, e.statement.X, e.statement.Y, earlier) != was.checksum {
		return nil
	}
	how := bilevel.Newcomers{Shuffle: !v.InOrder, Seed: v.Seed, Groups: v.Groups}
	switch {
	case was.folds.given:
		if len(v.FoldIDs) == n && slices.Equal(v.FoldIDs[:earlier], was.foldOf) {
			return v.FoldIDs
		}
		return nil
	case was.folds.grouped && (len(v.Groups) != n || splitsGroups(e.statement.Kernels, v.Groups, was.foldOf)):
		return nil
	case was.folds.split == Stratified:
		how.Alike = e.statement.Y
	case was.folds.split != ByRow:
		return nil
	}
	dealt := was.foldOf.Extended(e.statement.Kernels, n, how)
	v.FoldIDs, v.Folds, v.Split, v.InOrder, v.Groups = dealt, 0, "", false, nil
	if v.Criterion == HoldOut {
		v.FoldIDs = dealt.Last(e.statement.Kernels)
	}
	return dealt
}

// criterionName names the criterion and, if it is set, its loss.
func (v Validation) criterionName() string {
	name := string(cmp.Or(v.Criterion, CV))
	if v.Loss != nil {
		name += " " + v.Loss.Name()
	}
	return name
}

// comparable reports whether the evaluations of an earlier selection are comparable with those of this task: by the same
// criterion of about the same scale, and at strengths of about the same scale.
func (t *task) comparable(from *Selection, v Validation) bool {
	if was := from.resume.criterion; was != "" && was != v.criterionName() {
		return false
	}
	scale := t.problem.NullValue() / from.NullValue
	return scale > 0.5 && scale < 2 && (t.engine.family.form.Common || !scalesDiffer(from.LogLambdaMax, t.engine.Max()))
}

// scalesDiffer reports whether some αmax in a is more than twice, or less than half, of that in b. The same λ is then
// another penalty; and far too small or too large a λ cannot be told from a minimum, as the criterion is flat at both.
func scalesDiffer(a, b []float64) bool {
	for k := range a {
		if math.Abs(a[k]-b[k]) > math.Ln2 {
			return true
		}
	}
	return false
}

// splitsGroups reports whether rows of one group are in several folds.
func splitsGroups(k *kernels.Set, groups []int, folds bilevel.Folds) bool {
	of, pace := map[int]int{}, k.Pace()
	for i, fold := range folds {
		pace.Did(1)
		if other, ok := of[groups[i]]; ok && other != fold {
			return true
		}
		of[groups[i]] = fold
	}
	return false
}

// saveState stores in a selection the state that a later selection needs to continue from it. asked is the
// Validation as the caller gave it; dealt has the folds from keepFolds, or nil if the rows were dealt anew.
func (t *task) saveState(ctx context.Context, s *Selection, asked Validation, dealt bilevel.Folds, best search.Evaluation) error {
	if s.resume.criterion = asked.criterionName(); asked.onAllRows() {
		return nil
	}
	s.Folds = t.spec.Folds
	how := asked.foldOptions()
	if dealt == nil {
		dealt = t.spec.Folds
		if asked.Criterion == HoldOut && asked.FoldIDs == nil {
			asked.Criterion = CV
			dealt, _ = asked.folds(t.engine.statement.Kernels, t.engine.statement.Y) // the folds from which the hold-out was made
		}
	}
	s.resume.folds, s.resume.foldOf, s.resume.checksum = how, dealt, checksum(t.engine.statement.Kernels, t.engine.statement.X, t.engine.statement.Y, len(dealt))
	if from, ok := t.problem.(solutionKeeper); ok && t.columns == nil {
		var err error
		s.resume.solutions, err = from.Solutions(ctx, best.LogLambda)
		return err
	}
	return nil
}

// solutionKeeper is a problem whose lanes keep their solutions, and can begin at given ones.
type solutionKeeper interface {
	KeepSolutions()
	Solutions(ctx context.Context, logLambda []float64) ([]*bilevel.Solution, error)
	Begin(at []*bilevel.Solution)
	BeginEach(at []*bilevel.Solution)
}

// resume makes the first evaluation begin at an earlier selection: each fold at its own solution if
// rows have stayed in their folds, else all folds at the refit.
func (t *task) resume(from *Selection, stay bool) {
	b, ok := t.problem.(solutionKeeper)
	switch {
	case !ok:
	case stay && from.resume.solutions != nil && t.columns == nil:
		b.BeginEach(from.resume.solutions)
	default:
		b.Begin(from.coefficients())
	}
	if ok {
		b.KeepSolutions()
	}
}

// earlierRefitBetter reports whether the refit of an earlier selection is a better start for this refit than the mean of
// the solutions of the K folds. That mean leaves 1/K of the new information of every row in the residual; the
// earlier refit leaves all of it in the rows that it has not seen. New rows weigh less if columns are dense, since
// each row is then in all columns.
func (t *task) earlierRefitBetter(from *Selection, fresh float64) bool {
	folds := float64(t.spec.Folds.Count(t.engine.statement.Kernels))
	most := 1 / (folds * folds)
	if _, dense := t.engine.statement.X.(*sparse.Dense); dense {
		most = 1 / (2 * folds)
	}
	return fresh < most && t.columns == nil && !t.engine.config.Standardize && from.Final.PerClass == nil && len(from.LogLambda) == 1
}

// refitReach is the largest distance in λ to the refit of an earlier selection at which a refit starts from it.
const refitReach = 0.5

// earlierRefit returns the coefficients of the earlier refit if the refit at logLambda is to start from them, else nil.
func (t *task) earlierRefit(logLambda []float64) (columns []int32, coef []float64) {
	if t.earlier == nil || math.Abs(t.earlier.LogLambda[0]-logLambda[0]) > refitReach {
		return nil, nil
	}
	return t.earlier.Final.Support, t.earlier.Final.Coef
}

const (
	checksumColumns = 64 // the maximum number of columns that checksum reads
	checksumEntries = 2  // the number of entries per row after which checksum reads no further column
)

// checksum returns a checksum of the first rows of data, made from their targets and some columns.
func checksum(k *kernels.Set, x sparse.Matrix, y []float64, rows int) (sum uint64) {
	take := func(word uint64) {
		sum = (sum ^ word) * 0x9e3779b97f4a7c15
		sum ^= sum >> 32
	}
	pace := k.Pace()
	for _, t := range y[:rows] {
		pace.Did(1)
		take(math.Float64bits(t))
	}
	_, p := x.Dims()
	columns, entries := min(p, checksumColumns), 0
	for c := 0; c < columns && entries < checksumEntries*rows; c++ {
		index, values := x.Column(c * p / columns)
		for at, value := range values {
			pace.Did(1)
			i := at
			if index != nil {
				i = int(index[at])
			}
			if i >= rows {
				break
			}
			if value != 0 { // the same checksum for dense and sparse matrices
				entries++
				take(uint64(i))
				take(math.Float64bits(value))
			}
		}
	}
	return sum
}

// checkFrom refuses an earlier selection that this selection cannot continue from.
func (e *engine) checkFrom(o SelectOptions) error {
	s := o.From
	refused := func(kind outcome.Kind, format string, args ...any) error {
		return outcome.At(kind, "from", format, args...)
	}
	switch {
	case s == nil:
		return nil
	case e.family.samples:
		return refused(outcome.Usage, "%s cannot start from an earlier selection, because its dual variables belong to samples; leave From out", e.config.Model)
	case o.Search != Auto:
		return refused(outcome.Usage, "has no effect with --search %s; use it with %s", o.Search, Auto)
	case s.Final == nil || s.LogLambda == nil:
		return refused(outcome.Usage, "the earlier selection ended before its refit, so there is no model to start from")
	case s.Final.Model != e.config.Model || s.Final.Loss != e.family.lossName():
		return refused(outcome.Usage, "the earlier selection used %s with the loss %s, but this one uses %s with %s", s.Final.Model, s.Final.Loss, e.config.Model, e.family.lossName())
	}
	if _, p := e.statement.X.Dims(); s.Final.Columns != p || len(s.LogLambda) != e.statement.Count {
		return refused(outcome.Shape, "the earlier selection had %d columns and %d hyperparameters, but this one has %d and %d", s.Final.Columns, len(s.LogLambda), p, e.statement.Count)
	}
	if e.family.classes {
		if labels, _, err := bilevel.Classes(e.statement.Kernels, e.statement.Y); err != nil || !slices.Equal(labels, s.Final.Classes) {
			return refused(outcome.Usage, "the earlier selection had the classes %g, but the data have %g; leave From out", s.Final.Classes, labels)
		}
	}
	if !s.hasLength(e.statement.Count) {
		return refused(outcome.BadParameter, "every point of the earlier selection must have %d hyperparameters, as its choice has", e.statement.Count)
	}
	if len(s.Final.PerClass) != len(s.Final.Classes) {
		return refused(outcome.BadParameter, "the model of the earlier selection has %d predictors for %d classes", len(s.Final.PerClass), len(s.Final.Classes))
	}
	for _, f := range s.predictors() {
		if f == nil || !f.consistent(s.Final.Columns) {
			return refused(outcome.BadParameter, "the model of the earlier selection must have ascending columns, each with a finite coefficient")
		}
	}
	return nil
}

// hasLength reports whether all points of a selection, which may come from a file, have count hyperparameters.
func (s *Selection) hasLength(count int) bool {
	other := func(e search.Evaluation) bool { return len(e.LogLambda) != count }
	for _, e := range []*search.Evaluation{s.Common, s.Least} {
		if e != nil && other(*e) {
			return false
		}
	}
	return len(s.LogLambdaMax) == count && !slices.ContainsFunc(s.Evaluations, other)
}

// consistent reports whether the support of a model, which may come from a file, lists ascending columns below
// the given number, with a finite coefficient each.
func (f *Fitted) consistent(columns int) bool {
	return len(f.Coef) == len(f.Support) && isAscending(f.Support, 0, int32(columns-1)) && !slices.ContainsFunc(f.Coef, notFinite)
}

// predictors returns the refit, or the refits of the classes if each class has a predictor.
func (s *Selection) predictors() []*Fitted {
	if len(s.Final.PerClass) > 0 {
		return s.Final.PerClass
	}
	return []*Fitted{s.Final}
}

// coefficients returns the coefficients of the refit.
func (s *Selection) coefficients() (all []*bilevel.Solution) {
	for _, f := range s.predictors() {
		all = append(all, &bilevel.Solution{Support: f.Support, Coef: f.Coef})
	}
	return all
}

// earlierSearch returns the search of an earlier selection. If one share of αmax serves all hyperparameters
// (common), it moves every λ to the same share of the current αmax, whose logarithms are top.
func (s *Selection) earlierSearch(common bool, top []float64) *search.Result {
	best := search.Evaluation{LogLambda: s.LogLambda, Value: s.Value, Gradient: s.Gradient, StandardError: s.StandardError, Trusted: true}
	switch {
	case s.Common != nil:
		best = *s.Common
	case s.Least != nil:
		best = *s.Least
	}
	r := &search.Result{Best: best, Evaluations: slices.Clone(s.Evaluations)}
	if !common {
		return r
	}
	move := func(e *search.Evaluation) {
		own := slices.Clone(e.LogLambda)
		for i := range own {
			own[i] += top[i] - s.LogLambdaMax[i]
		}
		e.LogLambda = own
	}
	move(&r.Best)
	for i := range r.Evaluations {
		move(&r.Evaluations[i])
	}
	return r
}
