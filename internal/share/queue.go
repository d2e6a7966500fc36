package share

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull is the error of a call that would have to wait where as many wait as may.
var ErrFull = errors.New("share: the queue is full")

// Queue admits calls in the order in which they come, for as long as there are places and
// bytes for them. A call that is refused nothing else waits for the ones before it, so that
// large calls are not passed by small ones for ever.
type Queue struct {
	mu      sync.Mutex
	places  int
	bytes   int64
	longest int // below 0: any number may wait
	waiting []*call
	state   State
}

// State is what a queue has admitted.
type State struct {
	Running, Waiting int
	Bytes            int64 // of those running
}

type call struct {
	bytes    int64
	admitted chan struct{}
}

// NewQueue returns one with so many places and bytes, 0 bytes for any number, where so
// many calls may wait, below 0 for any number.
func NewQueue(places int, bytes int64, longest int) *Queue {
	return &Queue{places: places, bytes: bytes, longest: longest}
}

// Enter waits until a call that takes so many bytes is admitted; it must call Leave with as
// many. A call for more than there are is admitted when no other runs. The error is ErrFull,
// or that of ctx.
func (q *Queue) Enter(ctx context.Context, bytes int64) error {
	q.mu.Lock()
	c := &call{bytes, make(chan struct{})}
	q.waiting = append(q.waiting, c)
	if q.admit(); q.longest >= 0 && len(q.waiting) > q.longest && slices.Contains(q.waiting, c) {
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
		q.leave(bytes) // it was admitted at the same time
	}
	q.admit()
	return ctx.Err()
}

// Leave gives back the place of a call and its bytes.
func (q *Queue) Leave(bytes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.leave(bytes)
	q.admit()
}

// State returns how many calls run and wait.
func (q *Queue) State() State {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.state.Waiting = len(q.waiting)
	return q.state
}

func (q *Queue) leave(bytes int64) {
	q.state.Running--
	q.state.Bytes -= bytes
}

// remove takes a call off the queue; it reports whether it was there.
func (q *Queue) remove(c *call) bool {
	at := slices.Index(q.waiting, c)
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
	return at >= 0
}

// admit lets in as many from the front of the queue as there is room for.
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
