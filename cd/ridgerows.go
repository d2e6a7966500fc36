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
// An intercept takes a step of Newton's method after every sweep.
type rowAscent struct {
	at    func(i int, linear float64) (slope, curvature float64) // nil: rows are not swept
	row   []dualRow                                              // of positive weight, as they lie in memory
	runs  []int32                                                // of rows, in the order in which they are visited
	w     []float64                                              // β by column
	shift float64                                                // the intercept of rows that are not centred

	columns []int32 // of all entries, by rows
	values  []float64
	point   []float64 // β by column, of the point that is certified
	meeting meeting

	concordance float64 // M of the loss, 0 where it has none
	floor       float64 // of curvatures, in the estimate of a gap
	estimate    float64 // of the relative gap, as the last sweep met it
	rate        float64 // by how much that is less than the sweep before met
	goal        float64 // what the estimate is to be
	slope       float64 // Σsᵢρᵢ, as the last sweep met it
	curvature   float64 // Σsᵢℓ″ᵢ, likewise
	price       float64 // of a sweep
	moved       bool    // β has been moved
	certified   float64 // relative gap of the last certificate
	objective   float64 // where sweeps began
	random      random.SplitMix64
}

// dualRow is a row of X: what a visit needs lies together.
type dualRow struct {
	from   int64 // its first entry
	length int32
	index  int32
	square float64 // ‖xᵢ‖²
	weight float64 // sᵢ
	dual   float64 // ρ̃ᵢ
}

const (
	rowSteps     = 6   // towards the best dual variable of a row, at most
	rowNear      = 0.1 // of a row's move, an error that is small enough
	rowVisit     = 30  // nanoseconds of a row, besides its entries
	rowVisitExp  = 160 // with a loss of exponentials: 150 to 180 on w8a
	rowMargin    = 0.5 // of the tolerance, that estimates are to reach
	fewestSweeps = 3
	fastest      = 0.03 // rate that is believed
	insteadOf    = 2    // Newton steps, at whose price sweeps are given up before their first certificate
	lookAhead    = 0.5  // of one, from whose price on that certificate comes early where curvature jumps: estimates may be far below it
	pollRuns     = 1 << 9
)

// start prepares sweeps for a solve from β = 0, where they may be of use.
func (a *rowAscent) start(s *Solver) {
	a.at = nil
	fit, ok := s.fit.(*model.Rowwise)
	if !ok || s.in.store.Dense() || len(s.sol.Coef) > 0 && s.k.MaxAbs(s.sol.Coef) > 0 {
		return
	}
	if a.at = fit.Pointwise(); a.at == nil {
		return
	}
	visit := float64(rowVisitExp)
	a.floor = 0
	if a.concordance, ok = s.curved.Concordance(); !ok {
		a.floor, _ = s.fit.Smoothness() // curvature jumps
		visit = rowVisit
	}
	a.take(s.view, visit)
	for k := range a.row {
		a.row[k].dual = 0
	}
	clear(a.w)
	a.random, a.estimate, a.moved = 0, 0, false
}

// take lists the rows of positive weight, with their entries as the view has them. A visit is what
// one costs besides its entries.
func (a *rowAscent) take(v *sparse.View, visit float64) {
	if a.w == nil {
		n, p := v.Dims()
		rows, weights, entries := sparse.Transpose(v.Matrix()), v.Weights(), 0.0
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
			a.row = append(a.row, dualRow{from, int32(to - from), i, square, weight, 0})
			entries += float64(to - from)
		}
		a.w = make([]float64, p)
		a.runs = make([]int32, (len(a.row)+swath-1)/swath)
		a.price = float64((sparseValue+updateValue)*entries) + float64(visit*float64(len(a.row)))
	}
	for k := range a.runs {
		a.runs[k] = int32(k)
	}
}

