package support

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// joint is ∇²f between some coefficients, written out entry by entry. After a few sweeps
// this pays: an update takes a row of the matrix instead of a column of X for every score.
type joint struct {
	position []int32 // column·q + score → 1 + its row of the matrix, 0: none
	list     []int   // row → coefficient
	active   bool    // Move and Product use the matrix
	matrix   []float64
	stride   int
	r        []float64 // matrix times the running vector

	columns []int32 // scratch of [Hessian.columnsOf]
	rows    []int32 // scratch of [Hessian.Between]

	shares                       []float64 // the probabilities P, score by score
	curvedRows                   []int32   // the rows of X whose weight is not 0
	curvedIndex                  []int32   // row of X → its position in curvedRows, −1: not in it
	weightedShares, curvedShares []float64 // s⊙P and P on the rows in curvedRows, score by score
	x                            [kernels.Lanes][]float64
	panels                       []float64
	class                        []float64 // the sums of [Hessian.addClass], for one score
}

// largestJoint is the largest number of coefficients between which ∇²f is written out.
const largestJoint = 1536

const (
	scoreValue  = 0.8 // one value of a column, for one score, in a product or an update
	spreadValue = 2.5 // one value copied for tiles
)

// JointCost returns the cost of writing ∇²f out between coefficients, +Inf where there are too many of them.
func (h *Hessian) JointCost(coefficients []int) float64 {
	size := len(coefficients)
	if size > largestJoint {
		return math.Inf(1)
	}
	if h.packed == nil {
		return h.writeCost(size)
	}
	missing := h.gram.Missing(h.columnsOf(coefficients))
	if !h.gram.Fits(missing.Columns()) {
		return math.Inf(1)
	}
	return h.gram.BuildCost(missing) + float64(GatherValue*float64(size*size))
}

// columnsOf returns the columns of the coefficients, for a loss with one score.
func (h *Hessian) columnsOf(coefficients []int) []int32 {
	h.joint.columns = h.joint.columns[:0]
	for _, j := range coefficients {
		h.joint.columns = append(h.joint.columns, int32(j))
	}
	return h.joint.columns
}

// writeCost returns the cost of writing ∇²f of several scores out between size coefficients.
func (h *Hessian) writeCost(size int) float64 {
	return float64(len(h.joint.curvedRows)) * float64(size) * (float64(0.5*tileValue*float64(size)) + spreadValue)
}

// VisitCost returns the cost of one Move and one Product at every column of a list.
func (h *Hessian) VisitCost(columns []int32) float64 {
	if h.Written() {
		size := float64(len(h.joint.r))
		return float64(GramValue * size * size)
	}
	values := 0
	for _, j := range columns {
		from, to := h.view.Matrix().Span(int(j))
		values += int(to - from)
	}
	return float64(2*scoreValue*float64(h.metric.Count)) * float64(values)
}

// Write writes out ∇²f between coefficients, where j·q + k stands for column j and score k.
// Their columns must be among those that [Hessian.Reset] was called with. Until the next Reset,
// Move and Product are limited to these coefficients: others do not move, and their products are 0.
func (h *Hessian) Write(coefficients []int) {
	q, size := h.metric.Count, len(coefficients)
	j := &h.joint
	h.unwrite()
	if _, p := h.view.Dims(); j.position == nil {
		j.position = make([]int32, p*q)
	}
	j.active, j.list = true, append(j.list[:0], coefficients...)
	classes := make([][]int, q)
	for at, c := range coefficients {
		j.position[c] = int32(at) + 1
		classes[c%q] = append(classes[c%q], at)
	}
	if j.r = resize(j.r, size); h.packed != nil {
		j.stride, j.matrix = size, resize(j.matrix, size*size)
		clear(j.r)
		columns := h.columnsOf(coefficients)
		h.gram.Hold(columns)
		h.gram.Submatrix(columns, 0, j.matrix)
		return
	}
	bordered := h.bordered(coefficients)
	j.stride = roundUpToLanes(len(bordered))
	j.matrix = resize(j.matrix, j.stride*j.stride)
	clear(j.matrix)
	clear(j.r)
	h.gatherShares()
	h.tileProducts(bordered, j.curvedShares, j.matrix)
	h.addCentring(coefficients)
	for at := range j.matrix {
		j.matrix[at] = -j.matrix[at]
	}
	for _, own := range classes {
		h.addClass(coefficients, own)
	}
	for a := range size {
		for b := range a + 1 {
			v := j.matrix[b*j.stride+a] / h.total
			j.matrix[a*j.stride+b], j.matrix[b*j.stride+a] = v, v
		}
	}
}

