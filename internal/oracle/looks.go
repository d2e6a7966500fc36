package oracle

import "context"

// Looks is a context that ends when it has been looked at (Err) a number of times, so that
// what computes on one goroutine is cancelled at every place, without a clock. Contexts made
// from it do not end.
type Looks struct {
	context.Context
	Left int // until it ends; then, negative, how often it has been looked at since
}

// Err counts.
func (l *Looks) Err() error {
	if l.Left--; l.Left < 0 {
		return context.Canceled
	}
	return nil
}
