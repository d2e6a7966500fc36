package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Hessian is ∇²f = X̃ᵀDX̃/N at a point, for a loss with q scores per row. D is the curvature of
// the rows; X̃ is centred where there are intercepts, which eliminates them. The Hessian keeps its
// product with a running vector that changes a column at a time, as sweeps over coefficients,
// Newton steps and conjugate gradients need it. It is not safe for concurrent use.
type Hessian struct {
	view   *sparse.View
	metric *model.Metric
	total  float64 // N

	packed          *Columns  // of one score
	gram            *Gram     // likewise
	r               []float64 // of one score, by compact row: X̂·v for the running vector v
	offset          float64   // of one score: centring adds offset·√w to r
	columns         []int32   // that Reset was called with
	moments         map[int32][]float64
	momentsCurrent  bool      // the moments are those of the current point
	w               []float64 // of several scores: D·Xv, n × q
	c               []float64 // the q numbers that centring subtracts from every row of Xv
	interceptFactor []float64 // of ΣD
	weightedShare   []float64 // n: the weight of a row times the probability of a score, or the negative of that
	pairCurvature   []float64 // n: one entry of D for every row
	dots            []float64
	scratch         []float64
	sharesCurrent   bool // the probabilities are in joint.shares
	joint           joint
}

// NewHessian returns a Hessian for a view and a loss with q scores per row.
func NewHessian(view *sparse.View, q int) *Hessian {
	h := &Hessian{view: view, total: view.Total()}
	n, _ := view.Dims()
	if q == 1 {
		h.packed = NewColumns(view)
		h.gram = NewGram(h.packed)
		h.r = make([]float64, h.packed.Rows())
	} else {
		h.w, h.c, h.interceptFactor, h.scratch = make([]float64, n*q), make([]float64, q), make([]float64, q*q), make([]float64, 2*q)
		h.weightedShare, h.pairCurvature = make([]float64, n), make([]float64, n)
		h.moments = map[int32][]float64{}
	}
	return h
}

// Reset makes h the Hessian on the columns listed at a point with the curvature m, which is kept,
// not copied. view says that the weights in m are those of the view.
func (h *Hessian) Reset(m *model.Metric, columns []int32, view bool) {
	h.metric = m
	h.unwrite()
	if h.packed == nil {
		h.sharesCurrent, h.momentsCurrent, h.columns = false, false, append(h.columns[:0], columns...)
		h.listCurved()
		h.prepare()
	} else {
		if !view {
			h.packed.Reweigh(m.Weight)
		}
		h.packed.Hold(columns)
	}
	h.Clear()
}

// prepare factorises ΣD, where there are intercepts.
func (h *Hessian) prepare() {
	if !h.view.Centred() {
		return
	}
	h.metric.Sum(h.view.Kernels(), h.interceptFactor)
	model.FactorShifted(h.interceptFactor, h.metric.Count)
}

// computeMoments computes the moments Σ xᵢⱼDᵢ of the columns, unless they are up to date. It takes one pair of scores at a time, since
// kernels can then multiply columns with a vector over all rows.
func (h *Hessian) computeMoments() {
	if h.momentsCurrent || !h.view.Centred() {
		return
	}
	clear(h.moments)
	q := h.metric.Count
	moments, shift := make([][]float64, len(h.columns)), make([]float64, len(h.columns))
	for at, j := range h.columns {
		moments[at] = make([]float64, q*q)
		h.moments[j] = moments[at]
		_, _, mean, scale := h.column(j)
		shift[at] = mean * scale
	}
	h.dots = resize(h.dots, len(h.columns))
	h.pairs(func(a, b int) {
		total := h.view.Kernels().Sum(h.pairCurvature)
		h.view.Dots(h.columns, h.pairCurvature, h.dots)
		for at, sum := range h.dots {
			sum = math.FMA(-shift[at], total, sum)
			moments[at][a*q+b], moments[at][b*q+a] = sum, sum
		}
	})
	h.momentsCurrent = true
}

