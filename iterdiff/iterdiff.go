package iterdiff

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Method is an inner solver and the direction in which it is differentiated.
type Method int

// The methods. Forward methods update ∂β/∂λ along with the descent, at one more pass over the support per
// epoch and hyperparameter. Backward methods record the steps of the support and reverse them, at a cost that
// does not depend on the number of hyperparameters.
const (
	ForwardPCD  Method = iota // algorithm 3
	BackwardPCD               // algorithm 4
	ForwardPGD                // algorithm 1
	BackwardPGD               // algorithm 2
	methods
)

func (m Method) forward() bool      { return m == ForwardPCD || m == ForwardPGD }
func (m Method) gradientStep() bool { return m == ForwardPGD || m == BackwardPGD }

// String returns the method's name.
func (m Method) String() string {
	if m < 0 || m >= methods {
		return "unknown"
	}
	return [methods]string{"forward PCD", "backward PCD", "forward PGD", "backward PGD"}[m]
}

// Outer is the criterion C: it returns its value at the predictions m = Xβ + b of all n rows and sets
// slope[i] = ∂C/∂mᵢ. slope is 0 at the call; held-out rows have their predictions, and the criterion chooses
// the rows that count.
type Outer func(m, slope []float64) float64

// Point is a start: the coefficients of the listed columns, all others being 0. Its slices are not kept.
type Point struct {
	Support []int32 // ascending; samples for the SVM
	Coef    []float64
	// Intercept is used for a loss that is not quadratic, where it is a coordinate.
	Intercept float64
}

// Options choose and bound the iteration. The zero value is ready to use.
type Options struct {
	Method Method

	// Epochs > 0 runs exactly that many epochs: the gradient is the exact derivative of that iterate, and Tol
	// only decides the status. 0 runs until Tol is met.
	Epochs int
	// MaxEpochs bounds the run where Epochs is 0. 0 means 10000.
	MaxEpochs int

	// Tol is met when the duality gap is at most Tol·P₀ and the estimated remaining distance, by linear
	// extrapolation of the last changes, is at most Tol for
	//   - the iterates: √Lⱼ|Δβⱼ| in an epoch, relative to √(2P₀), and
	//   - the gradient, relative to its largest entry, or to 1e-6 of the bound
	//     ‖∂C/∂m‖·‖∂m/∂λ‖ if that is more, as next to a stationary point.
	// Forward methods have the gradient of each epoch. Backward methods have it after the reverse sweep,
	// where the remaining distance is what epochs before the first would have added; where it is too large
	// they run half as many epochs more. 0 means 1e-8; Tol is at least 1e-15 and below 1.
	Tol float64

	// Step is γ of PGD. 0 means 1/L, where L is the result of a power iteration plus 2 %. PCD uses 1/Lⱼ.
	Step float64

	// Start is β⁽⁰⁾, which does not depend on λ: J⁽⁰⁾ = 0. The zero value is β = 0.
	Start Point

	// MemoryBudget bounds, in bytes, the memory that grows with the run. Backward: the tape, 24 bytes for
	// each coordinate step that is not from 0 to 0. If the tape grows beyond the budget, the descent starts
	// again with about √(2·epochs) checkpoints of n + 1.5·s numbers each, and all but the last epochs are
	// computed twice; the results are the same to the bit. Forward with a weighted penalty: the Jacobian,
	// 8·t² bytes once or twice and as much for the Hessian of the squared loss, t the number of columns that
	// have been active; if it needs more, the error is of kind Limit. 0 means 256 MiB.
	MemoryBudget int64

	// Watch, if set, is called after every epoch of a forward method, and after every epoch that a backward
	// method has reversed.
	Watch func(*Progress)
}

// Progress is the argument of [Options.Watch]. Its slices belong to the solver: valid during the call, read
// only.
type Progress struct {
	Epoch   int  // from 1; in a reverse sweep it counts down
	Reverse bool // this is the reverse sweep
	// Gradient is Jᵀ∇C at this epoch's β; in a reverse sweep, the contribution of the epochs from this one
	// on. It has one entry per hyperparameter, or one per column where each column has its own.
	Gradient []float64
	Value    float64   // C
	Coef     []float64 // β by column; nil in a reverse sweep
	// Jacobian holds, per shared hyperparameter, ∂βⱼ/∂λ by column. Forward methods
	// only, and nil where each column has its own hyperparameter.
	Jacobian [][]float64
}

