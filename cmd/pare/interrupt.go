package main

import (
	"context"
	"sync"
)

// interrupt is what the first signal does: it ends a search, of which the best so far is
// then refitted, and whatever else is done at once.
type interrupt struct {
	cancel context.CancelFunc
	stop   chan struct{} // closed by a signal during a search

	mu        sync.Mutex
	searching bool
	heard     bool
	notice    func() // tells people, where set
}

func newInterrupt(cancel context.CancelFunc) *interrupt {
	return &interrupt{cancel: cancel, stop: make(chan struct{})}
}

// search says that a search begins, and returns what ends it.
func (i *interrupt) search() <-chan struct{} {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.searching = true
	return i.stop
}

// announce has f called when a signal has come.
func (i *interrupt) announce(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.notice = f
}

// hear is called once, at the first signal.
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
	if i.notice != nil { // last: nobody may be reading it
		i.notice()
	}
}