// pairs calls do for every pair of scores a ≥ b, with h.pairCurvature set to that entry of D for every row.
func (h *Hessian) pairs(do func(a, b int)) {
	n, k := len(h.metric.Weight), h.view.Kernels()
	share := h.shares()
	for a := range h.metric.Count {
		p := share[a*n:][:n]
		k.Product(h.weightedShare, h.metric.Weight, p)
		h.complement(p)
		do(a, a)
		k.Scal(-1, h.weightedShare)
		for b := range a {
			k.Product(h.pairCurvature, h.weightedShare, share[b*n:][:n])
			do(a, b)
		}
	}
}

// sharesByScore copies the probabilities p to out, score by score.
func (h *Hessian) sharesByScore(out []float64) {
	q, n, pace := h.metric.Count, len(h.metric.Weight), h.view.Kernels().Pace()
	for i := range n {
		pace.Did(q)
		for a, v := range h.metric.Share[i*q:][:q] {
			out[a*n+i] = v
		}
	}
}

// complement sets pairCurvature to wp(1 − p), where weightedShare holds wp.
func (h *Hessian) complement(p []float64) {
	for from, to := range h.view.Kernels().Pieces(len(p)) {
		pair, weighed := h.pairCurvature[from:to], h.weightedShare[from:to]
		for i, v := range p[from:to] {
			pair[i] = weighed[i] * (1 - v)
		}
	}
}

// column returns a column of the matrix, the mean to subtract from it where it is dense (else 0), and the factor by which the
// view then multiplies it. Without the mean, squares of values far from 0 would cancel; otherwise the mean makes no difference,
// because the intercepts absorb it.
func (h *Hessian) column(j int32) (rows []int32, values []float64, mean, scale float64) {
	rows, values = h.view.Matrix().Column(int(j))
	if scale = h.view.Scale(int(j)); rows == nil && scale > 0 {
		mean = h.view.Mean(int(j)) / scale
	}
	return rows, values, mean, scale
}

// Clear sets the running vector to 0.
func (h *Hessian) Clear() {
	if h.Written() {
		clear(h.joint.r)
		return
	}
	h.view.Kernels().Clear(h.r)
	h.view.Kernels().Clear(h.w)
	clear(h.c)
	h.offset = 0
}

// Move adds d, one entry per score, to the running vector at column j.
func (h *Hessian) Move(j int32, d []float64) {
	if h.Written() {
		h.joint.move(h.view.Kernels(), j, d)
		return
	}
	if h.packed != nil {
		rows, values := h.packed.Column(j)
		if rows == nil {
			h.view.Kernels().Axpy(d[0], values, h.r)
		} else {
			h.view.Kernels().AxpyIndexed(d[0], values, rows, h.r)
		}
		h.offset = math.FMA(-d[0], h.packed.Mean(j), h.offset)
		return
	}
	h.computeMoments()
	q := h.metric.Count
	rows, values, mean, scale := h.column(j)
	pace := h.view.Kernels().Pace()
	for at, v := range values {
		pace.Did(q)
		i := at
		if rows != nil {
			i = int(rows[at])
		}
		s := float64(h.metric.Weight[i]*scale) * (v - mean)
		if s == 0 {
			continue
		}
		p, w := h.metric.Share[i*q:][:q], h.w[i*q:][:q]
		var mean float64
		for k, x := range p {
			mean = math.FMA(x, d[k], mean)
		}
		for k, x := range p {
			w[k] = math.FMA(float64(s*x), d[k]-mean, w[k])
		}
	}
	if !h.view.Centred() {
		return
	}
	shift := h.scratch[:q]
	multiply(h.moments[j], d, shift)
	model.SolveFactored(h.interceptFactor, shift)
	for k, v := range shift {
		h.c[k] += v
	}
}

