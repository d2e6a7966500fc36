package choose

import (
	"context"
	"iter"
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/search"
)

// Objective is the criterion as a function of λ. It may also implement the interfaces
// below.
type Objective interface {
	search.Objective
	// Null returns the evaluation of the null model; it has no λ.
	Null() search.Evaluation
}

// keepsSolutions is an objective that can keep the solutions of every evaluation as warm starts.
type keepsSolutions interface{ KeepSolutions() }

// hasCurvature is an objective that can compute second derivatives with its gradients.
type hasCurvature interface{ AskCurvature() }

// alongPath is an objective that can evaluate a path known beforehand, without gradients.
type alongPath interface {
	Path(ctx context.Context, path [][]float64) iter.Seq2[bilevel.Report, error]
}

// withMaximum is an objective that returns the least λ from which on the null model solves all
// inner problems.
type withMaximum interface{ LogLambdaMax() float64 }

// withExcess is an objective that returns by how much ln αmax of its inner problems exceeds top,
// that of all rows, at most.
type withExcess interface{ Excess(top []float64) float64 }

// withStraight is an objective that returns the largest λ = ln C up to which predictions are
// proportional to C.
type withStraight interface{ LogStraight() float64 }

// isLoss is an objective that reports whether the criterion is never below 0.
type isLoss interface{ NonNegative() bool }

// Range is how far below and above ln αmax a λ is searched, or below and above 0 if there is
// no αmax.
type Range struct{ Below, Above float64 }

// Shape says how solutions change along the path from the null model.
type Shape int

// The shapes.
const (
	Sparse Shape = iota // ℓ1: the null model at αmax, then more and more columns
	Smooth              // ridge: no strength gives the null model, and solutions are dense at all strengths
	Dual                // SVM: λ = ln C, from small to large; if there are two λ, the second is ln ε
	Tube                // λ = ln ε, from large to small
)

// Problem is a choice of λ to be made.
type Problem struct {
	Objective
	// Top is ln αmax on all rows, one per hyperparameter; NaN where there is none.
	Top    []float64
	Ranges []Range // of searches that start from a point: one per hyperparameter, the last for all that follow
	Shape  Shape
	// Curved says that the loss is not quadratic. It may tend to 0, as on separable classes, so
	// that tolerances are relative to the training loss.
	Curved bool
	// Separable says that the loss is one of classification, see [search.ScanOptions].
	Separable bool
	// Jumps says that the criterion may jump: the penalty is not convex, or degrees of freedom are
	// those of the support and rows are so few that a column that enters matters.
	Jumps bool
	// Roughness is the roughness of the criterion relative to its standard error, as a multiple of
	// that of a mean loss; 0 means 1.
	Roughness float64
	// Wide says that the scales of the columns differ greatly, see [search.ScanOptions].
	Wide bool
	// Grouped says that columns enter the support by groups, see [search.ScanOptions].
	Grouped bool
	// Interpolates says that there are enough columns for solutions to fit single rows, see [search.ScanOptions].
	Interpolates bool
	// Common says that all hyperparameters have one common share of αmax, unless
	// [Options].PerClass is set.
	Common bool
	// Pair says that there are two strengths, ℓ1 and ridge, either of which may be 0, and that the
	// criterion has second derivatives by both; RidgeTop is then ln αmax of the ridge.
	Pair     bool
	RidgeTop float64
	// Start is the first share of αmax of searches that start from a point, or the first C.
	Start float64
	// Pass is the work of a pass over X for all folds, in the unit of
	// [search.Evaluation].Work.
	Pass float64

	known  []search.Evaluation // evaluations that the model of a scan contains from the beginning
	rival  *search.Evaluation  // the evaluation with which this choice will be compared
	inTurn bool                // scans along C and along ε take turns
}

// origins returns Top with 0 where there is no αmax.
func (p *Problem) origins() []float64 {
	origins := make([]float64, len(p.Top))
	for i, l := range p.Top {
		if !math.IsNaN(l) {
			origins[i] = l
		}
	}
	return origins
}

// box returns the box of searches that start from a point, around the origins.
func (p *Problem) box(origins []float64) (box search.Box) {
	for i, origin := range origins {
		within := p.rangeOf(i)
		box.Lower = append(box.Lower, origin-within.Below)
		box.Upper = append(box.Upper, origin+within.Above)
	}
	return box
}

// rangeOf returns the range of the i-th λ.
func (p *Problem) rangeOf(i int) Range { return p.Ranges[min(i, len(p.Ranges)-1)] }
