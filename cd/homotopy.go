package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/support"
)

// homotopy solves the problem on a working set by following its solution from where the coefficients
// are (Osborne, Presnell and Turlach, IMA Journal of Numerical Analysis 20, 2000; Efron, Hastie,
// Johnstone and Tibshirani, Least angle regression, Annals of Statistics 32, 2004).
//
// The coefficients loaded are the solution under other thresholds: those of the support S are its
// correlations, those of the others so many times their own that no correlation exceeds them. Where a
// correlation of S has not the sign of its coefficient, as at the solution for other rows, they are so
// for another target besides: y + z, z = X̃_S·a, at which the correlations of S are its thresholds. On
// the straight way from there to their own the coefficients move along straight lines, from one point
// where a coefficient becomes zero or a correlation meets its threshold to the next. There a column
// leaves the support or joins it, and with it a row the factor of its system; one that depends on the
// support takes the place of another. So a solve takes as many steps as the support has changes, each
// of which costs little more than a sweep, where a Newton step takes a new factor.
//
// It suits few columns, on their Gram matrix, and dense columns that are more than their rows, where these
// are few: either bound the support.
type homotopy struct {
	in       *inner
	k        *kernels.Set
	sweepFew bool // not on the Gram matrix

	factor support.Factor // of X̃_SᵀX̃_S + Nα₂·I
	ridge  float64        // Nα₂ of that
	held   []int32        // S, in the order of the factor, as the next three are
	at     []int          // positions in the working set
	sign   []float64      // of the coefficients
	half   []float64      // L⁻¹·b of the first rows, b the right-hand side of the direction: it stays while they do
	d      []float64      // the direction in which they move
	row    []float64      // of the system: a column that joins

	values []float64 // of the columns of the set, each from its place in start; not where there is a Gram matrix
	start  []int64   // by position
	spans  []int64   // those of S
	copied struct {  // where the store does not hold all values
		values []float64
		start  []int64
	}
	member  []bool    // of S; by position, as the next three are
	corr    []float64 // c_j
	rate    []float64 // at which c_j falls along the direction
	excess  []float64 // of the threshold at the start over its own
	over    float64   // the share of its own that this is, but for columns of the support at the start
	begun   []int     // positions of these
	ahead   []float64 // c_j at the end of a step
	near    places    // positions of columns that may meet their threshold in a step
	product []float64 // of the direction, compact rows: X̃_S·d + z; or X̃ᵀX̃_S·d, by rows of the Gram matrix
	moved   bool      // the way begins at another target
	z       []float64 // compact rows; not where there is a Gram matrix
	pull    []float64 // X̃ᵀz
	way     float64   // what is left of it: thresholds exceed their own by way·excess, the target its own by way·z

	released int     // position of the column that has left in the last step, −1: none
	side     float64 // sign of its correlation
}

// mostFollowed is how many rows there may be, and fewColumns how many columns where they are fewer: with more
// of them a support has more changes, and sweeps between a few Newton steps are as fast.
const (
	mostFollowed = 128
	fewColumns   = 64
)

func (h *homotopy) init(in *inner, k *kernels.Set) { h.in, h.k, h.factor.Kernels = in, k, k }

// forget empties the factor.
func (h *homotopy) forget() { h.held = h.held[:0] }

// suits reports whether the problem loaded is one for this.
func (h *homotopy) suits() bool {
	in := h.in
	if in.pen.Positive() || in.pen.Bounded() || in.squared > 0 {
		return false
	}
	columns := len(in.met.order)
	if h.onGram() {
		return columns <= fewColumns && !h.sweepFew
	}
	return h.wide(columns)
}

// wide reports whether the columns are dense, and more than the rows, which are few.
func (h *homotopy) wide(columns int) bool {
	rows := h.in.store.Rows()
	return h.in.store.Dense() && rows <= mostFollowed && rows < columns
}

// onGram reports whether products are those of the Gram matrix.
func (h *homotopy) onGram() bool { return h.in.engine == &h.in.quadratic }

// most is how many independent columns there are at most.
func (h *homotopy) most() int { return min(h.in.store.Rows(), len(h.in.met.order)) }

