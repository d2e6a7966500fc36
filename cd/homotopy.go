package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/support"
)

// homotopy solves the problem on a working set by following its solution from the coefficients loaded (Osborne,
// Presnell and Turlach, IMA Journal of Numerical Analysis 20, 2000; Efron, Hastie, Johnstone and Tibshirani,
// Least angle regression, Annals of Statistics 32, 2004).
//
// The coefficients loaded are the solution under other thresholds: for columns of the support S these are the
// absolute correlations; for columns outside S they are the actual thresholds times a common factor, large
// enough that no correlation exceeds them. If a correlation of S does not have the sign of its coefficient, as
// at the solution for other rows, the coefficients are the solution for another target as well: y + z, z =
// X̃_S·a, for which the correlations of S equal their thresholds. The path leads in a straight line from these
// thresholds and this target to the actual ones. The coefficients along it are piecewise linear, with a
// breakpoint wherever a coefficient becomes zero or a correlation meets its threshold. There a column leaves or
// joins the support, and its row leaves or joins the Cholesky factor of the system; a column that depends on
// the support replaces one of its columns. A solve thus takes as many steps as the support has changes, and a
// step costs little more than a sweep, whereas a Newton step needs a new factor.
//
// Problems with few columns are solved on their Gram matrix, and problems with few rows and more columns, all
// dense, on the columns. In both cases the support is small.
type homotopy struct {
	in       *inner
	k        *kernels.Set
	sweepFew bool // do not follow solutions on the Gram matrix

	factor    support.Factor // of X̃_SᵀX̃_S + Nα₂·I
	ridge     float64        // Nα₂ in that factor
	held      []int32        // columns of S in the order of the factor, as are the next three
	positions []int          // their positions in the working set
	sign      []float64      // signs of their coefficients
	forward   []float64      // L⁻¹·b, b the right-hand side of the direction: kept for the leading rows that have not changed
	d         []float64      // direction of the coefficients
	row       []float64      // row of the system for a column that joins

	values []float64 // values of the columns of the set, that at position k from start[k]; unused with a Gram matrix
	start  []int64   // by position
	spans  []int64   // starts of the columns of S
	copied struct {  // where the store does not hold all columns
		values []float64
		start  []int64
	}
	member        []bool    // columns of S; by position, as are the next three
	corr          []float64 // c_j
	rate          []float64 // rate at which c_j falls along the direction
	excess        []float64 // threshold at the start of the path less its final value
	outsideExcess float64   // excess relative to the final threshold, for columns outside S at the start
	initial       []int     // positions of the columns in S at the start
	corrAhead     []float64 // c_j at the end of a step
	candidates    placeSet  // positions of columns that may meet their threshold in a step
	product       []float64 // of the direction: X̃_S·d + z by compact rows, or X̃ᵀX̃_S·d by rows of the Gram matrix
	targetMoved   bool      // the path begins at another target
	z             []float64 // by compact rows; unused with a Gram matrix
	zCorr         []float64 // X̃ᵀz
	remaining     float64   // the fraction of the path still to go: thresholds exceed their final values by remaining·excess, and the target differs from its final value by remaining·z

	released     int     // position of the column that left S in the last step, −1: none
	releasedSign float64 // sign of its correlation then
}

// mostWideRows is the largest number of rows of a wide problem, and mostGramColumns the largest number of columns of
// a problem on its Gram matrix. In larger problems the support has more changes, and sweeps with a few Newton
// steps are as fast.
const (
	mostWideRows    = 128
	mostGramColumns = 64
)

func (h *homotopy) init(in *inner, k *kernels.Set) { h.in, h.k, h.factor.Kernels = in, k, k }

// forget empties the factor.
func (h *homotopy) forget() { h.held = h.held[:0] }

// suits reports whether the loaded problem is one to solve by homotopy.
func (h *homotopy) suits() bool {
	in := h.in
	if in.pen.Positive() || in.pen.Bounded() || in.squared > 0 {
		return false
	}
	columns := len(in.correlated.order)
	if h.onGram() {
		return columns <= mostGramColumns && !h.sweepFew
	}
	return h.wide(columns)
}

