package sparse

import (
	"errors"
	"math"
	"sort"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// ErrScale is the cause of errors of columns whose squared norms are beyond the numbers there are.
var ErrScale = errors.New("scale the columns")

// moments are what a view knows of its columns: written once.
type moments struct {
	once    once
	means   []float64 // x̄, nil: not centred
	norms   []float64 // ‖X̃_j‖ₛ
	placed  []float64 // the same in storage order
	squares []float64 // of them, of all rows alike and not centred; else nil
	err     error
}

// kept are the moments of the columns of a matrix on rows of weight 1, not centred and
// centred, once a view has asked for them.
type kept [2]moments

// columns returns the moments of the columns, at a pass over X the first time.
func (v *View) columns() *moments {
	v.moments.once.Do(func() { v.measure(nil, nil) })
	return v.moments
}

// Introduce is [View.Correlate] of all columns, which may be the pass over X that means and
// norms take as well.
func (v *View) Introduce(u, out []float64) {
	done := false
	v.moments.once.Do(func() {
		v.measure(u, out)
		done = true
	})
	if !done {
		(&wholePass{v: v, u: u, out: out}).do()
	}
}

// keep makes m, of which means and norms are known, the moments.
func (v *View) keep(m *moments) {
	m.placed = make([]float64, len(v.x.Order()))
	for k, j := range v.x.Order() {
		m.placed[k] = m.norms[j]
	}
	m.once.Do(func() {})
	v.moments = m
}

// settle decides where the moments are, and finds the error in them, if there is one:
// where rows are held out, by looking at all.
func (v *View) settle() error {
	v.moments = &moments{}
	if !v.mixed {
		all := *v
		all.weights, all.total, all.positive = nil, float64(v.n), v.n
		var of *kept
		switch x := v.x.(type) {
		case *CSC:
			of = &x.moments
		case *Dense:
			of = &x.moments
		default:
			of = &kept{}
		}
		all.moments = &of[0]
		if v.centred {
			all.moments = &of[1]
		}
		v.all = all.moments
		if all.columns().err == nil && v.weights != nil {
			return nil
		}
		if v.weights == nil {
			v.moments = all.moments
		}
	}
	return v.columns().err
}

// measure computes the moments of the columns, and their correlations with u where that
// is not nil.
func (v *View) measure(u, out []float64) {
	m, order := v.moments, v.x.Order()
	m.norms = make([]float64, v.p)
	switch {
	case v.centred:
		m.means = make([]float64, v.p)
	case v.weights == nil:
		m.squares = make([]float64, v.p)
	}
	squares := make([]float64, len(order))
	m.placed = m.norms // as columns lie
	if _, dense := v.x.(*Dense); !dense {
		m.placed = make([]float64, len(order))
	}
	v.sums(u, out, squares, m.placed)
	for k, j := range order {
		square := squares[k]
		m.placed[k] = 0
		if square == nothing {
			continue
		}
		if m.squares != nil {
			m.squares[j] = square
		}
		m.norms[j] = math.Sqrt(square)
		m.placed[k] = m.norms[j]
		switch {
		case m.err != nil:
		case math.IsInf(m.norms[j], 1):
			m.err = &outcome.Error{Kind: outcome.NonFinite, HasColumn: true, Column: int(j), Message: "the squared norm overflows", Err: ErrScale}
		case square < leastSquare && v.faint(int(j)):
			m.err = &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: int(j), Message: "the squared norm underflows", Err: ErrScale}
		}
	}
}

// centre makes the squares of some columns, by place, those of their spread, where columns are centred, and
// sets their means.
func (v *View) centre(from, to int, squares, sums []float64, room *spreading) {
	m := v.moments
	far := room.far[:0] // columns, by place, whose means are large beside their spread
	for k, j := range v.x.Order()[from:to] {
		k += from
		mean := 0.0
		if v.centred {
			mean = sums[k] / v.total
		}
		off, square := float64(float64(v.total*mean)*mean), squares[k]
		if v.centred && !(off <= unlike*square && square >= leastSquare && square <= math.MaxFloat64) {
			if constant, ok := v.constantAt(k, j); ok {
				m.means[j], squares[k] = constant, nothing
				continue
			}
		}
		if v.centred {
			m.means[j] = mean
		}
		// Where the mean is no more than half of the square, the difference is exact enough.
		if off <= 0.5*square && square <= math.MaxFloat64 {
			squares[k] -= off
		} else {
			far = append(far, k)
		}
	}
	v.spreads(far, squares, room)
	room.far = far
}

// unlike is the share of the squares of a column that those of its mean have to exceed for it to be constant,
// whatever rounding has done to both.
const unlike = 1 - 0x1p-20

// spreading is room for a part of the columns to be centred in.
type spreading struct {
	far     []int
	off     []float64 // some dense columns less their means
	out     []float64 // squares of them
	weights []float64 // of its rows
}

