package team

import (
	"sync"
	"sync/atomic"
)

// helperLimit adapts the number of helpers to the processors available. It allows one helper less when a thread has been
// without a processor, since a loop takes as long as its last part, and threads that look for work take processors from
// threads that have some. It allows one more again after a number of loops, which doubles every time.
type helperLimit struct {
	lostProcessor atomic.Bool  // a thread has been without a processor
	allowed       atomic.Int64 // the number of helpers allowed at the moment

	mu          sync.Mutex
	most        int
	wait        int // loops until one more helper is allowed
	lastWait    int // the value at which wait last started
	undisturbed int // loops with all helpers since a thread was last without a processor
}

// firstPenalty is for how many loops there is one helper less the first time, mostPenalty the most that doubling leads to.
const firstPenalty, mostPenalty = 16, 4096

// begin sets the largest number of helpers, and allows them all.
func (c *helperLimit) begin(most int) {
	c.most = most
	c.allowed.Store(int64(most))
}

// adapt updates the number of helpers before a loop, and reports whether any are allowed.
func (c *helperLimit) adapt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	helped := int(c.allowed.Load())
	switch {
	case c.lostProcessor.Swap(false):
		c.lastWait = min(max(firstPenalty, 2*c.lastWait), mostPenalty)
		helped, c.wait, c.undisturbed = max(0, helped-1), c.lastWait, 0
	case helped < c.most:
		if c.wait--; c.wait <= 0 {
			helped, c.wait = helped+1, c.lastWait
		}
	default:
		if c.undisturbed++; c.undisturbed > 2*c.lastWait {
			c.lastWait = 0
		}
	}
	c.allowed.Store(int64(helped))
	return helped > 0
}
