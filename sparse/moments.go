package sparse

import (
	"errors"
	"math"
	"sort"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// ErrScale is the cause of errors about columns whose squared norms overflow or underflow.
var ErrScale = errors.New("scale the columns")

// moments are the means and norms of a view's columns, computed once.
type moments struct {
	once         once
	means        []float64 // x̄, nil: not centred
	norms        []float64 // ‖X̃_j‖ₛ
	normsInOrder []float64 // norms in storage order
	squares      []float64 // ‖X_j‖², where every row has weight 1 and columns are not centred; else nil
	err          error
}

// momentsCache are the moments of a matrix's columns with a weight of 1 for every row, not centred and centred; each is
// computed when a view first needs it.
type momentsCache [2]moments

// columnMoments returns the moments of the columns. The first call makes a pass over X.
func (v *View) columnMoments() *moments {
	v.moments.once.Do(func() { v.computeMoments(nil, nil) })
	return v.moments
}

// Introduce is [View.Correlate] for all columns. If means and norms are not known yet, the same pass over X
// computes them.
func (v *View) Introduce(u, out []float64) {
	done := false
	v.moments.once.Do(func() {
		v.computeMoments(u, out)
		done = true
	})
	if !done {
		(&columnPass{v: v, u: u, out: out}).do()
	}
}

// setMoments makes m the moments of the view; its means and norms are set already.
func (v *View) setMoments(m *moments) {
	m.normsInOrder = make([]float64, len(v.x.Order()))
	for k, j := range v.x.Order() {
		m.normsInOrder[k] = m.norms[j]
	}
	m.once.Do(func() {})
	v.moments = m
}

// chooseMoments decides whether the view shares the moments kept with the matrix or has its own, and returns their
// error, if there is one. Where rows are held out, it checks the moments over all rows, and leaves the view's
// own for later if those have no error.
func (v *View) chooseMoments() error {
	v.moments = &moments{}
	if !v.fractional {
		all := *v
		all.weights, all.total, all.positiveRows = nil, float64(v.n), v.n
		var of *momentsCache
		switch x := v.x.(type) {
		case *CSC:
			of = &x.moments
		case *Dense:
			of = &x.moments
		default:
			of = &momentsCache{}
		}
		all.moments = &of[0]
		if v.centred {
			all.moments = &of[1]
		}
		v.unitMoments = all.moments
		if all.columnMoments().err == nil && v.weights != nil {
			return nil
		}
		if v.weights == nil {
			v.moments = all.moments
		}
	}
	return v.columnMoments().err
}

// computeMoments computes the moments of the columns and, where u is not nil, sets out to their products with u.
func (v *View) computeMoments(u, out []float64) {
	m, order := v.moments, v.x.Order()
	m.norms = make([]float64, v.p)
	switch {
	case v.centred:
		m.means = make([]float64, v.p)
	case v.weights == nil:
		m.squares = make([]float64, v.p)
	}
	squares := make([]float64, len(order))
	m.normsInOrder = m.norms // dense columns are stored in the order of their indices
	if _, dense := v.x.(*Dense); !dense {
		m.normsInOrder = make([]float64, len(order))
	}
	v.columnSums(u, out, squares, m.normsInOrder)
	for k, j := range order {
		square := squares[k]
		m.normsInOrder[k] = 0
		if square == constantMark {
			continue
		}
		if m.squares != nil {
			m.squares[j] = square
		}
		m.norms[j] = math.Sqrt(square)
		m.normsInOrder[k] = m.norms[j]
		switch {
		case m.err != nil:
		case math.IsInf(m.norms[j], 1):
			m.err = &outcome.Error{Kind: outcome.NonFinite, HasColumn: true, Column: int(j), Message: "the squared norm overflows", Err: ErrScale}
		case square < leastSquare && v.underflows(int(j)):
			m.err = &outcome.Error{Kind: outcome.BadParameter, HasColumn: true, Column: int(j), Message: "the squared norm underflows", Err: ErrScale}
		}
	}
}

// centreMoments turns the sums of squares of the columns at positions from:to of the storage order into sums of
// squares about the mean, where columns are centred, and sets their means.
func (v *View) centreMoments(from, to int, squares, sums []float64, room *centringScratch) {
	m := v.moments
	far := room.far[:0] // positions of columns whose means are large compared with their spread
	for k, j := range v.x.Order()[from:to] {
		k += from
		mean := 0.0
		if v.centred {
			mean = sums[k] / v.total
		}
		off, square := float64(float64(v.total*mean)*mean), squares[k]
		if v.centred && !(off <= constantShare*square && square >= leastSquare && square <= math.MaxFloat64) {
			if constant, ok := v.constantAt(k, j); ok {
				m.means[j], squares[k] = constant, constantMark
				continue
			}
		}
		if v.centred {
			m.means[j] = mean
		}
		// Where N·x̄² is at most half of the sum of squares, the difference is exact enough.
		if off <= 0.5*square && square <= math.MaxFloat64 {
			squares[k] -= off
		} else {
			far = append(far, k)
		}
	}
	v.centredSquares(far, squares, room)
	room.far = far
}

// constantShare is the fraction of its sum of squares that N·x̄² of a column must exceed for the column to be
// constant, whatever rounding has done to both.
const constantShare = 1 - 0x1p-20

// centringScratch is scratch memory for centring a range of columns.
type centringScratch struct {
	far        []int     // see centreMoments
	deviations []float64 // some dense columns minus their means
	out        []float64 // weighted sums of squares of the columns in deviations
	weights    []float64 // row weights, all 1 where the view has none
}

// constantMark, in place of a squared norm, marks a column that equals its mean in every row of positive weight.
const constantMark = -1

// centredSquares sets squares[k], for the columns at the given positions k, to Σ sᵢ(xᵢ − x̄)². Every term is ≥ 0, so
// nothing cancels for a column whose mean is large compared with its spread.
func (v *View) centredSquares(columns []int, squares []float64, room *centringScratch) {
	order, means := v.x.Order(), v.moments.means
	mean := func(k int) float64 {
		if means == nil {
			return 0
		}
		return means[order[k]]
	}
	if _, dense := v.x.(*Dense); !dense {
		for _, k := range columns {
			squares[k] = v.centredSquare(int(order[k]), mean(k))
		}
		return
	}
	together := max(1, cachedEntries/max(1, v.n)) // columns processed at once
	if len(columns) > 0 && room.deviations == nil {
		room.deviations, room.out, room.weights = kernels.Undefined[float64](together*v.n), make([]float64, together), v.weights
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
			off := room.deviations[c*v.n:][:v.n]
			v.k.Copy(off, x)
			v.k.Subtract(mean(k), off)
		}
		v.k.SquaresDense(room.deviations[:len(now)*v.n], room.weights, room.out[:len(now)])
		for c, k := range now {
			squares[k] = room.out[c]
		}
	}
}

