package search

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// places returns the points at which an objective was evaluated, times a number.
func places(a *analytic, times float64) (all [][]float64) {
	for _, r := range a.seen {
		x := slices.Clone(r.LogLambda)
		for i := range x {
			x[i] *= times
		}
		all = append(all, x)
	}
	return all
}

func sameTrail(t *testing.T, name string, got, want [][]float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d evaluations, want %d", name, len(got), len(want))
	}
	for k := range min(len(got), len(want)) {
		for i, x := range want[k] {
			if math.Abs(got[k][i]-x) > tol*math.Max(1, math.Abs(x)) {
				t.Errorf("%s: evaluation %d at %v, want %v", name, k, got[k], want[k])
				return
			}
		}
	}
}

// landscapes are objectives of two coordinates: with a curved valley, a corner, teeth, and several basins.
var landscapes = map[string]func(x []float64) (float64, []float64){
	"bowl":   bowl([]float64{-3, -5}, []float64{0.3, 2}),
	"valley": rosenbrock,
	"corner": func(x []float64) (float64, []float64) {
		a, b := x[0]+5, x[1]+3
		return 1 + math.Abs(a) + 0.1*a*a + 0.3*b*b, []float64{math.Copysign(1, a) + 0.2*a, 0.6 * b}
	},
	"teeth": func(x []float64) (float64, []float64) {
		a, b := x[0]+4, x[1]+4
		return 2 + 0.2*a*a + 0.1*b*b + 1e-2*math.Cos(9*a) + 0.2*math.Sin(2*b), []float64{0.4*a - 9e-2*math.Sin(9*a), 0.2*b + 0.4*math.Cos(2*b)}
	},
	"copies of each other": func(x []float64) (float64, []float64) {
		d := x[0] + x[1] + 6
		return 1 + 0.3*d*d + 0.01*math.Abs(x[0]-x[1]+1), []float64{0.6*d + 0.01*math.Copysign(1, x[0]-x[1]+1), 0.6*d - 0.01*math.Copysign(1, x[0]-x[1]+1)}
	},
}

// TestSearchesDoNotDependOnUnits checks that scaling the objective by a power of two changes no bit of the points
// evaluated, and that a method that uses slopes visits mirrored points if the objective is mirrored. (Adam is
// excluded: it divides by a length with a fixed unit.)
func TestSearchesDoNotDependOnUnits(t *testing.T) {
	for name, f := range landscapes {
		for _, curved := range []bool{false, true} {
			for _, tol := range []float64{0, 1e-3} {
				for _, m := range contenders(t.Context(), 2) {
					if m.name == "adam" || curved && m.name != "trust region" {
						continue
					}
					run := func(times, mirror float64) (*analytic, *Result) {
						a := &analytic{f: func(x []float64) (float64, []float64) {
							value, gradient := f([]float64{mirror * x[0], mirror * x[1]})
							return times * value, []float64{times * mirror * gradient[0], times * mirror * gradient[1]}
						}}
						a.at = func(k int, e *Evaluation) error {
							if e.Tol = a.seen[k].Tol; curved {
								e.Curvature = []float64{0.4 * times, 0.1 * times, 0.1 * times, 0.5 * times}
							}
							return nil
						}
						box := cube(2, -9, 1)
						if mirror < 0 {
							box = cube(2, -1, 9)
						}
						r, err := m.run(a, []float64{-2 * mirror, -1.5 * mirror}, box, Options{Evaluations: 30, Tol: tol})
						if err != nil {
							t.Fatal(err)
						}
						return a, r
					}
					a, want := run(1, 1)
					who := fmt.Sprintf("%s of a %s, tolerance %g, curvature given %t", m.name, name, tol, curved)
					for _, times := range []float64{0x1p10, 0x1p30} {
						b, got := run(times, 1)
						sameTrail(t, who+" in other units", places(b, 1), places(a, 1), 0)
						if got.Status != want.Status || got.Best.Value != times*want.Best.Value {
							t.Errorf("%s: %s at %g times %g, %s at %g", who, got.Status, got.Best.Value, times, want.Status, want.Best.Value)
						}
					}
					if m.firstOrder {
						b, got := run(1, -1)
						sameTrail(t, who+" in a mirror", places(b, -1), places(a, 1), 0)
						if got.Status != want.Status || got.Best.Value != want.Best.Value {
							t.Errorf("%s: %s at %g, in a mirror %s at %g", who, want.Status, want.Best.Value, got.Status, got.Best.Value)
						}
					}
				}
			}
		}
	}
}

