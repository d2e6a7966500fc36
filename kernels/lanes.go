package kernels

import "math"

// Lanes is the number of vectors that share a pass: 8 float64 fill a cache
// line.
const Lanes = 8

//go:noinline
func newDotLanes(
	loop func(values []float64, rows []int32, y []float64, first int, out *[Lanes]float64), s *Set,
) func(values []float64, rows []int32, y []float64, first int, out *[Lanes]float64) {
	return func(values []float64, rows []int32, y []float64, first int, out *[Lanes]float64) {
		if len(values) != len(rows) {
			panic("kernels: DotLanes: lengths of values and rows differ")
		}
		raceRead(values)
		raceRead(rows)
		raceLanes(rows, y, first)
		if 0 < len(rows) && len(rows) <= Block {
			loop(values, rows, y, first, out)
			return
		}
		var sum [Lanes]float64
		for len(rows) > 0 {
			n := min(len(rows), Block)
			loop(values[:n], rows[:n], y, first, out)
			for l := range sum {
				sum[l] += out[l]
			}
			values, rows = values[n:], rows[n:]
			s.between(len(rows))
		}
		*out = sum
	}
}

//go:noinline
func newAddLanes(
	loop func(from, to []int64, rows []int32, values, y []float64, first int, out []float64) (done int), s *Set,
) func(from, to []int64, rows []int32, values, y []float64, first int, out []float64) {
	return func(from, to []int64, rows []int32, values, y []float64, first int, out []float64) {
		if len(from) != len(to) || len(out) != Lanes*len(from) {
			panic("kernels: AddLanes: lengths of from, to and out differ")
		}
		if len(values) != len(rows) {
			panic("kernels: AddLanes: lengths of values and rows differ")
		}
		if overlap(out, y) || overlap(out, values) {
			panic("kernels: AddLanes: out overlaps an operand")
		}
		raceAddLanes(from, to, rows, values, y, first, out)
		for len(from) > 0 {
			n := min(len(from), Block)
			done := loop(from[:n], to[:n], rows, values, y, first, out[:Lanes*n])
			if i, j, long := beyond(from[:n], to[:n], done, rows); long {
				var part [Lanes]float64
				s.DotLanes(values[i:j], rows[i:j], y, first, &part)
				for l, v := range part {
					out[Lanes*done+l] += v
				}
				done++
			}
			from, to, out = from[done:], to[done:], out[Lanes*done:]
			s.between(len(from))
		}
	}
}

// addLanesBy makes a loop over columns from a loop over the entries of a column.
func addLanesBy(
	loop func(values []float64, rows []int32, y []float64, first int, out *[Lanes]float64),
) func(from, to []int64, rows []int32, values, y []float64, first int, out []float64) (done int) {
	return func(from, to []int64, rows []int32, values, y []float64, first int, out []float64) (done int) {
		var part [Lanes]float64
		entries := int64(0)
		for c, i := range from {
			j := to[c]
			if i < 0 || j < i || j > int64(len(rows)) {
				return c
			}
			if entries += j - i; entries > Block {
				return c
			}
			loop(values[i:j], rows[i:j], y, first, &part)
			sum := out[Lanes*c:][:Lanes]
			for l, v := range part {
				sum[l] += v
			}
		}
		return len(from)
	}
}

//go:noinline
func newDotLanesMasked(
	loop func(values []float64, rows []int32, mask []uint8, y []float64, out *[Lanes]float64), s *Set,
) func(values []float64, rows []int32, mask []uint8, y []float64, out *[Lanes]float64) {
	return func(values []float64, rows []int32, mask []uint8, y []float64, out *[Lanes]float64) {
		if len(values) != len(rows) {
			panic("kernels: DotLanesMasked: lengths of values and rows differ")
		}
		if len(y) != Lanes*len(mask) {
			panic("kernels: DotLanesMasked: y must have 8 elements for each of mask")
		}
		raceRead(values)
		raceRead(rows)
		raceLanes(rows, y, 0)
		var sum [Lanes]float64
		for len(rows) > 0 {
			n := min(len(rows), Block)
			loop(values[:n], rows[:n], mask, y, out)
			for l := range sum {
				sum[l] += out[l]
			}
			values, rows = values[n:], rows[n:]
			s.between(len(rows))
		}
		*out = sum
	}
}

//go:noinline
func newAxpyLanes(
	loop func(a *[Lanes]float64, values []float64, rows []int32, y []float64), s *Set,
) func(a *[Lanes]float64, values []float64, rows []int32, y []float64) {
	return func(a *[Lanes]float64, values []float64, rows []int32, y []float64) {
		if len(values) != len(rows) {
			panic("kernels: AxpyLanes: lengths of values and rows differ")
		}
		if overlap(values, y) || overlap(a[:], y) {
			panic("kernels: AxpyLanes: y overlaps an operand")
		}
		raceRead(values)
		raceRead(rows)
		raceScatterLanes(rows, y)
		for len(rows) > 0 {
			n := min(len(rows), Block)
			loop(a, values[:n], rows[:n], y)
			values, rows = values[n:], rows[n:]
			s.between(len(rows))
		}
	}
}

func dotLanesGo(values []float64, rows []int32, y []float64, first int, out *[Lanes]float64) {
	var s [4][Lanes]float64
	for k, r := range rows {
		row, sum, v := (*[Lanes]float64)(y[Lanes*(int(r)-first):]), &s[k%4], values[k]
		for l := range sum {
			sum[l] = math.FMA(v, row[l], sum[l])
		}
	}
	for l := range out {
		out[l] = (s[0][l] + s[2][l]) + (s[1][l] + s[3][l]) + 0
	}
}

func dotLanesMaskedGo(values []float64, rows []int32, mask []uint8, y []float64, out *[Lanes]float64) {
	var s [4][Lanes]float64
	for k, r := range rows {
		row, sum, v, m := (*[Lanes]float64)(y[Lanes*int(r):]), &s[k%4], values[k], mask[r]
		for l := range sum {
			if m>>l&1 != 0 {
				sum[l] = math.FMA(v, row[l], sum[l])
			}
		}
	}
	for l := range out {
		out[l] = (s[0][l] + s[2][l]) + (s[1][l] + s[3][l]) + 0
	}
}

func axpyLanesGo(a *[Lanes]float64, values []float64, rows []int32, y []float64) {
	for k, r := range rows {
		row, v := (*[Lanes]float64)(y[Lanes*int(r):]), values[k]
		for l := range row {
			row[l] = math.FMA(a[l], v, row[l])
		}
	}
}