// Result is the derivative with its measures of accuracy. Its slices belong to the solver and change with its
// next call.
type Result struct {
	Support   []int32   // columns with βⱼ ≠ 0, ascending; samples for the SVM
	Coef      []float64 // their coefficients
	Intercept float64   // of the columns as they are; 0 without one
	Primal    []float64 // SVM: w = Σβᵢyᵢxᵢ; nil else

	Value float64 // C
	// Gradient is Jᵀ∇C: one entry per hyperparameter; where each column has its
	// own, one per column of Support.
	Gradient []float64

	Epochs int
	// Identified is the first epoch from which the generalized support stayed the same to the end: where
	// linear convergence begins.
	Identified int
	Gap        float64 // relative to P₀, recomputed from X
	KKT        float64 // max ρⱼ, see [model.Dual]
	// Margin is min 1 − |zⱼ|/αⱼ over the columns at 0, for the SVM min |1 − mᵢ| over the samples at a bound:
	// the distance of the point from points where derivatives are one-sided.
	Margin float64
	// Change is the estimated remaining distance, as in [Options].Tol; +Inf where it is too early to tell.
	Change float64

	Step float64 // γ of PGD
	// Entries of X visited in the descent and in the reverse sweep.
	ForwardEntries, ReverseEntries int64
	Recomputed                     int // epochs computed again from checkpoints

	// Status is Converged; Flat: the support is empty, so the derivative is 0 (for the SVM: no sample is at
	// C); Budget: the epochs were used up before Tol was met; NotConverged: the iterates diverge;
	// NotDifferentiable (not checked where Epochs is set): the system on the support is singular, as for
	// copies of columns, so that the limit of the iterates depends on their start; SupportUncertified: a
	// coordinate off the support is nearer to joining it than the KKT residual; or Cancelled, with a gradient
	// that is unfinished or absent.
	Status outcome.Status
}

// Solver differentiates the descent on one datafit of package model. The intercept, if any, is one more
// coordinate of the descent unless the loss is quadratic. A Solver holds O(n + p) numbers, a copy of the
// entries of X where rows have weights, and the memory that Options.MemoryBudget bounds. After the first
// epochs it allocates nothing per epoch. It is not safe for concurrent use.
type Solver struct{ engine engine }

// New returns a solver for a datafit. The error is an [outcome.Error] of kind Usage
// for a loss without a bound on its curvature, as steps are 1/L, and for datafits other than
// [model.Squared] and [model.Rowwise].
func New(fit model.Datafit) (*Solver, error) {
	f, err := newSmoothLoss(fit)
	if err != nil {
		return nil, err
	}
	s := &Solver{}
	n, _ := fit.View().Dims()
	s.engine.init(f, n)
	s.engine.fit, s.engine.point = fit, model.NewState(fit)
	s.engine.curvatureBound, _ = fit.Smoothness()
	return s, nil
}

// Solve minimises f + g and differentiates the iterates in the λ of g. The error is an [outcome.Error] about
// the arguments, which include a penalty with bounds, or of kind Limit where a forward Jacobian would exceed
// the budget. The result's status says whether the numbers can be trusted.
func (s *Solver) Solve(ctx context.Context, g model.Penalty, outer Outer, opts Options) (*Result, error) {
	e := &s.engine
	if err := e.setPenalty(g); err != nil {
		return nil, err
	}
	e.null = e.fit.Null()
	return e.solve(ctx, outer, opts)
}

// Rate returns the spectral radius of the derivative of one epoch of a method at a
// point: the rate at which the Jacobian converges, per epoch, once the support is
// that of the point (theorem 3.2). It is estimated by power iteration, to about a
// thousandth of 1 − rate; 0 on an empty support. Options other than Method, Step
// and Start (the point) are ignored.
func (s *Solver) Rate(ctx context.Context, g model.Penalty, opts Options) (float64, error) {
	e := &s.engine
	if err := e.setPenalty(g); err != nil {
		return 0, err
	}
	return e.rateAt(ctx, opts)
}