// nothing stands for the squared norm of a column that is its mean.
const nothing = -1

// spreads sets the squares of some columns, by place, to their spread: Σ sᵢ(xᵢ − x̄)², every term of
// which is ≥ 0, so that nothing cancels for a column whose mean is large beside its spread.
func (v *View) spreads(columns []int, squares []float64, room *spreading) {
	order, means := v.x.Order(), v.moments.means
	mean := func(k int) float64 {
		if means == nil {
			return 0
		}
		return means[order[k]]
	}
	if _, dense := v.x.(*Dense); !dense {
		for _, k := range columns {
			squares[k] = v.spread(int(order[k]), mean(k))
		}
		return
	}
	together := max(1, nearEntries/max(1, v.n)) // columns
	if len(columns) > 0 && room.off == nil {
		room.off, room.out, room.weights = kernels.Undefined[float64](together*v.n), make([]float64, together), v.weights
		if v.weights == nil {
			room.weights = kernels.Undefined[float64](v.n)
			v.k.Fill(room.weights, 1)
		}
	}
	for len(columns) > 0 {
		now := columns[:min(len(columns), together)]
		columns = columns[len(now):]
		for c, k := range now {
			_, x := v.x.Column(int(order[k]))
			off := room.off[c*v.n:][:v.n]
			v.k.Copy(off, x)
			v.k.Subtract(mean(k), off)
		}
		v.k.SquaresDense(room.off[:len(now)*v.n], room.weights, room.out[:len(now)])
		for c, k := range now {
			squares[k] = room.out[c]
		}
	}
}

// leastSquare is the squared norm that rounding to multiples of the least number leaves
// some digits of; below it are columns without entries and those that are faint.
const leastSquare = 0x1p-1000

// faint reports whether a column has entries, all of them too small to be squared.
func (v *View) faint(j int) bool {
	_, values := v.x.Column(j)
	largest := v.k.MaxAbs(values)
	return largest > 0 && largest < 0x1p-490
}

// Whole returns Σ (xᵢⱼ − a)² or more, over all rows alike, held-out ones included; a is 0
// where columns are not centred.
func (v *View) Whole(j int, a float64) float64 {
	scale := v.Scale(j)
	if m := v.all; m != nil && v.centred {
		off := math.FMA(m.means[j], scale, -a)
		return float64(m.norms[j]*scale*m.norms[j]*scale) + float64(float64(v.n)*off*off)
	} else if m != nil {
		return float64(m.squares[j] * scale * scale)
	}
	_, values := v.x.Column(j)
	size := float64(scale*v.k.Nrm2(values)) + float64(math.Sqrt(float64(v.n))*math.Abs(a))
	return size * size
}

// sums sets squares to Σ sᵢxᵢ² and sums to Σ sᵢxᵢ in storage order, and out to X_jᵀu
// where u is not nil, all of sparse columns under weights in one pass, and centres what it has summed.
func (v *View) sums(u, out, squares, sums []float64) {
	w := &wholePass{v: v, u: u, out: out, squares: squares, sums: sums}
	if _, ok := v.x.(*CSC); ok && v.weights != nil {
		w.pairs = make([]float64, 2*v.n)
		for from, to := range v.k.Pieces(v.n) {
			for i := from; i < to; i++ {
				w.pairs[2*i] = v.weights[i]
				if u != nil {
					w.pairs[2*i+1] = u[i]
				}
			}
		}
		if u == nil {
			w.out = make([]float64, len(squares))
		}
	}
	w.do()
}

// wholePass is a pass over all columns, for their products with u, where it is not nil, and
// their sums, where squares is not nil. Parts have about as many entries as one another.
type wholePass struct {
	v                     *View
	u, out, squares, sums []float64
	pairs                 []float64 // of weights and u, row by row, for sparse columns under weights
}

func (w *wholePass) do() {
	cost := float64(EntryCost * float64(w.v.x.NNZ()))
	w.v.team.Do(w.v.team.Few(cost), w)
}

// Part implements [team.Task].
func (w *wholePass) Part(k, of int) {
	v := w.v
	from, to := portion(v.x, k, of), portion(v.x, k+1, of)
	dense, ok := v.x.(*Dense)
	switch {
	case w.squares == nil:
		v.Correlate(from, to, w.u, w.out[from:to])
	case v.weights == nil:
		w.byColumn(from, to)
		v.centre(from, to, w.squares, w.sums, &spreading{})
	case ok:
		w.dense(dense, from, to)
	default:
		w.sparse(v.x.(*CSC), from, to)
		v.centre(from, to, w.squares, w.sums, &spreading{})
	}
}

