package search

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestHaltonPoints checks Halton's sequence in bases 2 and 3 against its definition.
func TestHaltonPoints(t *testing.T) {
	f := &analytic{f: bowl([]float64{0, 0}, []float64{1, 1})}
	r, err := Halton(context.Background(), f, Box{[]float64{0, -1}, []float64{1, 1}}, Options{Evaluations: 6})
	if err != nil || r.Status != outcome.Exhausted {
		t.Fatal(r.Status, err)
	}
	for k, want := range [][2]float64{{1. / 2, 1. / 3}, {1. / 4, 2. / 3}, {3. / 4, 1. / 9}, {1. / 8, 4. / 9}, {5. / 8, 7. / 9}, {3. / 8, 2. / 9}} {
		x := f.seen[k].LogLambda
		if x[0] != want[0] || math.Abs(x[1]-(2*want[1]-1)) > 1e-15 {
			t.Errorf("point %d is %v, want %v", k, x, want)
		}
	}
	if got := primes(8); !slices.Equal(got, []int{2, 3, 5, 7, 11, 13, 17, 19}) {
		t.Errorf("the first primes: %v", got)
	}
}

func TestNormal(t *testing.T) {
	for x := -10.0; x <= 10; x += 0.01 {
		if got, want := normal(x), 0.5*math.Erfc(-x/math.Sqrt2); math.Abs(got-want) > 1e-15 {
			t.Fatalf("normal(%g) is %g, want %g", x, got, want)
		}
	}
}

// TestParzenByHand checks section 4 of Bergstra et al. by hand for the points 1, 2 and 6 in [0, 10]. The
// neighbours of 1 are the end 0 and 2, so its width is 1, raised to the minimum 10/4. Those of 2 are 1 and 6:
// width 4. Those of 6 are 2 and the end 10: width 4.
func TestParzenByHand(t *testing.T) {
	p := newParzen([]Evaluation{{LogLambda: []float64{6}}, {LogLambda: []float64{1}}, {LogLambda: []float64{2}}}, 0, 0, 10)
	if !slices.Equal(p.centre, []float64{1, 2, 6}) || !slices.Equal(p.width, []float64{2.5, 4, 4}) {
		t.Fatalf("centres %v, widths %v", p.centre, p.width)
	}
	// A single point has the ends of the box as neighbours.
	if one := newParzen([]Evaluation{{LogLambda: []float64{3}}}, 0, 0, 10); one.width[0] != 7 {
		t.Errorf("a single point has width %g", one.width[0])
	}
	if none := newParzen(nil, 0, 0, 10); none.density(4) != 0.1 {
		t.Errorf("without points the density is %g", none.density(4))
	}
	// Each Gaussian is truncated to [0, 10] and has mass 1 inside.
	phi := func(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }
	for x := 0.0; x <= 10; x += 0.5 {
		want := 0.1
		for k, c := range []float64{1, 2, 6} {
			w := []float64{2.5, 4, 4}[k]
			want += math.Exp(-(x-c)*(x-c)/(2*w*w)) / (w * math.Sqrt(2*math.Pi)) / (phi((10-c)/w) - phi(-c/w))
		}
		if got := p.density(x); math.Abs(got-want/4) > 1e-14 {
			t.Errorf("density at %g is %g, want %g", x, got, want/4)
		}
	}
	// Draws follow the density.
	s, n, below := random.SplitMix64(3), 50000, 0.0
	for range n {
		x := p.draw(&s)
		if x < 0 || x > 10 {
			t.Fatalf("drew %g", x)
		}
		if x < 4 {
			below++
		}
	}
	want := 0.0
	for x := 0.0005; x < 4; x += 0.001 {
		want += 0.001 * p.density(x)
	}
	if math.Abs(below/float64(n)-want) > 0.01 {
		t.Errorf("a share of %g below 4, want %g", below/float64(n), want)
	}
}

