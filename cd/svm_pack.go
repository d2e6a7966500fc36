package cd

import (
	"math/bits"

	"github.com/seed-45b9a24c/pare/kernels"
)

// block is the number of neighbouring samples that are swept together.
const block = 8

// pack is a list of samples in blocks of 8, side by side in memory, and which
// of them are live: still swept.
type pack struct {
	position []int32 // of each sample, in the solver's order
	from     []int64 // first entry of each; one more than samples
	rows     []int32
	values   []float64

	// products has 8 × 8 numbers for each block: entry (a, b > a) is xₐ·x_b.
	// Empty until it pays.
	products []float64

	blocks  []int32 // that hold live samples, in the order of the next sweep
	live    []uint8 // block → its live samples, one bit each
	count   int     // live samples
	entries int     // their entries
}

// begin makes no sample live.
func (p *pack) begin() {
	size := (len(p.position) + block - 1) / block
	if cap(p.live) < size {
		p.live, p.blocks = make([]uint8, size), make([]int32, 0, size)
	}
	p.live = p.live[:size]
	clear(p.live)
	p.blocks, p.count, p.entries = p.blocks[:0], 0, 0
}

// enliven makes a sample live. Samples must come in increasing order.
func (p *pack) enliven(slot int) {
	b := slot / block
	if p.live[b] == 0 {
		p.blocks = append(p.blocks, int32(b))
	}
	p.live[b] |= 1 << (slot % block)
	p.count++
	p.entries += int(p.from[slot+1] - p.from[slot])
}

// drop makes a sample no longer live.
func (p *pack) drop(slot int) {
	p.live[slot/block] &^= 1 << (slot % block)
	p.count--
	p.entries -= int(p.from[slot+1] - p.from[slot])
}

// shuffle puts the blocks in random order (SplitMix64 and Fisher–Yates) and
// returns the generator's next state.
func (p *pack) shuffle(state uint64) uint64 {
	for i := len(p.blocks) - 1; i > 0; i-- {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		z ^= z >> 31
		j := z % uint64(i+1)
		p.blocks[i], p.blocks[j] = p.blocks[j], p.blocks[i]
	}
	return state
}

// copyLive makes p a copy of the live samples of another pack, all of them live.
func (p *pack) copyLive(other *pack) {
	p.position = grow32(p.position, other.count)[:0]
	p.rows = grow32(p.rows, other.entries)[:0]
	p.values = grow(p.values, other.entries)[:0]
	p.from = append(p.from[:0], 0)
	p.products = p.products[:0]
	for b, live := range other.live {
		for ; live != 0; live &= live - 1 {
			slot := b*block + bits.TrailingZeros8(live)
			from, to := other.from[slot], other.from[slot+1]
			p.position = append(p.position, other.position[slot])
			p.rows = append(p.rows, other.rows[from:to]...)
			p.values = append(p.values, other.values[from:to]...)
			p.from = append(p.from, int64(len(p.rows)))
		}
	}
	p.begin()
	for slot := range p.position {
		p.enliven(slot)
	}
}

// multiply computes the products within blocks. u is a vector of zeros over the
// features, and is left so.
func (p *pack) multiply(k *kernels.Set, u []float64) {
	p.products = grow(p.products, block*block*((len(p.position)+block-1)/block))
	for slot := range p.position {
		last := min((slot/block+1)*block, len(p.position))
		rows, values := p.rows[p.from[slot]:p.from[slot+1]], p.values[p.from[slot]:p.from[slot+1]]
		for i, r := range rows {
			u[r] = values[i]
		}
		k.DotColumns(p.from[slot+1:last+1], p.rows, p.values, u, p.products[slot*block+slot%block+1:][:last-slot-1])
		for _, r := range rows {
			u[r] = 0
		}
	}
}

// grow32 is grow for indices.
func grow32(v []int32, n int) []int32 {
	if cap(v) < n {
		return make([]int32, n+n/2)[:n]
	}
	return v[:n]
}
