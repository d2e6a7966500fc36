// Package arena reuses the memory of calls that have ended, which the garbage collector then need
// not find.
package arena

import (
	"sync"

	"github.com/seed-45b9a24c/pare/kernels"
)

const (
	blockSize = 1 << 15 // numbers
	largest   = blockSize / 8
	line      = 8  // numbers in a cache line
	most      = 16 // blocks of an arena
)

// Pool keeps blocks of numbers that are in no arena. It is safe for concurrent use.
type Pool struct {
	mu   sync.Mutex
	idle [][]float64
	most int
}

// NewPool returns a pool that keeps no more than so many bytes.
func NewPool(bytes int64) *Pool { return &Pool{most: int(bytes / (8 * blockSize))} }

// Arena returns the memory of one call, which ends with [Arena.Release].
func (p *Pool) Arena() *Arena { return &Arena{pool: p} }

// Arena is the memory of one call, in blocks of a pool. nil is one that reuses nothing. It is safe
// for concurrent use.
type Arena struct {
	pool *Pool
	size int // of the largest vector over rows; 0: there are no rounds

	mu     sync.Mutex
	blocks [][]float64
	rest   []float64 // of the last
	floats vectors[float64]
	ints   vectors[int32]
}

// ForRounds returns an arena for problems that follow one another: vectors over the rows, of half of size to
// size numbers, have the memory of those of earlier rounds, and so has what is asked for by
// [Arena.Reserve]. A heap that has to find room for them anew each time grows by what lies between them.
func ForRounds(size int) *Arena { return &Arena{size: size} }

// Floats returns n numbers, all 0, cleared within the call of k: of a block if they are few and the call has not many blocks
// already, else of their own. Those of a block are for what ends with the call, or the round.
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

// Undefined is [Arena.Floats] of any value where they are many and of their own. Who fills them is the
// first to touch them, and what is never used is not touched.
func (a *Arena) Undefined(k *kernels.Set, n int) []float64 {
	if n > largest && (a == nil || a.size == 0 || n > a.size || n <= a.size/2) {
		return kernels.Undefined[float64](n)
	}
	return a.Floats(k, n)
}

// Reserve is [Arena.Floats] of as many numbers as every round asks for.
func (a *Arena) Reserve(k *kernels.Set, n int) []float64 {
	if a == nil || a.size == 0 {
		return kernels.Zeros[float64](k, n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.floats.take(k, n)
}

// Ints is [Arena.Reserve] of other numbers.
func (a *Arena) Ints(k *kernels.Set, n int) []int32 {
	if a == nil || a.size == 0 {
		return kernels.Zeros[int32](k, n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ints.take(k, n)
}

// Reset begins another round: nothing of the last one must be used any more.
func (a *Arena) Reset() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.floats.reset()
	a.ints.reset()
}

// Free has a vector reused before the round ends. It must not be used any more.
func (a *Arena) Free(v []float64) {
	if a == nil || len(v) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.floats.free(v)
}

// Detach leaves the vectors of this round to those who have them: they and those of earlier rounds are not reused.
func (a *Arena) Detach() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.floats, a.ints = vectors[float64]{}, vectors[int32]{}
}

// Release returns the blocks to the pool. What was in them must not be used any more.
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