// listCurved lists the rows whose curvature is not 0.
func (h *Hessian) listCurved() {
	j, pace := &h.joint, h.view.Kernels().Pace()
	j.curvedRows, j.curvedIndex = j.curvedRows[:0], resize(j.curvedIndex, len(h.metric.Weight))
	for i, w := range h.metric.Weight {
		pace.Did(1)
		if j.curvedIndex[i] = -1; w != 0 {
			j.curvedIndex[i] = int32(len(j.curvedRows))
			j.curvedRows = append(j.curvedRows, int32(i))
		}
	}
}

// gatherShares sets weightedShares and curvedShares for the rows in curvedRows.
func (h *Hessian) gatherShares() {
	j, m, q := &h.joint, len(h.joint.curvedRows), h.metric.Count
	pace := h.view.Kernels().Pace()
	j.weightedShares, j.curvedShares = resize(j.weightedShares, m*q), resize(j.curvedShares, m*q)
	for class := range q {
		weighted, share := j.weightedShares[class*m:][:m], j.curvedShares[class*m:][:m]
		for at, i := range j.curvedRows {
			pace.Did(1)
			share[at] = h.metric.Share[int(i)*q+class]
			weighted[at] = h.metric.Weight[i] * share[at]
		}
	}
}

// Written reports whether [Hessian.Write] is in effect.
func (h *Hessian) Written() bool { return h.joint.active }

// Writes reports whether a coefficient is among those written out.
func (h *Hessian) Writes(coefficient int) bool {
	return h.joint.active && h.joint.position[coefficient] > 0
}

// unwrite ends the effect of [Hessian.Write].
func (h *Hessian) unwrite() {
	for _, c := range h.joint.list {
		h.joint.position[c] = 0
	}
	h.joint.active = false
}

// copyLastWritten sets out to ∇²f between coefficients, row by row, as [Hessian.Write] last computed it, at whatever point that was. It
// returns false, and does not change out, where not all of them were written out then.
func (h *Hessian) copyLastWritten(coefficients []int, out []float64) bool {
	j := &h.joint
	for at, c := range j.list {
		j.position[c] = int32(at) + 1
	}
	all := len(j.list) > 0 && !slices.ContainsFunc(coefficients, func(c int) bool { return j.position[c] == 0 })
	if all {
		h.Between(coefficients, out)
	}
	if !j.active {
		h.unwrite()
	}
	return all
}

// copyWritten sets out, row by row, to ∇²f between all coefficients that are written out.
func (h *Hessian) copyWritten(out []float64) {
	size := len(h.joint.r)
	for a := range size {
		copy(out[a*size:][:size], h.joint.matrix[a*h.joint.stride:])
	}
}

// Between sets out, row by row, to ∇²f between some of the coefficients that are written out.
func (h *Hessian) Between(coefficients []int, out []float64) {
	size, j := len(coefficients), &h.joint
	j.rows = j.rows[:0]
	for _, c := range coefficients {
		j.rows = append(j.rows, j.position[c]-1)
	}
	for a, row := range j.rows {
		from := j.matrix[int(row)*j.stride:]
		for b, column := range j.rows {
			out[a*size+b] = from[column]
		}
	}
}

// bordered returns the coefficients followed, where there are intercepts, by those of a column of ones, one for each score.
func (h *Hessian) bordered(coefficients []int) []int {
	if !h.view.Centred() {
		return coefficients
	}
	_, p := h.view.Dims()
	q := h.metric.Count
	all := append(make([]int, 0, len(coefficients)+q), coefficients...)
	for k := range q {
		all = append(all, p*q+k)
	}
	return all
}

func roundUpToLanes(size int) int { return (size + kernels.Lanes - 1) / kernels.Lanes * kernels.Lanes }

// addClass adds Σ sᵢPᵢₖx̃ᵢx̃ᵢᵀ to the matrix, in the rows own of the coefficients of one score k.
func (h *Hessian) addClass(coefficients, own []int) {
	j := &h.joint
	stride := roundUpToLanes(len(own))
	j.class = resize(j.class, stride*stride)
	clear(j.class)
	list := make([]int, len(own))
	for k, at := range own {
		list[k] = coefficients[at]
	}
	h.tileProducts(list, nil, j.class)
	for a, row := range own {
		for b := a; b < len(own); b++ {
			j.matrix[row*j.stride+own[b]] += j.class[a*stride+b]
		}
	}
}

