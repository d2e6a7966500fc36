package pare

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Criterion names what judges a λ.
type Criterion string

// The criteria. SURE, AIC and BIC are for models of the squared loss, on all rows:
// they weigh the fit against its degrees of freedom, taken by a finite difference
// along a random direction, so that they have a gradient (section 4.1 of the paper).
const (
	CV      Criterion = "cv"      // the mean over folds of the loss on held-out rows
	HoldOut Criterion = "holdout" // the loss on the last fold alone, or on fold 0 of FoldIDs
	SURE    Criterion = "sure"    // Stein's unbiased estimate of the risk
	AIC     Criterion = "aic"
	BIC     Criterion = "bic"
)

// Criteria lists the criteria there are.
func Criteria() []Criterion { return []Criterion{CV, HoldOut, SURE, AIC, BIC} }

// Validation says what judges a λ, and which rows. The zero value is 5-fold
// cross-validation on rows in file order. The loss on held-out rows is the mean
// squared error, for logreg the mean logistic loss, for multiclass the mean
// cross-entropy of the classes' scores, for svm the mean smoothed hinge loss.
type Validation struct {
	Criterion Criterion // "" means CV
	Folds     int       // 0 means 5
	Shuffle   bool      // permute the rows before dealing them into folds
	Seed      uint64    // of the permutation, and of all else that is drawn
	// FoldIDs gives every row's fold instead: ≥ 0 validates that fold, −1 always
	// trains, −2 is left out.
	FoldIDs []int
	// Sigma is the noise level for SURE, AIC and BIC; 0 means the residual standard
	// deviation of a Lasso chosen by cross-validation (Reid, Tibshirani and Friedman,
	// Statistica Sinica 26, 2016).
	Sigma float64
}

// folds resolves a validation for n rows.
func (v Validation) folds(n int) (bilevel.Folds, error) {
	if v.FoldIDs != nil {
		if v.Criterion == HoldOut {
			if i := slices.IndexFunc(v.FoldIDs, func(id int) bool { return id > 0 }); i >= 0 {
				return nil, &outcome.Error{Kind: outcome.BadParameter, HasRow: true, Row: i, Flag: "fold-ids", Message: "for a hold-out 0 validates and −1 trains"}
			}
		}
		return bilevel.Folds(v.FoldIDs), nil
	}
	k := v.Folds
	if k == 0 {
		k = 5
	}
	if v.Criterion == HoldOut {
		return bilevel.HoldOut(n, k, v.Shuffle, v.Seed)
	}
	return bilevel.KFold(n, k, v.Shuffle, v.Seed)
}

// choice states the outer problem. sigma is the noise level it took, if any.
func (e *engine) choice(ctx context.Context, v Validation) (problem outer, sigma float64, err error) {
	switch v.Criterion {
	case "", CV, HoldOut:
		folds, err := v.folds(len(e.y))
		if err != nil {
			return nil, 0, err
		}
		problem, err = e.outer(folds)
		return problem, 0, err
	case SURE, AIC, BIC:
		return e.risk(ctx, v)
	default:
		return nil, 0, outcome.At(outcome.Usage, "criterion", "no criterion %q; there are %v", v.Criterion, Criteria())
	}
}

// risk states the choice of λ by an information criterion.
func (e *engine) risk(ctx context.Context, v Validation) (problem outer, sigma float64, err error) {
	s, ok := e.problem.(*single)
	switch {
	case !ok || s.criterion != criterion.Criterion(criterion.MeanSquaredError{}):
		return nil, 0, outcome.At(outcome.Usage, "criterion", "%s is for %s, %s and %s; %s has %s and %s", v.Criterion, Lasso, ElasticNet, WeightedLasso, e.config.Model, CV, HoldOut)
	case e.config.Weights != nil:
		return nil, 0, outcome.At(outcome.Usage, "criterion", "%s counts rows with noise of one level; weighted rows have %s and %s", v.Criterion, CV, HoldOut)
	case e.config.Method.iterate() != nil:
		return nil, 0, outcome.At(outcome.Usage, "method", "%s has %s alone", v.Criterion, Implicit)
	}
	if sigma = v.Sigma; sigma == 0 {
		if sigma, err = e.noise(ctx, v); err != nil {
			return nil, 0, err
		}
	}
	n := len(e.y)
	of := map[Criterion]bilevel.Information{SURE: bilevel.SURE(n, sigma), AIC: bilevel.AIC(sigma), BIC: bilevel.BIC(n, sigma)}[v.Criterion]
	spec := e.spec(nil)
	spec.Penalty = s.penalty
	problem, err = bilevel.NewSure(e.k, e.x, e.y, of, sigma, v.Seed, spec)
	return problem, sigma, err
}

// noise estimates the noise level from the residuals of a Lasso chosen by
// cross-validation, one degree of freedom for each column and the intercept.
func (e *engine) noise(ctx context.Context, v Validation) (float64, error) {
	c := e.config
	c.Model = Lasso
	s, err := Select(ctx, e.x, e.y, SelectOptions{Validation: Validation{Shuffle: true, Seed: v.Seed}}, c)
	if err != nil {
		return 0, err
	}
	if s.Status == outcome.Cancelled {
		return 0, ctx.Err()
	}
	alpha := kernels.Exp(s.LogLambda[0])
	fit := s.Final.Objective
	for _, b := range s.Final.Coef {
		fit -= float64(alpha * math.Abs(b))
	}
	n, free := float64(len(e.y)), len(e.y)-len(s.Final.Support)
	if !c.NoIntercept {
		free--
	}
	return math.Sqrt(max(0, 2*n*fit) / float64(max(1, free))), nil
}

// Validate evaluates the validation criterion, without its gradient, along a
// sequence of λ's, every fold from its solution before; decreasing order is the
// fast one. It yields one evaluation per λ and stops after an error, which is
// that of ctx where ctx ended. See [Fit] for the λ's and the other errors.
func Validate(ctx context.Context, x sparse.Matrix, y []float64, grid [][]float64, v Validation, c Config) iter.Seq2[search.Evaluation, error] {
	c.Method, c.Certify = Implicit, false // no gradients here
	return func(yield func(search.Evaluation, error) bool) {
		e, err := newEngine(x, y, c)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		problem, _, err := e.choice(ctx, v)
		if err != nil {
			yield(search.Evaluation{}, err)
			return
		}
		for _, logLambda := range grid {
			var evaluation search.Evaluation
			if err = e.check(logLambda); err == nil {
				evaluation, err = problem.Eval(ctx, search.Request{LogLambda: slices.Clone(logLambda), ValueOnly: true})
			}
			if !yield(evaluation, err) || err != nil {
				return
			}
		}
	}
}
