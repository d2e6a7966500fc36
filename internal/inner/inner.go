// Package inner states and solves the inner problem of every kind of model on all rows. Package bilevel
// solves the same problems on parts of the rows; each [Problem] tells it how to state them.
package inner

import (
	"context"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/arena"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Statement states an inner problem: the data, the loss, the penalty, and how to solve it. Slices are not
// modified.
type Statement struct {
	Name  string    // of the model, for messages
	Loss  loss.Loss // nil for support vectors
	Form  Form      // of the penalty
	Judge func(loss.Loss) criterion.Criterion
	// Classes says that the target is one of several classes with a predictor each. Tube and Simplex are for
	// support vectors: the ε-insensitive loss, and coefficients on the simplex.
	Classes, Tube, Simplex bool

	Kernels         *kernels.Set
	X               sparse.Matrix
	Y               []float64
	Weights, Offset []float64     // of the rows; nil: 1, and 0
	ClassWeights    *ClassWeights // nil: classes have no weights of their own
	Intercept       bool
	Standardise     bool
	Positive        bool      // β ≥ 0
	Lower, Upper    []float64 // bounds of the coefficients, of X's columns; nil: none
	Factors         []float64 // of the strengths, by column; nil: 1
	Groups          []int     // of the columns, see [model.NewPartition]; nil: each its own
	GroupWeights    []float64 // nil: the root of the number of columns
	Parameter       float64   // of a penalty that has one besides its strengths
	Count           int       // of hyperparameters

	Threads int
	Certify bool
	Keep    bool // the results of all solves share one memory, without allocation
	Frugal  bool // vectors that can be computed again are not kept
	Solver  func() cd.Options
	Turn    func(context.Context) (end func()) // waits for a turn to solve a problem, among other calls
	Team    func() *team.Team                  // the threads that share one problem
	Memory  *arena.Arena                       // memory of the call; nil: its own

	// What [Statement.Check] derives from factors and bounds.
	Times       []float64 // factors that columns are multiplied by; nil: 1
	Box         *model.Box
	l1Factors   []float64 // factors of the ℓ1 strength, by column
	unpenalised bool      // some factor is 0
	scoreCount  int       // see scores; 0: not yet

	// For condensed rows: the batch of each, and the number of rows that they stand for; nil and 0 otherwise.
	batches       bilevel.Folds
	rowsCondensed int

	kept kept
}

// Problem is the inner problem of a [Statement].
type Problem interface {
	// AppendMax appends ln αmax for every hyperparameter, NaN where there is none.
	AppendMax(out []float64) []float64
	// Accepts returns an error for a λ, of the right length, at which the problem is not defined.
	Accepts(logLambda []float64) error
	// Solve solves at one λ, with a warm start from the last solution. Its errors include those of
	// [Problem.Accepts].
	Solve(ctx context.Context, logLambda []float64) (*Solution, error)
	// Restart drops the last solution: the next solve starts like the first.
	Restart()
	// Outer returns the outer problem: the choice of λ.
	Outer(bilevel.Spec) (Outer, error)
	// Start returns where a search starts: a share of αmax, or a C.
	Start() float64
}

// Outer is the choice of λ for an inner problem.
type Outer interface {
	search.Objective
	Evaluate(context.Context, search.Request) (bilevel.Report, error)
	NullValue() float64
	Null() search.Evaluation
	Remember(ctx context.Context, tag byte, left []search.Memory) error
}

// Distributable is an inner problem whose lanes may run elsewhere.
type Distributable interface {
	// Lanes makes the lanes of an outer problem on x in this process.
	Lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error)
	// Over returns the outer problem over lanes that run anywhere.
	Over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (Outer, error)
}

// Anchored is a problem whose null model has an objective P₀ that does not depend on λ.
type Anchored interface{ Null() float64 }

// Solution is a certified solution, with coefficients of the columns of X. Its fields have the same meaning
// as those of the same names in pare.Fitted.
type Solution struct {
	Support      []int32
	Coef         []float64
	Intercept    float64
	Classes      []float64
	PerClass     []*Solution
	LogLambda    []float64 // of one class; nil elsewhere
	LogLambdaMax []float64

	Free, Bound int
	Objective   float64
	outcome.Certificate
	Unique           *bool
	SupportCertified bool
	DualMargin       float64
	SecondsCertify   float64
	outcome.Effort
	Work, Shared float64
	Status       outcome.Status
}

// kept is the memory of the results under [Statement].Keep.
type kept struct {
	Solution
	unique bool // what Unique points to
}

// newResult returns an empty solution for the next result.
func (s *Statement) newResult() *Solution {
	if !s.Keep {
		return &Solution{}
	}
	last := &s.kept.Solution
	*last = Solution{Support: last.Support[:0], Coef: last.Coef[:0]}
	return last
}

// provedUnique returns the value of [Solution].Unique for a unique solution: a pointer to true.
func (s *Statement) provedUnique() *bool {
	if !s.Keep {
		return new(true)
	}
	s.kept.unique = true
	return &s.kept.unique
}

// Check returns an error for factors and bounds that are invalid or not available for this problem, and
// stores what follows from valid ones. The errors are those of pare.Fit.
func (s *Statement) Check() error {
	if s.Positive && !s.hasBounds() {
		s.Form = s.Form.nonNegative()
	}
	if err := s.checkFactors(); err != nil {
		return err
	}
	return s.checkBounds()
}

// View returns the view of all rows.
func (s *Statement) View() (*sparse.View, error) {
	of := bilevel.Spec{Intercept: s.Intercept, Standardise: s.Standardise, Times: s.Times, Memory: s.Memory}
	view, err := of.View(s.Kernels, s.X, s.trainingWeights())
	if err == nil && !s.Classes { // classes are solved in parallel instead
		view = view.With(s.Team())
	}
	return view, err
}

// Weighted returns a criterion with the weights of the rows.
func (s *Statement) Weighted(c criterion.Criterion) criterion.Criterion {
	if s.Weights == nil {
		return c
	}
	return criterion.Weighted{Criterion: c, Weights: s.Weights}
}

// shareOfMax returns the first share of αmax of a search.
func (s *Statement) shareOfMax() float64 {
	if _, dense := s.X.(*sparse.Dense); dense {
		if n, p := s.X.Dims(); n < p {
			return 0.1
		}
	}
	return 0.01
}

// trainingWeights returns the weights of all rows in the inner problem; nil: all 1.
func (s *Statement) trainingWeights() []float64 {
	if s.ClassWeights == nil || len(s.Weights) != 0 && len(s.Weights) != len(s.Y) { // the error is reported elsewhere
		return s.Weights
	}
	weights := make([]float64, len(s.Y))
	for i := range weights {
		weights[i] = 1
	}
	s.Kernels.Copy(weights, s.Weights)
	s.ClassWeights.Weigh(s.Kernels, weights)
	return weights
}