// portion returns how many columns, in storage order, the first k of so many parts have.
func portion(x Matrix, k, of int) int {
	order := x.Order()
	if c, ok := x.(*CSC); ok && k < of {
		before := x.NNZ() / int64(of) * int64(k)
		return sort.Search(len(order), func(at int) bool { return c.colPtr[at] >= before })
	}
	return len(order) * k / of
}

// byColumn goes through some columns, one at a time, on rows of weight 1.
func (w *wholePass) byColumn(from, to int) {
	v := w.v
	for k, j := range v.x.Order()[from:to] {
		_, values := v.x.Column(int(j))
		w.squares[from+k], w.sums[from+k] = sumOfSquares(v.k, values), v.k.Sum(values)
	}
	if w.u != nil {
		v.Correlate(from, to, w.u, w.out[from:to])
	}
}

// sparse goes through some sparse columns under weights.
func (w *wholePass) sparse(x *CSC, from, to int) {
	v := w.v
	v.k.Moments(x.colPtr[from:to+1], x.rows, x.values, w.pairs, w.squares[from:to], w.sums[from:to], w.out[from:to])
	if w.u == nil || v.scale == nil {
		return
	}
	for k, j := range x.order[from:to] {
		w.out[from+k] *= v.scale[j]
	}
}

// nearEntries is how many entries of dense columns are met with one vector before they meet the next:
// as many as the first level of caches has room for.
const nearEntries = 1 << 11

// dense goes through some dense columns under weights, and centres them while they are near.
func (w *wholePass) dense(x *Dense, from, to int) {
	v, room := w.v, &spreading{}
	for step := max(1, nearEntries/max(1, x.n)); from < to; {
		next := min(to, from+step)
		values := x.values[from*x.n : next*x.n]
		v.k.DotDense(values, v.weights, w.sums[from:next])
		v.k.SquaresDense(values, v.weights, w.squares[from:next])
		if w.u != nil {
			v.Correlate(from, next, w.u, w.out[from:next])
		}
		v.centre(from, next, w.squares, w.sums, room)
		from = next
	}
}

// constantAt is [View.constant] of column j, at place k, whose entries are mostly fewer than the rows.
func (v *View) constantAt(k int, j int32) (value float64, ok bool) {
	if x, sparse := v.x.(*CSC); sparse && x.colPtr[k+1]-x.colPtr[k] < int64(v.positive) {
		return 0, false
	}
	return v.constant(v.x.Column(int(j)))
}

// constant returns the number that a column has in every one of the rows of positive
// weight, if it has one there. Zeros that are not stored are taken for no constant.
func (v *View) constant(rows []int32, values []float64) (value float64, ok bool) {
	if len(values) < v.positive {
		return 0, false
	}
	stored := 0
	for k, x := range values {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		if v.weights != nil && v.weights[i] == 0 {
			continue
		}
		if stored++; stored == 1 {
			value = x
		} else if x != value {
			return 0, false
		}
	}
	return value, stored == v.positive
}

// spread is that of a sparse column.
func (v *View) spread(j int, mean float64) float64 {
	rows, values := v.x.Column(j)
	var sum, seen float64
	pace := v.k.Pace()
	for k, x := range values {
		pace.Did(1)
		s, d := 1.0, x-mean
		if v.weights != nil {
			s = v.weights[rows[k]]
		}
		sum = math.FMA(s*d, d, sum)
		seen += s
	}
	if mean != 0 {
		sum = math.FMA(v.unstored(rows, seen)*mean, mean, sum)
	}
	return sum
}

// unstored returns the weight of the rows that hold zeros, which are not stored: all but that of the others or, where these
// have nearly all and the difference is rounding, the sum of theirs.
func (v *View) unstored(rows []int32, stored float64) float64 {
	rest := v.total - stored
	if v.weights == nil || rest > nearlyNone*v.total {
		return rest
	}
	rest = 0
	at, pace := 0, v.k.Pace()
	for i, s := range v.weights {
		pace.Did(1)
		if at < len(rows) && int(rows[at]) == i {
			at++
		} else {
			rest += s
		}
	}
	return rest
}

// nearlyNone is the share of the weight from which on it is taken as a difference.
const nearlyNone = 0x1p-10

// sumOfSquares returns Σx², in four partial sums as [kernels.Set.Sum] has them.
func sumOfSquares(k *kernels.Set, x []float64) float64 {
	var a, b, c, d float64
	for from, to := range k.Pieces(len(x)) {
		x := x[from:to]
		for len(x) >= 4 {
			a, b, c, d = math.FMA(x[0], x[0], a), math.FMA(x[1], x[1], b), math.FMA(x[2], x[2], c), math.FMA(x[3], x[3], d)
			x = x[4:]
		}
		for _, v := range x {
			a = math.FMA(v, v, a)
		}
	}
	return (a + b) + (c + d)
}
