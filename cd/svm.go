package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// SVMSolution is a certified point of the SVM's dual problem. Its slices belong
// to the solver and change with the next call of Solve.
type SVMSolution struct {
	W     []float64 // p: the primal coefficients Σβᵢyᵢxᵢ
	Free  []int32   // samples with 0 < βᵢ < Cᵢ, ascending: S
	Dual  []float64 // their βᵢ
	Bound []int32   // samples with βᵢ = Cᵢ > 0, ascending: S_λ
	// Predictions are xᵢw for all n samples, held-out ones included.
	Predictions []float64

	C         float64 // e^λ
	Primal    float64 // ½‖w‖² + ΣCᵢ(1 − mᵢ)₊
	Objective float64 // ½‖w‖² − Σβᵢ, what is minimised over β
	// Certificate has the gap Primal + Objective, which bounds ‖w − ŵ‖². P₀ = ΣCᵢ.
	outcome.Certificate

	outcome.Effort                // sweeps are over samples
	Work           float64        // total cost by the cost model, see [Solution]
	Status         outcome.Status // Converged, NotConverged or Cancelled
}

// SVM solves the dual problem of a linear SVM at any C by coordinate descent
// over samples. It starts each solve from the last solution: variables at the old
// bound move to the new bound, all others are clipped to the new box. After
// the first calls it allocates nothing. It holds O(n + p) numbers; it is not
// safe for concurrent use.
type SVM struct {
	fit  *model.SVM
	k    *kernels.Set
	n, p int

	// The following slices are indexed by position: samples in storage order,
	// followed by the samples without entries.
	sample   []int32 // position → sample
	position []int32 // sample → position
	from     []int64 // position → first entry; n + 1 of them
	rows     []int32 // features of the entries, nil where dense
	values   []float64
	at       []kernels.BoxVariable // Inverse is 0 where 1/‖xᵢ‖² is infinite: βᵢ = Cᵢ then
	margin   []float64             // mᵢ at the last certificate

	w        []float64 // p: Σβᵢyᵢxᵢ, updated by the sweeps
	sums     sampleSum
	c        float64 // C; 0 before the first solve
	sweeps   sweeper
	newton   boxNewton
	interior interior
	work     float64 // modelled cost of this solve so far
	sol      SVMSolution

	tol       float64
	certified bool // sol is a point of this solve
}

// NewSVM returns a solver for an SVM.
func NewSVM(fit *model.SVM) *SVM {
	n, p := fit.Dims()
	s := &SVM{fit: fit, k: fit.Kernels(), n: n, p: p}
	s.rows, s.values = fit.Samples().Arrays()
	s.sample = append(make([]int32, 0, n), fit.Samples().Order()...)
	s.position = make([]int32, n)
	s.from = make([]int64, n+1)
	for i := range s.k.Range(n) {
		s.position[i] = -1
	}
	for pos, i := range kernels.Each(s.k, s.sample) {
		s.position[i] = int32(pos)
		s.from[pos], s.from[pos+1] = fit.Samples().Span(int(i))
	}
	for i := range s.k.Range(n) {
		if s.position[i] < 0 {
			pos := len(s.sample)
			s.position[i] = int32(pos)
			s.sample = append(s.sample, int32(i))
			s.from[pos+1] = s.from[pos]
		}
	}
	s.at, s.margin, s.sol.Predictions = make([]kernels.BoxVariable, n), make([]float64, n), make([]float64, n)
	for pos, i := range kernels.Each(s.k, s.sample) {
		s.at[pos].Sign, s.at[pos].Margin = fit.Labels()[i], 1
		if inverse := 1 / fit.Square(int(i)); !math.IsInf(inverse, 1) {
			s.at[pos].Inverse = inverse
		}
	}
	s.w, s.sol.W = make([]float64, p), make([]float64, p)
	s.sweeps.init(s.k, kernels.BoxEpoch{From: s.from[:n], To: s.from[1:], Features: s.rows, Values: s.values, At: s.at, W: s.w}, s.margin)
	s.newton.init(s)
	s.interior.s, s.sums.s = s, s
	return s
}

// Reset forgets the last solution: the next Solve starts from β = 0 and returns the same
// bits as that of a new solver.
func (s *SVM) Reset() {
	s.c = 0
	s.newton.iterations = firstGuess
}

// Start resets the solver and makes the next Solve begin with the variables dual of the listed
// samples, with the samples atBound at their bounds, and with all other variables 0.
func (s *SVM) Start(samples []int32, dual []float64, atBound []int32) {
	s.Reset()
	s.c = 1 // begin then moves the bounds, and the variables at them, to the new C
	for pos := range s.k.Range(s.n) {
		s.at[pos].Value, s.at[pos].Bound = 0, 1
	}
	for k, i := range kernels.Each(s.k, samples) {
		v := &s.at[s.position[i]]
		v.Value, v.Bound = dual[k], math.Inf(1)
	}
	for _, i := range kernels.Each(s.k, atBound) {
		s.at[s.position[i]].Value = 1
	}
}

