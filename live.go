package pare

import (
	"sync/atomic"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Live is a place for a predictor that is replaced while others predict with it. Its zero
// value holds none; it is safe for any number of goroutines, and must not be copied.
type Live struct{ now atomic.Pointer[Predictor] }

// Swap puts a predictor in the place of the one held, which it returns: nil where there
// was none. Calls under way end with the predictor they began with.
func (l *Live) Swap(next *Predictor) (last *Predictor) { return l.now.Swap(next) }

// Predictor returns the predictor held, nil where there is none. All that belongs
// together, such as the scores of rows and their classes, is to be asked of one predictor.
func (l *Live) Predictor() *Predictor { return l.now.Load() }

// Predict is [Predictor.Predict] of the predictor held; without one the error is an
// [outcome.Error] of kind Usage.
func (l *Live) Predict(x sparse.Matrix) ([]float64, error) {
	p := l.now.Load()
	if p == nil {
		return nil, outcome.Errorf(outcome.Usage, "there is no predictor yet; Swap one in first")
	}
	return p.Predict(x)
}
