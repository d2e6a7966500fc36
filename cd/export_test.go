package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// RidgeWays is the number of ways in which a ridge is solved.
const RidgeWays = 3

// ForceRidge makes a solver use the given way of solving a ridge, less than [RidgeWays].
func ForceRidge(s *Solver, way int) {
	s.planRidge()
	s.ridge.method = ridgeMethod(way)
}

// Thinned reports whether the last Solve used a model of a sample of the rows.
func Thinned(s *Solver) bool { return s.subsampling.draw != 0 }

// Reach returns, by column, a bound on the change of its correlation when the residual changes.
func Reach(view *sparse.View, change []float64) []float64 {
	_, p := view.Dims()
	w, reach := newScreening(view), make([]float64, p)
	w.step(view.SizeOf(slices.Clone(change)))
	for _, run := range w {
		for _, j := range view.Matrix().Order()[run.from:run.to] {
			reach[j] = view.Norm(int(j)) * run.length
		}
	}
	return reach
}

// Known returns the correlations X_jᵀ(s⊙r) that the last certificate has computed, by column.
func Known(s *Solver) map[int32]float64 {
	known := map[int32]float64{}
	for k, j := range s.cert.order {
		if s.cert.current.has(k) {
			known[j] = s.cert.corr[k]
		}
	}
	return known
}

// Met returns how many columns the last certificate could not skip, and how many products it has computed.
func Met(s *Solver) (columns, products int) {
	return s.cert.survivors.count(), s.cert.requested.count()
}

// Followed reports whether the last certificate has correlations of a point that was followed, and Strayed whether
// points are no longer followed because rounding has shown.
func Followed(s *Solver) bool { return s.followed.staleZeros }
func Strayed(s *Solver) bool  { return s.followed.disabled }

// Draw draws the rows of a model at the last solution, as a step from there would. It returns their weights by row,
// nil if all rows are to be used, and the curvature of all rows.
func Draw(s *Solver) (weights, curvature []float64) {
	s.startAtCertified()
	s.curved.Curvature(s.state, s.prox.curvature)
	if s.subsample() {
		weights = make([]float64, len(s.prox.curvature))
		for k, i := range s.subsampling.rows {
			weights[i] = s.subsampling.weights[k]
		}
	}
	return weights, s.prox.curvature
}

// Mislead makes a solver treat its last model of a sample as one that has not lowered the gap.
func Mislead(s *Solver) { s.judgeSubsample(1, true) }

// Step makes a solver judge a model of a sample: curvature is that of the model along a full step, which changes
// predictions by change, and length is the share of this step that was taken.
func Step(s *Solver, change []float64, curvature, length float64) {
	t := &s.subsampling
	t.before, t.curvature = slices.Clone(s.state.Linear), curvature
	for i, u := range change {
		s.state.Linear[i] += length * u
	}
	s.judgeSubsample(length, false)
}

// Intercept returns the intercept for centred columns.
func (s *Solver) Intercept() float64 { return s.state.Intercept }

// UndoStep takes a full step from the certified point, sets the intercept, undoes the step, and returns the intercept
// after that.
func UndoStep(s *Solver, intercept float64) (after float64) {
	s.startAtCertified()
	s.loadModel(false)
	s.takeFullStep()
	s.state.Intercept = intercept
	s.undoStep()
	return s.state.Intercept
}

// PerColumn returns the number of rows that are drawn for each column.
func PerColumn(s *Solver) int { return s.subsampling.rowsPerColumn }

// ForceRows makes a new solver of a ridge sweep over rows whatever a Newton step would cost.
func ForceRows(s *Solver) {
	s.planRidge()
	s.ridge.price = math.Inf(1)
}

// Prices of the cost model: of a row in computing the state of a loss that is not quadratic, of a column that a pass
// visits, and of an entry of a column that is added.
const (
	CurvedRow   = curvedRow
	VisitColumn = visitColumn
	UpdateValue = updateValue
)

// InnerGap returns the gap of the problem on the working set at the last solution, computed from the correlations
// there, and the number of columns in the set.
func InnerGap(s *Solver) (gap float64, columns int) {
	in := &s.in
	in.load(s, s.state.Weighted)
	defer in.unload(s)
	for k, b := range in.coef {
		in.grad[k] = in.engine.correlation(k) - float64(in.ridge*b)
	}
	return in.gap(), len(in.coef)
}

// SweepVectors is Solve by sweeps alone: at any cost, or, if whatever is false, while they cost less than a run of
// the interior-point method. It reports whether the sweeps reached the gap.
func SweepVectors(ctx context.Context, s *Vectors, logLambda []float64, opts Options, whatever bool) (sol *VectorsSolution, reached bool, err error) {
	c, epsilon, err := s.fit.Strengths(logLambda)
	if err != nil {
		return nil, false, err
	}
	s.begin(c, epsilon)
	price := s.interior.price(s)
	if whatever {
		price = math.Inf(1)
	}
	reached = s.sweep(ctx, opts.Tol*s.null, price, opts)
	s.finish()
	return &s.sol, reached, nil
}