// fitByRows moves the state to the gathered point, where the rows are at hand: their products with
// β read X and β in order, where adding columns writes all over the rows. It reports whether it has.
func (s *Solver) fitByRows() bool {
	a := &s.ridge.ascent
	fit, ok := s.fit.(*model.Rowwise)
	if n, _ := s.view.Dims(); !ok || !s.pen.Quadratic() || len(a.row) < n { // rows are held out, or were not asked for
		return false
	}
	a.point = grow(a.point, len(a.w))
	s.k.Clear(a.point)
	a.meeting.s, a.meeting.mean = s, 0
	for k, j := range s.set.columns {
		b := s.beta[s.set.places[k]]
		a.point[j] = b
		a.meeting.mean = math.FMA(s.view.Mean(int(j)), b, a.meeting.mean)
	}
	fit.Begin(s.state)
	team := s.view.Team()
	team.Do(team.Parts(a.price), &a.meeting)
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
	for _, row := range a.row[size*k/of : size*(k+1)/of] {
		pace.Did(int(row.length))
		columns, values := a.columns[row.from:][:row.length], a.values[row.from:][:row.length]
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
	if a.at == nil {
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
		a.at = nil
	}
	a.certified = gap
	return a.at != nil
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
	a.at, a.moved = nil, false
	for _, j := range s.ridge.columns {
		s.beta[s.cert.place(j)] = 0
	}
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
		if !s.sweepEachRow(ctx) {
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
			if price > insteadOf*r.price {
				a.at = nil
			}
			if left == 0 || price > insteadOf*r.price || !a.moved && a.floor > 0 && price > lookAhead*r.price {
				break
			}
		}
		if s.in.exhausted() {
			break
		}
	}
	a.moved = true
	for k, j := range r.columns {
		s.beta[r.places[k]] = a.w[j]
	}
	return true
}

// sweepEachRow visits every row once, in a new order.
func (s *Solver) sweepEachRow(ctx context.Context) bool {
	a := &s.ridge.ascent
	total := s.view.Total()
	scale := 1 / (total * s.pen.Ridge())
	a.shuffle()
	a.estimate, a.slope, a.curvature = 0, 0, 0
	for k, run := range a.runs {
		if k%pollRuns == 0 && ctx.Err() != nil {
			return false
		}
		from := int(run) * swath
		for at := range a.row[from:min(from+swath, len(a.row))] {
			row := &a.row[from+at]
			columns, values := a.columns[row.from:][:row.length], a.values[row.from:][:row.length]
			share := row.weight * scale
			change := a.visit(row, s.k.DotIndexed(values, columns, a.w)+a.shift, share*row.square)
			if change != 0 {
				row.dual += change
				s.k.AxpyIndexed(share*change, values, columns, a.w)
			}
		}
	}
	if s.view.Centred() && a.curvature > 0 {
		step := a.slope / a.curvature
		if far := float64(a.concordance * math.Abs(step)); far > 1 {
			step *= kernels.Log(1+far) / far
		}
		a.shift += step
		a.estimate += float64(0.5 * step * a.slope)
	}
	a.estimate /= total * s.fit.Null()
	return true
}

// visit returns by how much the dual variable of a row is to change, where the prediction changes
// by q times that: u, the prediction then, solves u = linear + q·(ρ(u) − ρ̃). The left side less the
// right rises with u, and steps of Newton's method are kept within what a loss with a
// concordance M allows.
func (a *rowAscent) visit(row *dualRow, linear, q float64) float64 {
	i, held, weight := int(row.index), row.dual, row.weight
	slope, curvature := a.at(i, linear)
	lack := slope - held
	a.slope = math.FMA(weight, slope, a.slope)
	a.curvature = math.FMA(weight, curvature, a.curvature)
	if lack == 0 || q == 0 {
		return 0
	}
	a.estimate += float64(0.5 * weight * lack * lack / (max(curvature, a.floor, leastCurvature) + float64(0.5*a.concordance*math.Abs(lack))))
	moved := 0.0
	for step := range rowSteps {
		wrong := float64(q*lack) - moved
		if step > 0 && math.Abs(wrong) <= float64(rowNear*math.Abs(moved)) {
			break
		}
		bend := float64(q * curvature)
		by := wrong / (1 + bend)
		far := float64(a.concordance * math.Abs(by))
		if far > 1 {
			by *= kernels.Log(1+far) / far
		}
		moved += by
		if a.concordance > 0 && far <= 1 && float64(bend*far) <= float64(rowNear*(1+bend)) {
			break // what a step of Newton's method leaves is half of that at most
		}
		slope, curvature = a.at(i, linear+moved)
		lack = slope - held
	}
	return moved / q
}

// shuffle puts runs of rows in random order: it converges several times as fast as their own,
// and runs keep the entries of neighbours together.
func (a *rowAscent) shuffle() {
	for i := len(a.runs) - 1; i > 0; i-- {
		j := a.random.Below(i + 1)
		a.runs[i], a.runs[j] = a.runs[j], a.runs[i]
	}
}