// multiply sets out = A·v for a square matrix.
func multiply(a, v, out []float64) {
	q := len(v)
	for k := range out {
		var sum float64
		for l, x := range v {
			sum = math.FMA(a[k*q+l], x, sum)
		}
		out[k] = sum
	}
}

// Product sets out, one entry per score, to ∇²f times the running vector at column j.
func (h *Hessian) Product(j int32, out []float64) {
	if h.Written() {
		h.joint.product(j, out[:h.metric.Count])
		return
	}
	if h.packed != nil {
		rows, values := h.packed.Column(j)
		var dot float64
		if rows == nil {
			dot = h.view.Kernels().Dot(values, h.r)
		} else {
			dot = h.view.Kernels().DotIndexed(values, rows, h.r)
		}
		dot = math.FMA(h.offset*h.packed.Total(), h.packed.Mean(j), dot)
		out[0] = dot / h.total
		return
	}
	h.computeMoments()
	q := h.metric.Count
	sum := out[:q]
	clear(sum)
	rows, values, mean, scale := h.column(j)
	pace := h.view.Kernels().Pace()
	for at, v := range values {
		pace.Did(q)
		i := at
		if rows != nil {
			i = int(rows[at])
		}
		for k, x := range h.w[i*q:][:q] {
			sum[k] = math.FMA(v-mean, x, sum[k])
		}
	}
	for k := range sum {
		sum[k] *= scale
	}
	if h.view.Centred() {
		part := h.scratch[:q]
		multiply(h.moments[j], h.c, part)
		for k, v := range part {
			sum[k] -= v
		}
	}
	for k := range sum {
		sum[k] /= h.total
	}
}

// Block sets out, row by row, to ∇²f between all coefficients of a list of columns. It may
// overwrite the running vector.
func (h *Hessian) Block(columns []int32, out []float64) {
	q := h.metric.Count
	if h.packed == nil && !h.Written() && len(columns) == 1 {
		h.diagonalBlock(columns[0], out)
		return
	}
	d := len(columns) * q
	unit, part := make([]float64, q), make([]float64, q)
	for a, j := range columns {
		for k := range q {
			h.Clear()
			unit[k] = 1
			h.Move(j, unit)
			unit[k] = 0
			for b, l := range columns[a:] {
				h.Product(l, part)
				for m, v := range part {
					row, col := a*q+k, (a+b)*q+m
					out[row*d+col], out[col*d+row] = v, v
				}
			}
		}
	}
	h.Clear()
}

// diagonalBlock is [Hessian.Block] for one column: Σ xᵢⱼ²Dᵢ less the term due to centring.
func (h *Hessian) diagonalBlock(j int32, out []float64) {
	h.computeMoments()
	q := h.metric.Count
	clear(out[:q*q])
	sum := h.scratch[q:][:q] // Σ sᵢxᵢⱼ²Pᵢ
	clear(sum)
	rows, values, mean, scale := h.column(j)
	pace := h.view.Kernels().Pace()
	for at, v := range values {
		pace.Did(q)
		i := at
		if rows != nil {
			i = int(rows[at])
		}
		s, x := h.metric.Weight[i], scale*(v-mean)
		if s = float64(s*x) * x; s == 0 {
			continue
		}
		p := h.metric.Share[i*q:][:q]
		for a, v := range p {
			scaled := float64(s * v)
			sum[a] += scaled
			row := out[a*q:][:a+1]
			for b, u := range p[:a+1] {
				row[b] = math.FMA(-scaled, u, row[b])
			}
		}
	}
	for a, v := range sum {
		out[a*q+a] += v
		for b := range a {
			out[b*q+a] = out[a*q+b]
		}
	}
	if h.view.Centred() {
		moment, line := h.moments[j], h.scratch[q:][:q]
		for a := range q {
			copy(line, moment[a*q:][:q])
			model.SolveFactored(h.interceptFactor, line)
			for b := range q {
				var sum float64
				for k, v := range line {
					sum = math.FMA(v, moment[k*q+b], sum)
				}
				out[a*q+b] -= sum
			}
		}
	}
	for k := range q * q {
		out[k] /= h.total
	}
}

