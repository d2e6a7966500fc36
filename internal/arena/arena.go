// Package arena reuses the memory of calls that have ended, which relieves the garbage collector.
package arena

import (
	"sync"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	blockSize = 1 << 15 // numbers
	largest   = blockSize / 8
	line      = 8  // numbers in a cache line
	most      = 16 // largest number of blocks in an arena
)

// Pool keeps blocks of numbers that no arena uses. It is safe for concurrent use.
type Pool struct {
	mu   sync.Mutex
	idle [][]float64
	most int
}

// NewPool returns a pool that keeps no more than the given number of bytes.
func NewPool(bytes int64) *Pool { return &Pool{most: int(bytes / (8 * blockSize))} }

// Arena returns the memory of one call, which ends with [Arena.Release].
func (p *Pool) Arena() *Arena { return &Arena{pool: p} }

// Arena is the memory of one call, in blocks of a pool. A nil Arena reuses nothing. It is safe for concurrent
// use.
type Arena struct {
	pool *Pool
	size int // the length of the longest vector over rows; 0: there are no rounds

	mu     sync.Mutex
	blocks [][]float64
	rest   []float64 // the free part of the last block
	floats vectors[float64]
	ints   vectors[int32]
}

// ForRounds returns an arena for problems that follow one another in rounds. Vectors over the rows, of more
// than size/2 and at most size numbers, reuse the memory of those of earlier rounds, as do vectors from
// [Arena.Reserve]. If they were allocated anew in each round, the heap would grow by the gaps between them.
func ForRounds(size int) *Arena { return &Arena{size: size} }

// Floats returns n zeros: from a block if n is small and the call does not have many blocks already, else
// from memory of their own, which k clears in pieces. Numbers from a block must not outlive the call, or the
// round.
func (a *Arena) Floats(k *kernels.Set, n int) []float64 {
	switch {
	case a != nil && a.size > 0 && n <= a.size && n > a.size/2:
		return a.Reserve(k, n)
	case a == nil || a.size > 0 || n > largest:
		return kernels.Zeros[float64](k, n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > len(a.rest) {
		if len(a.blocks) == most {
			return make([]float64, n)
		}
		a.rest = a.pool.take()
		a.blocks = append(a.blocks, a.rest)
	}
	out := a.rest[:n:n]
	a.rest = a.rest[min(len(a.rest), (n+line-1)/line*line):]
	clear(out)
	return out
}

// Undefined is like [Arena.Floats], but a slice too long for a block is not cleared: its contents are
// undefined, and pages that the caller never writes are never touched.
func (a *Arena) Undefined(k *kernels.Set, n int) []float64 {
	if n > largest && (a == nil || a.size == 0 || n > a.size || n <= a.size/2) {
		return kernels.Undefined[float64](n)
	}
	return a.Floats(k, n)
}

// Reserve is like [Arena.Floats], for slices that every round asks for: they reuse the memory of earlier
// rounds whatever their length.
func (a *Arena) Reserve(k *kernels.Set, n int) []float64 {
	if a == nil || a.size == 0 {
		return kernels.Zeros[float64](k, n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.floats.take(k, n)
}

// Ints is like [Arena.Reserve], for int32.
func (a *Arena) Ints(k *kernels.Set, n int) []int32 {
	if a == nil || a.size == 0 {
		return kernels.Zeros[int32](k, n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ints.take(k, n)
}

// Reset begins another round: slices of the last round must not be used any more.
func (a *Arena) Reset() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.floats.reset()
	a.ints.reset()
}

// Free makes the memory of a vector available before the round ends. The vector must not be used any more.
func (a *Arena) Free(v []float64) {
	if a == nil || len(v) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.floats.free(v)
}

// Detach removes the vectors of this round and of earlier ones from the arena: their memory is not reused, so
// that they stay valid.
func (a *Arena) Detach() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.floats, a.ints = vectors[float64]{}, vectors[int32]{}
}

// Release returns the blocks to the pool. Slices from them must not be used any more.
func (a *Arena) Release() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pool.put(a.blocks)
	a.blocks, a.rest = nil, nil
}

// take returns a block, its contents undefined.
func (p *Pool) take() []float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return make([]float64, blockSize)
	}
	block := p.idle[last]
	p.idle[last], p.idle = nil, p.idle[:last]
	return block
}

func (p *Pool) put(blocks [][]float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, blocks[:min(len(blocks), max(0, p.most-len(p.idle)))]...)
}