func (e *engine) setPenalty(g model.Penalty) error {
	_, p := e.fit.View().Dims()
	switch c := g.Columns(); {
	case g.Hyperparameters() == 0:
		return outcome.Errorf(outcome.BadParameter, "the penalty has no hyperparameter: use a constructor of package model")
	case c >= 0 && c != p:
		return outcome.Errorf(outcome.Shape, "%d strengths for %d columns", c, p)
	case g.Bounded():
		return outcome.Errorf(outcome.Usage, "bounds on coefficients have derivatives by package implicit alone")
	}
	e.penalty, e.perColumn = g, g.PerColumn()
	count := g.Hyperparameters()
	if e.perColumn {
		count = p
	}
	e.resizeGradient(count)
	return nil
}

// SVM is like [Solver], for the dual of a support vector machine: the coordinates are the samples, and the
// one hyperparameter is ln C.
type SVM struct{ engine engine }

// NewSVM returns a solver for an SVM.
func NewSVM(fit *model.SVM) *SVM {
	s := &SVM{}
	n, p := fit.Dims()
	s.engine.init(newDualLoss(fit), n)
	s.engine.svm, s.engine.primal, s.engine.curvatureBound = fit, make([]float64, p), 1
	return s
}

// Solve minimises the dual objective over the box of C = e^logC and differentiates
// the iterates in logC. Errors are as for [Solver.Solve].
func (s *SVM) Solve(ctx context.Context, logC float64, outer Outer, opts Options) (*Result, error) {
	e := &s.engine
	if err := e.setC(logC); err != nil {
		return nil, err
	}
	e.null = e.svm.Null(e.c)
	return e.solve(ctx, outer, opts)
}

// Rate is [Solver.Rate] for the SVM.
func (s *SVM) Rate(ctx context.Context, logC float64, opts Options) (float64, error) {
	e := &s.engine
	if err := e.setC(logC); err != nil {
		return 0, err
	}
	return e.rateAt(ctx, opts)
}

func (e *engine) setC(logC float64) error {
	c, err := e.svm.Strength(logC)
	if err != nil {
		return err
	}
	e.c = c
	e.resizeGradient(1)
	return nil
}

// resolve sets the defaults and returns an error for invalid options.
func (o Options) resolve() (Options, error) {
	if o.Tol == 0 {
		o.Tol = 1e-8
	}
	if o.MaxEpochs == 0 {
		o.MaxEpochs = 10000
	}
	if o.MemoryBudget == 0 {
		o.MemoryBudget = 256 << 20
	}
	switch {
	case o.Method < 0 || o.Method >= methods:
		return o, outcome.At(outcome.Usage, "method", "no such method: %d", int(o.Method))
	case !(o.Tol >= 1e-15 && o.Tol < 1):
		return o, outcome.At(outcome.BadParameter, "tol", "the tolerance must be at least 1e-15, and below 1; got %g", o.Tol)
	case o.Epochs < 0:
		return o, outcome.At(outcome.BadParameter, "epochs", "a number of epochs cannot be negative")
	case o.MaxEpochs < 0:
		return o, outcome.At(outcome.BadParameter, "max-epochs", "a number of epochs cannot be negative")
	case o.MemoryBudget < 0:
		return o, outcome.At(outcome.BadParameter, "memory-budget", "a budget cannot be negative")
	case !(o.Step >= 0) || math.IsInf(o.Step, 1):
		return o, outcome.At(outcome.BadParameter, "step", "a step must be finite and not negative")
	}
	return o, nil
}

// checkStart returns an error for a start that does not fit the problem.
func (e *engine) checkStart(at Point) error {
	if len(at.Support) != len(at.Coef) {
		return outcome.At(outcome.Shape, "start", "%d columns, %d coefficients", len(at.Support), len(at.Coef))
	}
	if math.IsNaN(at.Intercept) || math.IsInf(at.Intercept, 0) {
		return outcome.At(outcome.NonFinite, "start", "the intercept must be finite")
	}
	for k, j := range at.Support {
		bad := func(kind outcome.Kind, what string) error {
			return &outcome.Error{Kind: kind, Flag: "start", HasColumn: true, Column: int(j), Message: what}
		}
		b := at.Coef[k]
		switch {
		case j < 0 || int(j) >= e.p || j == e.unpenalised:
			return bad(outcome.Shape, "no such column")
		case k > 0 && j <= at.Support[k-1]:
			return bad(outcome.Shape, "the support must be ascending")
		case math.IsNaN(b) || math.IsInf(b, 0):
			return bad(outcome.NonFinite, "a coefficient must be finite")
		}
	}
	return nil
}
