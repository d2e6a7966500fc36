package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// VectorsSolution is a certified point of a [model.Vectors]. Its slices belong to the
// solver and change with the next call of Solve.
type VectorsSolution struct {
	Dual      []float64 // n: a, 0 on rows of weight 0
	W         []float64 // p: Σaᵢx̃ᵢ, of scaled columns; on the simplex a point of it that need not be the projection of that
	Intercept float64
	Free      []int32 // rows with aᵢ inside its interval and not 0, ascending
	Bound     []int32 // rows with aᵢ at an end of it that is not 0, ascending
	// Predictions are x̃ᵢw + b for all n rows, held-out ones included.
	Predictions []float64
	C, Epsilon  float64
	Primal      float64 // ½‖w‖² + ΣCᵢh(yᵢ − mᵢ)
	outcome.Certificate
	outcome.Effort
	Work   float64
	Status outcome.Status // Converged, NotConverged or Cancelled
}

// Vectors solves a [model.Vectors] at any strengths, from the last solution: by sweeps over the
// rows while these are cheap, then by exact steps on the rows that are free, and where those do not
// end by an interior-point method before them; on the simplex by exact steps, then by accelerated
// ones of the dual, and where these do not end by an interior-point method of its own. With [Options.Polish], or at tolerances of 1e-9 and
// less, the rows that are free are to be those of the exact solution: sweeps have no part in it, but
// where min(n, p) is more than 1,000, and then steps by conjugate gradients follow.
//
// It factorises matrices of min(n, p) rows while that is at most [MostVectors]. Of larger problems sweeps
// and those steps are all there is, which may not come to the exact solution; those on the
// simplex are refused. It is not safe for concurrent use.
type Vectors struct {
	fit  *model.Vectors
	k    *kernels.Set
	n, p int

	list    []int32 // rows of positive weight
	place   []int32 // row → its place in list, -1
	columns []int32 // with entries, ascending
	order   []int32 // column → its place in columns
	square  []float64
	large   bool // no matrix is factorised: see vectors_large.go
	wide    bool // one would be dear: exact solutions come from sweeps, too, where these end
	byRows  bool
	at      []int32   // of a row's entries, their columns' places in columns
	gram    []float64 // of the rows in list, lower triangle, where byRows, once it is wanted

	c, epsilon float64
	null       float64
	met        bool // there is a last solution
	a, m, w    []float64
	b          float64
	sides      vectorsSides
	free       vectorsFree
	inside     vectorsInterior
	ascent     vectorsAscent
	simplex    vectorsSimplex
	iterative  bool // steps on the free rows are by conjugate gradients
	sol        VectorsSolution
	bestGap    float64
	tol        float64 // the gap asked for
	mostFree   int     // rows of a matrix of free rows
	budget     float64 // modelled cost that exact steps may still have
}

// MostVectors bounds the rows of the matrices that solvers of support vectors factorise.
const MostVectors = 4000

// NewVectors returns a solver. The error is an [outcome.Error] of kind Limit where, for the simplex,
// both rows and columns are too many.
func NewVectors(fit *model.Vectors) (*Vectors, error) { return newVectors(fit, MostVectors) }

// newVectors is NewVectors with a bound of the matrices that are factorised.
func newVectors(fit *model.Vectors, most int) (*Vectors, error) {
	n, p := fit.Dims()
	s := &Vectors{fit: fit, k: fit.Kernels(), n: n, p: p, place: kernels.Undefined[int32](n), list: kernels.Undefined[int32](n)[:0], columns: slices.Sorted(slices.Values(fit.Matrix().Order())), order: make([]int32, p), square: fit.Squares()}
	if fit.Simplex() { // columns without entries have their share of it
		s.columns = slices.Grow(s.columns[:0], p)[:p]
		for j := range s.columns {
			s.columns[j] = int32(j)
		}
	}
	for k, j := range s.columns {
		s.order[j] = int32(k)
	}
	for i := range s.k.Range(n) {
		s.place[i] = -1
		if fit.Weight(i) > 0 {
			s.place[i] = int32(len(s.list))
			s.list = append(s.list, int32(i))
		}
	}
	size := min(len(s.list), len(s.columns))
	s.wide = size > largestInterior
	if s.large = size > most; s.large && fit.Simplex() {
		return nil, outcome.Errorf(outcome.Limit, "%d rows and %d columns: for coefficients on the simplex the smaller number must be at most %d, the size of the largest matrix that is factorised", len(s.list), len(s.columns), most)
	}
	s.byRows = len(s.list) < len(s.columns) && !fit.Simplex() && !s.large
	s.free.system.Kernels = s.k
	s.a, s.m, s.w = kernels.Zeros[float64](s.k, n), kernels.Zeros[float64](s.k, n), make([]float64, p)
	s.sol.Dual, s.sol.Predictions, s.sol.W = kernels.Zeros[float64](s.k, n), kernels.Zeros[float64](s.k, n), make([]float64, p)
	return s, nil
}

