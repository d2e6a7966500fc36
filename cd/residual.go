package cd

import (
	"math"

	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
)

// residualEngine sweeps packed columns against the residual: a dot product per column
// and an update of the residual for each coefficient that moves. It suits many columns,
// short columns, and few sweeps.
type residualEngine struct {
	*inner
	k       *kernels.Set
	e       kernels.Epoch      // sparse columns
	d       kernels.DenseEpoch // dense columns, on the same slices
	entries int                // entries of the working set

	team  *team.Team
	spans spans
	one   struct{ from, to [1]int64 } // the span of a column that the store does not hold
}

func (r *residualEngine) load(v []float64) {
	e, w := &r.e, len(r.columns)
	e.Residual = r.store.Own(v, &r.working)
	r.work += float64(rowValue * float64(r.store.Rows()))
	e.Rows, e.Values = r.store.Storage()
	e.Coef, e.Square, e.Threshold, e.Grad = r.coef, r.square, r.threshold, r.grad
	e.Total, e.Ridge, e.Offset = r.store.Total(), r.ridge, 0
	e.Mean = grow(e.Mean, w)
	if cap(e.From) < w {
		e.From, e.To = make([]int64, w+w/2), make([]int64, w+w/2)
	}
	e.From, e.To = e.From[:w], e.To[:w]
	r.entries = 0
	for k, j := range r.columns {
		e.From[k], e.To[k] = r.store.Entries(j)
		e.Mean[k] = r.store.Mean(j)
		r.entries += r.length[k]
	}
	if r.store.Dense() {
		d := &r.d
		d.Values, d.Residual, d.From = e.Values, e.Residual, e.From
		d.Coef, d.Square, d.Threshold, d.Grad, d.Ridge = e.Coef, e.Square, e.Threshold, e.Grad, e.Ridge
		d.Inverse = grow(d.Inverse, w)
		invert(d.Square, d.Ridge, d.Inverse)
	}
}

func (r *residualEngine) epoch() (cost float64) {
	switch {
	case r.store.Partial():
		return r.price(0, r.epochPartial())
	case !r.store.Dense():
		return r.price(0, r.k.Epoch(&r.e))
	}
	return r.price(0, r.k.DenseEpoch(&r.d)*r.store.Rows())
}

func (r *residualEngine) price(_, values int) float64 {
	return residualCost(r.entries+values, len(r.columns), r.store.Dense())
}

// epochPartial is an epoch where the store does not hold all columns. It sweeps runs of held columns
// together, and every other column by itself.
func (r *residualEngine) epochPartial() (updated int) {
	e := r.e
	for k := 0; k < len(r.columns); {
		end := k + 1
		if r.store.Held(r.columns[k]) {
			for end < len(r.columns) && r.store.Held(r.columns[end]) {
				end++
			}
			e.Rows, e.Values, e.From, e.To = r.e.Rows, r.e.Values, r.e.From[k:end], r.e.To[k:end]
		} else {
			e.Rows, e.Values = r.store.Column(r.columns[k])
			r.one.to[0] = int64(len(e.Values))
			e.From, e.To = r.one.from[:], r.one.to[:]
		}
		e.Coef, e.Square, e.Threshold = r.e.Coef[k:end], r.e.Square[k:end], r.e.Threshold[k:end]
		e.Mean, e.Grad = r.e.Mean[k:end], r.e.Grad[k:end]
		updated += r.k.Epoch(&e)
		k = end
	}
	r.e.Offset = e.Offset
	return updated
}

// column returns a column of the working set by its position.
func (r *residualEngine) column(k int) (rows []int32, values []float64) {
	if r.store.Partial() {
		return r.store.Column(r.columns[k])
	}
	e := &r.e
	return e.Rows[e.From[k]:e.To[k]], e.Values[e.From[k]:e.To[k]]
}

func (r *residualEngine) correlation(k int) float64 {
	e := &r.e
	if r.store.Dense() {
		return r.k.Dot(e.Values[e.From[k]:e.To[k]], e.Residual)
	}
	rows, values := r.column(k)
	return math.FMA(float64(e.Offset*e.Total), e.Mean[k], r.k.DotIndexed(values, rows, e.Residual))
}

func (r *residualEngine) move(k int, d float64) {
	e := &r.e
	if r.store.Dense() {
		r.k.Axpy(-d, e.Values[e.From[k]:e.To[k]], e.Residual)
		return
	}
	rows, values := r.column(k)
	r.k.AxpyIndexed(-d, values, rows, e.Residual)
	e.Offset = math.FMA(d, e.Mean[k], e.Offset)
}

// squaredResidual implements [engine]. Where columns are centred, the true residual
// r = r̂ + offset·√w has Σ√w·r = 0, hence Σ√w·r̂ = −offset·D and ‖r‖² = ‖r̂‖² − offset²·D, D = Σw.
func (r *residualEngine) squaredResidual() float64 {
	e := &r.e
	return r.k.Dot(e.Residual, e.Residual) - float64(e.Offset*e.Offset*e.Total)
}
