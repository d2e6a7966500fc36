package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/support"
)

// unpenalised are the columns with strength 0. A dual point has to be orthogonal to them,
// which no scaling achieves. So before a point is certified, the objective is minimised
// over their coefficients, as over the intercept, with the other coefficients fixed, which
// projects the residual. In sweeps and Newton steps they are like other columns, without a
// kink at zero.
type unpenalised struct {
	columns []int32 // ascending, without columns that have no entries
	reduction
	step      []float64 // by position
	from      []float64 // coefficients where the step begins
	shift     float64   // the intercept there
	slope     []float64 // minus the gradient of the objective in the basis
	basisStep []float64 // the step in the basis
	stalled   bool      // Newton's method ended where no step decreases the loss
}

const (
	// mostUnpenalised bounds the size of the linear system for their coefficients.
	mostUnpenalised = 2000
	// projections: the second removes the rounding errors of the first.
	projections = 2
	// mostReleases bounds the Newton steps of a loss that is not quadratic.
	mostReleases = 50
	// leastDecrement is the least Newton decrement, which bounds the remaining gap, relative to P₀, of a step worth taking.
	leastDecrement = 1e-26
	// farOff is the objective, relative to P₀, below which a solution under an exponential loss is solved again relative to itself.
	farOff = 1e-6
	// releasedExcess is the excess of the objective over its minimum in these coefficients, relative to P₀, that may be rounding.
	releasedExcess = 1e-10
	// orthogonal is the largest cosine between a column and the residual that counts as orthogonal.
	orthogonal = 1e-10
)

// find lists the unpenalised columns of the solver's penalty, and factorises their
// system.
func (u *unpenalised) find(s *Solver) error {
	u.columns, s.in.newton.basis.reduction = u.columns[:0], nil
	if !s.pen.Unpenalised() {
		return nil
	}
	_, p := s.view.Dims()
	for j := range p {
		if s.pen.Smooth(j) && s.view.Norm(j) > 0 {
			u.columns = append(u.columns, int32(j))
		}
	}
	if len(u.columns) > mostUnpenalised {
		return outcome.At(outcome.Limit, "log-lambda", "%d columns are unpenalised, but at most %d may be", len(u.columns), mostUnpenalised)
	}
	if !slices.Equal(u.columns, u.known) {
		u.init(s.view)
		u.alwaysFlat = nil
		s.in.work += u.reduce(u.columns, s.view.Weights())
		u.alwaysFlat = slices.Clone(u.flat)
	}
	s.in.newton.basis.reduction = &u.reduction
	return nil
}

// nearlyDepend reports whether some unpenalised columns nearly depend on others.
func (u *unpenalised) nearlyDepend() bool { return len(u.columns) > 0 && len(u.remainders) > 0 }

// eliminate minimises the objective over the unpenalised coefficients of the gathered
// point, with the other coefficients fixed, and updates the state.
func (s *Solver) eliminate() {
	u := &s.unpenalised
	switch {
	case len(u.columns) == 0:
	case s.curved != nil:
		s.eliminateCurved()
	default:
		for range projections {
			s.newtonStep()
			s.startRelease()
			s.release(1)
		}
	}
}

// newtonStep sets the step of the unpenalised coefficients to the Newton step, and returns its decrement: twice the
// predicted decrease.
func (s *Solver) newtonStep() (decrement float64) {
	u, total := &s.unpenalised, s.view.Total()
	u.step, u.slope, u.basisStep = grow(u.step, len(u.columns)), grow(u.slope, len(u.basis)), grow(u.basisStep, len(u.basis))
	for k, j := range u.basis {
		u.slope[k] = s.view.Dot(int(j), s.state.Weighted) / total
	}
	s.payDots(s.entries(u.basis))
	s.in.work += support.DenseCost(len(u.remainders) * len(s.state.Weighted))
	copy(u.basisStep, u.slope)
	u.factor.Solve(u.basisStep)
	clear(u.step)
	for k, at := range u.basisPositions {
		u.step[at] = u.basisStep[k]
	}
	decrement = s.k.Dot(u.slope, u.basisStep)
	for _, r := range u.remainders {
		slope := s.k.Dot(r.values, s.state.Weighted)
		s.k.Axpy(slope/r.square, r.combination, u.step)
		decrement += slope / r.square * slope / total
	}
	return decrement
}

// startRelease makes the gathered point the start of a step of the unpenalised coefficients.
func (s *Solver) startRelease() {
	u := &s.unpenalised
	u.from = grow(u.from, len(u.columns))
	for k, j := range u.columns {
		u.from[k] = s.beta[s.cert.place(j)]
	}
	u.shift = s.state.Intercept
}

// release sets the unpenalised coefficients of the gathered point to their start plus length times
// their step, and updates the state.
func (s *Solver) release(length float64) {
	u, at := &s.unpenalised, 0
	for k, j := range s.sol.Support {
		if at < len(u.columns) && u.columns[at] == j {
			coef := u.from[at]
			if length > 0 {
				coef = math.FMA(length, u.step[at], coef)
			}
			s.sol.Coef[k], s.coef[k] = coef, coef // without duplicates both have the same columns
			s.beta[s.cert.place(j)] = coef
			at++
		}
	}
	s.state.Intercept = u.shift // from far out, where there is no curvature, there may be no way back
	s.refit()
}

