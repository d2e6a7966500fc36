package share

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull is the error of a call that would have to wait where as many wait as may.
var ErrFull = errors.New("share: the queue is full")

// Desk admits calls in the order in which they come, for as long as there are places and
// bytes for them. A call that is refused nothing else waits for the ones before it, so that
// large calls are not passed by small ones for ever.
type Desk struct {
	mu      sync.Mutex
	places  int
	bytes   int64
	queue   int
	waiting []*call
	state   State
}

// State is what a desk has admitted.
type State struct {
	Running, Waiting int
	Bytes            int64 // of those running
}

type call struct {
	bytes    int64
	admitted chan struct{}
}

// NewDesk returns a desk with so many places and bytes, 0 bytes for any number, where so
// many calls may wait, below 0 for any number.
func NewDesk(places int, bytes int64, queue int) *Desk {
	return &Desk{places: places, bytes: bytes, queue: queue}
}

// Enter waits until a call that takes so many bytes is admitted; it must call Leave with as
// many. A call for more than there are is admitted when no other runs. The error is ErrFull,
// or that of ctx.
func (d *Desk) Enter(ctx context.Context, bytes int64) error {
	d.mu.Lock()
	c := &call{bytes, make(chan struct{})}
	d.waiting = append(d.waiting, c)
	if d.admit(); d.queue >= 0 && len(d.waiting) > d.queue && slices.Contains(d.waiting, c) {
		d.remove(c)
		d.mu.Unlock()
		return ErrFull
	}
	d.mu.Unlock()
	select {
	case <-c.admitted:
		return nil
	default:
	}
	select {
	case <-c.admitted:
		return nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.remove(c) {
		d.leave(bytes) // it was admitted at the same time
	}
	d.admit()
	return ctx.Err()
}

// Leave gives back the place of a call and its bytes.
func (d *Desk) Leave(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.leave(bytes)
	d.admit()
}

// State returns how many calls run and wait.
func (d *Desk) State() State {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.state.Waiting = len(d.waiting)
	return d.state
}

func (d *Desk) leave(bytes int64) {
	d.state.Running--
	d.state.Bytes -= bytes
}

// remove takes a call off the queue; it reports whether it was there.
func (d *Desk) remove(c *call) bool {
	at := slices.Index(d.waiting, c)
	if at >= 0 {
		d.waiting = slices.Delete(d.waiting, at, at+1)
	}
	return at >= 0
}

// admit lets in as many from the front of the queue as there is room for.
func (d *Desk) admit() {
	for len(d.waiting) > 0 {
		c := d.waiting[0]
		full := d.state.Running == d.places || d.bytes > 0 && d.state.Bytes+c.bytes > d.bytes
		if full && d.state.Running > 0 {
			return
		}
		d.waiting = slices.Delete(d.waiting, 0, 1)
		d.state.Running++
		d.state.Bytes += c.bytes
		close(c.admitted)
	}
}