// products computes X̃X̃ᵀ of the rows in list, once.
func (s *Vectors) products() {
	if s.gram != nil {
		return
	}
	size := len(s.list)
	s.gram = make([]float64, size*size)
	s.sumColumns(s.gram, func(int) float64 { return 1 })
}

// sumColumns adds to the lower triangle of the matrix the products of the scaled entries of each column with
// one another, of rows in list, times its weight.
func (s *Vectors) sumColumns(matrix []float64, weight func(j int) float64) {
	size := len(s.list)
	compact, index := make([]float64, 0, size), make([]int32, 0, size)
	for _, j := range s.columns {
		rows, values := s.fit.Matrix().Column(int(j))
		scale := s.fit.Scale(int(j))
		compact, index = compact[:0], index[:0]
		for k, v := range values {
			i := k
			if rows != nil {
				i = int(rows[k])
			}
			if at := s.place[i]; at >= 0 {
				compact, index = append(compact, scale*v), append(index, at)
			}
		}
		w := weight(int(j))
		for k, v := range compact {
			s.k.AxpyIndexed(w*v, compact[:k+1], index[:k+1], matrix[int(index[k])*size:][:size])
		}
	}
}

// Wide reports that rows and columns are more than 1,000: exact solutions take sweeps to a small gap first.
func (s *Vectors) Wide() bool { return s.wide }

// Reset makes the next Solve begin anew.
func (s *Vectors) Reset() { s.met = false }

// Solve minimises at the strengths: ln C, and for regression ln ε. The result carries the
// gap of the returned point; one that missed the tolerance has the status that says so. The
// error is an [outcome.Error] about the arguments, or that of ctx where it ended in the middle of
// a loop over many rows; the next solve begins anew then.
func (s *Vectors) Solve(ctx context.Context, logLambda []float64, opts Options) (sol *VectorsSolution, err error) {
	defer func() {
		if err != nil {
			s.Reset()
		}
	}()
	defer kernels.Caught(&err)
	return s.solve(ctx, logLambda, opts)
}

func (s *Vectors) solve(ctx context.Context, logLambda []float64, opts Options) (*VectorsSolution, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	c, epsilon, err := s.fit.Strengths(logLambda)
	if err != nil {
		return nil, err
	}
	s.begin(c, epsilon)
	tol := opts.Tol * s.null
	s.tol = tol
	s.budget = math.Inf(1)
	s.mostFree = MostVectors
	if opts.MaxGram > 0 { // exact solutions of a problem that is not degenerate have size + 1 at most
		s.mostFree = min(MostVectors, max(opts.MaxGram, 2+min(len(s.list), len(s.columns))))
	}
	switch exact := opts.Polish || opts.Tol <= interiorRough; {
	case s.fit.Simplex():
		s.settle(ctx)
		s.solveOnSimplex(ctx, tol, opts.MaxEpochs)
	case s.large:
		s.solveLarge(ctx, tol, math.Inf(1), exact, opts)
	case exact && s.wide && s.solveLarge(ctx, tol, s.inside.price(s), exact, opts):
	case exact || !s.sweep(ctx, tol, s.inside.price(s), opts):
		s.goInside(ctx, tol, exact)
	}
	s.finish()
	switch {
	case s.bestGap <= tol:
		s.sol.Status = outcome.Converged
	case ctx.Err() != nil:
		s.sol.Status = outcome.Cancelled
	default:
		s.sol.Status = outcome.NotConverged
	}
	return &s.sol, nil
}

