package oracle

import (
	"context"
	"sync/atomic"
)

// Looks is a context that ends when it has been looked at (Err) a number of times, so that what
// computes is cancelled at every place, without a clock; at the same ones where it computes on one
// goroutine. Contexts made from it do not end.
type Looks struct {
	context.Context
	left atomic.Int64
}

// LooksOf returns a context that ends after so many looks.
func LooksOf(ctx context.Context, left int) *Looks {
	l := &Looks{Context: ctx}
	l.Set(left)
	return l
}

// Err counts.
func (l *Looks) Err() error {
	if l.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// Left returns how many looks there are until it ends; then, negative, how many there have been since.
func (l *Looks) Left() int { return int(l.left.Load()) }

// Set states how many there are.
func (l *Looks) Set(left int) { l.left.Store(int64(left)) }
