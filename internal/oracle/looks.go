package oracle

import (
	"context"
	"sync/atomic"
)

// Looks is a context that ends after its Err has been called a number of times, so that tests can cancel a
// computation at every place without a clock; on one goroutine, the places are the same in every run. Contexts
// derived from it do not end.
type Looks struct {
	context.Context
	left atomic.Int64
}

// LooksOf returns a context that ends after the given number of calls of Err.
func LooksOf(ctx context.Context, left int) *Looks {
	l := &Looks{Context: ctx}
	l.Set(left)
	return l
}

// Err counts the call.
func (l *Looks) Err() error {
	if l.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Left returns the number of calls until the context ends; once negative, its absolute value is the number of
// calls since.
func (l *Looks) Left() int { return int(l.left.Load()) }

// Set sets the number of calls left.
func (l *Looks) Set(left int) { l.left.Store(int64(left)) }
