//go:build !purego

package amd64

// MarksAVX2 writes base + i for each i at which the text, a multiple of 64 bytes, has a, b or c, and
// returns how many there are. It may write anything behind them, up to as many as the text has bytes.
//
//go:noescape
func MarksAVX2(text []byte, a, b, c byte, base int, at []int32) (n int)

// NumbersAVX2 writes the numbers that an even number of cells spell, NaN for what it does not
// read, and returns how many these are. It stops before a pair of which one ends outside the text, or before its byte 16.
//
//go:noescape
func NumbersAVX2(text []byte, ends []int32, out []float64) (done, unread int)