// NewLargeVectors is NewVectors with every matrix too large to be factorised.
func NewLargeVectors(fit *model.Vectors) (*Vectors, error) { return newVectors(fit, 0) }

// NewWideVectors is NewVectors with exact solutions that start from sweeps, if these converge.
func NewWideVectors(fit *model.Vectors) (*Vectors, error) {
	s, err := NewVectors(fit)
	if err == nil {
		s.wide = true
	}
	return s, err
}

// Advances reports which iterations make progress, given the size of the working set, the gap and the objective of
// each.
func Advances(columns []int, gap, objective []float64, matters float64) (further []bool) {
	reached := unreached
	for i, size := range columns {
		further = append(further, reached.advance(size, gap[i], objective[i], matters))
	}
	return further
}

// A Drift decides which columns a descent visits.
type Drift struct {
	d    *drift
	view *sparse.View
}

// NewDrift returns a Drift under a penalty, with all correlations those at a point.
func NewDrift(view *sparse.View, at *model.ScorePoint, g model.Separable) Drift {
	d := newDrift(view, at)
	d.setPenalty(g)
	return Drift{d, view}
}

// To moves the residual to that of a point and returns the columns to visit there.
func (d Drift) To(at *model.ScorePoint, beta, z []float64) []int32 {
	d.d.move(d.view, at)
	return d.d.columnsToVisit(beta, z)
}

// Restart and Forget are the methods of drift.
func (d Drift) Restart(at *model.ScorePoint) { d.d.restart(d.view, at) }
func (d Drift) Forget(columns []int32)       { d.d.forget(columns) }

// Passes makes passes over the columns at arbitrary residuals, with all coefficients 0.
type Passes struct{ s *Solver }

// NewPasses returns Passes that know no correlation, or those of a null model.
func NewPasses(fit model.Datafit, null *model.Null) Passes {
	if null != nil {
		return Passes{NewFrom(null)}
	}
	return Passes{New(fit)}
}

// To makes a pass at a residual under a penalty. It returns the places that the pass does not skip, the cost of the
// pass, and the scale and the KKT residual of the dual point.
func (p Passes) To(residual []float64, g model.Penalty) (fresh []int32, cost, scale, kkt float64) {
	s := p.s
	s.pen = g
	s.cert.setPenalty(g, s.view.Total(), nil)
	s.cert.updateResidual(s.view, residual)
	s.view.Weigh(residual, s.state.Weighted)
	s.cert.dual = model.NewDual(s.fit, g, s.state)
	before := s.work()
	s.pass()
	s.accumulateDual()
	for k := range s.cert.order {
		if s.cert.survivors.has(k) {
			fresh = append(fresh, int32(k))
		}
	}
	return fresh, s.work() - before, s.cert.dual.Scale(), s.cert.dual.KKT()
}

// Reset is [Solver.Reset].
func (p Passes) Reset() { p.s.Reset() }

// Best returns the places of the best candidates of the last pass, as many as most, in ascending order.
func (p Passes) Best(most int) (best []int32) {
	s := p.s
	s.cert.scale = s.cert.dual.Scale()
	s.set.score(s, most)
	s.set.nominate(most)
	for _, c := range s.set.candidates {
		best = append(best, c.place)
	}
	slices.Sort(best)
	return best
}

// SweepsTo makes a solver sweep the working set that follows its last solution until the estimated gap is within a
// target, which is lowered by a known outer gap; 0: unknown. It returns the number of sweeps and the last estimate.
func SweepsTo(s *Solver, target, outer float64) (sweeps int, gap float64) {
	in, before := &s.in, s.sol.Epochs
	s.set.next(s)
	in.load(s, s.state.Weighted)
	in.epochsLeft, in.outerGap = 1000, outer
	in.solve(context.Background(), s, target, in.epochsLeft, math.Inf(1))
	return s.sol.Epochs - before, in.gap()
}

// Doubt makes a solver undo its last full step if that step has not been judged yet, and reports whether there was
// such a step.
func Doubt(s *Solver) bool {
	if s.prox.untried {
		s.prox.objective = math.Inf(-1)
	}
	return s.prox.untried
}

// Off returns by how much the predictions and correlations of the certified point differ from those that its
// coefficients give.
func Off(s *Solver) (predictions, correlations float64) {
	own := model.NewState(s.fit)
	s.fit.Fit(s.sol.Support, s.sol.Coef, own)
	for i, m := range own.Prediction {
		predictions = max(predictions, math.Abs(m-s.state.Prediction[i]))
	}
	for _, j := range s.active {
		correlations = max(correlations, math.Abs(s.view.Dot(int(j), own.Weighted)-s.cert.corr[s.cert.place(j)]))
	}
	return predictions, correlations
}