// goInside goes on by exact steps, and where those do not end by the interior-point method
// before them. Unless the solution is to be exact, that may end at the gap asked for.
func (s *Vectors) goInside(ctx context.Context, tol float64, exact bool) {
	s.budget = s.inside.price(s)
	ended, reached := s.settle(ctx), true
	s.budget = math.Inf(1)
	s.inside.begin(s, false)
	targets := []float64{interiorRough, interiorTarget}
	if !exact {
		targets = slices.Insert(targets, 0, tol/s.null)
	}
	for k, target := range targets {
		if s.bestGap <= tol && (ended || !exact) || ctx.Err() != nil {
			return
		}
		if !reached {
			s.inside.begin(s, true)
		}
		rough := k == 0 && !exact
		if reached = s.inside.run(ctx, max(target*s.null, math.SmallestNonzeroFloat64), rough); !rough {
			ended = s.settleNear(ctx, s.inside.edge)
		}
	}
}

// interiorRough is the relative gap from which exact steps are tried.
const interiorRough = 1e-9

// begin moves the last solution to other strengths: what was at a bound goes there again.
func (s *Vectors) begin(c, epsilon float64) {
	for _, i := range kernels.Each(s.k, s.list) {
		if !s.met {
			s.a[i] = 0
			continue
		}
		lower, upper := s.fit.Interval(int(i), s.c)
		newLower, newUpper := s.fit.Interval(int(i), c)
		switch a := s.a[i]; {
		case a == 0:
		case a >= upper:
			s.a[i] = newUpper
		case a <= lower:
			s.a[i] = newLower
		}
	}
	if !s.met {
		s.b = 0
	}
	s.c, s.epsilon, s.bestGap, s.met = c, epsilon, math.Inf(1), true
	s.null = s.fit.Null(c, epsilon)
	s.sol.C, s.sol.Epsilon, s.sol.Effort, s.sol.Work = c, epsilon, outcome.Effort{}, 0
	s.k.Copy(s.sol.Dual, s.a) // where settle begins
	if s.fit.Centred() && s.sol.Passes == 0 {
		s.evaluate()
	}
}

// pass is the modelled cost of meeting all entries once.
func (s *Vectors) pass() float64 {
	return residualCost(int(s.fit.Matrix().NNZ()), 0, s.dense())
}

func (s *Vectors) dense() bool {
	index, _ := s.fit.Matrix().Arrays()
	return index == nil
}

// full reports that the columns listed have a value in every row.
func (s *Vectors) full() bool { return int(s.fit.Matrix().NNZ()) == s.n*len(s.columns) }

// evaluate makes w and m of a, with the intercept at hand, and keeps the point if its gap is the
// least so far. The point kept is feasible: clipped to its intervals, and of the heavier sign
// as much as of the other.
func (s *Vectors) evaluate() (gap float64) {
	sol := &s.sol
	point := sol.Dual
	if s.bestGap < math.Inf(1) {
		point = s.free.point(s.k, s.n)
	}
	for _, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), s.c)
		point[i] = max(lower, min(upper, s.a[i]))
	}
	if s.fit.Centred() {
		s.balance(point)
	}
	s.fit.SetPrimal(point, s.w)
	s.fit.Predict(s.w, 0, s.m)
	sol.Passes++
	sol.Work += 2 * s.pass()
	gap, b := s.gapAt(point, s.b), s.b
	if s.fit.Centred() && !(gap <= s.bestGap && gap <= float64(interiorRough*s.null)) {
		other, _ := s.fit.Intercept(s.m, s.c, s.epsilon)
		if g := s.gapAt(point, other); g < gap {
			gap, b = g, other
		}
	}
	if s.keep(gap, point) {
		sol.Intercept = b
	}
	return gap
}

// keep makes a point and the w at hand the best if its gap is the least so far, and reports whether it is.
func (s *Vectors) keep(gap float64, point []float64) bool {
	if !(gap < s.bestGap || math.IsInf(s.bestGap, 1)) {
		return false
	}
	s.bestGap = gap
	s.k.Copy(s.sol.Dual, point)
	copy(s.sol.W, s.w)
	return true
}