// TestScansDoNotDependOnUnits checks that scaling values and standard errors by one power of two and work by
// another changes nothing in a scan, and that a scan upwards visits the mirror image of a scan downwards, for all
// kinds of options and also after an earlier scan.
func TestScansDoNotDependOnUnits(t *testing.T) {
	const several = 60
	statuses := map[outcome.Status]int{}
	for seed := range uint64(several) {
		r := oracle.NewRandom(6100 + seed)
		slant, wave, depth, centre := 0.05*r.Normal(), 0.5+2*r.Float64(), r.Float64(), 3+8*r.Float64()
		spread, growth, moved := r.Pick(0, 0.1, 0.5), r.Pick(0, 0.3, 0.6), 0.5*r.Normal()
		base := ScanOptions{
			Distant: seed%5 == 0, Sparse: seed%2 == 0, Wide: seed%3 == 0, Jumps: seed%7 == 0, Climb: seed%4 == 0, Relative: seed%3 == 1,
			Separable: seed%6 == 1, Grouped: seed%4 == 2,
			Rough: r.Pick(0, 0.3), Precision: seed%4 == 3, Free: r.Pick(1e4, 1e7, 1e9), Options: Options{Evaluations: 60, Tol: 1e-6},
		}
		if seed%3 > 0 {
			base.Schedule = Auto
		}
		scan := func(times, work float64, up bool) (trail [][]float64, all []*Result) {
			sign := -1.0
			if up {
				sign = 1
			}
			var earlier []Evaluation
			for turn := range 2 {
				a := &analytic{f: func(x []float64) (float64, []float64) {
					d := sign*x[0] - centre - float64(turn)*moved
					value := 2 + slant*d + 0.02*d*d + 0.3*depth*math.Sin(wave*d)
					return times * value, []float64{times * sign * (slant + 0.04*d + 0.3*depth*wave*math.Cos(wave*d))}
				}}
				a.at = func(k int, e *Evaluation) error {
					d := sign * a.seen[k].LogLambda[0]
					e.StandardError, e.Tol = times*spread, a.seen[k].Tol
					e.Work = work * 1000 * math.Exp(growth*d)
					e.Support = int(3 * math.Exp(0.6*d))
					e.TrainLoss, e.Saturation = math.Exp(-0.4*math.Max(0, d)), math.Min(1, float64(e.Support)/400)
					e.Flat = d < 0.5
					return nil
				}
				o := base
				o.Up, o.Free, o.Null = up, work*base.Free, Evaluation{Value: times * 3, StandardError: times * spread}
				if seed%6 == 5 {
					o.Null.Value = math.NaN()
				}
				if o.Earlier = earlier; turn == 1 && seed%2 == 0 {
					o.Fresh = 0.2
				}
				result, err := Scan(t.Context(), a, o)
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				trail = append(trail, places(a, sign)...)
				all = append(all, result)
				earlier = append([]Evaluation{result.Best}, result.Evaluations...)
			}
			return trail, all
		}
		want, results := scan(1, 1, false)
		for _, result := range results {
			statuses[result.Status]++
		}
		for name, c := range map[string]struct {
			times, work float64
			up          bool
		}{"values in other units": {0x1p20, 1, false}, "work in other units": {1, 0x1p-12, false}, "upwards": {1, 1, true}} {
			trail, others := scan(c.times, c.work, c.up)
			sameTrail(t, fmt.Sprintf("seed %d, %s", seed, name), trail, want, 0)
			for k, other := range others {
				a, b := results[k], other
				if a.Status != b.Status || a.Best.Value*c.times != b.Best.Value || a.Seen.Basins != b.Seen.Basins || math.Abs(a.Seen.To) != math.Abs(b.Seen.To) {
					t.Errorf("seed %d, %s: %s %+v, want %s %+v", seed, name, b.Status, b.Seen, a.Status, a.Seen)
				}
			}
		}
	}
	if len(statuses) < 2 {
		t.Errorf("all scans end as %v", statuses)
	}
}

