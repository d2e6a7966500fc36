package kernels

// Exp, Log1pExp and Sigmoid apply the functions of the same name to every
// element, with the same bits.

func (p *primitives) Exp(dst, x []float64)      { elementwise(p.exp, dst, x) }
func (p *primitives) Log1pExp(dst, x []float64) { elementwise(p.log1pExp, dst, x) }
func (p *primitives) Sigmoid(dst, x []float64)  { elementwise(p.sigmoid, dst, x) }

func elementwise(f func(dst, x []float64), dst, x []float64) {
	if len(dst) != len(x) {
		panic("kernels: lengths of dst and x differ")
	}
	if overlap(dst, x) && &dst[0] != &x[0] {
		panic("kernels: dst and x overlap")
	}
	raceRead(x)
	raceWrite(dst)
	for len(x) > 0 {
		n := min(len(x), Block)
		f(dst[:n], x[:n])
		dst, x = dst[n:], x[n:]
	}
}

func expGo(dst, x []float64) {
	for i, v := range x {
		dst[i] = Exp(v)
	}
}

func log1pExpGo(dst, x []float64) {
	for i, v := range x {
		dst[i] = Log1pExp(v)
	}
}

func sigmoidGo(dst, x []float64) {
	for i, v := range x {
		dst[i] = Sigmoid(v)
	}
}