// leastSquare is a squared norm that keeps some digits although its terms are rounded to multiples of the
// smallest float64; below it are columns without entries and faint ones.
const leastSquare = 0x1p-1000

// underflows reports whether a column has entries and all are too small to be squared.
func (v *View) underflows(j int) bool {
	_, values := v.x.Column(j)
	largest := v.k.MaxAbs(values)
	return largest > 0 && largest < 0x1p-490
}

// Whole returns Σ (xᵢⱼ − a)², or an upper bound, over all rows with weight 1 each, held-out rows included; a is
// 0 where columns are not centred.
func (v *View) Whole(j int, a float64) float64 {
	scale := v.Scale(j)
	if m := v.unitMoments; m != nil && v.centred {
		off := math.FMA(m.means[j], scale, -a)
		return float64(m.norms[j]*scale*m.norms[j]*scale) + float64(float64(v.n)*off*off)
	} else if m != nil {
		return float64(m.squares[j] * scale * scale)
	}
	_, values := v.x.Column(j)
	size := float64(scale*v.k.Nrm2(values)) + float64(math.Sqrt(float64(v.n))*math.Abs(a))
	return size * size
}

// columnSums sets squares to Σ sᵢxᵢ² and sums to Σ sᵢxᵢ in storage order, and out to X_jᵀu where u is not nil; sparse
// columns under weights take one pass for all three. Then it centres squares.
func (v *View) columnSums(u, out, squares, sums []float64) {
	w := &columnPass{v: v, u: u, out: out, squares: squares, sums: sums}
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

// columnPass is a pass over all columns. It computes their products with u where u is not nil, and their sums
// where squares is not nil. Its parts have about equal numbers of entries.
type columnPass struct {
	v                     *View
	u, out, squares, sums []float64
	pairs                 []float64 // of weights and u, row by row, for sparse columns under weights
}

func (w *columnPass) do() {
	cost := float64(EntryCost * float64(w.v.x.NNZ()))
	w.v.team.Do(w.v.team.Few(cost), w)
}

// Part implements [team.Task].
func (w *columnPass) Part(k, of int) {
	v := w.v
	from, to := columnsUpTo(v.x, k, of), columnsUpTo(v.x, k+1, of)
	dense, ok := v.x.(*Dense)
	switch {
	case w.squares == nil:
		v.Correlate(from, to, w.u, w.out[from:to])
	case v.weights == nil:
		w.byColumn(from, to)
		v.centreMoments(from, to, w.squares, w.sums, &centringScratch{})
	case ok:
		w.dense(dense, from, to)
	default:
		w.sparse(v.x.(*CSC), from, to)
		v.centreMoments(from, to, w.squares, w.sums, &centringScratch{})
	}
}

// columnsUpTo returns the number of columns, in storage order, that the first k parts out of the given number
// contain.
func columnsUpTo(x Matrix, k, of int) int {
	order := x.Order()
	if c, ok := x.(*CSC); ok && k < of {
		before := x.NNZ() / int64(of) * int64(k)
		return sort.Search(len(order), func(at int) bool { return c.colPtr[at] >= before })
	}
	return len(order) * k / of
}

// byColumn computes the sums of the columns at from:to, one at a time, where every row has weight 1.
func (w *columnPass) byColumn(from, to int) {
	v := w.v
	for k, j := range v.x.Order()[from:to] {
		_, values := v.x.Column(int(j))
		w.squares[from+k], w.sums[from+k] = sumOfSquares(v.k, values), v.k.Sum(values)
	}
	if w.u != nil {
		v.Correlate(from, to, w.u, w.out[from:to])
	}
}

// sparse computes the sums of the sparse columns at from:to under row weights.
func (w *columnPass) sparse(x *CSC, from, to int) {
	v := w.v
	v.k.Moments(x.colPtr[from:to+1], x.rows, x.values, w.pairs, w.squares[from:to], w.sums[from:to], w.out[from:to])
	if w.u == nil || v.scale == nil {
		return
	}
	for k, j := range x.order[from:to] {
		w.out[from+k] *= v.scale[j]
	}
}

// cachedEntries is the number of entries of dense columns that one vector is multiplied with before the next
// vector is: they fit in the L1 cache.
const cachedEntries = 1 << 11

// dense computes the sums of the dense columns at from:to under row weights, and centres them while they are in
// the cache.
func (w *columnPass) dense(x *Dense, from, to int) {
	v, room := w.v, &centringScratch{}
	for step := max(1, cachedEntries/max(1, x.n)); from < to; {
		next := min(to, from+step)
		values := x.values[from*x.n : next*x.n]
		v.k.DotDense(values, v.weights, w.sums[from:next])
		v.k.SquaresDense(values, v.weights, w.squares[from:next])
		if w.u != nil {
			v.Correlate(from, next, w.u, w.out[from:next])
		}
		v.centreMoments(from, next, w.squares, w.sums, room)
		from = next
	}
}

// constantAt is [View.constant] of column j, at position k of the storage order. Most sparse columns have too
// few entries and are rejected by their number alone.
func (v *View) constantAt(k int, j int32) (value float64, ok bool) {
	if x, sparse := v.x.(*CSC); sparse && x.colPtr[k+1]-x.colPtr[k] < int64(v.positiveRows) {
		return 0, false
	}
	return v.constant(v.x.Column(int(j)))
}

// constant returns the value that a column has in every row of positive weight, if there is one. A sparse
// column must store all these entries: a column of zeros does not count.
func (v *View) constant(rows []int32, values []float64) (value float64, ok bool) {
	if len(values) < v.positiveRows {
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
	return value, stored == v.positiveRows
}

// centredSquare returns Σ sᵢ(xᵢ − mean)² of a sparse column.
func (v *View) centredSquare(j int, mean float64) float64 {
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
		sum = math.FMA(v.unstoredWeight(rows, seen)*mean, mean, sum)
	}
	return sum
}

// unstoredWeight returns the weight of the rows whose zeros are not stored: the total weight less that of the stored
// rows or, where the difference is so small that it may be rounding, the sum of the unstored rows' weights.
func (v *View) unstoredWeight(rows []int32, stored float64) float64 {
	rest := v.total - stored
	if v.weights == nil || rest > unstoredTrust*v.total {
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

// unstoredTrust is the fraction of the total weight above which unstoredWeight trusts the difference.
const unstoredTrust = 0x1p-10

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