// follow moves the coefficients loaded to the solution, or towards it where a column that depends on
// the support under a ridge, the end of the epochs or of ctx is in the way. It returns the number of steps.
func (h *homotopy) follow(ctx context.Context) (steps int) {
	in := h.in
	h.load()
	if !h.begin() {
		h.arrive()
		return 0
	}
	for h.way > 0 && in.left > 0 && steps < mostSweeps && ctx.Err() == nil {
		in.left--
		steps++
		h.direction()
		length, i, k := h.next()
		h.move(length)
		if h.way > 0 && !h.change(i, k) {
			break
		}
	}
	h.arrive()
	h.meet()
	for k, b := range in.coef {
		in.grad[k] = h.corr[k] - float64(in.ridge*b)
	}
	return steps
}

// load makes the correlations those of the coefficients loaded.
func (h *homotopy) load() {
	w, m := len(h.in.coef), h.in.store.Rows()
	for _, v := range []*[]float64{&h.corr, &h.rate, &h.excess} {
		*v = grow(*v, w)
	}
	if h.onGram() {
		h.product = grow(h.product, h.in.gram.Size())
		copy(h.corr, h.in.quadratic.first)
		return
	}
	h.product = grow(h.product, m)
	h.values, h.start = h.in.residual.e.Values, h.in.residual.e.From
	if h.in.store.Partial() {
		h.copy()
	}
	h.meet()
}

// copy copies the columns of the set, some of which the store does not hold.
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

// column returns that at a position.
func (h *homotopy) column(k int) []float64 {
	return h.values[h.start[k]:][:h.in.store.Rows()]
}

// meet computes the correlations of the coefficients where they are.
func (h *homotopy) meet() {
	if h.onGram() {
		h.in.work += h.in.quadratic.meet(h.corr)
		return
	}
	h.in.work += h.correlate(h.in.residual.e.Residual, h.corr)
}

// correlate sets out to the products of the columns of the set with a vector over compact rows, and returns what
// that costs.
func (h *homotopy) correlate(v, out []float64) float64 {
	h.k.DotDenseSpans(h.start, h.values, v, out)
	return residualCost(len(out)*len(v), len(out), true)
}

// support returns where the columns of S begin, in the order of the factor.
func (h *homotopy) support() []int64 {
	h.spans = h.spans[:0]
	for _, k := range h.at {
		h.spans = append(h.spans, h.start[k])
	}
	return h.spans
}

// begin makes the factor that of the support and finds where the way begins. It returns false where
// there is no such way.
func (h *homotopy) begin() bool {
	h.way, h.moved, h.half = 1, false, h.half[:0]
	if !h.factorise() {
		return false
	}
	if !h.straight() {
		h.moveTarget()
	}
	return h.loosen()
}

// straight reports whether all correlations of the support have the signs of their coefficients.
func (h *homotopy) straight() bool {
	for i, k := range h.at {
		if !(float64(h.sign[i]*(h.corr[k]-float64(h.in.ridge*h.in.coef[k]))) > 0) {
			return false
		}
	}
	return true
}

// moveTarget has the way begin at the nearest target for which the coefficients are the solution on
// their support; under a ridge only nearly so.
func (h *homotopy) moveTarget() {
	in := h.in
	s, m := len(h.at), in.store.Rows()
	h.d, h.pull = grow(h.d, s), grow(h.pull, len(h.corr))
	for i, k := range h.at {
		h.d[i] = float64(h.sign[i]*in.threshold[k]) + float64(in.ridge*in.coef[k]) - h.corr[k]
	}
	h.factor.Solve(h.d)
	h.moved = true
	in.work += float64(2 * denseValue * float64(s*s))
	if h.onGram() {
		h.onward(h.pull)
	} else {
		h.z = grow(h.z, m)
		h.k.Clear(h.z)
		h.k.AxpyDenseSpans(h.d, h.support(), h.values, h.z)
		correlated := h.correlate(h.z, h.pull)
		h.k.Axpy(1, h.z, in.residual.e.Residual)
		in.work += support.DenseCost(s*m) + correlated
	}
	h.k.Axpy(1, h.pull, h.corr)
}

// onward sets out to X̃ᵀX̃_S·d, by position, from the Gram matrix.
func (h *homotopy) onward(out []float64) {
	slot := h.in.quadratic.e.Slot
	h.k.Clear(h.product)
	for i, k := range h.at {
		h.k.Axpy(h.d[i], h.in.gram.Row(int(slot[k])), h.product)
	}
	for k := range out {
		out[k] = h.product[slot[k]]
	}
	h.in.work += gramCost(len(h.at), len(out), len(h.product))
}

// arrive makes the residual that of the target.
func (h *homotopy) arrive() {
	if h.moved && !h.onGram() {
		h.k.Axpy(-h.way, h.z, h.in.residual.e.Residual)
	}
}