// wide reports whether the columns are dense and outnumber the rows, which are few.
func (h *homotopy) wide(columns int) bool {
	rows := h.in.store.Rows()
	return h.in.store.Dense() && rows <= mostWideRows && rows < columns
}

// onGram reports whether products are taken from the Gram matrix.
func (h *homotopy) onGram() bool { return h.in.engine == &h.in.quadratic }

// maxRank returns the largest possible number of independent columns.
func (h *homotopy) maxRank() int { return min(h.in.store.Rows(), len(h.in.correlated.order)) }

// follow moves the loaded coefficients to the solution. It stops on the way if a column can neither join the
// support nor replace one of its columns, or if the epochs or ctx end. It returns the number of steps.
func (h *homotopy) follow(ctx context.Context) (steps int) {
	in := h.in
	h.load()
	if !h.begin() {
		h.restoreTarget()
		return 0
	}
	for h.remaining > 0 && in.epochsLeft > 0 && steps < mostSweeps && ctx.Err() == nil {
		in.epochsLeft--
		steps++
		h.direction()
		length, i, k := h.nextChange()
		h.move(length)
		if h.remaining > 0 && !h.change(i, k) {
			break
		}
	}
	h.restoreTarget()
	h.correlateSet()
	for k, b := range in.coef {
		in.grad[k] = h.corr[k] - float64(in.ridge*b)
	}
	return steps
}

// load sets the correlations to those at the loaded coefficients.
func (h *homotopy) load() {
	w, m := len(h.in.coef), h.in.store.Rows()
	for _, v := range []*[]float64{&h.corr, &h.rate, &h.excess} {
		*v = grow(*v, w)
	}
	if h.onGram() {
		h.product = grow(h.product, h.in.gram.Size())
		copy(h.corr, h.in.quadratic.loadedCorr)
		return
	}
	h.product = grow(h.product, m)
	h.values, h.start = h.in.residual.e.Values, h.in.residual.e.From
	if h.in.store.Partial() {
		h.copy()
	}
	h.correlateSet()
}

// copy copies the columns of the set, where the store does not hold all of them.
func (h *homotopy) copy() {
	c, m := &h.copied, h.in.store.Rows()
	c.values, c.start = grow(c.values, len(h.in.columns)*m), c.start[:0]
	h.values = c.values
	for k, j := range h.in.columns {
		c.start = append(c.start, int64(k*m))
		_, values := h.in.store.Column(j)
		h.k.Copy(h.values[k*m:][:m], values)
	}
	h.start = c.start
}

// column returns the column at position k.
func (h *homotopy) column(k int) []float64 {
	return h.values[h.start[k]:][:h.in.store.Rows()]
}

// correlateSet computes the correlations at the current coefficients.
func (h *homotopy) correlateSet() {
	if h.onGram() {
		h.in.work += h.in.quadratic.recompute(h.corr)
		return
	}
	h.in.work += h.correlate(h.in.residual.e.Residual, h.corr)
}

// correlate sets out to the dot products of the columns of the set with a vector over compact rows, and returns
// the cost.
func (h *homotopy) correlate(v, out []float64) float64 {
	h.k.DotDenseSpans(h.start, h.values, v, out)
	return residualCost(len(out)*len(v), len(out), true)
}

// support returns the starts of the columns of S, in the order of the factor.
func (h *homotopy) support() []int64 {
	h.spans = h.spans[:0]
	for _, k := range h.positions {
		h.spans = append(h.spans, h.start[k])
	}
	return h.spans
}

// begin factorises the system of the support and finds the start of the path. It returns false if there is
// none.
func (h *homotopy) begin() bool {
	h.remaining, h.targetMoved, h.forward = 1, false, h.forward[:0]
	if !h.factorise() {
		return false
	}
	if !h.signsAgree() {
		h.moveTarget()
	}
	return h.setStartThresholds()
}

// signsAgree reports whether every correlation of the support has the sign of its coefficient.
func (h *homotopy) signsAgree() bool {
	for i, k := range h.positions {
		if !(float64(h.sign[i]*(h.corr[k]-float64(h.in.ridge*h.in.coef[k]))) > 0) {
			return false
		}
	}
	return true
}