// tileProducts adds Σ (sᵢPᵢₖxᵢⱼ)(Rᵢₗxᵢₘ) to the upper triangle of out, for the coefficients
// (j, k) and (m, l). R is right; nil stands for factors of 1.
func (h *Hessian) tileProducts(coefficients []int, right, out []float64) {
	const lanes = kernels.Lanes
	j, n := &h.joint, len(h.joint.curvedRows)
	stride := roundUpToLanes(len(coefficients))
	j.panels = resize(j.panels, stride*tileRows)
	pace := h.view.Kernels().Pace()
	for from := 0; from < n; from += tileRows {
		to := min(from+tileRows, n)
		pace.Did((to - from) * stride)
		height := lanes * (to - from)
		for b := 0; b < stride; b += lanes {
			h.loadTile(coefficients[b:], right, from, to)
			interleave(&j.x, j.panels[b/lanes*height:][:height])
		}
		for a := 0; a < stride; a += lanes {
			h.loadTile(coefficients[a:], j.weightedShares, from, to)
			for b := a; b < stride; b += lanes {
				h.view.Kernels().AddTile(&j.x, j.panels[b/lanes*height:][:height], stride, out[a*stride+b:])
			}
		}
	}
}

// loadTile sets x to the columns of the first eight coefficients, times the factors of their scores, in the rows
// curvedRows[from:to].
func (h *Hessian) loadTile(coefficients []int, factors []float64, from, to int) {
	q, n, k := h.metric.Count, len(h.joint.curvedRows), h.view.Kernels()
	for lane := range h.joint.x {
		x := resize(h.joint.x[lane], to-from)
		h.joint.x[lane] = x
		if lane >= len(coefficients) {
			clear(x)
			continue
		}
		scale := h.values(int32(coefficients[lane]/q), x, from, to)
		if factors != nil {
			k.Product(x, x, factors[coefficients[lane]%q*n:][from:to])
		}
		if scale != 1 {
			k.Scal(scale, x)
		}
	}
}

// values sets x to a column of the matrix in the rows curvedRows[from:to], less its mean where it is dense, and returns the factor
// by which the view multiplies the column.
func (h *Hessian) values(column int32, x []float64, from, to int) (scale float64) {
	if _, p := h.view.Dims(); int(column) == p { // the column of ones
		h.view.Kernels().Fill(x, 1)
		return 1
	}
	j := &h.joint
	list := j.curvedRows[from:to]
	rows, values, mean, scale := h.column(column)
	if rows == nil {
		for at, i := range list {
			x[at] = values[i] - mean
		}
		return scale
	}
	clear(x)
	at, _ := slices.BinarySearch(rows, list[0])
	for last := list[len(list)-1]; at < len(rows) && rows[at] <= last; at++ {
		if k := j.curvedIndex[rows[at]]; k >= 0 {
			x[int(k)-from] = values[at]
		}
	}
	return scale
}

// addCentring adds the term that eliminates the intercepts to the upper triangle: m_a(ΣD)⁻¹m_bᵀ
// for coefficients a and b. The vector m of a coefficient is the row of the moments Σ xᵢⱼDᵢ for
// its score; it is computed from the border of the matrix.
func (h *Hessian) addCentring(coefficients []int) {
	if !h.view.Centred() {
		return
	}
	q, size, j := h.metric.Count, len(coefficients), &h.joint
	half := make([]float64, size*q)
	for at, c := range coefficients {
		border, moment, own := j.matrix[at*j.stride+size:][:q], half[at*q:][:q], c%q
		for k, v := range border {
			if k != own {
				moment[k] = -v
				moment[own] += v
			}
		}
		model.HalfSolveFactored(h.interceptFactor, moment)
	}
	for a := range coefficients {
		for b := a; b < size; b++ {
			sum := j.matrix[a*j.stride+b]
			for k, v := range half[a*q:][:q] {
				sum = math.FMA(v, half[b*q+k], sum)
			}
			j.matrix[a*j.stride+b] = sum
		}
	}
}

// move is [Hessian.Move] on the matrix that is written out.
func (j *joint) move(k *kernels.Set, column int32, d []float64) {
	for at, row := range j.position[int(column)*len(d):][:len(d)] {
		if row > 0 && d[at] != 0 {
			k.Axpy(d[at], j.matrix[int(row-1)*j.stride:][:len(j.r)], j.r)
		}
	}
}

// product is [Hessian.Product] on the matrix that is written out.
func (j *joint) product(column int32, out []float64) {
	clear(out)
	for at, row := range j.position[int(column)*len(out):][:len(out)] {
		if row > 0 {
			out[at] = j.r[row-1]
		}
	}
}