// eliminateCurved is eliminate for a loss that is not quadratic: by Newton's method, with steps
// halved while the loss rises, and damping where no step decreases it.
func (s *Solver) eliminateCurved() {
	u := &s.unpenalised
	var damping damping
	d := make([]float64, len(s.state.Weighted))
	u.stalled = true
	predicted, fell := math.Inf(1), true
	for range mostReleases {
		s.curved.Curvature(s.state, d)
		if damping > 0 {
			s.curved.Dampen(s.state, float64(damping), d)
		}
		u.store.Reweigh(d)
		s.in.work += u.reduce(u.columns, d)
		before, loss := predicted, s.state.Loss
		if predicted = s.newtonStep(); predicted <= float64(leastDecrement*s.null) || (!fell || predicted <= s.unpenalisedRounding()) && predicted > before/2 {
			u.stalled = damping > 0
			return // the rest is rounding
		}
		length := s.descendReleased()
		fell = s.state.Loss < loss || length < 1 || damping > 0
		if (length == 0 || length == 1) && !damping.adapt(length) {
			return
		}
	}
}

// unpenalisedRounding returns the change of the loss that rounding in the unpenalised part of the predictions may cause.
func (s *Solver) unpenalisedRounding() float64 {
	u, total := &s.unpenalised, s.view.Total()
	size := 0.0
	for _, j := range u.columns {
		size += float64(math.Abs(s.beta[s.cert.place(j)]) * u.length(j))
	}
	return 0x1p-53 * size * math.Sqrt(s.k.Dot(s.state.Weighted, s.state.Residual)) / total
}

// descendReleased moves the unpenalised coefficients by the longest of the steps 1, ½, ¼, … that
// does not increase the loss, and returns its length, 0 if all of them do.
func (s *Solver) descendReleased() (length float64) {
	allowed := s.state.Loss + max(float64(modelRoundoff*s.null), s.unpenalisedRounding())
	s.startRelease()
	length = 1
	for range 1 + halvings {
		if s.release(length); s.state.Loss <= allowed {
			return length
		}
		length /= 2
	}
	s.release(0)
	return 0
}

// unpenalisedGap returns how much the objective might still fall if only the unpenalised coefficients moved: half the decrement
// of the Newton step, which is rounding where elimination succeeded. It returns +Inf where elimination failed: where the
// loss has no minimum over them, or a column that nearly depends on the others is not orthogonal to the residual.
func (s *Solver) unpenalisedGap() float64 {
	u := &s.unpenalised
	if len(u.columns) == 0 {
		return 0
	}
	gap := 0.5 * s.newtonStep()
	if !(gap <= float64(releasedExcess*s.null)) || u.stalled && !s.orthogonal(u.basis) || !s.flatOrthogonal() {
		return math.Inf(1)
	}
	return max(0, gap)
}

// orthogonal reports whether the residual is orthogonal to some columns.
func (s *Solver) orthogonal(columns []int32) bool {
	norm := math.Sqrt(s.k.Dot(s.state.Weighted, s.state.Residual)) // ‖r‖ₛ
	for _, j := range columns {
		size := s.view.Norm(int(j)) * norm
		if !(math.Abs(s.view.Dot(int(j), s.state.Weighted)) <= orthogonal*size) {
			return false
		}
	}
	return true
}

// NewReleased is [NewFrom] for a problem with unpenalised columns, which have weight 0 in
// [model.Penalty.Weighted]. It fits them alone and returns this null model with a solver that starts
// from it and whose gaps are relative to its objective. The error is that of the solve, or of ctx.
func NewReleased(ctx context.Context, null *model.Null, weights []float64, opts Options) (*Solver, *model.Null, error) {
	alone := make([]float64, len(weights))
	for j, w := range weights {
		if alone[j] = math.Inf(1); w == 0 {
			alone[j] = math.Inf(-1)
		}
	}
	g, err := model.WeightedLasso(alone)
	if err != nil {
		return nil, nil, err
	}
	s := NewFrom(null)
	least := math.Inf(1)
	if rows, ok := null.Fit.(*model.Rowwise); ok && rows.Loss().Link() == loss.Log {
		least = rows.Negligible()
	}
	for far := true; far; {
		at, err := s.Solve(ctx, g, opts)
		if err != nil {
			return nil, nil, err
		}
		if at.Status == outcome.Cancelled {
			return nil, nil, outcome.Ended(ctx)
		}
		far = least < at.Objective && at.Objective < farOff*s.null
		s.RelativeTo(min(s.null, max(at.Objective, leastGap*s.null))) // a smaller objective is rounding
	}
	out := &model.Null{Fit: null.Fit, State: s.state, Correlation: make([]float64, len(s.cert.order))}
	s.view.Correlate(0, len(out.Correlation), s.state.Weighted, out.Correlation)
	norm := math.Sqrt(s.k.Dot(s.state.Weighted, s.state.Residual))
	for k, c := range out.Correlation {
		if math.Abs(c) <= orthogonal*float64(s.cert.norm[k]*norm) { // rounding, of columns that depend on the unpenalised ones: it must not decide αmax
			out.Correlation[k] = 0
		}
	}
	return s, out, nil
}