// moveTarget makes the path begin at the nearest target for which the coefficients are the solution on their
// support. Under a ridge they are so only approximately.
func (h *homotopy) moveTarget() {
	in := h.in
	s, m := len(h.positions), in.store.Rows()
	h.d, h.zCorr = grow(h.d, s), grow(h.zCorr, len(h.corr))
	for i, k := range h.positions {
		h.d[i] = float64(h.sign[i]*in.threshold[k]) + float64(in.ridge*in.coef[k]) - h.corr[k]
	}
	h.factor.Solve(h.d)
	h.targetMoved = true
	in.work += float64(2 * denseValue * float64(s*s))
	if h.onGram() {
		h.gramProduct(h.zCorr)
	} else {
		h.z = grow(h.z, m)
		h.k.Clear(h.z)
		h.k.AxpyDenseSpans(h.d, h.support(), h.values, h.z)
		correlated := h.correlate(h.z, h.zCorr)
		h.k.Axpy(1, h.z, in.residual.e.Residual)
		in.work += support.DenseCost(s*m) + correlated
	}
	h.k.Axpy(1, h.zCorr, h.corr)
}

// gramProduct sets out to X̃ᵀX̃_S·d, by position, from the Gram matrix.
func (h *homotopy) gramProduct(out []float64) {
	slot := h.in.quadratic.e.Slot
	h.k.Clear(h.product)
	for i, k := range h.positions {
		h.k.Axpy(h.d[i], h.in.gram.Row(int(slot[k])), h.product)
	}
	for k := range out {
		out[k] = h.product[slot[k]]
	}
	h.in.work += gramCost(len(h.positions), len(out), len(h.product))
}

// restoreTarget makes the residual that of the actual target.
func (h *homotopy) restoreTarget() {
	if h.targetMoved && !h.onGram() {
		h.k.Axpy(-h.remaining, h.z, h.in.residual.e.Residual)
	}
}

// factorise updates the factor to the support. It returns false if the columns of the support are dependent.
func (h *homotopy) factorise() bool {
	in := h.in
	if h.ridge != in.ridge {
		h.forget()
		h.ridge = in.ridge
	}
	if len(h.held) == 0 {
		h.factor.Reset(h.maxRank() + 1)
	}
	support := 0
	for _, b := range in.coef {
		if b != 0 {
			support++
		}
	}
	if support > h.maxRank() { // possible under a ridge
		return false
	}
	h.member = slices.Grow(h.member[:0], len(in.coef))[:len(in.coef)]
	clear(h.member)
	h.positions, h.sign, h.held = slices.Grow(h.positions[:0], support), slices.Grow(h.sign[:0], support), slices.Grow(h.held, support)
	for _, j := range h.held {
		k, found := slices.BinarySearchFunc(in.columns, in.correlated.place(j), func(j, place int32) int { return int(in.correlated.place(j) - place) })
		if !found {
			k = -1
		}
		h.positions, h.sign = append(h.positions, k), append(h.sign, 0)
	}
	for i, k := range slices.Backward(h.positions) {
		if k < 0 || in.coef[k] == 0 {
			h.remove(i)
			continue
		}
		h.member[k], h.sign[i] = true, math.Copysign(1, in.coef[k])
	}
	for k, b := range in.coef {
		if b != 0 && !h.member[k] && !h.add(k, math.Copysign(1, b)) {
			return false
		}
	}
	return true
}

// setStartThresholds finds the thresholds at which the path begins. It returns false if there are none: a threshold is 0, a
// ridge has left a correlation without the sign of its coefficient, or the column outside the support that
// is at its threshold at the start cannot join.
func (h *homotopy) setStartThresholds() bool {
	in := h.in
	times, first := 1.0, -1
	for k, c := range h.corr {
		t := in.threshold[k]
		if t == 0 {
			return false
		}
		if over := math.Abs(c) / t; !h.member[k] && over > times {
			times, first = over, k
		}
	}
	for i, k := range h.positions {
		start := float64(h.sign[i] * (h.corr[k] - float64(in.ridge*in.coef[k])))
		if !(start > 0) {
			return false
		}
		h.excess[k] = start - in.threshold[k]
	}
	h.initial, h.outsideExcess = append(h.initial[:0], h.positions...), times-1
	for k, t := range in.threshold[:len(h.corr)] {
		if !h.member[k] {
			h.excess[k] = h.outsideExcess * t
		}
	}
	h.released = -1
	return first < 0 || h.join(first)
}

