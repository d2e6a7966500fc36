package search

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TPEOptions are the options of [TPE]. The zero value is ready to use.
type TPEOptions struct {
	Options
	Seed uint64
	// Startup is the number of random points before the first estimate. 0 means 5,
	// the paper's.
	Startup int
	// Gamma is the share of points that count as good. 0 means 0.15.
	Gamma float64
	// Candidates is the number of values drawn for a coordinate, of which one is chosen. 0 means 24.
	Candidates int
}

const (
	tpeStartup    = 5
	tpeGamma      = 0.15
	tpeCandidates = 24
	tpeSharpest   = 100 // upper bound of the box's length divided by the width of a kernel
)

// TPE is a baseline: the tree-structured Parzen estimator of Bergstra, Bardenet,
// Bengio and Kégl (NIPS 2011, section 4) for coordinates that do not depend on
// each other. It splits the evaluations so far, values only, at the Gamma quantile
// of their values into good and bad ones. For each coordinate ℓ is the estimated
// density of the good points and g that of the bad. Of some candidates drawn from ℓ
// it takes the one of largest ℓ/g, and so of largest expected improvement.
//
// A density is an equal mixture of the uniform prior and of a Gaussian at each
// point, truncated to the box. Its width is the distance to the farther of the two
// neighbours, where the ends of the box count as neighbours. TPE ends, Exhausted,
// when its budget is spent.
func TPE(ctx context.Context, f Objective, box Box, options TPEOptions) (*Result, error) {
	if err := box.bounded(); err != nil {
		return nil, err
	}
	if options.Startup < 0 || options.Candidates < 0 {
		return nil, outcome.At(outcome.BadParameter, "tpe", "startup %d and candidates %d must not be negative", options.Startup, options.Candidates)
	}
	if !(options.Gamma >= 0 && options.Gamma < 1) {
		return nil, outcome.At(outcome.BadParameter, "gamma", "must be in [0, 1), got %g", options.Gamma)
	}
	if options.Startup == 0 {
		options.Startup = tpeStartup
	}
	if options.Gamma == 0 {
		options.Gamma = tpeGamma
	}
	if options.Candidates == 0 {
		options.Candidates = tpeCandidates
	}
	source := random.SplitMix64(options.Seed)
	return evaluateAll(ctx, f, options.Options, true, func(k int, before []Evaluation) []float64 {
		if k < options.Startup {
			return box.randomPoint(&source)
		}
		good, bad := splitAtQuantile(before, options.Gamma)
		x := make([]float64, len(box.Lower))
		for i := range x {
			lower, upper := box.Lower[i], box.Upper[i]
			l, g := newParzen(good, i, lower, upper), newParzen(bad, i, lower, upper)
			most := math.Inf(-1)
			for range options.Candidates {
				c := l.draw(&source)
				if ratio := l.density(c) / g.density(c); ratio > most {
					most, x[i] = ratio, c
				}
			}
		}
		return x
	})
}

// splitAtQuantile returns the ⌈γn⌉ evaluations of least value, and the rest.
// Of equal values the earlier is better; NaN is worst.
func splitAtQuantile(before []Evaluation, gamma float64) (good, bad []Evaluation) {
	sorted := slices.Clone(before)
	slices.SortStableFunc(sorted, func(a, b Evaluation) int {
		switch {
		case a.Value < b.Value || (b.Value != b.Value && a.Value == a.Value):
			return -1
		case b.Value < a.Value || (a.Value != a.Value && b.Value == b.Value):
			return 1
		}
		return 0
	})
	n := min(int(math.Ceil(gamma*float64(len(sorted)))), len(sorted))
	return sorted[:n], sorted[n:]
}

// parzen is the density of one coordinate: the uniform density on [lower, upper]
// and Gaussians truncated at its ends, all of equal weight.
type parzen struct {
	lower, upper  float64
	centre, width []float64
	mass          []float64 // the probability of each Gaussian inside the box
}

func newParzen(points []Evaluation, i int, lower, upper float64) *parzen {
	p := &parzen{lower: lower, upper: upper}
	for k := range points {
		p.centre = append(p.centre, points[k].LogLambda[i])
	}
	slices.Sort(p.centre)
	length := upper - lower
	least := length / min(tpeSharpest, float64(1+len(p.centre)))
	for k, c := range p.centre {
		left, right := lower, upper
		if k > 0 {
			left = p.centre[k-1]
		}
		if k < len(p.centre)-1 {
			right = p.centre[k+1]
		}
		width := min(max(c-left, right-c, least), length)
		p.width = append(p.width, width)
		p.mass = append(p.mass, normal((upper-c)/width)-normal((lower-c)/width))
	}
	return p
}

const invSqrt2Pi = 0.39894228040143267794

// density returns the density of the mixture at x in the box, which must not be a single point.
func (p *parzen) density(x float64) float64 {
	sum := 1 / (p.upper - p.lower)
	for k, c := range p.centre {
		z := (x - c) / p.width[k]
		sum += invSqrt2Pi * kernels.Exp(-0.5*z*z) / float64(p.width[k]*p.mass[k])
	}
	return sum / float64(1+len(p.centre))
}

// draw returns a point drawn from the mixture.
func (p *parzen) draw(r *random.SplitMix64) float64 {
	k := int(r.Uniform() * float64(1+len(p.centre)))
	if k == len(p.centre) || p.upper == p.lower {
		return Box{[]float64{p.lower}, []float64{p.upper}}.interpolate(0, r.Uniform())
	}
	for {
		if x := math.FMA(p.width[k], r.Normal(), p.centre[k]); x >= p.lower && x <= p.upper {
			return x
		}
	}
}

// normal returns the normal distribution function, by Marsaglia's series (2004).
func normal(x float64) float64 {
	if math.Abs(x) > 8 {
		return max(0, math.Copysign(1, x))
	}
	sum, term := x, x
	for k := 3.0; math.Abs(term) > 1e-17*math.Abs(sum); k += 2 {
		term = float64(term * (x * x / k))
		sum += term
	}
	return math.FMA(invSqrt2Pi*kernels.Exp(-0.5*x*x), sum, 0.5)
}
