package kernels_test

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// oracle defines the order of operations once more, as plainly as possible: it is slow
// and shares nothing with the code under test.
type oracle struct{}

func (oracle) reduce(n, width int, term func(i int, sum float64) float64) float64 {
	total := 0.0
	for from := 0; from < n; from += 8192 {
		sums := make([]float64, width)
		for i := from; i < min(n, from+8192); i++ {
			sums[(i-from)%width] = term(i, sums[(i-from)%width])
		}
		for len(sums) > 1 {
			half := len(sums) / 2
			for k := range half {
				sums[k] += sums[half+k]
			}
			sums = sums[:half]
		}
		total += sums[0]
	}
	return total
}

func (r oracle) set() *kernels.Set {
	s := &kernels.Set{Name: "oracle"}
	s.Dot = func(x, y []float64) float64 {
		return r.reduce(len(x), 32, func(i int, sum float64) float64 { return math.FMA(x[i], y[i], sum) })
	}
	s.Asum = func(x []float64) float64 {
		return r.reduce(len(x), 32, func(i int, sum float64) float64 { return sum + math.Abs(x[i]) })
	}
	s.MaxAbs = func(x []float64) float64 {
		m := 0.0
		for _, v := range x {
			if v = math.Abs(v); v > m || v != v {
				m = v
			}
			if m != m {
				return m
			}
		}
		return m
	}
	reach := func(size func(float64) float64) func(a float64, x, y []float64, least float64, out []uint64) {
		return func(a float64, x, y []float64, least float64, out []uint64) {
			clear(out)
			for i := range x {
				if v := math.FMA(a, y[i], size(x[i])); v >= least || v != v || least != least {
					out[i/64] |= 1 << (i % 64)
				}
			}
		}
	}
	s.Reach, s.ReachAbs = reach(func(v float64) float64 { return v }), reach(math.Abs)
	s.Margin = func(dst []float64, a float64, x, y []float64, limit float64, which []uint64) {
		for i := range dst {
			v := float64(a * y[i])
			if v = math.Abs(x[i]) - v; v != v || limit != limit || v < -limit {
				v = limit
			}
			if which[i/64]>>(i%64)&1 != 0 {
				dst[i] = v
			}
		}
	}
	s.CountAnd = func(x, y []uint64) (count int) {
		for i := range 64 * len(x) {
			count += int(x[i/64] >> (i % 64) & (y[i/64] >> (i % 64)) & 1)
		}
		return count
	}
	s.Nrm2 = func(x []float64) float64 {
		if sum := s.Dot(x, x); 0x1p-900 <= sum && sum <= math.MaxFloat64 {
			return math.Sqrt(sum)
		}
		m := s.MaxAbs(x)
		if m == 0 || m != m || math.IsInf(m, 1) {
			return m
		}
		e := 0
		for math.Ldexp(m, -e) >= 1 {
			e++
		}
		for math.Ldexp(m, -e) < 0.5 {
			e--
		}
		z := make([]float64, len(x))
		for i := range x {
			z[i] = math.Ldexp(x[i], -e)
		}
		return math.Ldexp(math.Sqrt(s.Dot(z, z)), e)
	}
	s.Axpy = func(a float64, x, y []float64) {
		for i := range x {
			y[i] = math.FMA(a, x[i], y[i])
		}
	}
	s.Scal = func(a float64, x []float64) {
		for i := range x {
			x[i] *= a
		}
	}
	s.Product = func(dst, x, y []float64) {
		for i := range dst {
			dst[i] = x[i] * y[i]
		}
	}
	elementwise := func(f func(float64) float64) func(dst, x []float64) {
		return func(dst, x []float64) {
			for i := range x {
				dst[i] = f(x[i])
			}
		}
	}
	s.Exp, s.Log = elementwise(kernels.Exp), elementwise(kernels.Log)
	s.Log1pExp, s.Sigmoid, s.Bell = elementwise(kernels.Log1pExp), elementwise(kernels.Sigmoid), elementwise(kernels.Bell)
	s.Divergence = func(dst, y, m, t []float64, scale float64, rest, whole [2]float64) {
		for i := range dst {
			side := 0
			if math.Signbit(y[i]) {
				side = 1
			}
			c := math.Abs(scale * t[i])
			lacks := kernels.Log1pExp(math.FMA(-y[i], m[i], rest[side]))
			dst[i] = math.FMA(c, whole[side], float64((1-c)*lacks))
		}
	}
	s.DotIndexed = func(values []float64, rows []int32, y []float64) float64 {
		return r.reduce(len(rows), 4, func(k int, sum float64) float64 { return math.FMA(values[k], y[rows[k]], sum) })
	}
	s.ScaleIndexed = func(values []float64, rows []int32, scale, out []float64) (sum, square float64) {
		for k := range out {
			out[k] = values[k] * scale[rows[k]]
		}
		sum = r.reduce(len(rows), 4, func(k int, sum float64) float64 { return math.FMA(scale[rows[k]], out[k], sum) })
		return sum, r.reduce(len(rows), 4, func(k int, sum float64) float64 { return math.FMA(out[k], out[k], sum) })
	}
	s.Moments = func(colPtr []int64, rows []int32, values, pairs, squares, sums, dots []float64) {
		for c := range dots {
			rows, values := rows[colPtr[c]:colPtr[c+1]], values[colPtr[c]:colPtr[c+1]]
			squares[c] = r.reduce(len(rows), 4, func(k int, sum float64) float64 { return math.FMA(values[k]*values[k], pairs[2*rows[k]], sum) })
			sums[c] = r.reduce(len(rows), 4, func(k int, sum float64) float64 { return math.FMA(values[k], pairs[2*rows[k]], sum) })
			dots[c] = r.reduce(len(rows), 4, func(k int, sum float64) float64 { return math.FMA(values[k], pairs[2*rows[k]+1], sum) })
		}
	}
	lane := func(y []float64, l int) []float64 {
		v := make([]float64, 0, len(y)/kernels.Lanes+1)
		for i := l; i < len(y); i += kernels.Lanes {
			v = append(v, y[i])
		}
		return v
	}
	s.DotLanes = func(values []float64, rows []int32, y []float64, first int, out *[kernels.Lanes]float64) {
		y = append(make([]float64, kernels.Lanes*first), y...)
		for l := range out {
			out[l] = s.DotIndexed(values, rows, lane(y, l))
		}
	}
	s.AddLanes = func(from, to []int64, rows []int32, values, y []float64, first int, out []float64) {
		for c, i := range from {
			var part [kernels.Lanes]float64
			s.DotLanes(values[i:to[c]], rows[i:to[c]], y, first, &part)
			for l, v := range part {
				out[kernels.Lanes*c+l] += v
			}
		}
	}
	s.DotLanesMasked = func(values []float64, rows []int32, mask []uint8, y []float64, out *[kernels.Lanes]float64) {
		for l := range out {
			v := lane(y, l)
			out[l] = r.reduce(len(rows), 4, func(k int, sum float64) float64 {
				if mask[rows[k]]&(1<<l) == 0 {
					return sum
				}
				return math.FMA(values[k], v[rows[k]], sum)
			})
		}
	}
	s.AxpyLanes = func(a *[kernels.Lanes]float64, values []float64, rows []int32, y []float64) {
		for k, row := range rows {
			for l := range a {
				i := kernels.Lanes*int(row) + l
				y[i] = math.FMA(a[l], values[k], y[i])
			}
		}
	}
	widened := func(x []float32) []float64 {
		v := make([]float64, len(x))
		for i := range x {
			v[i] = float64(x[i])
		}
		return v
	}
	s.AxpyIndexed = func(a float64, values []float64, rows []int32, y []float64) {
		for k, row := range rows {
			y[row] = math.FMA(a, values[k], y[row])
		}
	}
	s.DotDense = func(values, y, out []float64) {
		for c := range out {
			out[c] = s.Dot(values[c*len(y):(c+1)*len(y)], y)
		}
	}
	s.DotDenseSingle = func(values []float32, y, out []float64) { s.DotDense(widened(values), y, out) }
	s.DotDenseSpans = func(from []int64, values, y, out []float64) {
		for c, at := range from {
			out[c] = s.Dot(values[at:][:len(y)], y)
		}
	}
	s.AxpyDenseSpans = func(a []float64, from []int64, values, y []float64) {
		for c, at := range from {
			s.Axpy(a[c], values[at:][:len(y)], y)
		}
	}
	s.SquaresDense = func(values, y, out []float64) {
		for c := range out {
			x := values[c*len(y):]
			out[c] = r.reduce(len(y), 32, func(i int, sum float64) float64 { return math.FMA(x[i], float64(x[i]*y[i]), sum) })
		}
	}
	s.DotSpans = func(from, to []int64, rows []int32, values, y, out []float64) {
		for c := range out {
			out[c] = s.DotIndexed(values[from[c]:to[c]], rows[from[c]:to[c]], y)
		}
	}
	s.AxpySpans = func(a []float64, from, to []int64, rows []int32, values, y []float64) {
		for c := range a {
			s.AxpyIndexed(a[c], values[from[c]:to[c]], rows[from[c]:to[c]], y)
		}
	}
	s.DotColumns = func(colPtr []int64, rows []int32, values, y, out []float64) {
		for c := range out {
			out[c] = s.DotIndexed(values[colPtr[c]:colPtr[c+1]], rows[colPtr[c]:colPtr[c+1]], y)
		}
	}
	return s
}

var reference = oracle{}.set()
