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
	W         []float64 // p: Σaᵢx̃ᵢ, for scaled columns; on the simplex a point of it, not necessarily the projection of this sum
	Intercept float64
	Free      []int32 // rows with aᵢ inside its interval and not 0, ascending
	Bound     []int32 // rows with aᵢ at an end of its interval that is not 0, ascending
	// Predictions are x̃ᵢw + b for all n rows, held-out ones included.
	Predictions []float64
	C, Epsilon  float64
	Primal      float64 // ½‖w‖² + ΣCᵢh(yᵢ − mᵢ)
	outcome.Certificate
	outcome.Effort
	Work   float64
	Status outcome.Status // Converged, NotConverged or Cancelled
}

// Vectors solves a [model.Vectors] at any strengths, from the last solution. It sweeps over the rows
// while sweeps are cheap, then takes exact steps on the free rows; if these do not converge, an
// interior-point method precedes further exact steps. On the simplex it takes exact steps, then
// accelerated gradient steps of the dual, and if these do not converge, it runs an interior-point
// method for the simplex. With [Options.Polish], or at tolerances of 1e-9 and less, the free rows have to
// be those of the exact solution: there are no sweeps then, unless min(n, p) exceeds 1,000, in which
// case steps by conjugate gradients follow the sweeps.
//
// It factorises matrices of min(n, p) rows if that is at most [MostVectors]. Larger problems are solved
// by sweeps and conjugate gradients alone, which may not reach the exact solution; on the simplex
// [NewVectors] refuses them. A Vectors is not safe for concurrent use.
type Vectors struct {
	fit  *model.Vectors
	k    *kernels.Set
	n, p int

	list    []int32 // rows of positive weight
	place   []int32 // row → its place in list, -1
	columns []int32 // with entries, ascending
	order   []int32 // column → its place in columns
	square  []float64
	large   bool      // no matrix is factorised: see vectors_large.go
	wide    bool      // factorisations are expensive: exact solutions start from sweeps, if these converge
	byRows  bool      // the matrix of the rows is factorised, which are fewer than the columns
	at      []int32   // for the entries of a row, the places of their columns in columns
	gram    []float64 // of the rows in list, lower triangle, computed at first use; only if byRows

	c, epsilon float64
	null       float64
	solved     bool // there is a last solution
	a, m, w    []float64
	b          float64
	sides      vectorsSides
	free       vectorsFree
	interior   vectorsInterior
	ascent     vectorsAscent
	simplex    vectorsSimplex
	iterative  bool // steps on the free rows are by conjugate gradients
	sol        VectorsSolution
	bestGap    float64
	tol        float64 // the gap asked for
	mostFree   int     // the most free rows whose matrix is factorised
	budget     float64 // the modelled cost that exact steps may still take
}

// MostVectors bounds the rows of the matrices that solvers of support vectors factorise.
const MostVectors = 4000

// NewVectors returns a solver. The error is an [outcome.Error] of kind Limit for a problem on the
// simplex where both rows and columns exceed [MostVectors].
func NewVectors(fit *model.Vectors) (*Vectors, error) { return newVectors(fit, MostVectors) }

