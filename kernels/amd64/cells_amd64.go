//go:build !purego

package amd64

// MarksAVX2 writes base + i to at for each i where the text, a multiple of 64 bytes, has a, b or c, and
// returns their number n. It may overwrite the first len(text) elements of at.
//
//go:noescape
func MarksAVX2(text []byte, a, b, c byte, base int, at []int32) (n int)

// NumbersAVX2 sets out to the numbers that an even number of cells spell, NaN for a cell that it cannot
// read. It stops before a pair of cells of which one ends outside the text or before byte 16. It returns the
// number of cells done, and of those that it could not read.
//
//go:noescape
func NumbersAVX2(text []byte, ends []int32, out []float64) (done, unread int)
