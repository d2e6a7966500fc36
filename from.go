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

// left is what a selection leaves to one that goes on from it, on the same rows and more.
type left struct {
	judge     string // see [Validation.judge]
	asked     dealing
	dealt     bilevel.Folds       // before those that a hold-out does not hold out are joined
	rows      uint64              // see mark
	solutions []*bilevel.Solution // of the lanes at the least point; nil where they keep none
}

// dealing is how rows are asked to be dealt into folds.
type dealing struct {
	criterion               Criterion
	folds                   int
	split                   Split
	seed                    uint64
	inOrder, grouped, given bool
}

// dealing is that of a validation, "" for one on all rows.
func (v Validation) dealing() dealing {
	if v.onAllRows() {
		return dealing{}
	}
	return dealing{cmp.Or(v.Criterion, CV), cmp.Or(v.Folds, defaultFolds), cmp.Or(v.Split, ByRow), v.Seed, v.InOrder, v.Groups != nil, v.FoldIDs != nil}
}

// stay keeps the rows of the earlier selection in their folds, and deals those that have come
// after them to these, where the earlier rows come first and folds are asked for as they were: v
// then has fold ids. It returns the folds, before those that a hold-out does not hold out are
// joined, nil where rows do not stay.
func (e *engine) stay(from *Selection, v *Validation) bilevel.Folds {
	if from == nil || from.left.dealt == nil {
		return nil
	}
	was, n := &from.left, len(e.of.Y)
	earlier := len(was.dealt)
	if v.dealing() != was.asked || n < earlier || mark(e.of.Kernels, e.of.X, e.of.Y, earlier) != was.rows {
		return nil
	}
	how := bilevel.Newcomers{Shuffle: !v.InOrder, Seed: v.Seed, Groups: v.Groups}
	switch {
	case was.asked.given:
		if len(v.FoldIDs) == n && slices.Equal(v.FoldIDs[:earlier], was.dealt) {
			return v.FoldIDs
		}
		return nil
	case was.asked.grouped && (len(v.Groups) != n || apart(e.of.Kernels, v.Groups, was.dealt)):
		return nil
	case was.asked.split == Stratified:
		how.Alike = e.of.Y
	case was.asked.split != ByRow:
		return nil
	}
	dealt := was.dealt.Extended(e.of.Kernels, n, how)
	v.FoldIDs, v.Folds, v.Split, v.InOrder, v.Groups = dealt, 0, "", false, nil
	if v.Criterion == HoldOut {
		v.FoldIDs = dealt.Last(e.of.Kernels)
	}
	return dealt
}

// judge names what λ is judged by.
func (v Validation) judge() string {
	name := string(cmp.Or(v.Criterion, CV))
	if v.Loss != nil {
		name += " " + v.Loss.Name()
	}
	return name
}

// alike reports whether what an earlier selection has seen says how far to look: by the same criterion of about the same
// scale, at strengths of about the same scale.
func (t *task) alike(from *Selection, v Validation) bool {
	if was := from.left.judge; was != "" && was != v.judge() {
		return false
	}
	scale := t.problem.NullValue() / from.NullValue
	return scale > 0.5 && scale < 2 && (t.engine.family.form.Common || !apartInScale(from.LogLambdaMax, t.engine.Max()))
}

// apartInScale reports whether some αmax is more than twice another, or less than half of it: λ then means something
// else, and where it is far too small or too large a criterion is flat, as it is at its minimum.
func apartInScale(a, b []float64) bool {
	for k := range a {
		if math.Abs(a[k]-b[k]) > math.Ln2 {
			return true
		}
	}
	return false
}

