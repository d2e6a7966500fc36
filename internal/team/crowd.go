package team

import (
	"sync"
	"sync/atomic"
)

// crowd says how many helpers there are to be: one less where a thread has been without a processor, since loops end
// when the last of their parts does, and threads that look for work are in the way of those that have some; and one
// more again after a number of loops, twice as many every time.
type crowd struct {
	noticed atomic.Bool  // a thread has been without a processor
	helped  atomic.Int64 // helpers that there are to be at the moment

	mu    sync.Mutex
	most  int
	wait  int // loops until there is to be one more
	again int // how many they were the last time
	calm  int // loops with all helpers since then
}

// fewLoops is for how many loops there is a helper less at first, mostLoops in the end.
const fewLoops, mostLoops = 16, 4096

// begin begins with so many helpers.
func (c *crowd) begin(most int) {
	c.most = most
	c.helped.Store(int64(most))
}

// adapt is called for every loop, and reports whether there are to be helpers.
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
