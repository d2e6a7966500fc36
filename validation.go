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
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Criterion names a criterion that λ is chosen to minimise.
type Criterion string

// The criteria. CV and HoldOut judge predictions of held-out rows; the others judge a fit on all
// rows by its degrees of freedom. ALO and GCV apply to any loss with a penalty on columns. SURE,
// AIC and BIC apply to the squared loss; they estimate the degrees of freedom by a finite
// difference along a random direction, so that they have a gradient (Bertrand et al., JMLR 23,
// 2022, section 4.1).
const (
	CV      Criterion = "cv"      // the mean over the folds of the mean loss on held-out rows
	HoldOut Criterion = "holdout" // the mean loss on the last fold alone, or on fold 0 of FoldIDs
	SURE    Criterion = "sure"    // Stein's unbiased risk estimate
	AIC     Criterion = "aic"     // Akaike's information criterion
	BIC     Criterion = "bic"     // the Bayesian information criterion
	ALO     Criterion = "alo"     // approximate leave-one-out, see [LeaveOneOut]; its gradient is by finite differences
	GCV     Criterion = "gcv"     // generalised cross-validation, see [LeftOut]; its gradient is by finite differences
)

// Criteria lists the criteria.
func Criteria() []Criterion { return []Criterion{CV, HoldOut, SURE, AIC, BIC, ALO, GCV} }

// Split says how rows are dealt into folds.
type Split string

// The splits. The position t of a row is its index in the data, or in a permutation of them.
const (
	ByRow      Split = "rows"       // the row at position t goes into fold t mod K
	Stratified Split = "stratified" // the same after sorting by target, so that every fold has its share of each class
	Blocks     Split = "blocks"     // K runs of neighbouring rows
	Forward    Split = "forward"    // K + 1 runs of rows in order of time; each run but the first is predicted from all runs before it
)

// Splits lists the splits.
func Splits() []Split { return []Split{ByRow, Stratified, Blocks, Forward} }

// Validation states the criterion that judges a λ, and the rows it is computed on. The zero value
// is 5-fold cross-validation on rows permuted by Seed. Held-out rows are judged by the weighted
// mean of the model's own loss ([Traits].Judged): the squared error (not halved), the logistic
// loss, the deviance for [Poisson], [Gamma] and [Tweedie], the cross-entropy of the scores of all
// classes, or the smoothed hinge for an [SVM]. Criteria on all rows use only Seed and Sigma.
type Validation struct {
	Criterion Criterion // "" means CV
	// Loss, with CV and HoldOut, judges held-out rows instead of the model's own loss; nil means
	// the model's own loss. [criterion.Func] makes a criterion from a function. With Config.Weights
	// Loss must be of package criterion, among them [criterion.Of] a loss of the caller's, since no other
	// criterion sees the weights of rows. Loss is called by several goroutines at once. Not for models with a
	// predictor per class.
	Loss  criterion.Criterion
	Folds int   // the number of folds K; 0 means 5, or the number in FoldIDs
	Split Split // "" means ByRow
	// InOrder keeps the rows in the order of the data. Otherwise ByRow and Stratified first permute
	// them, by Seed.
	InOrder bool
	Seed    uint64 // the seed of the permutation and of all other random numbers
	// Groups has the group of each row, any integer; the rows of a group stay in one fold. Split
	// must be ByRow.
	Groups []int
	// FoldIDs has the fold of each row: a row with k ≥ 0 is held out by fold k, a row with −1 trains in
	// every fold, and a row with −2 is reserved for [Selection].Test. Folds must be 0 and Split ByRow or
	// Forward. With Forward, a fold is not trained on folds with larger ids, so that fold 0 trains on
	// the rows with −1.
	FoldIDs []int
	// Sigma is the noise level, the standard deviation of the target around its mean, for SURE,
	// AIC and BIC. 0 estimates it from the residuals of a Lasso chosen by cross-validation (Reid,
	// Tibshirani and Friedman, Statistica Sinica 26, 2016).
	Sigma float64
}

// defaultFolds is the number of folds where none is given.
const defaultFolds = 5

// folds deals the rows of the target y into folds.
func (v Validation) folds(k *kernels.Set, y []float64) (bilevel.Folds, error) {
	if v.FoldIDs != nil {
		return v.givenFolds()
	}
	if v.Groups != nil && len(v.Groups) != len(y) {
		return nil, outcome.At(outcome.Shape, "groups", "%d groups for %d rows; there must be one per row", len(v.Groups), len(y))
	}
	count := cmp.Or(v.Folds, defaultFolds)
	var folds bilevel.Folds
	var err error
	switch s := v.Split; {
	case v.Groups != nil && s != "" && s != ByRow:
		return nil, outcome.At(outcome.Usage, "groups", "can be used with split %s, not with %s", ByRow, s)
	case v.Groups != nil:
		folds, err = bilevel.Grouped(k, v.Groups, count, !v.InOrder, v.Seed)
	case s == "", s == ByRow:
		folds, err = bilevel.KFold(k, len(y), count, !v.InOrder, v.Seed)
	case s == Stratified:
		folds, err = bilevel.Stratified(k, y, count, !v.InOrder, v.Seed)
	case s == Blocks:
		folds, err = bilevel.Blocks(k, len(y), count)
	case s == Forward:
		folds, err = bilevel.Chain(k, len(y), count)
	default:
		return nil, outcome.At(outcome.Usage, "split", "unknown split %q; the splits are %v", s, Splits())
	}
	if err == nil && v.Criterion == HoldOut {
		folds = folds.Last(k)
	}
	return folds, err
}