// TestDescentByTheBook checks both gradient descents against plain implementations: the method of the paper, which
// takes Barzilai–Borwein steps after its first failure, and HOAG, whose test allows for the errors of the values.
func TestDescentByTheBook(t *testing.T) {
	for name, f := range landscapes {
		for _, tol := range []float64{0, 0.02} {
			for _, hoags := range []bool{false, true} {
				a := &analytic{f: f}
				a.at = func(k int, e *Evaluation) error { e.Tol = a.seen[k].Tol; return nil }
				start, box := []float64{-2, -1.5}, cube(2, -9, 1)
				method := Gradient
				if hoags {
					method = LineSearch
				}
				if _, err := method(t.Context(), a, start, box, Options{Evaluations: 20, Tol: tol, Stop: 1e-12}); err != nil {
					t.Fatal(err)
				}
				x := start
				value, g := f(x)
				want := [][]float64{x}
				l, failed, step := math.Hypot(g[0], g[1]), false, 0.0
				for len(want) < len(a.seen) {
					if hoags {
						step = 1 / l
					} else if !failed {
						step = 1 / math.Hypot(g[0], g[1])
					}
					next, square := make([]float64, 2), 0.0
					for i := range next {
						next[i] = math.Min(math.Max(x[i]-step*g[i], -9), 1)
						square += (next[i] - x[i]) * (next[i] - x[i])
					}
					want = append(want, next)
					to, h := f(next)
					bend := (next[0]-x[0])*(h[0]-g[0]) + (next[1]-x[1])*(h[1]-g[1])
					fitted := square / bend
					switch better := to < value; {
					case hoags && !better:
						l *= 2
						continue
					case hoags:
						if value-to >= l*square-0.25*tol*value-1.25*tol*value*math.Sqrt(square) {
							l *= 0.95
						}
					case better:
						if failed && fitted > 0 {
							step = math.Min(math.Max(fitted, 0.1*step), 10*step)
						}
					default:
						if failed = true; !(fitted > 0) {
							fitted = 0.5 * step
						}
						step = math.Min(math.Max(fitted, 0.1*step), 0.5*step)
						continue
					}
					x, value, g = next, to, h
				}
				sameTrail(t, fmt.Sprintf("%s, HOAG's %t, tolerance %g", name, hoags, tol), places(a, 1), want, 1e-9)
			}
		}
	}
}

