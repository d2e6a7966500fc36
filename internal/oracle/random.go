package oracle

// Random is SplitMix64 (Steele, Lea and Flood, 2014): the same stream on every machine, so that a seed
// identifies a failing case.
type Random struct{ state uint64 }

// NewRandom returns the stream of a seed.
func NewRandom(seed uint64) *Random { return &Random{seed} }

// Uint64 returns the next 64 bits.
func (r *Random) Uint64() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Float64 returns a number in [0, 1).
func (r *Random) Float64() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// Normal returns an approximately normal number of mean 0 and variance 1: the sum of twelve uniform numbers,
// which needs no function of package math.
func (r *Random) Normal() float64 {
	sum := -6.0
	for range 12 {
		sum += r.Float64()
	}
	return sum
}

// Intn returns an integer in [0, n). The bias of the modulus does not matter here.
func (r *Random) Intn(n int) int { return int(r.Uint64() % uint64(n)) }

// Pick returns one of the values.
func (r *Random) Pick(values ...float64) float64 { return values[r.Intn(len(values))] }

// Shape describes a random problem. The zero value of every field except N and P means the plainest case.
type Shape struct {
	N, P        int
	Density     float64 // fraction of nonzero entries; 0 means 1
	Correlation float64 // correlation of neighbouring columns, in [0, 1)
	Mean        float64 // added to every stored entry, and to y
	Active      int     // number of columns on which y depends; 0 means P/5 + 1
	Noise       float64 // standard deviation of the noise in y; 0 means 0.5
	Weights     bool    // random row weights, some of them 0
}

// Problem draws a problem of a shape: X and y, no penalty yet.
func (r *Random) Problem(shape Shape) *Problem {
	if shape.Density == 0 {
		shape.Density = 1
	}
	if shape.Active == 0 {
		shape.Active = shape.P/5 + 1
	}
	if shape.Noise == 0 {
		shape.Noise = 0.5
	}
	rest := sqrt1m2(shape.Correlation)
	p := &Problem{X: make([][]float64, shape.N), Y: make([]float64, shape.N), Alpha: make([]float64, shape.P)}
	for i := range p.X {
		p.X[i] = make([]float64, shape.P)
		last := r.Normal()
		for j := range p.X[i] {
			last = shape.Correlation*last + rest*r.Normal()
			if r.Float64() < shape.Density {
				p.X[i][j] = last + shape.Mean
			}
		}
		p.Y[i] = shape.Noise*r.Normal() + shape.Mean
	}
	for range min(shape.Active, shape.P) {
		j, w := r.Intn(shape.P), r.Normal()
		for i, row := range p.X {
			p.Y[i] += w * row[j]
		}
	}
	if shape.Weights {
		p.Weights = make([]float64, shape.N)
		for i := range p.Weights {
			p.Weights[i] = r.Pick(0, 0.5, 1, 1, 2, 0.1+3*r.Float64())
		}
		p.Weights[r.Intn(shape.N)] = 1 // so that not all weights are 0
	}
	return p
}
