package table

import (
	"encoding/binary"
	"math/bits"
)

// marks finds separators and newlines in a text that ends in a newline, 64 bytes at a time, so that the end of
// a cell is known before its number is read.
type marks struct {
	text      []byte
	separator byte
	from      int    // offset of the current 64 bytes
	pending   uint64 // marks among them that have not been returned yet
}

func newMarks(text []byte, separator byte) marks {
	m := marks{text: text, separator: separator}
	m.seek(0)
	return m
}

// next returns the offset of the next mark; there must be one.
func (m *marks) next() int {
	for m.pending == 0 {
		m.seek(m.from + 64)
	}
	k := bits.TrailingZeros64(m.pending)
	m.pending &= m.pending - 1
	return m.from + k
}

// seek continues the search at offset from.
func (m *marks) seek(from int) {
	m.from, m.pending = from, 0
	text := m.text[from:]
	if len(text) < 64 {
		for k, c := range text {
			if c == m.separator || c == '\n' {
				m.pending |= 1 << k
			}
		}
		return
	}
	const ones = 0x0101010101010101
	separators := ones * uint64(m.separator)
	for k := 0; k < 64; k += 8 {
		x := binary.LittleEndian.Uint64(text[k:])
		both := zeros(x^separators) | zeros(x^ones*'\n')
		m.pending |= both * 0x0002040810204081 >> 56 << k
	}
}

// zeros returns the highest bit of each byte of x that is 0.
func zeros(x uint64) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	return ^((x&low + low) | x | low)
}