// apart reports whether rows of one group are in several folds.
func apart(k *kernels.Set, groups []int, folds bilevel.Folds) bool {
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

// leave notes in a selection what one that goes on from it needs. dealt is nil where the folds
// are those of the task.
func (t *task) leave(ctx context.Context, s *Selection, asked Validation, dealt bilevel.Folds, best search.Evaluation) error {
	if s.left.judge = asked.judge(); asked.onAllRows() {
		return nil
	}
	s.Folds = t.spec.Folds
	how := asked.dealing()
	if dealt == nil {
		dealt = t.spec.Folds
		if asked.Criterion == HoldOut && asked.FoldIDs == nil {
			asked.Criterion = CV
			dealt, _ = asked.folds(t.engine.of.Kernels, t.engine.of.Y) // as they have been dealt before
		}
	}
	s.left.asked, s.left.dealt, s.left.rows = how, dealt, mark(t.engine.of.Kernels, t.engine.of.X, t.engine.of.Y, len(dealt))
	if from, ok := t.problem.(lanesKept); ok && t.columns == nil {
		var err error
		s.left.solutions, err = from.Solutions(ctx, best.LogLambda)
		return err
	}
	return nil
}

// lanesKept is a problem whose lanes keep their solutions, and may begin at some.
type lanesKept interface {
	KeepSolutions()
	Solutions(ctx context.Context, logLambda []float64) ([]*bilevel.Solution, error)
	Begin(at []*bilevel.Solution)
	BeginEach(at []*bilevel.Solution)
}

// goOn makes the first evaluation begin at an earlier selection: each fold at its own solution
// where rows have stayed in their folds, else all at the refit.
func (t *task) goOn(from *Selection, stay bool) {
	b, ok := t.problem.(lanesKept)
	switch {
	case !ok:
	case stay && from.left.solutions != nil && t.columns == nil:
		b.BeginEach(from.left.solutions)
	default:
		b.Begin(from.coefficients())
	}
	if ok {
		b.KeepSolutions()
	}
}

// knownBetter reports whether the refit of an earlier selection knows the rows better than the mean of the
// folds' solutions, of K folds: that has a residual of 1/K of what is new in every row, the refit all of it in
// those that it has not seen. That weighs less where columns are dense, in all of which a row is.
func (t *task) knownBetter(from *Selection, fresh float64) bool {
	folds := float64(t.spec.Folds.Count(t.engine.of.Kernels))
	most := 1 / (folds * folds)
	if _, dense := t.engine.of.X.(*sparse.Dense); dense {
		most = 1 / (2 * folds)
	}
	return fresh < most && t.columns == nil && !t.engine.config.Standardize && from.Final.PerClass == nil && len(from.LogLambda) == 1
}

// refitReach is how far in λ the refit of an earlier selection may be.
const refitReach = 0.5

// earlierRefit returns the coefficients that the refit at λ begins at, nil where those of the folds are nearer.
func (t *task) earlierRefit(logLambda []float64) (columns []int32, coef []float64) {
	if t.earlier == nil || math.Abs(t.earlier.LogLambda[0]-logLambda[0]) > refitReach {
		return nil, nil
	}
	return t.earlier.Final.Support, t.earlier.Final.Coef
}

const (
	markedColumns = 64 // at most
	markedEntries = 2  // for each row, at most
)

// mark is a number that the first rows of data have, and hardly others: it is made of their
// targets and of some columns.
func mark(k *kernels.Set, x sparse.Matrix, y []float64, rows int) (sum uint64) {
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
	columns, entries := min(p, markedColumns), 0
	for c := 0; c < columns && entries < markedEntries*rows; c++ {
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
			if value != 0 { // dense or not
				entries++
				take(uint64(i))
				take(math.Float64bits(value))
			}
		}
	}
	return sum
}

// checkFrom refuses an earlier selection that this one cannot go on from.
func (e *engine) checkFrom(o SelectOptions) error {
	s := o.From
	refused := func(kind outcome.Kind, format string, args ...any) error {
		return outcome.At(kind, "from", format, args...)
	}
	switch {
	case s == nil:
		return nil
	case e.family.samples:
		return refused(outcome.Usage, "%s has dual variables of samples, which another sample's are no start for; select without it", e.config.Model)
	case o.Search != Auto:
		return refused(outcome.Usage, "has no effect with --search %s; it goes with %s", o.Search, Auto)
	case s.Final == nil || s.LogLambda == nil:
		return refused(outcome.Usage, "the earlier selection ended before its refit, so there is no model to begin from")
	case s.Final.Model != e.config.Model || s.Final.Loss != e.family.lossName():
		return refused(outcome.Usage, "the earlier selection is of %s with the loss %s, this one of %s with %s", s.Final.Model, s.Final.Loss, e.config.Model, e.family.lossName())
	}
	if _, p := e.of.X.Dims(); s.Final.Columns != p || len(s.LogLambda) != e.of.Count {
		return refused(outcome.Shape, "the earlier selection is of %d columns and %d hyperparameters, the data have %d and %d", s.Final.Columns, len(s.LogLambda), p, e.of.Count)
	}
	if e.family.classes {
		if labels, _, err := bilevel.Classes(e.of.Kernels, e.of.Y); err != nil || !slices.Equal(labels, s.Final.Classes) {
			return refused(outcome.Usage, "the earlier selection has the classes %g, the data %g; select without it", s.Final.Classes, labels)
		}
	}
	if !s.shaped(e.of.Count) {
		return refused(outcome.BadParameter, "every point of the earlier selection needs %d hyperparameters, as its choice has", e.of.Count)
	}
	if len(s.Final.PerClass) != len(s.Final.Classes) {
		return refused(outcome.BadParameter, "the model of the earlier selection has %d predictors for %d classes", len(s.Final.PerClass), len(s.Final.Classes))
	}
	for _, f := range s.predictors() {
		if f == nil || !f.consistent(s.Final.Columns) {
			return refused(outcome.BadParameter, "the model of the earlier selection needs ascending columns with a finite coefficient each")
		}
	}
	return nil
}

// shaped reports whether all points of a selection, which may have been read, have so many hyperparameters.
func (s *Selection) shaped(count int) bool {
	other := func(e search.Evaluation) bool { return len(e.LogLambda) != count }
	for _, e := range []*search.Evaluation{s.Common, s.Least} {
		if e != nil && other(*e) {
			return false
		}
	}
	return len(s.LogLambdaMax) == count && !slices.ContainsFunc(s.Evaluations, other)
}

// consistent reports whether a model, which may have been read, has ascending ones of so many columns and a
// finite coefficient for each.
func (f *Fitted) consistent(columns int) bool {
	return len(f.Coef) == len(f.Support) && ascend(f.Support, 0, int32(columns-1)) && !slices.ContainsFunc(f.Coef, notFinite)
}

// predictors returns the refit, of each class where there are classes.
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

// seen returns the search of an earlier selection. Shares of αmax, where one serves all
// hyperparameters, are those of αmax now.
func (s *Selection) seen(common bool, top []float64) *search.Result {
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
