// Package loan lets the calls of a process work in the memory of those that have ended, which
// the garbage collector then need not find.
package loan

import (
	"slices"
	"sync"
)

const (
	blockSize = 1 << 15 // numbers
	largest   = blockSize / 8
	line      = 8 // numbers in a cache line
	mostLent  = 16
)

// Store keeps blocks of numbers that no call works in. It is safe for concurrent use.
type Store struct {
	mu   sync.Mutex
	idle [][]float64
	most int
}

// NewStore returns a store that keeps no more than so many bytes.
func NewStore(bytes int64) *Store { return &Store{most: int(bytes / (8 * blockSize))} }

// Borrow returns what one call works in.
func (s *Store) Borrow() *Memory { return &Memory{store: s} }

// Memory is that of one call, in blocks of a store. nil is one of memory that is never given
// back. It is safe for concurrent use.
type Memory struct {
	store *Store
	size  int // of vectors that go from round to round; 0: there are no rounds

	mu          sync.Mutex
	blocks      [][]float64
	rest        []float64   // of the last
	lent, spare [][]float64 // vectors
}

// Rounds returns memory of problems that follow one another: vectors of size numbers have the memory
// of those of earlier rounds. A heap that has to find room for them anew each time grows by what
// lies between them.
func Rounds(size int) *Memory { return &Memory{size: size} }

// Floats returns n numbers, all 0: of a block if they are few and the call has not many blocks
// already, else of their own. Those of a block are for what ends with the call, or the round.
func (l *Memory) Floats(n int) []float64 {
	switch {
	case l != nil && n == l.size && n > 0:
		return l.vector()
	case l == nil || l.size > 0 || n > largest:
		return make([]float64, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > len(l.rest) {
		if len(l.blocks) == mostLent {
			return make([]float64, n)
		}
		l.rest = l.store.take()
		l.blocks = append(l.blocks, l.rest)
	}
	out := l.rest[:n:n]
	l.rest = l.rest[min(len(l.rest), (n+line-1)/line*line):]
	clear(out)
	return out
}

// vector returns a vector, all 0.
func (l *Memory) vector() []float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var v []float64
	if last := len(l.spare) - 1; last >= 0 {
		v, l.spare = l.spare[last], l.spare[:last]
		clear(v)
	} else {
		v = make([]float64, l.size)
	}
	l.lent = append(l.lent, v)
	return v
}

// Again begins another round: nothing of the last one must be used any more.
func (l *Memory) Again() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spare, l.lent = append(l.spare, l.lent...), nil
}

// Back takes a vector back before the round ends. It must not be used any more.
func (l *Memory) Back(v []float64) {
	if l == nil || len(v) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := slices.IndexFunc(l.lent, func(w []float64) bool { return &w[0] == &v[0] }); at >= 0 {
		l.spare, l.lent = append(l.spare, l.lent[at]), slices.Delete(l.lent, at, at+1)
	}
}

// Lose leaves the vectors of this round to those who have them, and has none of earlier rounds any more.
func (l *Memory) Lose() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lent, l.spare = nil, nil
}

// Return gives the blocks back. What was in them must not be used any more.
func (l *Memory) Return() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.store.put(l.blocks)
	l.blocks, l.rest = nil, nil
}

// take returns a block, its contents undefined.
func (s *Store) take() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	if last < 0 {
		return make([]float64, blockSize)
	}
	block := s.idle[last]
	s.idle[last], s.idle = nil, s.idle[:last]
	return block
}

func (s *Store) put(blocks [][]float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, blocks[:min(len(blocks), max(0, s.most-len(s.idle)))]...)
}
