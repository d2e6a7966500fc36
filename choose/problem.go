package choose

import (
	"context"
	"iter"
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/search"
)

// Objective is the criterion as a function of λ. What else it can do it says by the
// interfaces below.
type Objective interface {
	search.Objective
	// Null returns the evaluation of the null model; it has no λ.
	Null() search.Evaluation
}

// keepsSolutions remembers the solutions of every evaluation, to begin others from.
type keepsSolutions interface{ KeepSolutions() }

// hasCurvature makes second derivatives with gradients where it is asked to.
type hasCurvature interface{ AskCurvature() }

// alongPath evaluates a path that is known beforehand, without gradients.
type alongPath interface {
	Path(ctx context.Context, path [][]float64) iter.Seq2[bilevel.Report, error]
}

// withMaximum knows the least λ from where on all its inner problems are null models.
type withMaximum interface{ LogLambdaMax() float64 }

// withExcess knows by how much ln αmax of an inner problem is above that of all rows, at most.
type withExcess interface{ Excess(top []float64) float64 }

// withStraight knows the largest λ = ln C up to which predictions are in proportion to C.
type withStraight interface{ LogStraight() float64 }

// isLoss knows whether the criterion is never below 0.
type isLoss interface{ NonNegative() bool }

// Range is how far below and above ln αmax a λ is looked for, or around 0 where there is
// no αmax.
type Range struct{ Below, Above float64 }

// Shape says how a criterion looks on the way from the null model.
type Shape int

// The shapes.
const (
	Sparse Shape = iota // ℓ1: the null model at αmax, then ever more columns
	Smooth              // ridge: no strength is that of the null model, and none of dense solutions
	Dual                // SVM: λ = ln C, from small to large; of two λ's the other is ln ε
	Tube                // λ = ln ε, from large to small
)

// Problem is a choice of λ to be made.
type Problem struct {
	Objective
	// Top is ln αmax on all rows, one per hyperparameter; NaN where there is none.
	Top    []float64
	Ranges []Range // of the searches that start from a point: one per hyperparameter, the last for all that follow
	Shape  Shape
	// Curved says that the loss is not quadratic. It may tend to 0, as where classes are separable, so
	// that tolerances are relative to the training loss.
	Curved bool
	// Separable says that the loss is one of classes, see [search.ScanOptions].
	Separable bool
	// Jumps says that the criterion may jump: a penalty is not convex, or degrees of freedom are
	// those of a support, and rows so few that each counts.
	Jumps bool
	// Roughness says how many times as rough as a mean loss the criterion is beside its standard error; 0 is once.
	Roughness float64
	// Wide says that columns differ by far in scale, see [search.ScanOptions].
	Wide bool
	// Grouped says that columns come in by groups, see [search.ScanOptions].
	Grouped bool
	// Interpolates says that there are enough columns for solutions to follow single rows, see [search.ScanOptions].
	Interpolates bool
	// Common says that one share of αmax serves all hyperparameters unless more is asked
	// for.
	Common bool
	// Pair says that there are two strengths, ℓ1 and ridge, either of which may be nothing,
	// and second derivatives of the criterion by both; RidgeTop is then the ln αmax of the ridge.
	Pair     bool
	RidgeTop float64
	// Start is the first share of αmax of searches that start from a point, or the first C.
	Start float64
	// Pass is the work of a pass over X for all folds, in the unit of
	// [search.Evaluation].Work.
	Pass float64

	known []search.Evaluation // at which the model of a scan begins
	rival *search.Evaluation  // what this choice is to be compared with
	turns bool                // its lines along C and ε take turns
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

// box is the box of searches that start from a point, around the origins.
func (p *Problem) box(origins []float64) (box search.Box) {
	for i, origin := range origins {
		within := p.within(i)
		box.Lower = append(box.Lower, origin-within.Below)
		box.Upper = append(box.Upper, origin+within.Above)
	}
	return box
}

// within is the range of a λ.
func (p *Problem) within(i int) Range { return p.Ranges[min(i, len(p.Ranges)-1)] }
