package kernels

import (
	"context"
	"iter"
)

// Until returns the set for a call that ends with ctx. Its operations check ctx between the
// blocks of operands that have more than one, as do loops over [Set.Pieces]. Once ctx has ended,
// they panic, wherever in a call they are, and a deferred [Caught] turns that panic into the error
// of ctx. So every goroutine that is started for such a call has to defer Caught as well. Results
// have the same bits.
//
// Look, Pieces, Pace and what is built on them work on nil too, a set without operations that
// never ends.
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

// Context returns the context with which the set's operations end: the one that Until was given, or one that never ends.
func (s *Set) Context() context.Context {
	if s == nil || s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// Look panics, as [Set.Until] says, if the set's context has ended.
func (s *Set) Look() {
	if s != nil && s.ctx != nil {
		s.look()
	}
}

// between is [Set.Look] if there are elements left.
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

// pieceRows is the number of elements between two looks in a loop in plain Go. They take some microseconds,
// or a fraction of a millisecond in new memory, where every page causes a fault.
const pieceRows = Block

// Pieces cuts the n elements of a loop into pieces from ≤ i < to, with a [Set.Look] between them.
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

// Range iterates over 0 ≤ i < n, with looks as in [Set.Pieces].
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

// Each iterates over the elements of x, with looks as in [Set.Pieces].
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

// ended is the value that an operation panics with.
type ended struct{ err error }

// Ended returns the error of the context. [outcome.Caught] recognises the value by this method.
//
// [outcome.Caught]: https://pkg.go.dev/github.com/seed-45b9a24c/pare/outcome#Caught
func (e ended) Ended() error { return e.err }

// Caught is to be deferred. It recovers from the panic of an operation that ended with its context,
// see [Set.Until], and sets err to the context's error. Any other panic goes on.
func Caught(err *error) {
	switch cause := recover().(type) {
	case nil:
	case ended:
		*err = cause.err
	default:
		panic(cause)
	}
}

// Pace calls [Set.Look] as often as [Set.Pieces] does, in loops whose steps differ in size.
type Pace struct {
	set  *Set
	left int // until the next look
}

// Pace returns a [Pace] for a loop that is about to begin.
func (s *Set) Pace() Pace { return Pace{s, pieceRows} }

// Did counts the elements of a step, and looks if there have been enough since the last look.
func (p *Pace) Did(elements int) {
	if p.left -= elements; p.left < 0 {
		p.left = pieceRows
		p.set.Look()
	}
}

// Copy copies as many elements of x to dst as both have, in pieces.
func (s *Set) Copy(dst, x []float64) {
	if min(len(dst), len(x)) <= pieceRows { // the usual case
		copy(dst, x)
		return
	}
	for from, to := range s.Pieces(min(len(dst), len(x))) {
		copy(dst[from:to], x[from:to])
	}
}

// Clone returns a copy of x, made in pieces; nil for nil.
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

// Subtract subtracts a number from every element of x.
func (s *Set) Subtract(by float64, x []float64) {
	if n := len(x); n <= len(ones) { // the usual case
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

// ones has elements of 1. It is never written to.
var ones = func() (x [512]float64) {
	for i := range x {
		x[i] = 1
	}
	return x
}()

// Sum returns Σ x_i, in four partial sums that do not wait for one another.
func (s *Set) Sum(x []float64) float64 {
	var a, b, c, d float64
	for from, to := range s.Pieces(len(x)) { // the length of all but the last is a multiple of four
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
