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

// rowAscent begins solving a ridge alone, with a loss that is not quadratic, by coordinate
// ascent on the dual problem: a row at a time, while β = Σᵢsᵢρ̃ᵢxᵢ/(Nα₂) follows the dual
// variables ρ̃ (Hsieh et al., ICML 2008; Shalev-Shwartz and Zhang, JMLR 14, 2013). The best ρ̃ᵢ is
// the slope of the loss at the prediction that it leads to, whatever the loss. A sweep meets every
// entry twice, a step of Newton's method many times, and few sweeps do where Nα₂ is not small
// beside the curvature of single rows. Where they get ahead too slowly, Newton's method goes on
// from what they have reached.
//
// That is the mean of β over the last sweep. The dual variable of a row is the slope at the β that
// its visit has left, so that slopes at the mean are off ρ̃ by differences that cancel along the
// directions that many rows share. Along these the last β has most of its gap.
//
// An intercept takes a step of Newton's method after every sweep.
type rowAscent struct {
	sweeps rowSweeps // nil: rows are not swept
	visits rowVisits
	box    rowBox

	row   []dualRow // of positive weight, as they lie in memory
	runs  []int32   // of rows, in the order in which the last sweep has met them
	w     []float64 // β by column
	shift float64   // the intercept of rows that are not centred

	columns []int32 // of all entries, by rows
	values  []float64
	entries float64   // how many are of the rows
	point   []float64 // β by column, of the point that is certified
	meeting meeting

	estimate  float64 // of the relative gap, as the last sweep met it
	rate      float64 // by how much that is less than the sweep before met
	goal      float64 // what the estimate is to be
	price     float64 // of a sweep
	moved     bool    // β has been moved
	certified float64 // relative gap of the last certificate
	objective float64 // where sweeps began
	random    random.SplitMix64
}

// rowSweeps are the sweeps under a loss.
type rowSweeps interface {
	// begin states the problem at ρ̃ = 0.
	begin(s *Solver)
	// sweep meets the rows by runs, and moves w, the intercept, the estimate and the price. It returns false
	// where ctx ended.
	sweep(ctx context.Context, s *Solver) bool
	// added returns what times xᵢ the last sweep has added to w, for each row.
	added(s *Solver) []float64
}

// dualRow is a row of X: what a visit needs lies together.
type dualRow struct {
	from   int64 // its first entry
	length int32
	index  int32
	square float64 // ‖xᵢ‖²
	weight float64 // sᵢ
}

const (
	rowMargin    = 0.5 // of the tolerance, that estimates are to reach
	fewestSweeps = 3
	fastest      = 0.03 // rate that is believed
	insteadOf    = 2    // Newton steps, at whose price sweeps are given up before their first certificate
	pollRuns     = 1 << 9
)

// start prepares sweeps for a solve from β = 0, where they may be of use.
func (a *rowAscent) start(s *Solver) {
	a.sweeps = nil
	fit, ok := s.fit.(*model.Rowwise)
	if !ok || s.in.store.Dense() || len(s.sol.Coef) > 0 && s.k.MaxAbs(s.sol.Coef) > 0 {
		return
	}
	switch {
	case a.box.under(fit):
		a.sweeps = &a.box
	case a.visits.under(fit):
		a.sweeps = &a.visits
	default:
		return
	}
	a.take(s.view)
	clear(a.w)
	for k := range a.runs {
		a.runs[k] = int32(k)
	}
	a.random, a.estimate, a.moved = 0, 0, false
	a.sweeps.begin(s)
}

// take lists the rows of positive weight, with their entries as the view has them.
func (a *rowAscent) take(v *sparse.View) {
	if a.w == nil {
		n, p := v.Dims()
		rows, weights := sparse.Transpose(v.Matrix()), v.Weights()
		a.columns, a.values = rows.Arrays()
		if v.Scaled() {
			plain := a.values
			a.values = make([]float64, len(plain))
			for k, j := range a.columns {
				a.values[k] = v.Scale(int(j)) * plain[k]
			}
		}
		a.row = make([]dualRow, 0, n)
		for _, i := range everyColumn(rows) {
			weight := 1.0
			if weights != nil {
				weight = weights[i]
			}
			if weight == 0 {
				continue
			}
			from, to := rows.Span(int(i))
			square := v.Kernels().Dot(a.values[from:to], a.values[from:to])
			a.row = append(a.row, dualRow{from, int32(to - from), i, square, weight})
			a.entries += float64(to - from)
		}
		a.w, a.point, a.runs = make([]float64, p), make([]float64, p), make([]int32, (len(a.row)+swath-1)/swath)
	}
}

// of returns the entries of a row.
func (a *rowAscent) of(row *dualRow) (columns []int32, values []float64) {
	return a.columns[row.from:][:row.length], a.values[row.from:][:row.length]
}