// Predict adds X̃v to u, n × q, for coefficients v of columns, q for each. That is the change in
// scores where the coefficients change by v and the intercepts follow.
func (h *Hessian) Predict(columns []int32, v, u []float64) {
	q := h.metric.Count
	n, _ := h.view.Dims()
	one, of := make([]float64, n), make([]float64, len(columns))
	pace := h.view.Kernels().Pace()
	for k := range q {
		h.view.Kernels().Clear(one)
		for c := range columns {
			of[c] = v[c*q+k]
		}
		h.view.AddColumns(columns, of, one)
		for i, x := range one {
			pace.Did(1)
			u[i*q+k] += x
		}
	}
	h.centre(u)
}

// centre subtracts from u, n × q, its mean in the metric, which the intercepts absorb.
func (h *Hessian) centre(u []float64) {
	if !h.view.Centred() {
		return
	}
	q := h.metric.Count
	shift, pace := make([]float64, q), h.view.Kernels().Pace()
	if h.metric.Share == nil {
		var sum, all float64
		for i, w := range h.metric.Weight {
			pace.Did(1)
			sum = math.FMA(w, u[i], sum)
			all += w
		}
		shift[0] = sum / all
	} else {
		for i, s := range h.metric.Weight {
			pace.Did(q)
			p, row := h.metric.Share[i*q:][:q], u[i*q:][:q]
			var mean float64
			for k, x := range p {
				mean = math.FMA(x, row[k], mean)
			}
			for k, x := range p {
				shift[k] = math.FMA(float64(s*x), row[k]-mean, shift[k])
			}
		}
		model.SolveFactored(h.interceptFactor, shift)
	}
	for i := range len(u) / q {
		pace.Did(q)
		for k, v := range shift {
			u[i*q+k] -= v
		}
	}
}

// Outer returns X̃ᵀg on columns, for the slopes g of a criterion in the scores, n × q. The slopes
// need not sum to 0: the result accounts for the intercepts, which follow the coefficients.
func (h *Hessian) Outer(g []float64, columns []int32) []float64 {
	q := h.metric.Count
	n, _ := h.view.Dims()
	u, pace := make([]float64, len(g)), h.view.Kernels().Pace()
	h.view.Kernels().Copy(u, g)
	if h.view.Centred() {
		h.balance(u)
	}
	one, out := make([]float64, n), make([]float64, len(columns)*q)
	for k := range q {
		for i := range one {
			pace.Did(1)
			one[i] = u[i*q+k]
		}
		for c, j := range columns {
			out[c*q+k] = h.view.Dot(int(j), one)
		}
	}
	return out
}

// balance subtracts D(ΣD)⁻¹Σg from the slopes g, the part due to intercepts that follow β.
func (h *Hessian) balance(g []float64) {
	q := h.metric.Count
	sum, pace := make([]float64, q), h.view.Kernels().Pace()
	for i := range len(g) / q {
		pace.Did(q)
		for k := range sum {
			sum[k] += g[i*q+k]
		}
	}
	if h.metric.Share == nil {
		var all float64
		for _, w := range h.metric.Weight {
			pace.Did(1)
			all += w
		}
		for i, w := range h.metric.Weight {
			pace.Did(1)
			g[i] -= float64(w / all * sum[0])
		}
		return
	}
	model.SolveFactored(h.interceptFactor, sum)
	for i, s := range h.metric.Weight {
		pace.Did(q)
		p := h.metric.Share[i*q:][:q]
		var mean float64
		for k, x := range p {
			mean = math.FMA(x, sum[k], mean)
		}
		for k, x := range p {
			g[i*q+k] -= float64(float64(s*x) * (sum[k] - mean))
		}
	}
}