// TestQuantileByHand checks that the ⌈0.25·5⌉ = 2 smallest of five values count as good, and NaN does not.
func TestQuantileByHand(t *testing.T) {
	var before []Evaluation
	for k, v := range []float64{3, math.NaN(), 1, 2, 1} {
		before = append(before, Evaluation{Value: v, Support: k})
	}
	good, bad := splitAtQuantile(before, 0.25)
	order := func(all []Evaluation) (k []int) {
		for _, e := range all {
			k = append(k, e.Support)
		}
		return k
	}
	if !slices.Equal(order(good), []int{2, 4}) || !slices.Equal(order(bad), []int{3, 0, 1}) {
		t.Errorf("good %v, bad %v", order(good), order(bad))
	}
}

// TestTPERecursion checks that every proposal after the first is the candidate with the largest ℓ/g, drawn from ℓ
// by the same random stream, separately for each coordinate.
func TestTPERecursion(t *testing.T) {
	box := Box{[]float64{-12, -3}, []float64{0, 4}}
	f := &analytic{f: bowl([]float64{-8, 1}, []float64{0.1, 1})}
	o := TPEOptions{Options: Options{Evaluations: 30}, Seed: 11, Startup: 6, Gamma: 0.2, Candidates: 10}
	if _, err := TPE(context.Background(), f, box, o); err != nil {
		t.Fatal(err)
	}
	s := random.SplitMix64(11)
	var done []Evaluation
	for k, q := range f.seen {
		want := box.randomPoint(&s)
		if k >= 6 {
			s = *before(&s, 2)
			sorted := slices.Clone(done)
			slices.SortStableFunc(sorted, func(a, b Evaluation) int {
				if a.Value < b.Value {
					return -1
				}
				return 1
			})
			cut := (k + 4) / 5
			for i := range want {
				l, g := newParzen(sorted[:cut], i, box.Lower[i], box.Upper[i]), newParzen(sorted[cut:], i, box.Lower[i], box.Upper[i])
				candidates := make([]float64, 10)
				for c := range candidates {
					candidates[c] = l.draw(&s)
				}
				want[i] = slices.MaxFunc(candidates, func(a, b float64) int {
					ra, rb := l.density(a)/g.density(a), l.density(b)/g.density(b)
					switch {
					case ra < rb:
						return -1
					case ra > rb:
						return 1
					}
					return 0
				})
			}
		}
		if !slices.Equal(q.LogLambda, want) {
			t.Fatalf("proposal %d is %v, want %v", k, q.LogLambda, want)
		}
		value, _ := f.f(q.LogLambda)
		done = append(done, Evaluation{LogLambda: q.LogLambda, Value: value})
	}
}

// before returns a generator set back by n outputs.
func before(s *random.SplitMix64, n int) *random.SplitMix64 {
	back := *s - random.SplitMix64(uint64(n))*0x9e3779b97f4a7c15
	return &back
}

// TestTPELearns checks that, averaged over seeds, TPE finds lower values than random points do.
func TestTPELearns(t *testing.T) {
	better := 0
	for seed := range uint64(40) {
		f := &analytic{f: bowl([]float64{-8, -2}, []float64{0.3, 1})}
		random, err := Random(context.Background(), f, cube(2, -12, 0), seed, Options{Evaluations: 40})
		if err != nil {
			t.Fatal(err)
		}
		tpe, err := TPE(context.Background(), f, cube(2, -12, 0), TPEOptions{Options: Options{Evaluations: 40}, Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if tpe.Best.Value < random.Best.Value {
			better++
		}
	}
	if better < 26 {
		t.Errorf("better than random points for %d seeds of 40", better)
	}
}

// TestRaggedGridsAreRefused checks that points of different dimension are refused before anything is evaluated.
func TestRaggedGridsAreRefused(t *testing.T) {
	f := &analytic{f: bowl([]float64{-8, -2}, []float64{0.3, 1})}
	for _, points := range [][][]float64{{{-1, -2}, {-3}}, {{-1, -2}, nil}, {nil, {-1, -2}}} {
		if _, err := Grid(t.Context(), f, points, Options{}); outcome.KindOf(err) != outcome.Shape {
			t.Errorf("%v: %v", points, err)
		}
	}
}