// factorise makes the factor that of the support. It returns false where that depends on itself.
func (h *homotopy) factorise() bool {
	in := h.in
	if h.ridge != in.ridge {
		h.forget()
		h.ridge = in.ridge
	}
	if len(h.held) == 0 {
		h.factor.Reset(h.most() + 1)
	}
	support := 0
	for _, b := range in.coef {
		if b != 0 {
			support++
		}
	}
	if support > h.most() { // as under a ridge
		return false
	}
	h.member = slices.Grow(h.member[:0], len(in.coef))[:len(in.coef)]
	clear(h.member)
	h.at, h.sign, h.held = slices.Grow(h.at[:0], support), slices.Grow(h.sign[:0], support), slices.Grow(h.held, support)
	for _, j := range h.held {
		k, found := slices.BinarySearchFunc(in.columns, in.met.place(j), func(j, place int32) int { return int(in.met.place(j) - place) })
		if !found {
			k = -1
		}
		h.at, h.sign = append(h.at, k), append(h.sign, 0)
	}
	for i, k := range slices.Backward(h.at) {
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

// loosen finds the thresholds at which the way begins. It returns false where there are none, since a
// threshold is 0 or a ridge has left a correlation without the sign of its coefficient, or where the
// column that meets its own there depends on the support.
func (h *homotopy) loosen() bool {
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
	for i, k := range h.at {
		start := float64(h.sign[i] * (h.corr[k] - float64(in.ridge*in.coef[k])))
		if !(start > 0) {
			return false
		}
		h.excess[k] = start - in.threshold[k]
	}
	h.begun, h.over = append(h.begun[:0], h.at...), times-1
	for k, t := range in.threshold[:len(h.corr)] {
		if !h.member[k] {
			h.excess[k] = h.over * t
		}
	}
	h.released = -1
	return first < 0 || h.join(first)
}

// add makes the column at a position one of the support. It returns false where that depends on the
// others, or under a ridge where there are as many as rows.
func (h *homotopy) add(k int, sign float64) bool {
	s, m := len(h.at), h.most()
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
	h.held, h.at, h.sign = append(h.held, h.in.columns[k]), append(h.at, k), append(h.sign, sign)
	h.member[k] = true
	return true
}

// products sets row to the products of the column at a position with the support.
func (h *homotopy) products(k int) {
	s := len(h.at)
	if h.onGram() {
		slot := h.in.quadratic.e.Slot
		row := h.in.gram.Row(int(slot[k]))
		for i, k0 := range h.at {
			h.row[i] = row[slot[k0]]
		}
		h.in.work += float64(support.GatherValue * float64(s))
		return
	}
	h.k.DotDenseSpans(h.support(), h.values, h.column(k), h.row[:s])
	h.in.work += support.DenseCost(s * h.in.store.Rows())
}

// remove takes column i of the factor out.
func (h *homotopy) remove(i int) {
	s := float64(len(h.at) - i)
	h.in.work += float64(rotateValue * s * s)
	h.factor.Remove(i)
	h.held, h.at, h.sign = slices.Delete(h.held, i, i+1), slices.Delete(h.at, i, i+1), slices.Delete(h.sign, i, i+1)
	h.half = h.half[:min(i, len(h.half))]
}

// direction finds d: A·d = σ⊙excess, by which the correlations of the support keep to their
// thresholds.
func (h *homotopy) direction() {
	s, known := len(h.at), len(h.half)
	for i, k := range h.at[known:] {
		b := float64(h.sign[known+i] * h.excess[k])
		if h.moved {
			b -= h.pull[k]
		}
		h.half = append(h.half, b)
	}
	h.factor.Forward(h.half, known)
	h.d = append(h.d[:0], h.half...)
	h.factor.Backward(h.d)
	h.in.work += float64(denseValue * float64(2*s*s-known*known))
	if h.onGram() {
		h.onward(h.rate)
		if h.moved {
			h.k.Axpy(1, h.pull, h.rate)
		}
		return
	}
	if h.moved {
		h.k.Copy(h.product, h.z)
	} else {
		h.k.Clear(h.product)
	}
	h.k.AxpyDenseSpans(h.d, h.support(), h.values, h.product)
	h.in.work += support.DenseCost(s*h.in.store.Rows()) + h.correlate(h.product, h.rate)
}

// next returns the length of the step to the next change, and what changes: column i of the support
// leaves, or, where that is −1, the one at position k joins.
func (h *homotopy) next() (length float64, i, k int) {
	length, i = h.leaving()
	if length, k = h.joining(length); k >= 0 {
		i = -1
	}
	return length, i, k
}

// leaving returns the length of the step at which a coefficient first becomes 0, and which of the support: −1 where
// the way ends before.
func (h *homotopy) leaving() (length float64, i int) {
	length, i = h.way, -1
	for at, d := range h.d {
		if float64(d*h.sign[at]) < 0 {
			if b := math.Abs(h.in.coef[h.at[at]]); b < float64(length*math.Abs(d)) {
				length, i = b/math.Abs(d), at
			}
		}
	}
	return length, i
}

// joining returns the length of the step, that given at most, at which a correlation first meets its threshold, and
// the position of its column: −1 where none does.
func (h *homotopy) joining(length float64) (_ float64, k int) {
	h.approach(length)
	k = -1
	for at := range h.near.each {
		if h.member[at] {
			continue
		}
		if sooner, meets := h.meeting(at, length); meets {
			length, k = sooner, at
		}
	}
	return length, k
}

// meeting returns the length of the step at which the correlation at a position meets its threshold, if that is
// shorter than one.
func (h *homotopy) meeting(at int, length float64) (_ float64, meets bool) {
	c, rate, excess := h.corr[at], h.rate[at], h.excess[at]
	limit := h.in.threshold[at] + float64(h.way*excess)
	if limit-math.Abs(c) >= float64(length*(excess+math.Abs(rate))) {
		return length, false
	}
	for _, sign := range [...]float64{1, -1} {
		room, speed := limit-float64(sign*c), excess-float64(sign*rate)
		if speed > 0 && room < float64(length*speed) && (at != h.released || sign != h.side) {
			length, meets = max(0, room/speed), true
		}
	}
	return length, meets
}

// approach notes the columns that may meet their threshold in a step of a length: those whose correlation
// exceeds it at the end.
func (h *homotopy) approach(length float64) {
	const rounding = 0x1p-40
	h.ahead = grow(h.ahead, len(h.corr))
	h.k.Copy(h.ahead, h.corr)
	h.k.Axpy(-length, h.rate, h.ahead)
	end := 1 + float64(h.over*(h.way-length)) - float64(rounding*(1+float64(h.over*h.way)))
	h.near = slices.Grow(h.near[:0], (len(h.corr)+63)/64)[:(len(h.corr)+63)/64]
	h.k.ReachAbs(-end, h.ahead, h.in.threshold[:len(h.corr)], 0, h.near)
	for _, k := range h.begun {
		h.near.set(k)
	}
}

// move goes so far along the direction.
func (h *homotopy) move(length float64) {
	for i, k := range h.at {
		h.in.coef[k] = math.FMA(length, h.d[i], h.in.coef[k])
	}
	h.k.Axpy(-length, h.rate, h.corr)
	if !h.onGram() {
		h.k.Axpy(-length, h.product, h.in.residual.e.Residual)
	}
	h.way -= length
}

// join makes the column at a position, which is at its threshold, one of the support.
func (h *homotopy) join(k int) bool {
	sign := math.Copysign(1, h.corr[k])
	return h.add(k, sign) || h.exchange(k, sign)
}

// exchange makes the column at a position, which has just been refused, one of the support in the
// place of another: its coefficient moves, and those of the support by what leaves predictions as
// they are, until one of these becomes zero. It returns false where none does.
func (h *homotopy) exchange(k int, sign float64) bool {
	in, s := h.in, len(h.at)
	if h.ridge > 0 || s > h.most() {
		return false
	}
	h.d = grow(h.d, s+1)
	h.factor.Null(h.d)
	length, leaves := math.Inf(1), -1
	for i, k0 := range h.at {
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
	for i, k0 := range h.at {
		in.coef[k0] = math.FMA(float64(sign*length), h.d[i], in.coef[k0])
	}
	k0 := h.at[leaves]
	in.coef[k0], h.member[k0] = 0, false
	h.released, h.side = k0, h.sign[leaves]
	h.remove(leaves)
	if !h.add(k, sign) {
		return false
	}
	in.coef[k] = float64(sign * length)
	return true
}

// change is that of a step: column i of the support, whose coefficient has become 0, leaves it, or the
// one at position k joins. It returns false where that depends on the support.
func (h *homotopy) change(i, k int) bool {
	h.released = -1
	if i < 0 {
		return h.join(k)
	}
	k = h.at[i]
	h.in.coef[k], h.member[k] = 0, false
	h.released, h.side = k, h.sign[i]
	h.remove(i)
	return true
}
