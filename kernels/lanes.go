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
