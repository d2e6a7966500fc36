package main

import (
	"context"
	"sync"
)

// interrupt is the effect of the first signal: it ends a search, whose best point is then refitted; anything
// else is cancelled at once.
type interrupt struct {
	cancel context.CancelFunc
	stop   chan struct{} // closed by the first signal during a search

	mu        sync.Mutex
	searching bool
	heard     bool
	notice    func() // reports the signal to the user; may be nil
}

func newInterrupt(cancel context.CancelFunc) *interrupt {
	return &interrupt{cancel: cancel, stop: make(chan struct{})}
}

// search marks the beginning of a search, and returns a channel that is closed to end it.
func (i *interrupt) search() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.searching = true
	return i.stop
}

// announce registers f to be called after the first signal.
func (i *interrupt) announce(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.notice = f
}

// hear handles the first signal; later calls do nothing.
func (i *interrupt) hear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.heard {
		return
	}
	i.heard = true
	if i.searching {
		close(i.stop)
	} else {
		i.cancel()
	}
	if i.notice != nil { // last, since writing may block
		i.notice()
	}
}
