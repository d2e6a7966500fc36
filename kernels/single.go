package kernels

import "math"

// Kernels whose first operand, or whose lanes, are stored in 32 bits: half the
// memory to move. Numbers are widened, which is exact, and all arithmetic is in
// 64 bits: the bits are those of the 64-bit kernel on the widened numbers.

// SingleLanes is the number of 32-bit numbers in a cache line.
const SingleLanes = 16

func (p *primitives) DotSingle(x []float32, y []float64) float64 {
	if len(x) != len(y) {
		panic("kernels: DotSingle: lengths of x and y differ")
	}
	raceRead(x)
	raceRead(y)
	var sum float64
	for len(x) > 0 {
		n := min(len(x), Block)
		sum += p.dotSingle(x[:n], y[:n])
		x, y = x[n:], y[n:]
	}
	return sum
}

func (p *primitives) AxpySingle(a float64, x []float32, y []float64) {
	if len(x) != len(y) {
		panic("kernels: AxpySingle: lengths of x and y differ")
	}
	raceRead(x)
	raceWrite(y)
	for len(x) > 0 {
		n := min(len(x), Block)
		p.axpySingle(a, x[:n], y[:n])
		x, y = x[n:], y[n:]
	}
}

func (p *primitives) DotSingleLanes(values []float64, rows []int32, y []float32, out *[SingleLanes]float64) {
	if len(values) != len(rows) {
		panic("kernels: DotSingleLanes: lengths of values and rows differ")
	}
	raceRead(values)
	raceRead(rows)
	raceSingleLanes(rows, y)
	var sum [SingleLanes]float64
	for len(rows) > 0 {
		n := min(len(rows), Block)
		p.dotSingleLanes(values[:n], rows[:n], y, out)
		for l := range sum {
			sum[l] += out[l]
		}
		values, rows = values[n:], rows[n:]
	}
	*out = sum
}

func dotSingleGo(x []float32, y []float64) float64 {
	var s [lanes]float64
	for len(x) >= lanes && len(y) >= lanes {
		u, v := (*[lanes]float32)(x), (*[lanes]float64)(y)
		for k := 0; k < lanes; k += 4 {
			s[k] = math.FMA(float64(u[k]), v[k], s[k])
			s[k+1] = math.FMA(float64(u[k+1]), v[k+1], s[k+1])
			s[k+2] = math.FMA(float64(u[k+2]), v[k+2], s[k+2])
			s[k+3] = math.FMA(float64(u[k+3]), v[k+3], s[k+3])
		}
		x, y = x[lanes:], y[lanes:]
	}
	for k, v := range x {
		s[k] = math.FMA(float64(v), y[k], s[k])
	}
	return fold(&s)
}

func axpySingleGo(a float64, x []float32, y []float64) {
	for i, v := range x {
		y[i] = math.FMA(a, float64(v), y[i])
	}
}

func dotSingleLanesGo(values []float64, rows []int32, y []float32, out *[SingleLanes]float64) {
	var s [2][SingleLanes]float64
	for k, r := range rows {
		row, sum, v := (*[SingleLanes]float32)(y[SingleLanes*int(r):]), &s[k%2], values[k]
		for l := range sum {
			sum[l] = math.FMA(v, float64(row[l]), sum[l])
		}
	}
	for l := range out {
		out[l] = s[0][l] + s[1][l]
	}
}
