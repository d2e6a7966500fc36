package iterdiff

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// smoothLoss is a smooth loss f(β) = F(Zβ) − linear·Σβⱼ, F separable over rows, with the operations of a single
// coordinate. Z is X̃; for the SVM its columns are the samples yᵢxᵢ. Rows are all rows of X, held-out ones
// included: their weight is 0.
//
// X itself is not centred: every vector has a number that accounts for the means instead. A vector like Zβ is
// û + off·1, and a vector of the dual space û + off·s.
type smoothLoss struct {
	k       *kernels.Set
	x       sparse.Matrix
	n, p    int       // rows, coordinates (an intercept of a loss that is not quadratic included)
	y       []float64 // target; nil for the SVM
	loss    loss.Loss // nil: quadratic
	weights []float64 // s, nil: all 1
	scaled  []float64 // s⊙values in x's storage; nil without weights
	total   float64   // N; 1 for the SVM
	means   []float64 // x̄, nil: not centred
	sign    []float64 // y by sample for the SVM, else nil
	linear  float64
	ones    []float64 // column p−1 where that is the intercept, else nil
	base    []float64 // quadratic: the residual at β = 0

	order     []int32   // coordinates with Lⱼ > 0, in the fast order of x
	lipschitz []float64 // Lⱼ
	t         []float64 // scratch over the rows
	ty, tout  []float64 // likewise, where the loss is not quadratic

	visited, visitedAtCheck int64 // entries of Z visited so far; the same when ctx was last checked
}

// state holds a point and its vectors over the rows.
type state struct {
	beta   []float64
	m      []float64 // Zβ where the loss is not quadratic
	e      []float64 // −F′ without weights: y − Zβ − offset, −Zβ for the SVM
	c      []float64 // F″ without weights, where the loss is not quadratic
	offset float64
}

func (f *smoothLoss) newState() state {
	s := state{beta: make([]float64, f.p), e: make([]float64, f.n)}
	if f.loss != nil {
		s.m, s.c = make([]float64, f.n), make([]float64, f.n)
	}
	return s
}

// newSmoothLoss sets up a datafit of package model. The intercept of a loss that is not
// quadratic is one more coordinate without penalty; that of the squared loss is eliminated
// by centring.
func newSmoothLoss(fit model.Datafit) (*smoothLoss, error) {
	view := fit.View()
	if view.Scaled() {
		return nil, outcome.Errorf(outcome.Usage, "iterative differentiation does not standardise columns: scale the matrix")
	}
	n, p := view.Dims()
	f := &smoothLoss{
		k: view.Kernels(), x: view.Matrix(), n: n, p: p, y: fit.Target(), weights: view.Weights(), total: view.Total(),
		t: make([]float64, n),
	}
	switch fit := fit.(type) {
	case *model.Squared:
		s := model.NewState(fit)
		fit.Fit(nil, nil, s)
		f.base = s.Residual
		if view.Centred() {
			f.means = make([]float64, p)
			for j := range f.means {
				f.means[j] = view.Mean(j)
			}
		}
	case *model.Rowwise:
		f.loss = fit.Loss()
		f.ty, f.tout = make([]float64, n), make([]float64, n)
		if view.Centred() {
			f.p++
			f.ones = make([]float64, n)
			for i := range f.ones {
				f.ones[i] = 1
			}
		}
	default:
		return nil, outcome.Errorf(outcome.Usage, "iterative differentiation covers the losses of package loss and the SVM, not %T", fit)
	}
	bound, ok := fit.Smoothness()
	if !ok {
		return nil, outcome.Errorf(outcome.Usage, "iterative differentiation takes steps of 1/L, and the curvature of the %s loss has no bound L: differentiate implicitly", f.loss.Name())
	}
	if f.weights != nil {
		f.scale()
	}
	f.lipschitz = make([]float64, f.p)
	for _, j := range f.x.Order() {
		norm := view.Norm(int(j))
		square := float64(norm * norm)
		if f.ones != nil { // the column itself, not the centred one
			mean := view.Mean(int(j))
			square += float64(f.total * float64(mean*mean))
		}
		f.addCoordinate(j, float64(bound*square)/f.total)
	}
	if f.ones != nil {
		f.addCoordinate(int32(p), bound)
	}
	return f, nil
}

