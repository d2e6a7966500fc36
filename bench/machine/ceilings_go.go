package machine

import "math"

// kept stores results that nobody reads, so that the compiler does not remove their computation.
type kept struct{ value float64 }

//go:noinline
func (k *kept) keep(v float64) { k.value = v }

func goFMA(iterations int) {
	var s0, s1, s2, s3, s4, s5, s6, s7 float64 = 0, 1, 2, 3, 4, 5, 6, 7
	for range iterations {
		s0, s1 = math.FMA(s0, 0.5, 1), math.FMA(s1, 0.5, 1)
		s2, s3 = math.FMA(s2, 0.5, 1), math.FMA(s3, 0.5, 1)
		s4, s5 = math.FMA(s4, 0.5, 1), math.FMA(s5, 0.5, 1)
		s6, s7 = math.FMA(s6, 0.5, 1), math.FMA(s7, 0.5, 1)
	}
	new(kept).keep(s0 + s1 + s2 + s3 + s4 + s5 + s6 + s7)
}

func goRead(x []float64) {
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; x = x[4:] {
		s0, s1, s2, s3 = s0+x[0], s1+x[1], s2+x[2], s3+x[3]
	}
	new(kept).keep(s0 + s1 + s2 + s3)
}

func goTriad(a, b, c []float64) {
	b, c = b[:len(a)], c[:len(a)]
	for i := range a {
		a[i] = b[i] + float64(0.5*c[i])
	}
}
