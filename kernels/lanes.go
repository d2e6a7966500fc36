package kernels

import "math"

// Lanes is the number of problems that share a pass: 8 float64 fill a cache
// line.
const Lanes = 8

// DotLanes is DotIndexed for 8 vectors at once: out[l] = Σ values[k]·y[8·rows[k]+l],
// each lane with the bits that DotIndexed gives for it.
func (p *primitives) DotLanes(values []float64, rows []int32, y []float64, out *[Lanes]float64) {
	if len(values) != len(rows) {
		panic("kernels: DotLanes: lengths of values and rows differ")
	}
	raceRead(values)
	raceRead(rows)
	raceLanes(rows, y)
	first := min(len(rows), Block)
	p.dotLanes(values[:first], rows[:first], y, out)
	for values, rows = values[first:], rows[first:]; len(rows) > 0; values, rows = values[first:], rows[first:] {
		first = min(len(rows), Block)
		sum := *out
		p.dotLanes(values[:first], rows[:first], y, out)
		for l := range out {
			out[l] = sum[l] + out[l]
		}
	}
}

// DotLanesMasked is DotLanes over the entries whose row has bit l set in its mask.
func (p *primitives) DotLanesMasked(values []float64, rows []int32, mask []uint8, y []float64, out *[Lanes]float64) {
	if len(values) != len(rows) {
		panic("kernels: DotLanesMasked: lengths of values and rows differ")
	}
	raceRead(values)
	raceRead(rows)
	raceLanes(rows, y)
	var sum [Lanes]float64
	for len(rows) > 0 {
		n := min(len(rows), Block)
		p.dotLanesMasked(values[:n], rows[:n], mask, y, out)
		for l := range sum {
			sum[l] += out[l]
		}
		values, rows = values[n:], rows[n:]
	}
	*out = sum
}

// AxpyLanes is AxpyIndexed for 8 vectors at once.
func (p *primitives) AxpyLanes(a *[Lanes]float64, values []float64, rows []int32, y []float64) {
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
		p.axpyLanes(a, values[:n], rows[:n], y)
		values, rows = values[n:], rows[n:]
	}
}

func dotLanesGo(values []float64, rows []int32, y []float64, out *[Lanes]float64) {
	var s [4][Lanes]float64
	for k, r := range rows {
		row, sum, v := (*[Lanes]float64)(y[Lanes*int(r):]), &s[k%4], values[k]
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