// newDualLoss sets up the dual of an SVM.
func newDualLoss(fit *model.SVM) *smoothLoss {
	n, p := fit.Dims()
	f := &smoothLoss{
		k: fit.Kernels(), x: fit.Samples(), n: p, p: n, sign: fit.Labels(), total: 1, linear: 1,
		base: make([]float64, p), t: make([]float64, p), lipschitz: make([]float64, n),
	}
	for _, i := range f.x.Order() {
		if fit.Weight(int(i)) > 0 {
			f.addCoordinate(i, fit.Square(int(i)))
		}
	}
	return f
}

func (f *smoothLoss) addCoordinate(j int32, lipschitz float64) {
	if lipschitz > 0 {
		f.order = append(f.order, j)
		f.lipschitz[j] = lipschitz
	}
}

// scale copies the entries of X, each times the weight of its row.
func (f *smoothLoss) scale() {
	rows, values := f.x.Arrays()
	f.scaled = make([]float64, len(values))
	for i, x := range values {
		row := i % max(1, f.n) // dense columns follow one another
		if rows != nil {
			row = int(rows[i])
		}
		f.scaled[i] = f.weights[row] * x
	}
}

// column returns column j of Z up to its sign, plain and times s; rows is nil for
// a dense one.
func (f *smoothLoss) column(j int32) (rows []int32, values, scaled []float64) {
	if f.isIntercept(j) {
		f.visited += int64(f.n)
		if f.weights == nil {
			return nil, f.ones, f.ones
		}
		return nil, f.ones, f.weights
	}
	rows, values = f.x.Column(int(j))
	f.visited += int64(len(values))
	if f.scaled == nil {
		return rows, values, values
	}
	from, to := f.x.Span(int(j))
	return rows, values, f.scaled[from:to]
}

// isIntercept reports whether coordinate j is the intercept.
func (f *smoothLoss) isIntercept(j int32) bool { return f.ones != nil && int(j) == f.p-1 }

func (f *smoothLoss) mean(j int32) float64 {
	if f.means == nil {
		return 0
	}
	return f.means[j]
}

func (f *smoothLoss) signed(j int32, v float64) float64 {
	if f.sign == nil {
		return v
	}
	return float64(f.sign[j] * v)
}

func (f *smoothLoss) dot(rows []int32, values, u []float64) float64 {
	if rows == nil {
		return f.k.Dot(values, u)
	}
	return f.k.DotIndexed(values, rows, u)
}

func (f *smoothLoss) addScaled(a float64, rows []int32, values, u []float64) {
	if rows == nil {
		f.k.Axpy(a, values, u)
		return
	}
	f.k.AxpyIndexed(a, values, rows, u)
}

// score returns −∇ⱼf.
func (f *smoothLoss) score(s *state, j int32) float64 {
	rows, _, scaled := f.column(j)
	c := f.dot(rows, scaled, s.e)
	if f.means != nil {
		c = math.FMA(s.offset*f.total, f.means[j], c)
	}
	return f.signed(j, c)/f.total + f.linear
}

// reset sets the rows of a state to β = 0; add and finish then move them to another β.
func (f *smoothLoss) reset(s *state) {
	s.offset = 0
	if f.loss != nil {
		clear(s.m)
		return
	}
	copy(s.e, f.base)
}

// add moves coordinate j by d, except for what finish sets.
func (f *smoothLoss) add(s *state, j int32, d float64) {
	rows, values, _ := f.column(j)
	if f.loss != nil {
		f.addScaled(d, rows, values, s.m)
		return
	}
	f.addScaled(-f.signed(j, d), rows, values, s.e)
	s.offset = math.FMA(d, f.mean(j), s.offset)
}

// finish sets residuals and curvatures on all rows where the loss is not quadratic.
func (f *smoothLoss) finish(s *state) {
	if f.loss != nil {
		f.loss.Slope(f.k, f.y, s.m, s.e)
		f.loss.Curvature(f.k, f.y, s.m, s.c)
	}
}

