package kernels

import (
	"context"
	"iter"
)

// Until returns the set for a call that ends with ctx: its operations look at ctx between the
// blocks of operands that are longer than one, as do loops over [Set.Pieces]. Once ctx has ended,
// they panic instead of going on, wherever in a call they are, and [Caught] makes that panic the
// error of ctx. So whoever starts a goroutine for such a call has it recover by Caught as well.
// Results have the same bits.
//
// Looks, pieces and paces are for nil as well, a set without operations. It never ends.
func (s *Set) Until(ctx context.Context) *Set {
	if ctx.Done() == nil { // it never ends
		return s
	}
	if s == nil {
		return &Set{ctx: ctx}
	}
	until := newSet(s.Name, s.loops)
	until.ctx = ctx
	return until
}

// Context returns the context that the set's operations end with: that which Until was given, or one that never ends.
func (s *Set) Context() context.Context {
	if s == nil || s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// Look panics as [Set.Until] says once the set's context has ended.
func (s *Set) Look() {
	if s != nil && s.ctx != nil {
		s.look()
	}
}

// between is [Set.Look] where something is left to do.
func (s *Set) between(left int) {
	if left > 0 && s != nil && s.ctx != nil {
		s.look()
	}
}

func (s *Set) look() {
	if err := s.ctx.Err(); err != nil {
		panic(ended{err})
	}
}

// pieceRows is how many elements of a loop in plain Go there are to a look: some microseconds, and a
// fraction of a millisecond where memory is fresh and every page is a fault.
const pieceRows = Block

// Pieces cuts the n elements of a loop into pieces, which begin at from and end before to, with a
// look between them.
func (s *Set) Pieces(n int) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from := 0; from < n; from += pieceRows {
			if !yield(from, min(n, from+pieceRows)) {
				return
			}
			s.between(n - from - pieceRows)
		}
	}
}

// Range is range over n, in pieces.
func (s *Set) Range(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; from < n; from += pieceRows {
			for i := from; i < min(n, from+pieceRows); i++ {
				if !yield(i) {
					return
				}
			}
			s.between(n - from - pieceRows)
		}
	}
}

// Each is range over x, in pieces.
func Each[T any](s *Set, x []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for from := 0; from < len(x); from += pieceRows {
			for i, v := range x[from:min(len(x), from+pieceRows)] {
				if !yield(from+i, v) {
					return
				}
			}
			s.between(len(x) - from - pieceRows)
		}
	}
}

// ended is what an operation panics with.
type ended struct{ err error }

// Ended is the error of the context. It tells [outcome.Caught].
//
// [outcome.Caught]: https://pkg.go.dev/github.com/seed-45b9a24c/pare/outcome#Caught
func (e ended) Ended() error { return e.err }

// Caught is to be deferred. It sets err where an operation ended with its context, see [Set.Until],
// and lets any other panic go on.
func Caught(err *error) {
	switch cause := recover().(type) {
	case nil:
	case ended:
		*err = cause.err
	default:
		panic(cause)
	}
}

// Pace looks once in so many elements, for loops whose steps are of different sizes.
type Pace struct {
	set  *Set
	left int // until the next look
}

// Pace returns the pace of a loop that begins.
func (s *Set) Pace() Pace { return Pace{s, pieceRows} }

// Did counts the elements of a step.
func (p *Pace) Did(elements int) {
	if p.left -= elements; p.left < 0 {
		p.left = pieceRows
		p.set.Look()
	}
}

// Copy copies as many elements of x to dst as both have, in pieces.
func (s *Set) Copy(dst, x []float64) {
	if min(len(dst), len(x)) <= pieceRows { // one piece is the rule
		copy(dst, x)
		return
	}
	for from, to := range s.Pieces(min(len(dst), len(x))) {
		copy(dst[from:to], x[from:to])
	}
}

// Clone returns a copy of x, made in pieces: nil of nil.
func (s *Set) Clone(x []float64) []float64 {
	if x == nil {
		return nil
	}
	own := Undefined[float64](len(x))
	s.Copy(own, x)
	return own
}

// Fill sets the elements of x to v, in pieces.
func (s *Set) Fill(x []float64, v float64) {
	for from, to := range s.Pieces(len(x)) {
		piece := x[from:to]
		for i := range piece {
			piece[i] = v
		}
	}
}

// Clear sets x to 0, in pieces.
func (s *Set) Clear(x []float64) { Clear(s, x) }

// Clear is [Set.Clear] for elements of any type.
func Clear[T any](s *Set, x []T) {
	for from, to := range s.Pieces(len(x)) {
		clear(x[from:to])
	}
}

// Subtract takes a number from every element of x.
func (s *Set) Subtract(by float64, x []float64) {
	if n := len(x); n <= len(ones) { // as Copy
		s.Axpy(-by, ones[:n], x)
		return
	}
	for from, to := range s.Pieces(len(x)) {
		for piece := x[from:to]; len(piece) > 0; {
			n := min(len(piece), len(ones))
			s.Axpy(-by, ones[:n], piece[:n]) // x − by·1 is rounded once
			piece = piece[n:]
		}
	}
}

// ones is never written to.
var ones = func() (x [512]float64) {
	for i := range x {
		x[i] = 1
	}
	return x
}()

// Sum returns Σ x_i, as four sums that do not wait for one another.
func (s *Set) Sum(x []float64) float64 {
	var a, b, c, d float64
	for from, to := range s.Pieces(len(x)) { // all but the last of a multiple of four
		x := x[from:to]
		for len(x) >= 4 {
			a, b, c, d = a+x[0], b+x[1], c+x[2], d+x[3]
			x = x[4:]
		}
		for _, v := range x {
			a += v
		}
	}
	return (a + b) + (c + d)
}

// Difference sets dst to x − y.
func (s *Set) Difference(dst, x, y []float64) {
	for from, to := range s.Pieces(len(dst)) {
		dst, y := dst[from:to], y[from:to]
		for i, v := range x[from:to] {
			dst[i] = v - y[i]
		}
	}
}