// fitByRows moves the state to the gathered point, where the rows are at hand: their products with
// β read X and β in order, where adding columns writes all over the rows. It reports whether it has.
func (s *Solver) fitByRows() bool {
	a := &s.ridge.ascent
	fit, ok := s.fit.(*model.Rowwise)
	if n, _ := s.view.Dims(); !ok || !s.pen.Quadratic() || len(a.row) < n { // rows are held out, or were not asked for
		return false
	}
	s.k.Clear(a.point)
	a.meeting.s, a.meeting.mean = s, 0
	for k, j := range s.set.columns {
		b := s.beta[s.set.places[k]]
		a.point[j] = b
		a.meeting.mean = math.FMA(s.view.Mean(int(j)), b, a.meeting.mean)
	}
	fit.Begin(s.state)
	team := s.view.Team()
	team.Do(team.Cuts(float64(sparseValue*a.entries)), &a.meeting)
	fit.Move(s.state, s.state)
	return true
}

// meeting is the products of all rows with β.
type meeting struct {
	s    *Solver
	mean float64 // what centring takes from each
}

// Part implements [team.Task].
func (m *meeting) Part(k, of int) {
	s, a := m.s, &m.s.ridge.ascent
	pace, size := s.k.Pace(), len(a.row)
	rows := a.row[size*k/of : size*(k+1)/of]
	for k := range rows {
		row := &rows[k]
		pace.Did(int(row.length))
		columns, values := a.of(row)
		s.state.Linear[row.index] += s.k.DotIndexed(values, columns, a.point) - m.mean
	}
}

// everyColumn returns the columns of a matrix in storage order, and those without entries after them.
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

// pays reports that sweeps are expected to take the gap certified to the tolerance at less than the
// price of Newton's method. The first may always try.
func (a *rowAscent) pays(s *Solver, tol float64) bool {
	if a.sweeps == nil {
		return false
	}
	if !a.moved {
		a.goal, a.certified = tol, math.Inf(1)
		return true
	}
	// The certificate's dual point is not that of the sweeps, and worse.
	gap := s.sol.RelativeGap
	a.goal = float64(rowMargin * tol / gap * a.expected())
	if a.sweepsTo(a.goal)*a.price > s.ridge.price || gap > 0.5*a.certified {
		a.sweeps = nil
	}
	a.certified = gap
	return a.sweeps != nil
}

// expected returns the estimate after the last sweep, which the next would meet.
func (a *rowAscent) expected() float64 { return a.estimate * a.rate }

// sweepsTo returns how many more sweeps are expected until the estimate is so low.
func (a *rowAscent) sweepsTo(goal float64) float64 {
	switch {
	case a.expected() <= goal:
		return 0
	case !(a.rate < 1):
		return math.Inf(1)
	default:
		return kernels.Log(goal/a.expected()) / kernels.Log(a.rate)
	}
}

// failed reports that sweeps have led to a point worse than where they began, and makes that the
// point again.
func (a *rowAscent) failed(s *Solver) bool {
	if !a.moved || s.sol.Objective <= a.objective {
		return false
	}
	a.sweeps, a.moved = nil, false
	s.backToZero()
	return true
}

// sweepRows sweeps until the gap is expected to be good or Newton's method to be cheaper, and moves β
// there. It returns false where ctx ended; β is what it was then.
func (s *Solver) sweepRows(ctx context.Context) bool {
	r := &s.ridge
	a := &r.ascent
	if !a.moved {
		a.objective = s.sol.Objective
	}
	a.shift = s.sol.Intercept
	for _, j := range s.view.Matrix().Order() {
		if s.view.Norm(int(j)) == 0 { // constant: β has it not, but w may
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
		s.in.left--
		s.in.work += a.price
		a.rate = 1
		if before > 0 && a.estimate < before {
			a.rate = max(fastest, a.estimate/before)
		}
		left := a.sweepsTo(a.goal)
		if a.moved || sweeps >= fewestSweeps {
			price := left * a.price
			if left == 0 || price > insteadOf*r.price {
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

// meanOfSweep sets the point to the mean of w over the last sweep: to the last w, less what each row
// has added times the share of the rows that came before it.
func (s *Solver) meanOfSweep() {
	a := &s.ridge.ascent
	s.k.Copy(a.point, a.w)
	pace, added, met := s.k.Pace(), a.sweeps.added(s), 0.0
	share := 1 / float64(len(a.row))
	for _, run := range a.runs {
		from, to := a.span(run)
		for k := from; k < to; k++ {
			if by := added[k]; by != 0 {
				columns, values := a.of(&a.row[k])
				pace.Did(len(values))
				s.k.AxpyIndexed(-by*share*met, values, columns, a.point)
			}
			met++
		}
	}
	s.in.work += float64(updateValue * a.entries)
}

// shuffle puts runs of rows in random order: it converges several times as fast as their own,
// and runs keep the entries of neighbours together.
func (a *rowAscent) shuffle() {
	for i := len(a.runs) - 1; i > 0; i-- {
		j := a.random.Below(i + 1)
		a.runs[i], a.runs[j] = a.runs[j], a.runs[i]
	}
}

// span returns where a run begins and ends.
func (a *rowAscent) span(run int32) (from, to int) {
	from = int(run) * swath
	return from, min(from+swath, len(a.row))
}