// move moves coordinate j by d.
func (f *smoothLoss) move(s *state, j int32, d float64) {
	f.add(s, j, d)
	if f.loss == nil {
		return
	}
	rows, _, _ := f.column(j)
	if rows == nil {
		f.finish(s)
		return
	}
	m, y, out := f.t[:len(rows)], f.ty[:len(rows)], f.tout[:len(rows)]
	for k, i := range rows {
		m[k], y[k] = s.m[i], f.y[i]
	}
	f.loss.Slope(f.k, y, m, out)
	for k, i := range rows {
		s.e[i] = out[k]
	}
	f.loss.Curvature(f.k, y, m, out)
	for k, i := range rows {
		s.c[i] = out[k]
	}
}

// hessianDot returns ∇²ⱼ:f·J for u = Z·J, given as û and off.
func (f *smoothLoss) hessianDot(s *state, j int32, u []float64, off float64) float64 {
	if f.loss == nil {
		return f.gram(j, u, off)
	}
	rows, _, scaled := f.column(j)
	if rows == nil {
		t := f.t[:f.n]
		for i, v := range u {
			t[i] = s.c[i] * v
		}
		return f.k.Dot(scaled, t) / f.total
	}
	t := f.t[:len(rows)]
	for k, i := range rows {
		t[k] = s.c[i] * u[i]
	}
	return f.k.Dot(scaled, t) / f.total
}

// gram returns Z_jᵀ(s⊙u)/N: hessianDot for a curvature of 1.
func (f *smoothLoss) gram(j int32, u []float64, off float64) float64 {
	rows, _, scaled := f.column(j)
	c := f.dot(rows, scaled, u)
	if f.means != nil {
		c = math.FMA(off*f.total, f.means[j], c)
	}
	return f.signed(j, c) / f.total
}

// addColumn does u += c·Z_j.
func (f *smoothLoss) addColumn(j int32, c float64, u []float64, off *float64) {
	rows, values, _ := f.column(j)
	f.addScaled(f.signed(j, c), rows, values, u)
	*off = math.FMA(-c, f.mean(j), *off)
}

// project returns Z_jᵀu for a u made by addHessianColumn.
func (f *smoothLoss) project(j int32, u []float64, off float64) float64 {
	rows, values, _ := f.column(j)
	c := f.dot(rows, values, u)
	if f.means != nil {
		c = math.FMA(off*f.total, f.means[j], c)
	}
	return f.signed(j, c)
}

// addHessianColumn does u += c·d⊙Z_j, d the curvature of f by row: Zᵀdiag(d)Z = ∇²f.
func (f *smoothLoss) addHessianColumn(s *state, j int32, c float64, u []float64, off *float64) {
	rows, _, scaled := f.column(j)
	c /= f.total
	if f.loss == nil {
		f.addScaled(f.signed(j, c), rows, scaled, u)
		*off = math.FMA(-c, f.mean(j), *off)
		return
	}
	for k, x := range scaled {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		u[i] = math.FMA(float64(c*x), s.c[i], u[i])
	}
}

// clearRows clears u in the rows where column j has entries.
func (f *smoothLoss) clearRows(j int32, u []float64) {
	rows, _, _ := f.column(j)
	if rows == nil {
		clear(u)
	}
	for _, i := range rows {
		u[i] = 0
	}
}

// outerDerivative returns ∂C/∂βⱼ for the row vector g of [engine.evalOuter] and its sum.
func (f *smoothLoss) outerDerivative(j int32, g []float64, sum float64) float64 {
	rows, values, _ := f.column(j)
	return math.FMA(-f.mean(j), sum, f.signed(j, f.dot(rows, values, g)))
}

// checkEvery is the number of entries visited between two checks of the context:
// well under a millisecond.
const checkEvery = 1 << 17

// ended reports whether ctx has ended. It checks ctx only once in a while.
func (f *smoothLoss) ended(ctx context.Context) bool {
	if f.visited-f.visitedAtCheck < checkEvery {
		return false
	}
	f.visitedAtCheck = f.visited
	return ctx.Err() != nil
}
