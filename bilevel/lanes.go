package bilevel

import (
	"context"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/outcome"
)

// A lane is one inner problem: that of a fold, or of a class in a fold. The requests of an outer
// problem to its lanes and their answers are plain data, so that a lane may be in this process
// ([Lanes]) or in another one. An answer depends only on the data, the [Spec] and the earlier
// requests to the lane, in their order. A lost lane is therefore restored, to the bit, by sending
// the same requests to a new one.

// LaneID identifies a lane. Class is 0 where there are no classes; the two lanes of a [Risk] are
// folds 0 and 1.
type LaneID struct{ Fold, Class int }

// Ask is the kind of a request to a lane.
type Ask uint8

const (
	// AskNull asks for the criterion of the null model and αmax. It changes nothing.
	AskNull Ask = iota
	// AskSolve asks for the solution at LogLambda, the criterion there and, unless ValueOnly is set,
	// the gradient. The lane of a class answers with its scores instead: its gradient depends on the
	// scores of the other classes, too.
	AskSolve
	// AskSlope asks for the gradient of a class at its last solution, given the probabilities.
	AskSlope
	// AskKept asks for the solution kept under the number From. If LogLambda is set, the solution is
	// moved there along its derivative, as at the beginning of a solve. It changes nothing.
	AskKept
	// AskState asks for the encoded state of the lane: the one kept under the number From where From is
	// positive, else the one after its last solve. It changes nothing.
	AskState
	// AskRestore sets the state kept under the number Keep to State where Keep is positive, else the
	// state that the next solve begins with.
	AskRestore
)

// LaneRequest is a request to a lane.
type LaneRequest struct {
	Lane      LaneID
	Ask       Ask
	LogLambda []float64 // λ; for a class, only its own entry
	Tol       float64   // relative gap of the inner problem; 0 means the Tol of the Spec
	ValueOnly bool      // the gradient is not needed
	Rough     bool      // a gradient to step by is enough; its error need not be known
	Curvature bool      // the gradient is to come with second derivatives
	// Keep, where positive, is the number under which to keep the state after this request; a state
	// already kept under it is replaced. From, where positive, is the number of the kept state to begin
	// with, if there is one.
	Keep, From int
	// Start, where set, is the solution to begin with. Unscaled says that its coefficients belong to the
	// columns of X, not to those of the lane's view.
	Start    *Solution
	Unscaled bool
	// Tell asks for the solution itself, too, and for the predictions on the validation rows.
	Tell bool
	// Anew asks to begin with the current coefficients and a new solver, without anything else from
	// earlier solves, so that a lane whose state has been restored gives the same bits.
	Anew bool
	// State, for AskRestore, is the answer to an AskState.
	State []byte
	// Probability, for AskSlope, has the probability of the class on each validation row. Others has
	// the sum of the probabilities of all other classes, on each validation row of this class.
	Probability, Others []float64
}

// LaneResult is the answer of a lane. The caller may modify its slices; they belong to the lane again
// from its next request on.
type LaneResult struct {
	// For AskNull: the criterion of the null model, its standard error over the rows of a
	// hold-out, and ln αmax.
	Null, NullError, Top float64
	// Straight, for AskNull, is [model.SVM.Straight]; 0 for other models.
	Straight float64

	// For AskSolve: the criterion, its standard error over the rows of a hold-out, and the
	// criterion on the test rows, if Tested. For a class, instead: its scores on the validation
	// rows and on the test rows. With Tell, Scores is set for lanes without classes, too.
	Value, ValueError, Test float64
	Tested                  bool
	Scores, TestScores      []float64
	Solved                  Solved
	// Solution is set for Tell and for AskKept; for AskKept it is nil where nothing is kept.
	Solution *Solution
	// State is set for AskState; it is empty where the lane has no state.
	State []byte

	// The gradient. Shape has further derivatives, see [Report]. Columns has the λ that each entry of
	// Gradient belongs to; nil means all of them, in order. Curvature is the r × r curvature. A class has,
	// instead, the derivatives of its scores in its λ times P·√(s/S) in Motion, and the sum of the squares
	// of Motion divided by P in MotionSquare (see gaussnewton.go). MotionNorm and ErrorNorm are as in
	// [implicit.Hypergradient].
	Gradient              []float64
	Shape                 []float64
	Columns               []int32
	Curvature             []float64
	Motion                []float64
	MotionSquare          float64
	MotionNorm, ErrorNorm float64
	Derived               Derived
}

// Solution is a sparse vector of coefficients, in the coordinates of the lane's view:
// ascending columns and the coefficient of each. Where a lane has q scores, index j·q + k stands
// for column j and score k.
type Solution struct {
	Support []int32
	Coef    []float64
}

// Solved holds the certificate, the effort and the status of a lane's solution, for a [Report].
type Solved struct {
	outcome.Certificate
	outcome.Effort
	Support                     int // the size of the support
	Status                      outcome.Status
	Seconds                     float64
	TrainLoss, Saturation, Work float64 // as in [search.Evaluation]
	Shared                      float64 // the part of Work that the threads of a lane may share; it does not depend on their number
}

// relate sets TrainLoss to the objective relative to that of the null model, if the latter is positive.
func (s *Solved) relate(objective, null float64) {
	if null > 0 {
		s.TrainLoss = objective / null
	}
}

// Derived holds the error bound, the work and the status of a lane's hypergradient, for a [Report].
type Derived struct {
	ErrorBound, InjectivityMargin float64
	Bound                         implicit.Bound
	Iterations                    int
	Work, Seconds                 float64
	Shared                        float64 // as in [Solved]
	SupportCertified              bool
	Status                        outcome.Status
}

// Runner passes requests to lanes and returns their answers.
type Runner interface {
	// Run has every request answered by its lane, and returns the answers in the order of the
	// requests, no two of which are for the same lane. solved, where not nil, is called once for
	// each inner problem solved, possibly by several goroutines at once. When ctx ends, the error
	// is that of ctx; otherwise it is the first error of a lane, an [outcome.Error]. Run may be
	// called for different lanes at the same time.
	Run(ctx context.Context, requests []LaneRequest, solved func()) ([]LaneResult, error)
}