// add adds the column at position k to the support. It returns false if the column depends on the support or,
// under a ridge, if the support already has as many columns as can be independent.
func (h *homotopy) add(k int, sign float64) bool {
	s, m := len(h.positions), h.maxRank()
	if s > m || s == m && h.ridge > 0 {
		return false
	}
	h.row = grow(h.row, m+1)
	h.products(k)
	h.row[s] = h.in.square[k] + h.in.ridge
	h.in.work += float64(denseValue * float64(s*s))
	if !h.factor.Append(h.row[:s+1]) {
		return false
	}
	h.held, h.positions, h.sign = append(h.held, h.in.columns[k]), append(h.positions, k), append(h.sign, sign)
	h.member[k] = true
	return true
}

// products sets row to the dot products of the column at position k with the columns of the support.
func (h *homotopy) products(k int) {
	s := len(h.positions)
	if h.onGram() {
		slot := h.in.quadratic.e.Slot
		row := h.in.gram.Row(int(slot[k]))
		for i, k0 := range h.positions {
			h.row[i] = row[slot[k0]]
		}
		h.in.work += float64(support.GatherValue * float64(s))
		return
	}
	h.k.DotDenseSpans(h.support(), h.values, h.column(k), h.row[:s])
	h.in.work += support.DenseCost(s * h.in.store.Rows())
}

// remove removes column i, in the order of the factor, from the support.
func (h *homotopy) remove(i int) {
	s := float64(len(h.positions) - i)
	h.in.work += float64(rotateValue * s * s)
	h.factor.Remove(i)
	h.held, h.positions, h.sign = slices.Delete(h.held, i, i+1), slices.Delete(h.positions, i, i+1), slices.Delete(h.sign, i, i+1)
	h.forward = h.forward[:min(i, len(h.forward))]
}

// direction solves A·d = σ⊙excess − X̃_Sᵀz, A the system of the support, for the direction along which the
// correlations of the support stay at their thresholds.
func (h *homotopy) direction() {
	s, known := len(h.positions), len(h.forward)
	for i, k := range h.positions[known:] {
		b := float64(h.sign[known+i] * h.excess[k])
		if h.targetMoved {
			b -= h.zCorr[k]
		}
		h.forward = append(h.forward, b)
	}
	h.factor.Forward(h.forward, known)
	h.d = append(h.d[:0], h.forward...)
	h.factor.Backward(h.d)
	h.in.work += float64(denseValue * float64(2*s*s-known*known))
	if h.onGram() {
		h.gramProduct(h.rate)
		if h.targetMoved {
			h.k.Axpy(1, h.zCorr, h.rate)
		}
		return
	}
	if h.targetMoved {
		h.k.Copy(h.product, h.z)
	} else {
		h.k.Clear(h.product)
	}
	h.k.AxpyDenseSpans(h.d, h.support(), h.values, h.product)
	h.in.work += support.DenseCost(s*h.in.store.Rows()) + h.correlate(h.product, h.rate)
}

// nextChange returns the length of the step to the next change of the support, and the change: column i of the
// support leaves or, if i is −1, the column at position k joins.
func (h *homotopy) nextChange() (length float64, i, k int) {
	length, i = h.nextLeaving()
	if length, k = h.nextJoining(length); k >= 0 {
		i = -1
	}
	return length, i, k
}

// nextLeaving returns the step length at which a coefficient first becomes 0 and its index in the support, or −1 if
// the path ends before that.
func (h *homotopy) nextLeaving() (length float64, i int) {
	length, i = h.remaining, -1
	for at, d := range h.d {
		if float64(d*h.sign[at]) < 0 {
			if b := math.Abs(h.in.coef[h.positions[at]]); b < float64(length*math.Abs(d)) {
				length, i = b/math.Abs(d), at
			}
		}
	}
	return length, i
}

// nextJoining returns the step length, at most the one given, at which a correlation first meets its threshold, and
// the position of its column, or −1 if none does.
func (h *homotopy) nextJoining(length float64) (_ float64, k int) {
	h.listCandidates(length)
	k = -1
	for at := range h.candidates.each {
		if h.member[at] {
			continue
		}
		if sooner, crosses := h.thresholdCrossing(at, length); crosses {
			length, k = sooner, at
		}
	}
	return length, k
}

