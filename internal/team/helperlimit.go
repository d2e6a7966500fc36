package team

import (
	"sync"
	"sync/atomic"
)

// crowd adapts the number of helpers to the processors available. It allows one helper less when a thread has been
// without a processor, since a loop takes as long as its last part, and threads that look for work take processors from
// threads that have some. It allows one more again after a number of loops, which doubles every time.
type crowd struct {
	noticed atomic.Bool  // a thread has been without a processor
	helped  atomic.Int64 // the number of helpers allowed at the moment

	mu    sync.Mutex
	most  int
	wait  int // loops until one more helper is allowed
	again int // the value at which wait last started
	calm  int // loops with all helpers since a thread was last without a processor
}

// fewLoops is for how many loops there is one helper less the first time, mostLoops the most that doubling leads to.
const fewLoops, mostLoops = 16, 4096

// begin sets the largest number of helpers, and allows them all.
func (c *crowd) begin(most int) {
	c.most = most
	c.helped.Store(int64(most))
}

// adapt updates the number of helpers before a loop, and reports whether any are allowed.
func (c *crowd) adapt() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	helped := int(c.helped.Load())
	switch {
	case c.noticed.Swap(false):
		c.again = min(max(fewLoops, 2*c.again), mostLoops)
		helped, c.wait, c.calm = max(0, helped-1), c.again, 0
	case helped < c.most:
		if c.wait--; c.wait <= 0 {
			helped, c.wait = helped+1, c.again
		}
	default:
		if c.calm++; c.calm > 2*c.again {
			c.again = 0
		}
	}
	c.helped.Store(int64(helped))
	return helped > 0
}
