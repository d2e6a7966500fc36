package sparse

import (
	"sync"
	"sync/atomic"
)

// once has something done once, as sync.Once has, but again after a panic: what is kept with a
// matrix is for all calls, and one of them may end in the middle of making it.
type once struct {
	done atomic.Bool
	mu   sync.Mutex
}

// Do calls f unless it has been done.
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