// Solve minimises ½‖w‖² − Σβᵢ over the box of C = e^logC. The result carries the
// duality gap of the returned β. A result that missed the tolerance is returned
// with the status NotConverged; when ctx ends, the last certified point is returned
// with the status Cancelled. The error is an [outcome.Error] about the arguments.
func (s *SVM) Solve(ctx context.Context, logC float64, opts Options) (sol *SVMSolution, err error) {
	s.certified = false
	var ended error
	defer func() {
		if ended != nil {
			sol, err = s.fallBack(ended)
		}
	}()
	defer kernels.Caught(&ended)
	return s.solve(ctx, logC, opts)
}

// fallBack returns the last certified point, if there is one, of a solve whose context ended in the
// middle of a loop. The next solve starts from β = 0.
func (s *SVM) fallBack(ended error) (*SVMSolution, error) {
	s.Reset()
	if !s.certified {
		return nil, ended
	}
	if s.sol.Status = outcome.Cancelled; s.sol.RelativeGap <= s.tol {
		s.sol.Status = outcome.Converged
	}
	return &s.sol, nil
}

func (s *SVM) solve(ctx context.Context, logC float64, opts Options) (*SVMSolution, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	c, err := s.fit.Strength(logC)
	if err != nil {
		return nil, err
	}
	s.begin(c)
	sol := &s.sol
	sol.Epochs, sol.Passes, sol.Steps = 0, 0, 0
	null := s.fit.Null(c)
	s.sweeps.start(opts)
	s.work, s.tol = 0, opts.Tol
	defer func() { sol.Work = s.work }()
	s.interior.helpCalls = 0
	polished := !opts.Polish
	reached := unreached
	for stalled := 0; ; {
		if !s.certify(ctx, null) {
			if s.restore(); !s.certified {
				s.certify(context.Background(), null) // of β = 0, which needs no pass
			}
			sol.Status = outcome.Cancelled
			return sol, nil
		}
		met := sol.RelativeGap <= opts.Tol
		switch {
		case met && (polished || ctx.Err() != nil):
			sol.Status = outcome.Converged
			return sol, nil
		case met:
			polished = true
			s.newton.polish(ctx)
			continue
		case s.sweeps.sweepsLeft <= 0 || stalled >= maxStalled:
			s.interior.certifyBest(null)
			sol.Status = outcome.NotConverged
			return sol, nil
		case ctx.Err() != nil:
			sol.Status = outcome.Cancelled
			return sol, nil
		}
		if stalled++; reached.advance(0, sol.Gap, sol.Objective, max(progress*opts.Tol, roundoff)*null) {
			stalled = 0
		}
		helped := s.interior.helpCalls
		if !s.sweep(ctx, opts.Tol*null) {
			s.restore()
			sol.Status = outcome.Cancelled
			return sol, nil
		}
		if s.interior.helpCalls > helped { // sweeps were cut short: a lack of progress does not indicate rounding
			reached, stalled = unreached, 0
		}
	}
}

// sweep runs epochs until the gap of the live samples, estimated during the epochs, is a
// fraction of the target. It returns false if ctx ended.
func (s *SVM) sweep(ctx context.Context, target float64) bool {
	w := &s.sweeps
	w.activate()
	goal := w.factor * target
	stepped := math.Inf(1) // the gap before a Newton step, if the last action was one
	for w.sweepsLeft > 0 {
		w.sweepsLeft -= float64(len(w.live)) / float64(s.n)
		s.sol.Epochs++
		if !w.epoch(ctx) {
			return false
		}
		s.work += w.cost
		gap := w.e.Gap
		if gap <= goal {
			break
		}
		if gap > stepGain*stepped {
			w.priceFactor = min(2*w.priceFactor, mostPriceFactor)
		} else if !math.IsInf(stepped, 1) {
			w.priceFactor = max(1, 0.5*w.priceFactor)
		}
		stepped = math.Inf(1)
		if budget := stepShare * w.spent; budget > w.priceFactor*s.newton.price() {
			if settled := float64(w.e.Free) > settledShare*float64(w.freeBefore); settled {
				stepped = 0 // a failed step counts as one without gain
				if s.newton.step(ctx, budget) {
					s.sol.Steps++
					stepped = gap
				}
			}
			w.spent, w.freeBefore = 0, w.e.Free
		}
		if s.interior.helpCalls < mostHelp && w.tooCostly(gap, goal, s.interior.price()) {
			w.total, w.checkedTotal = 0, 0
			return s.interior.help(ctx)
		}
	}
	w.factor = max(leastSweepFactor, factorDecay*w.factor)
	return true
}