// thresholdCrossing returns the step length at which the correlation at a position meets its threshold, if it does so
// within the length given.
func (h *homotopy) thresholdCrossing(at int, length float64) (_ float64, crosses bool) {
	c, rate, excess := h.corr[at], h.rate[at], h.excess[at]
	limit := h.in.threshold[at] + float64(h.remaining*excess)
	if limit-math.Abs(c) >= float64(length*(excess+math.Abs(rate))) {
		return length, false
	}
	for _, sign := range [...]float64{1, -1} {
		room, speed := limit-float64(sign*c), excess-float64(sign*rate)
		if speed > 0 && room < float64(length*speed) && (at != h.released || sign != h.releasedSign) {
			length, crosses = max(0, room/speed), true
		}
	}
	return length, crosses
}

// listCandidates lists the columns that may meet their threshold within a step of the length given: those
// whose correlation would exceed it at the end, and those that began in the support.
func (h *homotopy) listCandidates(length float64) {
	const rounding = 0x1p-40
	h.corrAhead = grow(h.corrAhead, len(h.corr))
	h.k.Copy(h.corrAhead, h.corr)
	h.k.Axpy(-length, h.rate, h.corrAhead)
	end := 1 + float64(h.outsideExcess*(h.remaining-length)) - float64(rounding*(1+float64(h.outsideExcess*h.remaining)))
	h.candidates = slices.Grow(h.candidates[:0], (len(h.corr)+63)/64)[:(len(h.corr)+63)/64]
	h.k.ReachAbs(-end, h.corrAhead, h.in.threshold[:len(h.corr)], 0, h.candidates)
	for _, k := range h.initial {
		h.candidates.set(k)
	}
}

// move moves along the direction by the length given.
func (h *homotopy) move(length float64) {
	for i, k := range h.positions {
		h.in.coef[k] = math.FMA(length, h.d[i], h.in.coef[k])
	}
	h.k.Axpy(-length, h.rate, h.corr)
	if !h.onGram() {
		h.k.Axpy(-length, h.product, h.in.residual.e.Residual)
	}
	h.remaining -= length
}

// join adds the column at position k, which has met its threshold, to the support, if need be in place of
// another column.
func (h *homotopy) join(k int) bool {
	sign := math.Copysign(1, h.corr[k])
	return h.add(k, sign) || h.exchange(k, sign)
}

// exchange puts the column at position k, which add has just refused, in the place of another column of the
// support. The coefficients of the column and of the support move so that predictions stay the same, until one
// of those of the support becomes zero. It returns false if none does.
func (h *homotopy) exchange(k int, sign float64) bool {
	in, s := h.in, len(h.positions)
	if h.ridge > 0 || s > h.maxRank() {
		return false
	}
	h.d = grow(h.d, s+1)
	h.factor.Null(h.d)
	length, leaves := math.Inf(1), -1
	for i, k0 := range h.positions {
		if d := float64(sign * h.d[i]); float64(d*h.sign[i]) < 0 {
			if b := math.Abs(in.coef[k0] / d); b < length {
				length, leaves = b, i
			}
		}
	}
	in.work += float64(denseValue * float64(s*s))
	if leaves < 0 {
		return false
	}
	for i, k0 := range h.positions {
		in.coef[k0] = math.FMA(float64(sign*length), h.d[i], in.coef[k0])
	}
	k0 := h.positions[leaves]
	in.coef[k0], h.member[k0] = 0, false
	h.released, h.releasedSign = k0, h.sign[leaves]
	h.remove(leaves)
	if !h.add(k, sign) {
		return false
	}
	in.coef[k] = float64(sign * length)
	return true
}

// change applies the change at the end of a step: column i of the support leaves, its coefficient now 0, or the
// column at position k joins. It returns false if the column cannot join.
func (h *homotopy) change(i, k int) bool {
	h.released = -1
	if i < 0 {
		return h.join(k)
	}
	k = h.positions[i]
	h.in.coef[k], h.member[k] = 0, false
	h.released, h.releasedSign = k, h.sign[i]
	h.remove(i)
	return true
}