// newVectors is NewVectors with a bound on the size of the matrices that are factorised.
func newVectors(fit *model.Vectors, most int) (*Vectors, error) {
	n, p := fit.Dims()
	s := &Vectors{fit: fit, k: fit.Kernels(), n: n, p: p, place: kernels.Undefined[int32](n), list: kernels.Undefined[int32](n)[:0], columns: slices.Sorted(slices.Values(fit.Matrix().Order())), order: make([]int32, p), square: fit.Squares()}
	if fit.Simplex() { // coefficients of columns without entries count in the sum 1
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

// products computes X̃X̃ᵀ of the rows in list at the first call.
func (s *Vectors) products() {
	if s.gram != nil {
		return
	}
	size := len(s.list)
	s.gram = make([]float64, size*size)
	s.sumColumns(s.gram, func(int) float64 { return 1 })
}

// sumColumns adds to the lower triangle of the matrix Σⱼ weight(j)·x̃ⱼx̃ⱼᵀ, x̃ⱼ the scaled columns on the rows
// in list.
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

// Wide reports whether both rows and columns exceed 1,000: exact solutions then start with sweeps to a small gap.
func (s *Vectors) Wide() bool { return s.wide }

// Reset makes the next Solve start from a = 0.
func (s *Vectors) Reset() { s.solved = false }

// Solve minimises at the strengths logLambda: ln C, and for regression ln ε. The result carries
// the gap of the returned point; a result that missed the tolerance has the status NotConverged or
// Cancelled. The error is an [outcome.Error] about the arguments, or that of ctx if it ended in the
// middle of a loop over many rows; after an error the next solve starts from a = 0.
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
	if opts.MaxGram > 0 { // exact solutions of a problem that is not degenerate have at most size + 1 free rows
		s.mostFree = min(MostVectors, max(opts.MaxGram, 2+min(len(s.list), len(s.columns))))
	}
	switch exact := opts.Polish || opts.Tol <= interiorRough; {
	case s.fit.Simplex():
		s.activeSet(ctx)
		s.solveOnSimplex(ctx, tol, opts.MaxEpochs)
	case s.large:
		s.solveLarge(ctx, tol, math.Inf(1), exact, opts)
	case exact && s.wide && s.solveLarge(ctx, tol, s.interior.price(s), exact, opts):
	case exact || !s.sweep(ctx, tol, s.interior.price(s), opts):
		s.solveInterior(ctx, tol, exact)
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

// solveInterior takes exact steps, and if they do not converge, runs the interior-point method before
// further ones. Unless the solution has to be exact, it ends as soon as the gap is within tol.
func (s *Vectors) solveInterior(ctx context.Context, tol float64, exact bool) {
	s.budget = s.interior.price(s)
	ended, reached := s.activeSet(ctx), true
	s.budget = math.Inf(1)
	s.interior.begin(s, false)
	targets := []float64{interiorRough, interiorTarget}
	if !exact {
		targets = slices.Insert(targets, 0, tol/s.null)
	}
	for k, target := range targets {
		if s.bestGap <= tol && (ended || !exact) || ctx.Err() != nil {
			return
		}
		if !reached {
			s.interior.begin(s, true)
		}
		rough := k == 0 && !exact
		if reached = s.interior.run(ctx, max(target*s.null, math.SmallestNonzeroFloat64), rough); !rough {
			ended = s.activeSetNear(ctx, s.interior.edge)
		}
	}
}

// interiorRough is the relative gap from which exact steps are tried.
const interiorRough = 1e-9

// begin moves the last solution to other strengths: variables at a bound move to the new bound.
func (s *Vectors) begin(c, epsilon float64) {
	for _, i := range kernels.Each(s.k, s.list) {
		if !s.solved {
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
	if !s.solved {
		s.b = 0
	}
	s.c, s.epsilon, s.bestGap, s.solved = c, epsilon, math.Inf(1), true
	s.null = s.fit.Null(c, epsilon)
	s.sol.C, s.sol.Epsilon, s.sol.Effort, s.sol.Work = c, epsilon, outcome.Effort{}, 0
	s.k.Copy(s.sol.Dual, s.a) // the start of activeSet
	if s.fit.Centred() && s.sol.Passes == 0 {
		s.evaluate()
	}
}

// pass returns the modelled cost of one product with all entries of X.
func (s *Vectors) pass() float64 {
	return residualCost(int(s.fit.Matrix().NNZ()), 0, s.dense())
}

func (s *Vectors) dense() bool {
	index, _ := s.fit.Matrix().Arrays()
	return index == nil
}

// full reports whether all columns in s.columns have a value in every row.
func (s *Vectors) full() bool { return int(s.fit.Matrix().NNZ()) == s.n*len(s.columns) }

// evaluate clips and balances a to a feasible point, computes its w and m, and returns its gap with
// the current intercept, or with the best one for m if that is smaller. It keeps the point if its
// gap is the least so far.
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

// keep makes point and the current w the best point if its gap is the least so far, and reports whether it is.
func (s *Vectors) keep(gap float64, point []float64) bool {
	if !(gap < s.bestGap || math.IsInf(s.bestGap, 1)) {
		return false
	}
	s.bestGap = gap
	s.k.Copy(s.sol.Dual, point)
	copy(s.sol.W, s.w)
	return true
}

// keepClassified makes the current point, all of whose rows are classified correctly, the best point although its gap is not the least:
// if its gap is within the tolerance, or, where no point has reached the tolerance, within interiorRough.
func (s *Vectors) keepClassified() {
	limit := s.tol
	if s.bestGap > s.tol {
		limit = max(s.tol, float64(interiorRough*s.null))
	}
	s.replace(limit)
}

// replace makes the current point the best one if its gap is at most the limit, and reports whether it is.
func (s *Vectors) replace(limit float64) bool {
	best := s.bestGap
	s.bestGap = math.Nextafter(limit, math.Inf(1))
	if s.evaluate() <= limit {
		return true
	}
	s.bestGap = best
	return false
}

// balance makes the sum of a point 0: it changes the row with the most room if that suffices, and
// otherwise scales down the entries of the heavier sign, unless the sum is only rounding, as where
// all rows are at the ends of their intervals.
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

// step returns aᵢ after a coordinate step along row i, with the intercept fixed.
func (s *Vectors) step(i int32, a, m float64) float64 {
	lower, upper := s.fit.Interval(int(i), s.c)
	r := s.fit.Target()[i] - m
	l := s.square[i]
	if l == 0 && s.fit.Centred() { // the intercept alone determines aᵢ
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
