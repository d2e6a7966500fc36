package pare

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

const (
	oneSEWidth = 0.01 // in λ: a hundredth of the strength
	oneSETol   = 1e-4 // of inner problems: the standard error is far above what that changes
	oneSESteps = 30
)

// oneSE looks for the sparsest model that cross-validation cannot tell from the
// best: going up from the best λ, all coordinates together, the last point before
// the criterion first exceeds its best value by its standard error over the folds
// there. seen are evaluations on the way. It returns nil where ctx ends, and where
// there is one fold only.
func (e *engine) oneSE(ctx context.Context, f outer, best search.Evaluation, seen []search.Evaluation) (*search.Evaluation, error) {
	at := func(shift, tol float64) (search.Evaluation, error) {
		return f.Eval(ctx, search.Request{LogLambda: ray{from: best.LogLambda}.at([]float64{shift}), Tol: tol, ValueOnly: true})
	}
	here, err := at(0, e.config.Tol)
	if err != nil {
		return nil, silence(ctx, err)
	}
	if len(here.FoldValues) < 2 {
		return nil, nil
	}
	limit := here.Value + standardError(here.FoldValues, here.Value)
	top := math.Inf(1) // shift to where every coefficient is zero
	for i, l := range e.max() {
		top = min(top, l-best.LogLambda[i])
	}
	lo, hi := 0.0, math.Inf(1)
	low, high := here.Value-limit, 0.0
	for _, s := range seen {
		if shift := s.LogLambda[0] - best.LogLambda[0]; shift > 0 && shift < hi && s.Value > limit {
			hi, high = shift, s.Value-limit
		}
	}
	for range oneSESteps {
		if hi-lo <= oneSEWidth || lo >= top {
			break
		}
		next := min(lo+1, top)
		if !math.IsInf(hi, 1) {
			// Regula falsi, kept off both ends.
			margin := float64(0.1 * (hi - lo))
			next = min(max(lo-low*(hi-lo)/(high-low), lo+margin), hi-margin)
		}
		point, err := at(next, max(e.config.Tol, oneSETol))
		if err != nil {
			return nil, silence(ctx, err)
		}
		if excess := point.Value - limit; excess > 0 {
			hi, high = next, excess
		} else {
			lo, low, here = next, excess, point
		}
	}
	return &here, nil
}

// silence drops the error of a ctx that ended.
func silence(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// standardError is that of the mean of a few values.
func standardError(values []float64, mean float64) float64 {
	k := float64(len(values))
	var square float64
	for _, v := range values {
		square = math.FMA(v-mean, v-mean, square)
	}
	return math.Sqrt(square/(k-1)) / math.Sqrt(k)
}

// hasOneSE reports whether the rule applies: cross-validation over two folds or
// more, and one direction towards sparser models.
func (e *engine) hasOneSE(o SelectOptions, status outcome.Status) bool {
	if v := o.Validation.Criterion; !o.OneSE || v != "" && v != CV || status == outcome.Cancelled || status == outcome.Failed {
		return false
	}
	top := e.max()
	return (len(top) == 1 || e.family.common) && !math.IsNaN(top[0])
}
