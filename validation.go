package pare

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Criterion names what judges a λ.
type Criterion string

// The criteria. ALO and GCV are for any loss with a penalty on columns, SURE, AIC and BIC for
// models of the squared loss, on all rows:
// they weigh the fit against its degrees of freedom, taken by a finite difference
// along a random direction, so that they have a gradient (section 4.1 of the paper).
const (
	CV      Criterion = "cv"      // the mean over folds of the loss on held-out rows
	HoldOut Criterion = "holdout" // the loss on the last fold alone, or on fold 0 of FoldIDs
	SURE    Criterion = "sure"    // Stein's unbiased estimate of the risk
	AIC     Criterion = "aic"
	BIC     Criterion = "bic"
	ALO     Criterion = "alo" // approximate leave-one-out, see [LeaveOneOut]; slopes are differences
	GCV     Criterion = "gcv" // generalised cross-validation, likewise of one fit on all rows
)

// Criteria lists the criteria there are.
func Criteria() []Criterion { return []Criterion{CV, HoldOut, SURE, AIC, BIC, ALO, GCV} }

// Split says how rows are dealt into folds.
type Split string

// The splits. A row's turn is its place in the file or, shuffled, in a permutation.
const (
	ByRow      Split = "rows"       // row of turn t into fold t mod K
	Stratified Split = "stratified" // the same on rows sorted by target: every fold has its share of each class
	Blocks     Split = "blocks"     // K stretches of neighbouring rows
	Forward    Split = "forward"    // rows in the order of time: K + 1 stretches, each but the first predicted from those before it
)

// Splits lists the splits there are.
func Splits() []Split { return []Split{ByRow, Stratified, Blocks, Forward} }

// Validation says what judges a λ, and which rows. The zero value is 5-fold
// cross-validation on rows in an order drawn by Seed. The loss on held-out rows is the mean
// squared error, for logreg the mean logistic loss, for multiclass the mean
// cross-entropy of the classes' scores, for svm the mean smoothed hinge loss. SURE,
// AIC and BIC, which judge on all rows, know Seed and Sigma alone.
type Validation struct {
	Criterion Criterion // "" means CV
	// Loss, where set, judges predictions on held-out rows instead of the model's own
	// loss, by CV and HoldOut; [criterion.Func] makes one of a function, which knows no
	// weights of rows. Multiclass has none. It is called by several goroutines at once.
	Loss  criterion.Criterion
	Folds int   // 0 means 5, or what FoldIDs says
	Split Split // "" means ByRow
	// InOrder deals the rows into folds in the order of the file. Otherwise they are permuted
	// before, by Seed, but for Blocks and Forward, which keep their order.
	InOrder bool
	Seed    uint64 // of the permutation, and of all else that is drawn
	// Groups gives every row a group, by any number: the rows of a group stay in one
	// fold. Split must be ByRow.
	Groups []int
	// FoldIDs gives every row's fold instead: ≥ 0 validates that fold, −1 always
	// trains, −2 is kept for [Selection].Test. With Split Forward the folds of larger
	// ids do not train.
	FoldIDs []int
	// Sigma is the noise level for SURE, AIC and BIC; 0 means the residual standard
	// deviation of a Lasso chosen by cross-validation (Reid, Tibshirani and Friedman,
	// Statistica Sinica 26, 2016).
	Sigma float64
}

// folds resolves a validation for a target.
func (v Validation) folds(y []float64) (bilevel.Folds, error) {
	if v.FoldIDs != nil {
		return v.ownFolds()
	}
	if v.Groups != nil && len(v.Groups) != len(y) {
		return nil, outcome.At(outcome.Shape, "groups", "%d groups for %d rows; there must be one a row", len(v.Groups), len(y))
	}
	k := cmp.Or(v.Folds, 5)
	var folds bilevel.Folds
	var err error
	switch s := v.Split; {
	case v.Groups != nil && s != "" && s != ByRow:
		return nil, outcome.At(outcome.Usage, "groups", "go with split %s, not %s", ByRow, s)
	case v.Groups != nil:
		folds, err = bilevel.Grouped(v.Groups, k, !v.InOrder, v.Seed)
	case s == "", s == ByRow:
		folds, err = bilevel.KFold(len(y), k, !v.InOrder, v.Seed)
	case s == Stratified:
		folds, err = bilevel.Stratified(y, k, !v.InOrder, v.Seed)
	case s == Blocks:
		folds, err = bilevel.Blocks(len(y), k)
	case s == Forward:
		folds, err = bilevel.Chain(len(y), k)
	default:
		return nil, outcome.At(outcome.Usage, "split", "no split %q; there are %v", s, Splits())
	}
	if err == nil && v.Criterion == HoldOut {
		folds = folds.Last()
	}
	return folds, err
}