// TestLimitedMemoryIsTheMatrix checks the step of L-BFGS against the inverse Hessian approximation written out on
// the free coordinates. The step is shortened as a whole if a coordinate would move by more than 1, its predicted
// gain is the decrease of the model, and pairs without positive curvature are left out.
func TestLimitedMemoryIsTheMatrix(t *testing.T) {
	const dim, memory = 5, 3
	r := oracle.NewRandom(77)
	shortened := 0
	for turn := range 60 {
		s := &lbfgs{recorder: &recorder{}, free: make([]bool, dim), options: LBFGSOptions{Memory: memory}}
		for i := range s.free {
			s.free[i] = r.Intn(4) > 0
		}
		var pairs []pair
		for range turn % 6 {
			from, to := &Evaluation{}, &Evaluation{}
			var before, after []float64
			way := r.Pick(1, 1, 1, -1) // sometimes against the curvature
			for range dim {
				x, d, g := r.Normal(), r.Normal(), r.Normal()
				from.LogLambda, to.LogLambda = append(from.LogLambda, x), append(to.LogLambda, x+d)
				before, after = append(before, g), append(after, g+way*d*(0.3+3*r.Float64()))
			}
			s.remember(from, to, before, after)
			p := pair{}
			for i := range dim {
				p.step, p.change = append(p.step, to.LogLambda[i]-from.LogLambda[i]), append(p.change, after[i]-before[i])
			}
			pairs = append(pairs, p)
		}
		pairs = pairs[max(0, len(pairs)-memory):]
		inner := func(x, y []float64) (sum float64) {
			for i, free := range s.free {
				if free {
					sum += x[i] * y[i]
				}
			}
			return sum
		}
		pairs = slices.DeleteFunc(pairs, func(p pair) bool { return inner(p.step, p.change) <= 0 })
		g, direction := make([]float64, dim), make([]float64, dim)
		most := 0.0
		for i := range g {
			if g[i] = r.Normal(); s.free[i] {
				most = math.Max(most, math.Abs(g[i]))
			}
		}
		if most == 0 {
			continue
		}
		scale := 1 / most // the coordinate with the largest slope moves by 1
		if len(pairs) > 0 {
			last := pairs[len(pairs)-1]
			scale = inner(last.step, last.change) / inner(last.change, last.change)
		}
		h := make([][]float64, dim)
		for i := range h {
			h[i] = make([]float64, dim)
			h[i][i] = scale
		}
		for _, p := range pairs { // (I − ρsyᵀ)H(I − ρysᵀ) + ρssᵀ
			bend := inner(p.step, p.change)
			hy := make([]float64, dim)
			for i := range h {
				hy[i] = inner(h[i], p.change)
			}
			yhy := inner(hy, p.change)
			for i := range h {
				for j := range h {
					h[i][j] += (bend+yhy)*p.step[i]*p.step[j]/(bend*bend) - (hy[i]*p.step[j]+p.step[i]*hy[j])/bend
				}
			}
		}
		want, longest := make([]float64, dim), 0.0
		for i := range want {
			if s.free[i] {
				want[i] = -inner(h[i], g)
				longest = math.Max(longest, math.Abs(want[i]))
			}
		}
		share := 1.0
		if longest > 1 {
			share = 1 / longest
			shortened++
		}
		full := -inner(g, want)
		promise := s.quasiNewton(g, direction)
		near9(t, "promise", promise, full*(share-share*share/2))
		for i := range want {
			near9(t, "step", direction[i], share*want[i])
		}
	}
	if shortened < 5 || shortened > 55 {
		t.Errorf("%d steps shortened", shortened)
	}
}

// TestShortestMeanOfSlopes checks the shortest mean of the slopes at two points, the direction along the floor of
// a valley, against a fine grid.
func TestShortestMeanOfSlopes(t *testing.T) {
	r, between := oracle.NewRandom(78), 0
	for range 200 {
		point := func() *Evaluation {
			return &Evaluation{LogLambda: []float64{-3 + 0.04*r.Normal(), -1 + 0.04*r.Normal()}, Gradient: []float64{r.Normal(), r.Normal()}}
		}
		a, b := point(), point()
		v, norm := shortestMean(a, b, cube(2, -9, 1))
		least, where := math.Inf(1), 0.0
		mean := func(share float64) [2]float64 {
			return [2]float64{a.Gradient[0] + share*(b.Gradient[0]-a.Gradient[0]), a.Gradient[1] + share*(b.Gradient[1]-a.Gradient[1])}
		}
		for k := range 10_001 {
			share := float64(k) / 10_000
			if m := mean(share); math.Hypot(m[0], m[1]) < least {
				least, where = math.Hypot(m[0], m[1]), share
			}
		}
		far := math.Abs(a.LogLambda[0]-b.LogLambda[0]) > 0.1 || math.Abs(a.LogLambda[1]-b.LogLambda[1]) > 0.1
		if far || where == 0 || where == 1 {
			if !math.IsInf(norm, 1) {
				t.Errorf("a mean of %v and %v at a distance, or at an end: %v", a.Gradient, b.Gradient, v)
			}
			continue
		}
		between++
		if m := mean(where); math.Abs(norm-least) > 1e-3 || math.Hypot(v[0]-m[0], v[1]-m[1]) > 1e-3 {
			t.Errorf("the shortest of %v and %v is %v, by looking %v", a.Gradient, b.Gradient, v, m)
		}
		own := Box{Lower: []float64{a.LogLambda[0], -9}, Upper: []float64{1, 1}} // components that point out of the box do not count
		if w, _ := shortestMean(a, b, own); v[0] > 0 && (w[0] != 0 || w[1] != v[1]) || v[0] <= 0 && w[0] != v[0] {
			t.Errorf("at the border %v, inside %v", w, v)
		}
	}
	if between < 30 {
		t.Errorf("%d means tried", between)
	}
}
