package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// rowAscent starts to solve a ridge alone, with a loss that is not quadratic, by coordinate
// ascent on the dual problem: a row at a time, while β = Σᵢsᵢρ̃ᵢxᵢ/(Nα₂) follows the dual
// variables ρ̃ (Hsieh et al., ICML 2008; Shalev-Shwartz and Zhang, JMLR 14, 2013). The best ρ̃ᵢ is
// the slope of the loss at the prediction to which it leads, whatever the loss. A sweep reads every
// entry twice, a Newton step many times, and few sweeps suffice where Nα₂ is not small beside the
// curvature of single rows. If sweeps progress too slowly, Newton's method continues from the point
// that they have reached.
//
// This point is the mean of β over the last sweep. The dual variable of a row is the slope at the β
// right after its visit, so slopes at the mean differ from ρ̃ by terms that cancel along directions
// that many rows share. The last β has most of its gap along these directions.
//
// The intercept takes a Newton step after every sweep.
type rowAscent struct {
	sweeps rowSweeps // nil: rows are not swept
	visits rowVisits
	box    rowBox

	rows  []dualRow // the rows of positive weight, in the order of memory
	runs  []int32   // of rows, in the order of the last sweep
	w     []float64 // β by column
	shift float64   // the intercept for rows that are not centred

	columns     []int32 // of all entries, by rows
	values      []float64
	entries     float64   // the number of entries of these rows
	point       []float64 // β by column, at the point to be certified
	predictions predictionTask

	estimate  float64 // of the relative gap, accumulated during the last sweep
	rate      float64 // the estimate relative to that of the sweep before
	goal      float64 // the estimate at which sweeps end
	price     float64 // of a sweep
	moved     bool    // sweeps have moved β in this solve
	certified float64 // relative gap of the last certificate
	objective float64 // where sweeps began
	random    random.SplitMix64
}

// rowSweeps is the sweep for a class of losses.
type rowSweeps interface {
	// begin sets the problem up at ρ̃ = 0.
	begin(s *Solver)
	// sweep visits the rows by runs, and updates w, the intercept, the estimate and the price. It returns false
	// if ctx ended.
	sweep(ctx context.Context, s *Solver) bool
	// added returns, for each row, the multiple of xᵢ that the last sweep added to w.
	added(s *Solver) []float64
}

// dualRow is a row of X, with the numbers that a visit needs next to each other in memory.
type dualRow struct {
	from   int64 // its first entry
	length int32
	index  int32
	square float64 // ‖xᵢ‖²
	weight float64 // sᵢ
}

const (
	rowMargin       = 0.5 // the share of the tolerance that estimates have to reach
	fewestSweeps    = 3
	fastestRate     = 0.03   // the smallest rate that is trusted
	mostNewtonSteps = 2      // sweeps stop when those still needed are expected to cost more than this number of Newton steps
	pollRuns        = 1 << 9 // runs from one check of the context to the next
)

// start prepares sweeps for a solve from β = 0, if the loss has them.
func (a *rowAscent) start(s *Solver) {
	a.sweeps = nil
	fit, ok := s.fit.(*model.Rowwise)
	if !ok || s.in.store.Dense() || len(s.sol.Coef) > 0 && s.k.MaxAbs(s.sol.Coef) > 0 {
		return
	}
	switch {
	case a.box.supports(fit):
		a.sweeps = &a.box
	case a.visits.supports(fit):
		a.sweeps = &a.visits
	default:
		return
	}
	a.loadRows(s.view)
	clear(a.w)
	for k := range a.runs {
		a.runs[k] = int32(k)
	}
	a.random, a.estimate, a.moved = 0, 0, false
	a.sweeps.begin(s)
}

// loadRows lists the rows of positive weight, with their entries scaled as in the view.
func (a *rowAscent) loadRows(v *sparse.View) {
	if a.w == nil {
		n, p := v.Dims()
		byRows, weights := sparse.Transpose(v.Matrix()), v.Weights()
		a.columns, a.values = byRows.Arrays()
		if v.Scaled() {
			plain := a.values
			a.values = make([]float64, len(plain))
			for k, j := range a.columns {
				a.values[k] = v.Scale(int(j)) * plain[k]
			}
		}
		a.rows = make([]dualRow, 0, n)
		for _, i := range everyColumn(byRows) {
			weight := 1.0
			if weights != nil {
				weight = weights[i]
			}
			if weight == 0 {
				continue
			}
			from, to := byRows.Span(int(i))
			square := v.Kernels().Dot(a.values[from:to], a.values[from:to])
			a.rows = append(a.rows, dualRow{from, int32(to - from), i, square, weight})
			a.entries += float64(to - from)
		}
		a.w, a.point, a.runs = make([]float64, p), make([]float64, p), make([]int32, (len(a.rows)+runLength-1)/runLength)
	}
}

// entriesOf returns the entries of a row.
func (a *rowAscent) entriesOf(row *dualRow) (columns []int32, values []float64) {
	return a.columns[row.from:][:row.length], a.values[row.from:][:row.length]
}

// fitByRows moves the state to the gathered point if X is available by rows: products of rows with β
// read X and β in order, whereas adding columns writes to scattered rows. It reports whether it did.
func (s *Solver) fitByRows() bool {
	a := &s.ridge.ascent
	fit, ok := s.fit.(*model.Rowwise)
	if n, _ := s.view.Dims(); !ok || !s.pen.Quadratic() || len(a.rows) < n { // rows are held out, or were not asked for
		return false
	}
	s.k.Clear(a.point)
	a.predictions.s, a.predictions.mean = s, 0
	for k, j := range s.set.columns {
		b := s.beta[s.set.places[k]]
		a.point[j] = b
		a.predictions.mean = math.FMA(s.view.Mean(int(j)), b, a.predictions.mean)
	}
	fit.Begin(s.state)
	team := s.view.Team()
	team.Do(team.Cuts(float64(sparseValue*a.entries)), &a.predictions)
	fit.Move(s.state, s.state)
	return true
}

