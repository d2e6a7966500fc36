package kernels

import "math"

// pureGo is the reference: the shortest loops that state the order of
// operations. It is the only set on CPUs without a set of their own, and the one
// that tests compare all others with.
var pureGo = primitives{
	dot:            dotGo[float64],
	dotDense:       dotDenseBy(dotGo[float64]),
	squaresDense:   squaresDenseGo,
	axpy:           axpyGo,
	scal:           scalGo,
	product:        productGo,
	divergence:     divergenceGo,
	asum:           asumGo,
	maxAbs:         maxAbsGo,
	reach:          reachGo,
	margin:         marginGo,
	countAnd:       countAndGo,
	pick:           pickGo,
	dotIndexed:     dotIndexedGo,
	axpyIndexed:    axpyIndexedGo,
	scaleIndexed:   scaleIndexedGo,
	dotSpans:       dotSpansGo,
	axpySpans:      axpySpansGo,
	moments:        momentsGo,
	columnMoments:  columnMomentsGo,
	dotLanes:       dotLanesGo,
	addLanes:       addLanesBy(dotLanesGo),
	dotLanesMasked: dotLanesMaskedGo,
	axpyLanes:      axpyLanesGo,
	dotDenseSingle: dotDenseBy(dotGo[float32]),
	subPanel:       subPanelGo,
	subTile:        subTileGo,
	solveTile:      solveTileGo,
	addTile:        addTileGo,
	marks:          marksGo,
	numbers:        numbersGo,
	exp:            expGo,
	log:            logGo,
	log1pExp:       log1pExpGo,
	sigmoid:        sigmoidGo,
	bell:           bellGo,
}

const width = 32 // w, the number of partial sums of a dense reduction

// fold adds the partial sums, the upper half onto the lower half until one is left.
func fold(s *[width]float64) float64 {
	for k := range 16 {
		s[k] += s[k+16]
	}
	for k := range 8 {
		s[k] += s[k+8]
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func dotGo[T stored](x []T, y []float64) float64 {
	var s [width]float64
	for len(x) >= width && len(y) >= width {
		u, v := (*[width]T)(x), (*[width]float64)(y)
		for k := 0; k < width; k += 4 { // unrolled, since the loop's own cost would show
			s[k] = math.FMA(float64(u[k]), v[k], s[k])
			s[k+1] = math.FMA(float64(u[k+1]), v[k+1], s[k+1])
			s[k+2] = math.FMA(float64(u[k+2]), v[k+2], s[k+2])
			s[k+3] = math.FMA(float64(u[k+3]), v[k+3], s[k+3])
		}
		x, y = x[width:], y[width:]
	}
	for k, v := range x {
		s[k] = math.FMA(float64(v), y[k], s[k])
	}
	return fold(&s)
}

func asumGo(x []float64) float64 {
	var s [width]float64
	for len(x) >= width {
		u := (*[width]float64)(x)
		for k := range s {
			s[k] += math.Abs(u[k])
		}
		x = x[width:]
	}
	for k, v := range x {
		s[k] += math.Abs(v)
	}
	return fold(&s)
}

func maxAbsGo(x []float64) float64 {
	var m float64
	for _, v := range x {
		m = max(m, math.Abs(v))
	}
	return m
}

func axpyGo(a float64, x, y []float64) {
	i := 0
	for ; i <= len(x)-4 && i <= len(y)-4; i += 4 { // by an index, since cutting slices would cost as much again
		u, v := (*[4]float64)(x[i:]), (*[4]float64)(y[i:])
		v[0] = math.FMA(a, u[0], v[0])
		v[1] = math.FMA(a, u[1], v[1])
		v[2] = math.FMA(a, u[2], v[2])
		v[3] = math.FMA(a, u[3], v[3])
	}
	for ; i < len(x); i++ {
		y[i] = math.FMA(a, x[i], y[i])
	}
}

func scalGo(a float64, x []float64) {
	for i := range x {
		x[i] *= a
	}
}

func dotIndexedGo(values []float64, rows []int32, y []float64) float64 {
	var s0, s1, s2, s3 float64
	for len(values) >= 4 && len(rows) >= 4 {
		v, r := (*[4]float64)(values), (*[4]int32)(rows)
		s0 = math.FMA(v[0], y[r[0]], s0)
		s1 = math.FMA(v[1], y[r[1]], s1)
		s2 = math.FMA(v[2], y[r[2]], s2)
		s3 = math.FMA(v[3], y[r[3]], s3)
		values, rows = values[4:], rows[4:]
	}
	switch len(values) {
	case 3:
		s2 = math.FMA(values[2], y[rows[2]], s2)
		fallthrough
	case 2:
		s1 = math.FMA(values[1], y[rows[1]], s1)
		fallthrough
	case 1:
		s0 = math.FMA(values[0], y[rows[0]], s0)
	}
	return (s0 + s2) + (s1 + s3) + 0
}

func scaleIndexedGo(values []float64, rows []int32, scale, out []float64) (sum, square float64) {
	var s, q [4]float64
	rows, out = rows[:len(values)], out[:len(values)]
	for k, v := range values {
		r := scale[rows[k]]
		u := v * r
		out[k] = u
		s[k%4], q[k%4] = math.FMA(r, u, s[k%4]), math.FMA(u, u, q[k%4])
	}
	return (s[0] + s[2]) + (s[1] + s[3]) + 0, (q[0] + q[2]) + (q[1] + q[3]) + 0
}

func axpyIndexedGo(a float64, values []float64, rows []int32, y []float64) {
	for k, v := range values {
		p := &y[rows[k]]
		*p = math.FMA(a, v, *p)
	}
}

func dotSpansGo(from, to []int64, rows []int32, values, y, out []float64) (done int) {
	entries := 0
	for c := range out {
		i, j := from[c], to[c]
		if entries += span(i, j, rows); entries > Block {
			return c
		}
		out[c] = dotIndexedGo(values[i:j], rows[i:j], y)
	}
	return len(out)
}

func axpySpansGo(a []float64, from, to []int64, rows []int32, values, y []float64) (done int) {
	entries := 0
	for c, v := range a {
		i, j := from[c], to[c]
		if entries += span(i, j, rows); entries > Block {
			return c
		}
		axpyIndexedGo(v, values[i:j], rows[i:j], y)
	}
	return len(a)
}

// span returns the number of entries i ≤ k < j, or more than a block if they are not
// within rows.
func span(i, j int64, rows []int32) int {
	if i < 0 || j < i || j > int64(len(rows)) {
		return Block + 1
	}
	return int(j - i)
}
