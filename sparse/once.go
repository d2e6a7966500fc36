package sparse

import (
	"sync"
	"sync/atomic"
)

// once is like sync.Once, but runs f again after a panic: what is kept with a matrix serves all calls, and the
// call that computes it may be ended by a panic.
type once struct {
	done atomic.Bool
	mu   sync.Mutex
}

// Do calls f unless a call of f has completed.
func (o *once) Do(f func()) {
	if o.done.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done.Load() {
		f()
		o.done.Store(true)
	}
}
