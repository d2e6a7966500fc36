package cd

import (
	"math"
	"math/bits"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// certificate holds the results of the full passes over X. It is indexed by place, the position of a column in
// storage order, so that a pass reads memory from front to back.
//
// A pass is lazy and exact. For every column it keeps the last computed correlation c_j = X_jᵀ(s⊙r) and the
// distance that the residual has moved since, as it affects the column (screening.go): c_j cannot have changed
// by more than ‖X̃_j‖ₛ times that distance. If even that change leaves |c_j| below 0.9·Nαⱼ for a zero coefficient, the
// column can neither bind the dual scaling nor enter the working set, and the pass skips it without changing
// the gap. A correlation that belongs to the current residual, as in the first pass at another penalty, is not
// computed again. The columns of a large dense matrix are estimated before they are computed (single.go).
type certificate struct {
	k         *kernels.Set
	matrix    sparse.Matrix
	order     []int32   // place → column
	norm      []float64 // ‖X̃_j‖ₛ of the view
	level     float64   // Nα
	levels    []float64 // Nαⱼ where columns differ, else empty; +Inf for excluded columns
	corr      []float64 // c_j when last computed, or a bound of it, see estimates
	bound     []float64 // |c_j| is at most bound + ‖X̃_j‖ₛ times the length of the residual's path; −Inf for columns left out
	current   placeSet  // columns whose c_j is that of the current residual
	survivors placeSet  // columns that the last pass did not skip
	requested placeSet  // columns that the last pass computed
	pieces    []piece   // runs of the columns asked for
	selected  placeSet  // scratch, see selectAbove
	copied    []int32   // columns left out because a copy stands for them

	scratch     [64 * wordsPerBound]float64 // see selectAtLeast
	screening   screening
	previous    []float64 // n: residual of the last pass
	hasPrevious bool      // previous is set
	scale       float64   // c of the last gap
	dual        model.Dual
	shares      []share
}

const (
	// lazy is the share of the threshold below which a bound lets a pass skip a column. It must be below 1 for
	// the certificate to be unchanged.
	lazy = 0.9
	// pieceEntries is roughly the largest number of entries in a piece of a pass.
	pieceEntries = 1 << 14
	// nearly is 1 less a margin for the rounding of a product.
	nearly = 1 - 0x1p-40
	// unbounded is larger than any correlation, and less than a threshold of +Inf.
	unbounded = math.MaxFloat64 / 4
)

func (c *certificate) init(view *sparse.View) {
	n, _ := view.Dims()
	c.k, c.matrix = view.Kernels(), view.Matrix()
	c.order, c.norm = c.matrix.Order(), view.Norms()
	m := len(c.order)
	c.bound = view.Floats(m)
	c.current, c.survivors, c.requested, c.selected = newPlaceSet(m), newPlaceSet(m), newPlaceSet(m), newPlaceSet(m)
	c.previous = view.Floats(n)
	c.screening = newScreening(view)
	c.forget()
}

// place returns the place of column j, or −1 if it has no entries.
func (c *certificate) place(j int32) int32 { return int32(c.matrix.Place(int(j))) }

// threshold returns Nαⱼ of the column at a place.
func (c *certificate) threshold(place int32) float64 {
	if len(c.levels) == 0 {
		return c.level
	}
	return c.levels[place]
}

// forget makes the next pass compute every column that is not all zeros.
func (c *certificate) forget() {
	c.hasPrevious = false
	c.copied = c.copied[:0]
	c.screening.restart()
	for k, norm := range c.norm {
		c.bound[k] = unbounded
		if norm == 0 {
			c.bound[k] = math.Inf(-1)
		}
	}
}

// setResidual sets the residual that all correlations belong to.
func (c *certificate) setResidual(residual []float64) {
	c.hasPrevious = true
	c.k.Copy(c.previous, residual)
	for w := range c.current {
		c.current[w] = allBits
	}
}

// updateResidual sets the residual and, where it has changed, lengthens its path.
func (c *certificate) updateResidual(view *sparse.View, residual []float64) {
	if c.hasPrevious {
		k := view.Kernels()
		k.Axpy(-1, residual, c.previous)
		if k.MaxAbs(c.previous) == 0 {
			k.Copy(c.previous, residual)
			return
		}
		if !c.screening.step(view.SizeOf(c.previous)) {
			c.invalidate()
		}
	}
	c.hasPrevious = true
	c.k.Copy(c.previous, residual)
	clear(c.current)
}

// invalidate makes the next pass compute every column that is not left out.
func (c *certificate) invalidate() {
	c.screening.restart()
	for k, bound := range c.bound {
		if !math.IsInf(bound, -1) {
			c.bound[k] = unbounded
		}
	}
}

// setPenalty makes g the penalty that points are certified for.
func (c *certificate) setPenalty(g model.Penalty, total float64, copies *sparse.Copies) {
	if g.Columns() < 0 {
		c.level, c.levels = total*g.Alpha(0), c.levels[:0]
	} else {
		c.levels = slices.Grow(c.levels[:0], len(c.order))[:len(c.order)]
		for k, j := range c.order {
			c.levels[k] = total * g.Alpha(int(j))
		}
	}
	for _, k := range c.copied {
		c.bound[k] = unbounded
	}
	c.copied = c.copied[:0]
	for _, j := range copies.All() {
		c.leaveOut(j)
	}
}

// leaveOut leaves out column j, a copy of another column that stands for it.
func (c *certificate) leaveOut(j int32) {
	k := c.place(j)
	c.bound[k] = math.Inf(-1)
	c.copied = append(c.copied, k)
}

// leftOut reports whether the column at a place is left out or excluded.
func (c *certificate) leftOut(place int32) bool {
	return math.IsInf(c.bound[place], -1) || math.IsInf(c.threshold(place), 1)
}

// unpenalised reports whether the column at a place is not all zeros and has no penalty: it is always active.
func (c *certificate) unpenalised(place int32) bool {
	return c.threshold(place) == 0 && !c.leftOut(place)
}

// certify gathers the support, moves the state there, passes over the columns and fills the certificate of the
// solution.
func (s *Solver) certify() {
	before := s.work()
	defer func() { s.passCost = s.work() - before }()
	s.gather()
	if s.followed.part != noPart { // include the price of a refit: passCost bounds the work on sets that will soon change
		before -= s.updatesCost(s.entries(s.sol.Support))
	}
	if !s.isCurrent() {
		s.updateState()
	}
	s.pass()
	s.sol.Passes++
	s.fillCertificate()
}

// updateState makes the state that of the gathered point.
func (s *Solver) updateState() {
	s.completeState()
	s.eliminate()
	s.fitted = append(s.fitted[:0], s.sol.Support...)
	s.fittedCoef = append(s.fittedCoef[:0], s.sol.Coef...)
	s.cert.updateResidual(s.view, s.sol.Residual)
}

// fillCertificate fills the certificate of the gathered point from the current correlations.
func (s *Solver) fillCertificate() {
	sol, c := &s.sol, &s.cert
	c.dual = model.NewDual(s.fit, s.pen, s.state)
	s.accumulateDual()
	c.scale = c.dual.Scale()
	sol.Intercept = s.state.UncentredIntercept(s.view, sol.Support, sol.Coef)
	sol.Objective = s.state.Loss + c.dual.Value()
	if unpenalised := s.unpenalisedGap(); math.IsInf(unpenalised, 1) {
		sol.Gap = sol.Objective // the dual objective is 0
	} else {
		c.dual.Widen(unpenalised, c.longest(unpenalised))
		sol.Gap = s.fit.Gap(&c.dual, s.state) + unpenalised
		if s.unpenalised.nearlyDepend() { // where remainders are small, coefficients are large, and so is their rounding
			sol.Gap += s.unpenalisedRounding()
		}
	}
	if sol.KKT = c.dual.KKT(); math.IsNaN(sol.KKT) { // the slopes of a caller's loss may be NaN
		sol.Gap = math.Inf(1)
	}
	sol.RelativeGap = sol.Gap
	if sol.Gap != 0 { // P₀ is 0, too, where the target is constant
		sol.RelativeGap = sol.Gap / s.null
	}
	if !s.inStage {
		s.certified.remember(sol)
	}
}

// longest returns the largest ‖X̃_j‖ₛ/αⱼ of a penalised column, or 0 where left is 0.
func (c *certificate) longest(left float64) (longest float64) {
	if left == 0 {
		return 0
	}
	for k, norm := range c.norm {
		if level := c.threshold(int32(k)); level > 0 {
			longest = max(longest, norm/level*c.dual.Total)
		}
	}
	return longest
}

// refit computes the state of the gathered point from X.
func (s *Solver) refit() {
	s.followed.drifted = false
	if !s.fitByRows() {
		s.fit.Fit(s.sol.Support, s.sol.Coef, s.state)
	}
	s.payUpdates(s.entries(s.sol.Support))
	s.payRows()
}

// isCurrent reports whether the state is already that of the gathered point, as at a start from the last
// solution or from the null model.
func (s *Solver) isCurrent() bool {
	if !s.cert.hasPrevious || len(s.unpenalised.columns) > 0 || s.inexactState() {
		return false
	}
	if len(s.fitted) == 0 && s.k.MaxAbs(s.sol.Coef) == 0 {
		return true // under a ridge alone the support is all columns, even at β = 0
	}
	return slices.Equal(s.sol.Support, s.fitted) && slices.Equal(s.sol.Coef, s.fittedCoef)
}

// correlation returns c_j, and whether it is that of the current residual.
func (c *certificate) correlation(j int32) (corr float64, met bool) {
	k := c.place(j)
	return c.corr[k], c.current.has(int(k))
}

// Correlations appends X_jᵀ(s⊙r) for the columns of the last solution's support, as its certificate has them.
func (s *Solver) Correlations(out []float64) []float64 {
	for _, j := range s.sol.Support {
		rep := s.copies.Representative(j)
		out = append(out, rep.Sign*s.cert.corr[s.cert.place(rep.Column)])
	}
	return out
}

// pass computes the correlations of the columns that no bound proves inactive.
func (s *Solver) pass() {
	c := &s.cert
	if s.pen.Quadratic() { // all columns are active
		for _, k := range s.set.places {
			c.bound[k] = unbounded
		}
	} else {
		for _, j := range s.active {
			c.bound[c.place(j)] = unbounded
		}
	}
	s.in.work += float64(visitColumn * float64(len(c.order)))
	clear(c.survivors)
	for _, run := range c.screening {
		c.screen(run)
	}
	for w, word := range c.survivors {
		c.requested[w] = word &^ c.current[w]
		c.current[w] |= word
	}
	estimated := s.estimates.on
	if estimated {
		s.estimate()
	}
	paid := s.in.work
	s.runOnRequested((*correlationTask)(s))
	if estimated { // estimates were charged as products already: choices must not depend on whether there is a copy
		s.in.work = paid
	}
}

// runOnRequested runs a task on the columns asked for, and charges the price of their dot products.
func (s *Solver) runOnRequested(task team.Task) {
	c := &s.cert
	before := s.in.work
	c.pieces = c.pieces[:0]
	for _, run := range c.screening {
		s.listPieces(run)
	}
	helpers := s.view.Team()
	helpers.Do(helpers.Parts(s.in.work-before), task)
}

// piece is a run of places whose correlations are computed together.
type piece struct{ from, to int32 }

// correlationTask computes the correlations of the pieces listed.
type correlationTask Solver

// Part implements [team.Task].
func (s *correlationTask) Part(k, of int) {
	c := &s.cert
	size := len(c.pieces)
	for _, p := range c.pieces[size*k/of : size*(k+1)/of] {
		s.view.Correlate(int(p.from), int(p.to), s.state.Weighted, c.corr[p.from:p.to])
	}
}

// listPieces divides the columns of a range that are asked for into pieces. Columns in short gaps are computed, too,
// where that costs less than another call.
func (s *Solver) listPieces(run columnRange) {
	c := &s.cert
	from, to := -1, -1 // of the current piece
	for w := run.from / 64; w < (run.to+63)/64; w++ {
		word := c.requested[w] & inRange(w, run.from, run.to)
		for at := 64 * w; word != 0; {
			skip := bits.TrailingZeros64(word)
			at, word = at+skip, word>>skip
			if from >= 0 && at > to+run.gap {
				s.addPiece(from, to)
				from = -1
			}
			if from < 0 {
				from = at
			}
			length := bits.TrailingZeros64(^word)
			at, word = at+length, word>>length
			to = at
		}
	}
	if from >= 0 {
		s.addPiece(from, to)
	}
}

// addPiece adds a run of columns to those whose correlations are to be computed.
func (s *Solver) addPiece(from, to int) {
	c := &s.cert
	s.in.work += float64(perColumn * float64(to-from))
	first, _ := c.matrix.Stored(from, to)
	longest, end := c.matrix.Stored(to-1, to)
	s.payDots(int(end - first))
	each := max(1, pieceEntries/int(max(1, end-longest))) // columns in a piece
	for ; from < to; from += each {
		c.pieces = append(c.pieces, piece{int32(from), int32(min(from+each, to))})
	}
}

// accumulateDual gathers the dual point, and sets the bounds by which the next pass skips columns. Few columns
// with a zero coefficient change the dual point, and mostly those with the most entries. Storage order has
// these last, so it is traversed backwards.
func (s *Solver) accumulateDual() {
	c := &s.cert
	quadratic := s.pen.Quadratic()
	if quadratic {
		for _, k := range s.set.places {
			c.dual.AddRidge(c.corr[k]/c.dual.Total, s.beta[k], c.norm[k])
		}
	} else {
		for i, j := range s.active {
			k := c.place(j)
			c.dual.Add(int(j), c.corr[k]/c.dual.Total, s.coef[i], c.norm[k])
		}
	}
	for i := range slices.Backward(c.screening) {
		s.accumulate(&c.screening[i])
	}
}

// accumulate sets the bounds of the columns in a range, and adds those with a zero coefficient to the dual
// point.
func (s *Solver) accumulate(run *columnRange) {
	c := &s.cert
	corr, norm := c.corr, c.norm
	from, to := run.from/64, (run.to+63)/64
	for w := from; w < to; w++ {
		c.selected[w] = c.survivors[w] & inRange(w, run.from, run.to)
	}
	end := min(64*to, len(corr))
	c.k.Margin(c.bound[64*from:end], run.length, corr[64*from:end], norm[64*from:end], unbounded, c.selected[from:to])
	if s.pen.Quadratic() {
		return
	}
	inside, level, levels := nearly*c.dual.Inside(), c.level, c.levels
	for to := (run.to + 63) / 64; to > run.from/64; {
		from := max(run.from/64, to-wordsPerBound)
		c.selectAbove(64*from, min(64*to, len(corr)), 0, inside)
		for ; to > from; to-- {
			for word := c.selected[to-1] & inRange(to-1, run.from, run.to); word != 0; {
				k := highest(to-1, word)
				word &^= 1 << (k % 64)
				if len(levels) > 0 {
					level = levels[k]
				}
				if size := math.Abs(corr[k]); size < float64(inside*level) || level == 0 || s.beta[k] != 0 {
					continue
				}
				c.dual.Add(int(c.order[k]), corr[k]/c.dual.Total, 0, norm[k])
				inside = nearly * c.dual.Inside()
			}
		}
	}
}

// gather lists the active columns of β, all of them in the working set, and the support that they stand for:
// the copies of a column share its coefficient equally.
func (s *Solver) gather() {
	s.active, s.coef = s.active[:0], s.coef[:0]
	if s.pen.Quadratic() {
		s.gatherRidge()
		return
	}
	shared := false
	for _, j := range s.set.ascending {
		place := s.cert.place(j)
		if b := s.beta[place]; b != 0 || s.cert.unpenalised(place) {
			s.active, s.coef = append(s.active, j), append(s.coef, b)
			shared = shared || s.copies.Of(j) != nil
		}
	}
	sol := &s.sol
	sol.Support, sol.Coef = append(sol.Support[:0], s.active...), append(sol.Coef[:0], s.coef...)
	if !shared {
		return
	}
	s.cert.shares = s.cert.shares[:0]
	for k, j := range s.active {
		group := s.copies.Of(j)
		if group == nil {
			s.cert.shares = append(s.cert.shares, share{j, s.coef[k]})
			continue
		}
		for _, twin := range group {
			s.cert.shares = append(s.cert.shares, share{twin.Column, twin.Sign * s.coef[k] / float64(len(group))})
		}
	}
	slices.SortFunc(s.cert.shares, func(a, b share) int { return int(a.column - b.column) })
	sol.Support, sol.Coef = sol.Support[:0], sol.Coef[:0]
	for _, c := range s.cert.shares {
		sol.Support, sol.Coef = append(sol.Support, c.column), append(sol.Coef, c.coef)
	}
}

// share is a column with its coefficient.
type share struct {
	column int32
	coef   float64
}
