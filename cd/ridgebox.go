package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// rowBox implements the sweeps of [rowAscent] under a loss whose slope is linear between two bounds: the
// dual problem is then that of a [kernels.BoxEpoch]. The variable of a row is the distance of ρ̃ᵢ from one
// of its bounds, times √sᵢ/(Nα₂), and its sample is √sᵢxᵢ. No sample is set aside: on a9a setting samples
// aside made sweeps a tenth cheaper, but estimates too low.
type rowBox struct {
	interval func(i int) (target, lower, upper float64) // of row i
	e        kernels.BoxEpoch
	live     []int32
	before   []float64 // variables where the sweep began
	target   []float64 // by row, less the bound from which its variable is measured
	bounds   float64   // Σsᵢ times that bound
	shift    float64   // the intercept with which margins were computed
}

// supports reports whether the loss has such a slope.
func (b *rowBox) supports(fit *model.Rowwise) bool {
	b.interval = fit.Clipped()
	return b.interval != nil
}

func (b *rowBox) begin(s *Solver) {
	a, e := &s.ridge.ascent, &b.e
	size, scale := len(a.rows), s.view.Total()*s.pen.Ridge()
	if e.At == nil {
		b.live, b.before, b.target = kernels.Undefined[int32](size), kernels.Undefined[float64](size), kernels.Undefined[float64](size)
		e.From, e.To, e.At = kernels.Undefined[int64](size), kernels.Undefined[int64](size), kernels.Undefined[kernels.BoxVariable](size)
		e.Features, e.Values, e.W = a.columns, a.values, a.w
		e.AsideOver, e.AsideUnder = math.Inf(1), math.Inf(-1)
	}
	e.Diagonal, b.bounds, b.shift = scale, 0, 0
	for k := range s.k.Range(size) {
		row := &a.rows[k]
		target, lower, upper := b.interval(int(row.index))
		sign, bound := math.Sqrt(row.weight), lower
		if math.IsInf(lower, -1) {
			sign, bound = -sign, upper
		}
		e.From[k], e.To[k] = row.from, row.from+int64(row.length)
		b.target[k] = target - bound
		b.bounds = math.FMA(row.weight, bound, b.bounds)
		e.At[k] = kernels.BoxVariable{
			Sign: sign, Margin: sign * b.target[k], Inverse: 1 / math.FMA(row.weight, row.square, scale),
			Value: math.Abs(sign*bound) / scale, Bound: math.Abs(sign) * (upper - lower) / scale,
		}
	}
}

func (b *rowBox) sweep(ctx context.Context, s *Solver) bool {
	a, e := &s.ridge.ascent, &b.e
	b.recomputeMargins(s)
	for k := range s.k.Range(len(e.At)) {
		b.before[k] = e.At[k].Value
	}
	b.live = b.live[:0]
	for _, run := range kernels.Each(s.k, a.runs) {
		from, to := a.span(run)
		for k := from; k < to; k++ {
			b.live = append(b.live, int32(k))
		}
	}
	e.Gap, e.Visited, e.Moved = 0, 0, 0
	for left := b.live; len(left) > 0; left = left[len(e.Live):] {
		if ctx.Err() != nil {
			return false
		}
		e.Live = left[:min(len(left), pollRuns*runLength)]
		s.k.BoxEpoch(e)
	}
	a.price = float64(sparseValue*float64(e.Visited)) + float64(updateValue*float64(e.Moved)) + float64(perColumn*float64(len(b.live)))
	gap := float64(e.Diagonal * e.Gap)
	if s.view.Centred() {
		gap += b.moveIntercept(s)
	}
	a.estimate = gap / (s.view.Total() * s.null)
	return true
}

// recomputeMargins recomputes the margins with the current intercept.
func (b *rowBox) recomputeMargins(s *Solver) {
	if b.shift == s.ridge.ascent.shift {
		return
	}
	b.shift = s.ridge.ascent.shift
	for k := range s.k.Range(len(b.e.At)) {
		v := &b.e.At[k]
		v.Margin = v.Sign * (b.target[k] - b.shift)
	}
}

// moveIntercept takes a Newton step of the intercept, with the dual variables as slopes, and returns
// the predicted gain.
func (b *rowBox) moveIntercept(s *Solver) float64 {
	slope, curvature := 0.0, 0.0
	for k := range s.k.Range(len(b.e.At)) {
		v := &b.e.At[k]
		slope = math.FMA(v.Sign, v.Value, slope)
		if v.Value > 0 && v.Value < v.Bound {
			curvature = math.FMA(v.Sign, v.Sign, curvature)
		}
	}
	if curvature == 0 {
		return 0
	}
	slope = math.FMA(b.e.Diagonal, slope, b.bounds)
	step := slope / curvature
	s.ridge.ascent.shift += step
	return float64(0.5 * step * slope)
}

func (b *rowBox) added(s *Solver) []float64 {
	for k := range s.k.Range(len(b.e.At)) {
		v := &b.e.At[k]
		b.before[k] = v.Sign * (v.Value - b.before[k])
	}
	return b.before
}
