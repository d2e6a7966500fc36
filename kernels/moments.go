package kernels

import "math"

// Moments of sparse columns: their sums and sums of squares, which a view needs, and dot products
// from the same pass.

//go:noinline
func newMoments(
	loop func(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64) (done int),
	column func(rows []int32, values, pairs []float64) (square, sum, dot float64), s *Set,
) func(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64) {
	return func(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64) {
		if len(squares) != len(sums) || len(squares) != len(dots) || len(colPtr) != len(dots)+1 {
			panic("kernels: Moments: colPtr must have one entry more than squares, sums and dots, which are of one length")
		}
		if len(values) != len(rows) {
			panic("kernels: Moments: lengths of values and rows differ")
		}
		for _, out := range [][]float64{squares, sums, dots} {
			if overlap(out, pairs) || overlap(out, values) {
				panic("kernels: Moments: an output overlaps an operand")
			}
		}
		if overlap(squares, sums) || overlap(squares, dots) || overlap(sums, dots) {
			panic("kernels: Moments: outputs overlap")
		}
		raceRead(colPtr)
		raceRead(rows)
		raceRead(values)
		raceRead(pairs)
		raceWrite(squares)
		raceWrite(sums)
		raceWrite(dots)
		for len(dots) > 0 {
			n := min(len(dots), Block)
			done := loop(colPtr[:n+1], rows, values, pairs, squares[:n], sums[:n], dots[:n])
			if i, j, long := beyond(colPtr[:n], colPtr[1:n+1], done, rows); long {
				squares[done], sums[done], dots[done] = s.longMoments(column, rows[i:j], values[i:j], pairs)
				done++
			}
			colPtr, squares, sums, dots = colPtr[done:], squares[done:], sums[done:], dots[done:]
			s.between(len(dots))
		}
	}
}

// longMoments handles a column of more than a block.
func (s *Set) longMoments(
	column func(rows []int32, values, pairs []float64) (square, sum, dot float64), rows []int32, values, pairs []float64,
) (square, sum, dot float64) {
	for len(rows) > 0 {
		n := min(len(rows), Block)
		a, b, c := column(rows[:n], values[:n], pairs)
		square, sum, dot = square+a, sum+b, dot+c
		rows, values = rows[n:], values[n:]
		s.between(len(rows))
	}
	return square, sum, dot
}

func momentsGo(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64) (done int) {
	entries := 0
	for c := range dots {
		i, j := colPtr[c], colPtr[c+1]
		if entries += span(i, j, rows); entries > Block {
			return c
		}
		squares[c], sums[c], dots[c] = columnMomentsGo(rows[i:j], values[i:j], pairs)
	}
	return len(dots)
}

// columnMomentsGo handles a column of a block at most.
func columnMomentsGo(rows []int32, values, pairs []float64) (square, sum, dot float64) {
	var q0, q1, q2, q3, s0, s1, s2, s3, d0, d1, d2, d3 float64
	at := func(row int32) *[2]float64 { return (*[2]float64)(pairs[2*int(row):]) }
	for len(values) >= 4 && len(rows) >= 4 {
		v, r := (*[4]float64)(values), (*[4]int32)(rows)
		a, b, c, d := at(r[0]), at(r[1]), at(r[2]), at(r[3])
		q0, q1, q2, q3 = math.FMA(v[0]*v[0], a[0], q0), math.FMA(v[1]*v[1], b[0], q1), math.FMA(v[2]*v[2], c[0], q2), math.FMA(v[3]*v[3], d[0], q3)
		s0, s1, s2, s3 = math.FMA(v[0], a[0], s0), math.FMA(v[1], b[0], s1), math.FMA(v[2], c[0], s2), math.FMA(v[3], d[0], s3)
		d0, d1, d2, d3 = math.FMA(v[0], a[1], d0), math.FMA(v[1], b[1], d1), math.FMA(v[2], c[1], d2), math.FMA(v[3], d[1], d3)
		values, rows = values[4:], rows[4:]
	}
	last := func(k int, q, s, d *float64) {
		x, p := values[k], at(rows[k])
		*q, *s, *d = math.FMA(x*x, p[0], *q), math.FMA(x, p[0], *s), math.FMA(x, p[1], *d)
	}
	switch len(values) {
	case 3:
		last(2, &q2, &s2, &d2)
		fallthrough
	case 2:
		last(1, &q1, &s1, &d1)
		fallthrough
	case 1:
		last(0, &q0, &s0, &d0)
	}
	return (q0 + q2) + (q1 + q3) + 0, (s0 + s2) + (s1 + s3) + 0, (d0 + d2) + (d1 + d3) + 0
}