// insist makes the point at hand, of which each row is where it belongs, the best one though its gap is not the least, if it
// is what was asked for, or no other has that and it is as small as that of exact steps should be.
func (s *Vectors) insist() {
	limit := s.tol
	if s.bestGap > s.tol {
		limit = max(s.tol, float64(interiorRough*s.null))
	}
	s.replace(limit)
}

// replace makes the point at hand the best one if its gap is the limit at most, and reports whether it is.
func (s *Vectors) replace(limit float64) bool {
	best := s.bestGap
	s.bestGap = math.Nextafter(limit, math.Inf(1))
	if s.evaluate() <= limit {
		return true
	}
	s.bestGap = best
	return false
}

// balance makes the sum of a point 0: by the row with the most room where that suffices, or the
// heavier sign gets as much as the other, but for what rounding leaves where all rows are at their ends.
func (s *Vectors) balance(point []float64) {
	var plus, minus, room float64
	most := int32(-1)
	for _, i := range kernels.Each(s.k, s.list) {
		a := point[i]
		plus, minus = plus+max(a, 0), minus+max(-a, 0)
		lower, upper := s.fit.Interval(int(i), s.c)
		inside := min(a-lower, upper-a)
		if !s.fit.Classes() {
			inside = min(inside, math.Abs(a))
		}
		if inside > room {
			most, room = i, inside
		}
	}
	excess := plus - minus
	if math.Abs(excess) < room {
		point[most] -= excess
		return
	}
	if math.Abs(excess) <= float64(0x1p-53*float64(len(s.list))*(plus+minus)) {
		return
	}
	for _, i := range kernels.Each(s.k, s.list) {
		switch {
		case plus > minus && point[i] > 0:
			point[i] *= minus / plus
		case minus > plus && point[i] < 0:
			point[i] *= plus / minus
		}
	}
}

// gapAt returns the gap of a point whose predictions without an intercept are m.
func (s *Vectors) gapAt(point []float64, b float64) (gap float64) {
	for _, i := range kernels.Each(s.k, s.list) {
		gap += s.fit.Lack(int(i), point[i], s.m[i]+b, s.c, s.epsilon)
	}
	return gap
}

// finish fills the solution from the best point.
func (s *Vectors) finish() {
	sol := &s.sol
	s.b = sol.Intercept
	s.k.Copy(s.a, sol.Dual)
	s.fit.Predict(sol.W, sol.Intercept, sol.Predictions)
	sol.Free, sol.Bound = sol.Free[:0], sol.Bound[:0]
	sol.Primal = float64(0.5 * s.k.Dot(sol.W, sol.W))
	sol.KKT = 0
	for _, i := range kernels.Each(s.k, s.list) {
		lower, upper := s.fit.Interval(int(i), s.c)
		a, m := sol.Dual[i], sol.Predictions[i]
		sol.Primal += s.fit.Hinge(int(i), m, s.c, s.epsilon)
		switch a {
		case 0:
		case lower, upper:
			sol.Bound = append(sol.Bound, i)
		default:
			sol.Free = append(sol.Free, i)
		}
		if l := s.square[i]; l > 0 {
			sol.KKT = max(sol.KKT, l*math.Abs(a-s.step(i, a, m)))
		}
	}
	if s.fit.Simplex() {
		s.fit.SetPrimal(sol.Dual, s.w)
		for j, w := range sol.W {
			sol.KKT = max(sol.KKT, math.Abs(w-s.w[j]))
		}
	}
	sol.Gap = s.bestGap
	if sol.RelativeGap = sol.Gap; sol.Gap != 0 {
		sol.RelativeGap = sol.Gap / s.null
	}
}

// step returns where a step along row i alone, with the intercept fixed, leaves aᵢ.
func (s *Vectors) step(i int32, a, m float64) float64 {
	lower, upper := s.fit.Interval(int(i), s.c)
	r := s.fit.Target()[i] - m
	l := s.square[i]
	if l == 0 && s.fit.Centred() { // the intercept alone tells where it belongs
		l = 1
	}
	if l == 0 {
		switch over := model.SoftThreshold(r, s.epsilon); {
		case over > 0:
			return upper
		case over < 0:
			return lower
		default:
			return 0
		}
	}
	return max(lower, min(upper, model.SoftThreshold(math.FMA(a, l, r), s.epsilon)/l))
}