// predictionTask is the task of computing the products of all rows with β.
type predictionTask struct {
	s    *Solver
	mean float64 // what centring subtracts from each product
}

// Part implements [team.Task].
func (m *predictionTask) Part(k, of int) {
	s, a := m.s, &m.s.ridge.ascent
	pace, size := s.k.Pace(), len(a.rows)
	rows := a.rows[size*k/of : size*(k+1)/of]
	for k := range rows {
		row := &rows[k]
		pace.Did(int(row.length))
		columns, values := a.entriesOf(row)
		s.state.Linear[row.index] += s.k.DotIndexed(values, columns, a.point) - m.mean
	}
}

// everyColumn returns the columns of a matrix in storage order, followed by the columns without entries.
func everyColumn(x sparse.Matrix) []int32 {
	all := slices.Clone(x.Order())
	_, p := x.Dims()
	for j := range p {
		if x.Place(j) < 0 {
			all = append(all, int32(j))
		}
	}
	return all
}

// pays reports whether sweeps are expected to reduce the certified gap to the tolerance for less than
// the price of a Newton step. Before the first sweeps it returns true.
func (a *rowAscent) pays(s *Solver, tol float64) bool {
	if a.sweeps == nil {
		return false
	}
	if !a.moved {
		a.goal, a.certified = tol, math.Inf(1)
		return true
	}
	// The dual point of the certificate is worse than that of the sweeps: the goal allows for the ratio of their gaps.
	gap := s.sol.RelativeGap
	a.goal = float64(rowMargin * tol / gap * a.nextEstimate())
	if a.sweepsTo(a.goal)*a.price > s.ridge.price || gap > 0.5*a.certified {
		a.sweeps = nil
	}
	a.certified = gap
	return a.sweeps != nil
}

// nextEstimate returns the estimate that the next sweep is expected to find.
func (a *rowAscent) nextEstimate() float64 { return a.estimate * a.rate }

// sweepsTo returns how many more sweeps are expected until the estimate reaches the goal.
func (a *rowAscent) sweepsTo(goal float64) float64 {
	switch {
	case a.nextEstimate() <= goal:
		return 0
	case !(a.rate < 1):
		return math.Inf(1)
	default:
		return kernels.Log(goal/a.nextEstimate()) / kernels.Log(a.rate)
	}
}

// failed reports whether sweeps have led to a worse point than the one where they began, and then
// returns to β = 0.
func (a *rowAscent) failed(s *Solver) bool {
	if !a.moved || s.sol.Objective <= a.objective {
		return false
	}
	a.sweeps, a.moved = nil, false
	s.backToZero()
	return true
}

// sweepRows sweeps until the gap is expected to be within the tolerance, or Newton's method to be
// cheaper, and moves β. It returns false if ctx ended, and then leaves β unchanged.
func (s *Solver) sweepRows(ctx context.Context) bool {
	r := &s.ridge
	a := &r.ascent
	if !a.moved {
		a.objective = s.sol.Objective
	}
	a.shift = s.sol.Intercept
	for _, j := range s.view.Matrix().Order() {
		if s.view.Norm(int(j)) == 0 { // a constant column: its coefficient is 0 in β, but perhaps not in w
			a.shift = math.FMA(-s.view.Mean(int(j)), a.w[j], a.shift)
		}
	}
	for sweeps := 1; ; sweeps++ {
		before := a.estimate
		a.shuffle()
		if !a.sweeps.sweep(ctx, s) {
			return false
		}
		s.sol.Epochs++
		s.in.epochsLeft--
		s.in.work += a.price
		a.rate = 1
		if before > 0 && a.estimate < before {
			a.rate = max(fastestRate, a.estimate/before)
		}
		left := a.sweepsTo(a.goal)
		if a.moved || sweeps >= fewestSweeps {
			price := left * a.price
			if left == 0 || price > mostNewtonSteps*r.price {
				break
			}
		}
		if s.in.exhausted() {
			break
		}
	}
	a.moved = true
	s.meanOfSweep()
	for k, j := range r.columns {
		s.beta[r.places[k]] = a.point[j]
	}
	return true
}

// meanOfSweep sets the point to the mean of w over the last sweep: the last w, less what each row
// has added times the fraction of the rows that were visited before it.
func (s *Solver) meanOfSweep() {
	a := &s.ridge.ascent
	s.k.Copy(a.point, a.w)
	pace, added, met := s.k.Pace(), a.sweeps.added(s), 0.0
	share := 1 / float64(len(a.rows))
	for _, run := range a.runs {
		from, to := a.span(run)
		for k := from; k < to; k++ {
			if by := added[k]; by != 0 {
				columns, values := a.entriesOf(&a.rows[k])
				pace.Did(len(values))
				s.k.AxpyIndexed(-by*share*met, values, columns, a.point)
			}
			met++
		}
	}
	s.in.work += float64(updateValue * a.entries)
}

// shuffle puts runs of rows in random order: sweeps converge several times as fast as in the stored
// order, and runs keep the entries of neighbours together.
func (a *rowAscent) shuffle() {
	for i := len(a.runs) - 1; i > 0; i-- {
		j := a.random.Below(i + 1)
		a.runs[i], a.runs[j] = a.runs[j], a.runs[i]
	}
}

// span returns where a run begins and ends.
func (a *rowAscent) span(run int32) (from, to int) {
	from = int(run) * runLength
	return from, min(from+runLength, len(a.rows))
}