// begin moves the last solution into the box of c.
func (s *SVM) begin(c float64) {
	cold := s.c == 0
	for pos, i := range kernels.Each(s.k, s.sample) {
		v, bound := &s.at[pos], c*s.fit.Weight(int(i))
		switch {
		case v.Inverse == 0, !cold && v.Value == v.Bound:
			v.Value = bound
		case cold:
			v.Value = 0
		default:
			v.Value = min(v.Value, bound)
		}
		v.Bound = bound
	}
	s.c, s.sol.C = c, c
}

// certify rebuilds w from β and X, makes one pass over the samples, and fills
// the solution. If ctx ended, it returns false and leaves the solution unchanged.
func (s *SVM) certify(ctx context.Context, null float64) bool {
	sol := &s.sol
	clear(s.w)
	s.k.Clear(s.margin)
	moved, entries := false, 0
	for pos := range s.k.Range(s.n) {
		if moved && pos%pollSamples == 0 && ctx.Err() != nil {
			return false
		}
		if v := &s.at[pos]; v.Value != 0 && s.entries(pos) > 0 {
			s.add(pos, v.Value*v.Sign, s.w)
			entries += s.entries(pos)
			moved = true
		}
	}
	if moved {
		for pos := 0; pos < s.n; pos += pollSamples {
			if ctx.Err() != nil {
				return false
			}
			s.dots(pos, min(pos+pollSamples, s.n))
		}
		sol.Passes++
		s.chargeProduct(entries+int(s.from[s.n]), s.n)
	}
	s.certified = false // until the solution is complete again
	copy(sol.W, s.w)
	for pos, i := range kernels.Each(s.k, s.sample) {
		sol.Predictions[i] = s.margin[pos]
		s.margin[pos] *= s.at[pos].Sign
	}
	var dual model.BoxDual
	sol.Free, sol.Dual, sol.Bound = sol.Free[:0], sol.Dual[:0], sol.Bound[:0]
	for i, pos := range kernels.Each(s.k, s.position) {
		v := &s.at[pos]
		if v.Bound == 0 {
			continue
		}
		dual.Add(s.margin[pos], v.Value, v.Bound, s.fit.Square(i))
		switch {
		case v.Value == v.Bound:
			sol.Bound = append(sol.Bound, int32(i))
		case v.Value > 0:
			sol.Free = append(sol.Free, int32(i))
			sol.Dual = append(sol.Dual, v.Value)
		}
	}
	norm := s.k.Dot(s.w, s.w)
	sol.Primal, sol.Objective = dual.Primal(norm), dual.Dual(norm)
	sol.Gap, sol.KKT = dual.Gap(), dual.KKT()
	sol.RelativeGap = sol.Gap / null
	s.certified = true
	return true
}

// pollSamples is the number of samples between two checks of the context.
const pollSamples = 1 << 10

// restore makes β the last certified point again, or 0 if there is none.
func (s *SVM) restore() {
	for pos := range s.k.Range(s.n) {
		v := &s.at[pos]
		if v.Value = 0; v.Inverse == 0 {
			v.Value = v.Bound
		}
	}
	if !s.certified {
		return
	}
	for k, i := range kernels.Each(s.k, s.sol.Free) {
		s.at[s.position[i]].Value = s.sol.Dual[k]
	}
	for _, i := range kernels.Each(s.k, s.sol.Bound) {
		v := &s.at[s.position[i]]
		v.Value = v.Bound
	}
}

// chargeProduct adds the cost of one product with the given numbers of samples and entries.
func (s *SVM) chargeProduct(entries, samples int) {
	s.work += s.productCost(entries, samples)
}

// productCost returns the cost of one product with the given numbers of samples and entries.
func (s *SVM) productCost(entries, samples int) float64 {
	return visitCost(entries, samples, s.rows == nil)
}

// dots sets margin[pos] = x·w for the samples at from ≤ pos < to.
func (s *SVM) dots(from, to int) {
	if s.rows != nil {
		s.k.DotColumns(s.from[from:to+1], s.rows, s.values, s.w, s.margin[from:to])
		return
	}
	s.k.DotDenseSpans(s.from[from:to], s.values, s.w, s.margin[from:to])
}

// dot returns x·v for the sample at a position.
func (s *SVM) dot(pos int, v []float64) float64 {
	from, to := s.from[pos], s.from[pos+1]
	if s.rows == nil {
		return s.k.Dot(s.values[from:to], v)
	}
	return s.k.DotIndexed(s.values[from:to], s.rows[from:to], v)
}

// add does v ← v + a·x for the sample at a position.
func (s *SVM) add(pos int, a float64, v []float64) {
	from, to := s.from[pos], s.from[pos+1]
	if s.rows == nil {
		s.k.Axpy(a, s.values[from:to], v)
		return
	}
	s.k.AxpyIndexed(a, s.values[from:to], s.rows[from:to], v)
}

// entries returns the number of entries of the sample at a position.
func (s *SVM) entries(pos int) int { return int(s.from[pos+1] - s.from[pos]) }
