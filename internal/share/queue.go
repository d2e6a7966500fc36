package share

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull is the error of a call that would have to wait while the queue is full.
var ErrFull = errors.New("share: the queue is full")

// Queue admits calls in the order of their arrival, as long as there are places and bytes for them. A call
// waits for all earlier ones, even where there is room for it, so that small calls cannot overtake large ones
// for ever.
type Queue struct {
	mu          sync.Mutex
	places      int
	bytes       int64
	mostWaiting int // largest number of waiting calls; below 0: no limit
	waiting     []*call
	state       State
}

// State is what a queue has admitted.
type State struct {
	Running, Waiting int
	Bytes            int64 // of the running calls
}

type call struct {
	bytes    int64
	admitted chan struct{}
}

// NewQueue returns a queue with the given numbers of places and bytes, where 0 bytes means no limit. At most
// longest calls may wait; below 0 means no limit.
func NewQueue(places int, bytes int64, longest int) *Queue {
	return &Queue{places: places, bytes: bytes, mostWaiting: longest}
}

// Enter waits until a call that takes the given number of bytes is admitted; the caller must then call Leave
// with the same number. A call for more bytes than the queue has is admitted when no other call runs. The
// error is ErrFull, or that of ctx.
func (q *Queue) Enter(ctx context.Context, bytes int64) error {
	q.mu.Lock()
	c := &call{bytes, make(chan struct{})}
	q.waiting = append(q.waiting, c)
	if q.admit(); q.mostWaiting >= 0 && len(q.waiting) > q.mostWaiting && slices.Contains(q.waiting, c) {
		q.remove(c)
		q.mu.Unlock()
		return ErrFull
	}
	q.mu.Unlock()
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
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.remove(c) {
		q.release(bytes) // the call was admitted at the same time
	}
	q.admit()
	return ctx.Err()
}

// Leave returns the place of a call and its bytes.
func (q *Queue) Leave(bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release(bytes)
	q.admit()
}

// State returns how many calls run and wait.
func (q *Queue) State() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state.Waiting = len(q.waiting)
	return q.state
}

func (q *Queue) release(bytes int64) {
	q.state.Running--
	q.state.Bytes -= bytes
}

// remove removes a call from the queue; it reports whether the call was there.
func (q *Queue) remove(c *call) bool {
	at := slices.Index(q.waiting, c)
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
	return at >= 0
}

// admit admits as many calls from the front of the queue as there is room for.
func (q *Queue) admit() {
	for len(q.waiting) > 0 {
		c := q.waiting[0]
		full := q.state.Running == q.places || q.bytes > 0 && q.state.Bytes+c.bytes > q.bytes
		if full && q.state.Running > 0 {
			return
		}
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.state.Running++
		q.state.Bytes += c.bytes
		close(c.admitted)
	}
}
