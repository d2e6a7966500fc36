package bilevel

import (
	"context"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/outcome"
)

// A lane is one inner problem: that of a fold, or of a class in a fold. What an outer problem
// asks of its lanes, and what they answer, is plain data, so that a lane may be anywhere: in
// this process ([Lanes]) or in another one. An answer depends on the data, the [Spec] and the
// requests that the lane has had before, in their order, and on nothing else; a lane that is
// lost is made anew, to the bit, by asking another one the same again.

// LaneID names a lane. Class is 0 where there are no classes; the two lanes of a [Risk] are
// folds 0 and 1.
type LaneID struct{ Fold, Class int }

// Ask says what is asked of a lane.
type Ask uint8

const (
	// AskNull is for the null model and αmax. It changes nothing.
	AskNull Ask = iota
	// AskSolve is for the solution at LogLambda, what the criterion says of it and, unless
	// ValueOnly, its gradient. Of a class it is for the scores: its gradient depends on
	// those of the other classes.
	AskSolve
	// AskSlope is for the gradient of a class at its last solution, given the probabilities.
	AskSlope
	// AskKept is for the solution kept under the number From, where LogLambda is set moved there as
	// a solve would begin. It changes nothing.
	AskKept
	// AskState is for the state that the lane ended in, or for that kept under the number From
	// where that is positive, in an encoding of its own. It changes nothing.
	AskState
	// AskRestore makes State that of the lane, or what is kept under the number Keep where
	// that is positive.
	AskRestore
)

// LaneRequest is what a lane is asked.
type LaneRequest struct {
	Lane      LaneID
	Ask       Ask
	LogLambda []float64 // of a class its own alone
	Tol       float64   // relative gap of the inner problem; 0: that of the Spec
	ValueOnly bool      // the gradient is not needed
	Rough     bool      // a gradient to step by will do, its error unknown
	Curvature bool      // second derivatives are wanted with the gradient
	// Keep, where positive, is the number that the state after this request is kept under,
	// instead of an earlier one; From, where positive, that of the state to begin with,
	// where there is one.
	Keep, From int
	// Start, where set, is the point to begin with; Unscaled says that it is in the columns of
	// X and not in those of the lane's view.
	Start    *Solution
	Unscaled bool
	// Tell asks for the solution itself, and for the predictions of the validation rows.
	Tell bool
	// Anew asks to begin with the coefficients at hand and nothing else that was learnt, so that
	// a lane whose state is restored gives the same bits.
	Anew bool
	// State, for AskRestore, is what AskState has told.
	State []byte
	// Probability, for AskSlope, is that of the class on the validation rows, and Others the
	// sum of those of all other classes, on the rows of the class.
	Probability, Others []float64
}

// LaneResult is what a lane answers. Its slices may be written to, and are the lane's again
// when it is asked the next time.
type LaneResult struct {
	// For AskNull: the criterion of the null model, its standard error over the rows of a
	// hold-out, and ln αmax.
	Null, NullError, Top float64
	// Straight, for AskNull, is [model.SVM.Straight]; 0 of other models.
	Straight float64

	// For AskSolve: the criterion, its standard error over the rows of a hold-out, and the
	// criterion on the rows for testing, if there are such; of a class, instead, its scores
	// on the validation rows and on those for testing. For Tell, Scores is there without
	// classes, too.
	Value, ValueError, Test float64
	Tested                  bool
	Scores, TestScores      []float64
	Solved                  Solved
	// Solution is there for Tell, and for AskKept nil where nothing is kept.
	Solution *Solution
	// State is there for AskState; empty where nothing is remembered.
	State []byte

	// The gradient. Shape are further derivatives, see [Report]. Columns says which λ's its entries belong to, nil all in order. Curvature is
	// the r × r curvature. Of a class, instead, Motion is how its scores move, times P·√(s/S),
	// and MotionSquare the sum of its squares over P (see gaussnewton.go); MotionNorm and ErrorNorm are those
	// of [implicit.Hypergradient].
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
// ascending columns and as many numbers. Where a lane has q scores, column j·q + k is the
// coefficient of column j for score k.
type Solution struct {
	Support []int32
	Coef    []float64
}

// Solved is what a [Report] says of a lane's solution.
type Solved struct {
	outcome.Certificate
	outcome.Effort
	Support                     int // its size
	Status                      outcome.Status
	Seconds                     float64
	TrainLoss, Saturation, Work float64 // as of [search.Evaluation]
	Shared                      float64 // of Work, what threads of one lane may share, for any number of them
}

// relate sets the training loss relative to the null model's, where that has any.
func (s *Solved) relate(objective, null float64) {
	if null > 0 {
		s.TrainLoss = objective / null
	}
}

// Derived is what a [Report] says of a lane's hypergradient.
type Derived struct {
	ErrorBound, InjectivityMargin float64
	Bound                         implicit.Bound
	Iterations                    int
	Work, Seconds                 float64
	Shared                        float64 // as of [Solved]
	SupportCertified              bool
	Status                        outcome.Status
}

// Runner has lanes answer.
type Runner interface {
	// Run has every request answered, each by its lane, and returns the answers in the order
	// of the requests, of which no two are of one lane. solved, where not nil, is called as
	// often as there are inner problems solved, perhaps by several goroutines at once. When
	// ctx ends, the error is that of ctx; otherwise it is the first that a lane has met, an
	// [outcome.Error]. Run may be called for different lanes at the same time.
	Run(ctx context.Context, requests []LaneRequest, solved func()) ([]LaneResult, error)
}
