package cd

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
)

// rowVisits implements the sweeps of [rowAscent] under a loss with a concordance: Newton steps find
// the best dual variable of a row.
type rowVisits struct {
	derivatives func(i int, linear float64) (slope, curvature float64) // of row i
	dual        []float64                                              // ρ̃ of the rows
	last        []float64                                              // the multiple of each row that the last sweep added to w

	concordance float64 // M of the loss
	gap         float64 // Σ of the rows' shares of the gap, each at its visit
	slope       float64 // Σsᵢρᵢ, likewise
	curvature   float64 // Σsᵢℓ″ᵢ, likewise
}

const (
	rowSteps = 6   // Newton steps of a row at most
	rowNear  = 0.1 // the error of a row's move, relative to the move, at which its steps end
	rowVisit = 160 // nanoseconds per row, besides its entries: 150 to 180 on w8a
)

// supports reports whether the loss has a concordance and slopes of single rows.
func (v *rowVisits) supports(fit *model.Rowwise) bool {
	var ok bool
	v.derivatives = fit.Pointwise()
	v.concordance, ok = fit.Concordance()
	return ok && v.derivatives != nil
}

func (v *rowVisits) begin(s *Solver) {
	a := &s.ridge.ascent
	size := len(a.rows)
	v.dual, v.last = grow(v.dual, size), grow(v.last, size)
	s.k.Clear(v.dual)
	a.price = float64((sparseValue+updateValue)*a.entries) + float64(rowVisit*float64(size))
}

func (v *rowVisits) sweep(ctx context.Context, s *Solver) bool {
	a := &s.ridge.ascent
	total := s.view.Total()
	scale := 1 / (total * s.pen.Ridge())
	v.gap, v.slope, v.curvature = 0, 0, 0
	for k, run := range a.runs {
		if k%pollRuns == 0 && ctx.Err() != nil {
			return false
		}
		from, to := a.span(run)
		for k := from; k < to; k++ {
			row := &a.rows[k]
			columns, values := a.entriesOf(row)
			share := row.weight * scale
			change := v.visit(row, v.dual[k], s.k.DotIndexed(values, columns, a.w)+a.shift, share*row.square)
			v.last[k] = share * change
			if change != 0 {
				v.dual[k] += change
				s.k.AxpyIndexed(v.last[k], values, columns, a.w)
			}
		}
	}
	if s.view.Centred() && v.curvature > 0 {
		step := v.slope / v.curvature
		if far := float64(v.concordance * math.Abs(step)); far > 1 {
			step *= kernels.Log(1+far) / far
		}
		a.shift += step
		v.gap += float64(0.5 * step * v.slope)
	}
	a.estimate = v.gap / (total * s.null)
	return true
}

// visit returns the change of the dual variable of a row, held at ρ̃. The prediction changes by q times
// that: the new prediction u solves u = linear + q·(ρ(u) − ρ̃). The left side less the right side
// increases with u, and Newton steps are limited to the length that a loss with concordance M
// allows.
func (v *rowVisits) visit(row *dualRow, held, linear, q float64) float64 {
	i, weight := int(row.index), row.weight
	slope, curvature := v.derivatives(i, linear)
	lack := slope - held
	v.slope = math.FMA(weight, slope, v.slope)
	v.curvature = math.FMA(weight, curvature, v.curvature)
	if lack == 0 || q == 0 {
		return 0
	}
	v.gap += float64(0.5 * weight * lack * lack / (max(curvature, leastCurvature) + float64(0.5*v.concordance*math.Abs(lack))))
	moved := 0.0
	for step := range rowSteps {
		wrong := float64(q*lack) - moved
		if step > 0 && math.Abs(wrong) <= float64(rowNear*math.Abs(moved)) {
			break
		}
		bend := float64(q * curvature)
		by := wrong / (1 + bend)
		far := float64(v.concordance * math.Abs(by))
		if far > 1 {
			by *= kernels.Log(1+far) / far
		}
		moved += by
		if far <= 1 && float64(bend*far) <= float64(rowNear*(1+bend)) {
			break // the error after a Newton step is at most half of that
		}
		slope, curvature = v.derivatives(i, linear+moved)
		lack = slope - held
	}
	return moved / q
}

func (v *rowVisits) added(*Solver) []float64 { return v.last }
