// Package loan lets the calls of a process work in the memory of those that have ended, which
// the garbage collector then need not find.
package loan

import (
	"sync"

	"github.com/seed-45b9a24c/pare/kernels"
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
	size  int // of the largest vector over rows; 0: there are no rounds

	mu     sync.Mutex
	blocks [][]float64
	rest   []float64 // of the last
	floats vectors[float64]
	ints   vectors[int32]
}

// Rounds returns memory of problems that follow one another: vectors over the rows, of half of size to
// size numbers, have the memory of those of earlier rounds, and so has what is asked for by
// [Memory.Room]. A heap that has to find room for them anew each time grows by what lies between them.
func Rounds(size int) *Memory { return &Memory{size: size} }

// Floats returns n numbers, all 0, cleared within the call of k: of a block if they are few and the call has not many blocks
// already, else of their own. Those of a block are for what ends with the call, or the round.
func (l *Memory) Floats(k *kernels.Set, n int) []float64 {
	switch {
	case l != nil && l.size > 0 && n <= l.size && n > l.size/2:
		return l.Room(k, n)
	case l == nil || l.size > 0 || n > largest:
		return kernels.Zeros[float64](k, n)
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

// Undefined is [Memory.Floats] of any value where they are many and of their own. Who fills them is the
// first to touch them, and what is never used is not touched.
func (l *Memory) Undefined(k *kernels.Set, n int) []float64 {
	if n > largest && (l == nil || l.size == 0 || n > l.size || n <= l.size/2) {
		return kernels.Undefined[float64](n)
	}
	return l.Floats(k, n)
}

// Room is [Memory.Floats] of as many numbers as every round asks for.
func (l *Memory) Room(k *kernels.Set, n int) []float64 {
	if l == nil || l.size == 0 {
		return kernels.Zeros[float64](k, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.floats.take(k, n)
}

// Ints is [Memory.Room] of other numbers.
func (l *Memory) Ints(k *kernels.Set, n int) []int32 {
	if l == nil || l.size == 0 {
		return kernels.Zeros[int32](k, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ints.take(k, n)
}

// Again begins another round: nothing of the last one must be used any more.
func (l *Memory) Again() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.floats.again()
	l.ints.again()
}

// Back takes a vector back before the round ends. It must not be used any more.
func (l *Memory) Back(v []float64) {
	if l == nil || len(v) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.floats.back(v)
}

// Lose leaves the vectors of this round to those who have them, and has none of earlier rounds any more.
func (l *Memory) Lose() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.floats, l.ints = vectors[float64]{}, vectors[int32]{}
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