// givenFolds checks the folds that the caller has made.
func (v Validation) givenFolds() (bilevel.Folds, error) {
	switch {
	case v.Groups != nil:
		return nil, outcome.At(outcome.Usage, "groups", "cannot be used with fold ids, which already assign each row to a fold")
	case v.Folds != 0:
		return nil, outcome.At(outcome.Usage, "folds", "cannot be used with fold ids, which already determine the number of folds")
	case v.Split != "" && v.Split != ByRow && v.Split != Forward:
		return nil, outcome.At(outcome.Usage, "split", "fold ids can be used with %s and %s, not with %s", ByRow, Forward, v.Split)
	}
	if v.Criterion == HoldOut {
		if i := slices.IndexFunc(v.FoldIDs, func(id int) bool { return id > 0 }); i >= 0 {
			return nil, &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Flag: "fold-ids", Message: "for a hold-out the fold id must be 0 for validation or −1 for training"}
		}
	}
	return bilevel.Folds(v.FoldIDs), nil
}

// outerSpec states the criterion of v as an outer problem.
func (e *engine) outerSpec(ctx context.Context, v Validation) (bilevel.Spec, error) {
	switch v.Criterion {
	case "", CV, HoldOut:
		return e.heldOutSpec(v)
	case SURE, AIC, BIC:
		return e.riskSpec(ctx, v)
	case ALO, GCV:
		return e.leftOutSpec(v)
	default:
		return bilevel.Spec{}, errCriterion(v.Criterion)
	}
}

func errCriterion(c Criterion) error {
	return outcome.At(outcome.Usage, "criterion", "unknown criterion %q; the criteria are %v", c, Criteria())
}

// heldOutSpec states an outer problem whose criterion judges held-out rows.
func (e *engine) heldOutSpec(v Validation) (bilevel.Spec, error) {
	spec := e.spec()
	n, _ := e.statement.X.Dims()
	switch {
	case len(e.statement.Y) != n:
		return spec, outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(e.statement.Y), n)
	case v.Sigma != 0:
		return spec, outcome.At(outcome.Usage, "sigma", "the noise level applies only to %s, %s and %s", SURE, AIC, BIC)
	case v.Loss != nil && e.family.classes:
		return spec, outcome.At(outcome.Usage, "validation-loss", "cannot be set for %s, which is judged by the cross-entropy of all its scores", e.config.Model)
	}
	err := criterion.Check(e.statement.Kernels, v.Loss, e.statement.Y, e.config.Weights)
	if err != nil {
		return spec, err
	}
	spec.Folds, err = v.folds(e.statement.Kernels, e.statement.Y)
	if err != nil {
		return spec, err
	}
	spec.Criterion, spec.Forward = v.Loss, v.Split == Forward
	if err := spec.Check(e.statement.Kernels, n); err != nil {
		if e, ok := errors.AsType[*outcome.Error](err); ok && v.FoldIDs != nil {
			e.Flag = "fold-ids"
		}
		return spec, err
	}
	err = e.divideMemory(e.concurrentProblems(), e.laneProblems(spec.Folds))
	e.setBounds(&spec)
	return spec, err
}

// Validate evaluates the criterion of v, without its gradient, at each λ of grid in turn, with a
// warm start of every fold from its previous solution, which is kept as it is if it meets Tol at
// the next λ too: finite differences need a Tol of 1e-13. Decreasing order is fastest. It yields one
// evaluation per λ, and stops after an error; when ctx ends, that is the error of ctx. See [Fit]
// for the other arguments and errors.
func Validate(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, v Validation, c Config) iter.Seq2[search.Evaluation, error] {
	c.Method, c.Certify = Implicit, false // no gradients here
	return func(yield func(search.Evaluation, error) bool) {
		e, leave, err := admitEngine(ctx, x, y, c, &v, toChoose)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		defer leave()
		problem, _, err := e.validationProblem(ctx, v, false)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		var path [][]float64
		var wrong error // the error of the first invalid λ, which ends the path
		for _, logLambda := range grid {
			if wrong = e.check(logLambda); wrong != nil {
				break
			}
			path = append(path, slices.Clone(logLambda))
		}
		for report, err := range evaluatePath(ctx, problem, path) {
			if !yield(report.Evaluation, err) || err != nil {
				return
			}
		}
		if wrong != nil {
			yield(search.Evaluation{}, wrong)
		}
	}
}

// validationProblem states the criterion of v for evaluations at given λ's. Without slopes it works on condensed rows if
// [Select] would choose λ on them; with slopes it works on X, which their error bounds refer to.
func (e *engine) validationProblem(ctx context.Context, v Validation, slopes bool) (problem inner.Outer, spec bilevel.Spec, err error) {
	defer outcome.Caught(&err)
	if spec, err = e.outerSpec(ctx, v); err != nil {
		return nil, spec, err
	}
	if spec.Given = true; !slopes && e.condenses(v) {
		problem, err = e.newOuter(ctx, spec, SelectOptions{Validation: v})
	} else {
		problem, err = e.outer(spec)
	}
	return problem, spec, err
}

// evaluatePath evaluates a problem, without gradients, at each λ of path in turn.
func evaluatePath(ctx context.Context, problem inner.Outer, path [][]float64) iter.Seq2[bilevel.Report, error] {
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
