package kernels

import "math"

// BoxEpoch is one epoch of coordinate descent for the dual problem of a support
// vector machine,
//
//	½‖w‖² + ½r‖a‖² − Σ q_i·a_i  over  0 ≤ a_i ≤ C_i,  w = Σ a_i·y_i·x_i,
//
// over sparse samples x_i. The margins q_i are 1 for classification. For each i in Live, in that order:
//
//	g = y_i·(x_iᵀw) + r·a_i − q_i             product as DotIndexed
//	a = clip(a_i − g/(‖x_i‖² + r), 0, C_i)
//
// and if a differs from a_i: w ← w + (a − a_i)·y_i·x_i, then a_i ← a. Products that are
// added are fused, in g and in the step.
//
// A sample is at rest if a_i is optimal with w held fixed: g > 0 and a_i = 0, or g < 0 and a_i = C_i; if r > 0,
// also where g is next to 0. A sample at rest with g > AsideOver or g < AsideUnder is set aside. Afterwards Live begins with
// the samples that are not set aside, in the order of their visits, and BoxEpoch returns
// their number; the rest of Live is arbitrary. ±Inf set no sample aside; AsideUnder ≤ 0 ≤
// AsideOver.
//
// To solve such a problem, list the samples with C_i > 0 and entries, call BoxEpoch
// with Live[:kept] (shuffled, for faster convergence) until Gap is small, then
// check all samples again. Clear the tallied fields before each call.
type BoxEpoch struct {
	From, To []int64   // sample i has the entries From[i] ≤ k < To[i] of Features and Values
	Features []int32   // in [0, len(W)), distinct within a sample
	Values   []float64 // as many as Features

	W    []float64     // w, updated
	At   []BoxVariable // the variable of sample i; Value is updated
	Live []int32       // the samples to visit, updated

	Diagonal float64 // r ≥ 0

	AsideOver, AsideUnder float64

	// Tallied: BoxEpoch adds to these values, or updates the extremes.
	MostOver, MostUnder float64 // the largest and the smallest of 0 and all g of samples not at rest
	Gap                 float64 // Σ d·(g − ½r·d), d = a_i − clip(a_i − g/r, 0, C_i), each at the visit; d·g where r = 0
	Visited, Moved      int     // number of entries of samples visited, and of those that moved
	Free, FreeEntries   int     // number of samples with 0 < a < C_i after the visit, and of their entries
}

// BoxVariable is the dual variable of one sample in a [BoxEpoch].
type BoxVariable = struct {
	Sign    float64 // y_i, ±1
	Inverse float64 // 1/(‖x_i‖² + r)
	Bound   float64 // C_i
	Value   float64 // a_i, in [0, C_i]
	Margin  float64 // q_i
}

//go:noinline
func newBoxEpoch(loop func(e *BoxEpoch, from, to, kept int) int, s *Set) func(e *BoxEpoch) (kept int) {
	return func(e *BoxEpoch) (kept int) {
		if len(e.Values) != len(e.Features) {
			panic("kernels: BoxEpoch: lengths of Values and Features differ")
		}
		if overlap(e.Values, e.W) {
			panic("kernels: BoxEpoch: Values and W overlap")
		}
		for k := 0; k < len(e.Live); {
			if loop != nil {
				if n := e.run(k); n > 0 {
					kept = loop(e, k, k+n, kept)
					k += n
					s.between(len(e.Live) - k)
					continue
				}
			}
			kept = e.visit(s, k, kept, 1/e.Diagonal)
			k++
		}
		return kept
	}
}

// run returns the number of visits from k on that one call of the assembly does: at
// most half a block of entries, since each may be used twice. It is 0 if the first
// sample alone has more.
func (e *BoxEpoch) run(k int) int {
	entries := 0
	live, w := e.Live[k:], int64(len(e.Features))
	starts, ends := e.From, e.To
	samples := min(len(e.At), len(starts), len(ends))
	for n, i := range live[:min(len(live), Block)] {
		if uint(i) >= uint(samples) {
			panic("kernels: BoxEpoch: Live leaves From, To or At")
		}
		from, to := starts[i], ends[i]
		if from < 0 || to < from || to > w {
			panic("kernels: BoxEpoch: a sample leaves Features")
		}
		if entries += int(to - from); entries > Block/2 {
			return n
		}
		raceRead(e.Values[from:to])
		raceRead(e.Features[from:to])
		raceScatter(e.Features[from:to], e.W)
		raceWrite(e.At[i:][:1])
	}
	return min(len(live), Block)
}

// visit does one step of the epoch; it is the reference for the assembly. A sample at
// rest adds nothing to the gap and does not move. inverse is 1/r, +Inf where r = 0.
func (e *BoxEpoch) visit(s *Set, k, kept int, inverse float64) int {
	i := e.Live[k]
	from, to := e.From[i], e.To[i]
	features, values, v := e.Features[from:to], e.Values[from:to], &e.At[i]
	g := math.FMA(v.Sign, s.DotIndexed(values, features, e.W), -math.FMA(-e.Diagonal, v.Value, v.Margin))
	share := v.Value - clip(math.FMA(-g, inverse, v.Value), v.Bound) // d in Gap; negative where a has to grow
	e.Gap = math.FMA(share, math.FMA(-0.5*e.Diagonal, share, g), e.Gap)
	e.Visited += len(values)
	violation := 0.0
	if share != 0 {
		violation = g
	}
	if violation > e.MostOver {
		e.MostOver = violation
	}
	if violation < e.MostUnder {
		e.MostUnder = violation
	}
	if share != 0 || !(g > e.AsideOver || g < e.AsideUnder) {
		e.Live[kept] = i
		kept++
	}
	next := clip(math.FMA(-g, v.Inverse, v.Value), v.Bound)
	if next != 0 && next != v.Bound {
		e.Free++
		e.FreeEntries += len(values)
	}
	if d := next - v.Value; d != 0 {
		v.Value = next
		e.Moved += len(values)
		s.AxpyIndexed(d*v.Sign, values, features, e.W)
	}
	return kept
}

// clip returns the number in [0, bound] that is nearest to a, 0 for NaN.
func clip(a, bound float64) float64 {
	if !(a > 0) {
		a = 0
	}
	if !(a < bound) {
		a = bound
	}
	return a
}
