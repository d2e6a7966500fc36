package pare

import (
	"context"
	"errors"
	"time"
)

// errTime is the cause of a search that MaxDuration has ended.
var errTime = errors.New("the time allowed for the search is used up")

// stopper ends a search, not what follows it.
type stopper struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{}
}

// withStop returns a context that ends with ctx, when o.Stop is closed, and after
// o.MaxDuration.
func withStop(ctx context.Context, o SelectOptions) (context.Context, *stopper) {
	inner, cancel := context.WithCancelCause(ctx)
	s := &stopper{inner, cancel, make(chan struct{})}
	var clock <-chan time.Time
	if o.MaxDuration > 0 {
		clock = time.After(o.MaxDuration)
	}
	go func() {
		defer close(s.done)
		select {
		case <-o.Stop:
			cancel(context.Canceled)
		case <-clock:
			cancel(errTime)
		case <-inner.Done():
		}
	}()
	return inner, s
}

// timed reports whether the time allowed has ended the search.
func (s *stopper) timed() bool { return errors.Is(context.Cause(s.ctx), errTime) }

// end leaves no goroutine behind.
func (s *stopper) end() {
	s.cancel(nil)
	<-s.done
}