// ownFolds checks the folds that the caller has made.
func (v Validation) ownFolds() (bilevel.Folds, error) {
	switch {
	case v.Groups != nil:
		return nil, outcome.At(outcome.Usage, "groups", "fold ids say already which rows go together")
	case v.Folds != 0:
		return nil, outcome.At(outcome.Usage, "folds", "fold ids say already how many folds there are")
	case v.Split != "" && v.Split != ByRow && v.Split != Forward:
		return nil, outcome.At(outcome.Usage, "split", "fold ids go with %s and %s, not %s", ByRow, Forward, v.Split)
	}
	if v.Criterion == HoldOut {
		if i := slices.IndexFunc(v.FoldIDs, func(id int) bool { return id > 0 }); i >= 0 {
			return nil, &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Flag: "fold-ids", Message: "for a hold-out 0 validates and −1 trains"}
		}
	}
	return bilevel.Folds(v.FoldIDs), nil
}

// choice states what judges λ, and on which rows.
func (e *engine) choice(ctx context.Context, v Validation) (bilevel.Spec, error) {
	switch v.Criterion {
	case "", CV, HoldOut:
		return e.held(v)
	case SURE, AIC, BIC:
		return e.risk(ctx, v)
	case ALO, GCV:
		return e.byLeftOut(v)
	default:
		return bilevel.Spec{}, outcome.At(outcome.Usage, "criterion", "no criterion %q; there are %v", v.Criterion, Criteria())
	}
}

// held states what is common to all choices by held-out rows.
func (e *engine) held(v Validation) (bilevel.Spec, error) {
	spec := e.spec()
	n, _ := e.of.X.Dims()
	switch {
	case len(e.of.Y) != n:
		return spec, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(e.of.Y), n)
	case v.Sigma != 0:
		return spec, outcome.At(outcome.Usage, "sigma", "the noise level is for %s, %s and %s", SURE, AIC, BIC)
	case v.Loss != nil && e.family.classes:
		return spec, outcome.At(outcome.Usage, "validation-loss", "%s is judged by the cross-entropy of all its scores", e.config.Model)
	}
	err := criterion.Check(v.Loss, e.of.Y, e.config.Weights)
	if err != nil {
		return spec, err
	}
	spec.Folds, err = v.folds(e.of.Y)
	if err != nil {
		return spec, err
	}
	spec.Criterion, spec.Forward = v.Loss, v.Split == Forward
	if err := spec.Check(n); err != nil {
		if e, ok := errors.AsType[*outcome.Error](err); ok && v.FoldIDs != nil {
			e.Flag = "fold-ids"
		}
		return spec, err
	}
	err = e.afford(e.atOnce() + e.solvers(spec.Folds))
	spec.Solver = e.solver()
	return spec, err
}

// Validate evaluates the validation criterion, without its gradient, along a
// sequence of λ's, every fold from its solution before; decreasing order is the
// fast one. It yields one evaluation per λ and stops after an error, which is
// that of ctx where ctx ended. See [Fit] for the λ's and the other errors.
func Validate(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, v Validation, c Config) iter.Seq2[search.Evaluation, error] {
	c.Method, c.Certify = Implicit, false // no gradients here
	return func(yield func(search.Evaluation, error) bool) {
		e, leave, err := admitted(ctx, x, y, c, &v)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		defer leave()
		spec, err := e.choice(ctx, v)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		problem, err := e.outer(spec)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		var path [][]float64
		var wrong error // of the λ after them
		for _, logLambda := range grid {
			if wrong = e.check(logLambda); wrong != nil {
				break
			}
			path = append(path, slices.Clone(logLambda))
		}
		for report, err := range along(ctx, problem, path) {
			if !yield(report.Evaluation, err) || err != nil {
				return
			}
		}
		if wrong != nil {
			yield(search.Evaluation{}, wrong)
		}
	}
}

// along evaluates a problem, without gradients, at one λ after the other.
func along(ctx context.Context, problem inner.Outer, path [][]float64) iter.Seq2[bilevel.Report, error] {
	if p, ok := problem.(interface {
		Path(context.Context, [][]float64) iter.Seq2[bilevel.Report, error]
	}); ok {
		return p.Path(ctx, path)
	}
	return func(yield func(bilevel.Report, error) bool) {
		for _, logLambda := range path {
			report, err := problem.Evaluate(ctx, search.Request{LogLambda: logLambda, ValueOnly: true})
			if !yield(report, err) || err != nil {
				return
			}
		}
	}
}
