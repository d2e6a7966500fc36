package implicit_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestSVMIsConfirmedAsFarAsItMoves checks points that are off on the free samples alone, where the violation of
// the optimality conditions gives the exact error of w. The sets are confirmed if and only if, within that
// distance, no other sample's margin reaches 1 and no free sample reaches an end of its box. The error bound is
// that distance times the change of the criterion's slope.
func TestSVMIsConfirmedAsFarAsItMoves(t *testing.T) {
	confirmed, refused := 0, 0
	for seed := range uint64(30) {
		r := oracle.NewRandom(5300 + seed)
		b := drawBox(r, 40, 50, 1, seed%2 == 0)
		logC := r.Pick(-5, -4)
		fit := b.fit(t, nil, true)
		c, err := fit.Strength(logC)
		if err != nil {
			t.Fatal(err)
		}
		beta, free, bound := b.solve(t, c)
		if len(bound) == 0 || len(free) == 0 {
			continue
		}
		gram := make([][]float64, len(free))
		for k, i := range free {
			for _, l := range free {
				gram[k] = append(gram[k], b.product(int(i), int(l)))
			}
		}
		for _, size := range []float64{1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5} {
			near := append([]float64(nil), beta...)
			for _, i := range free {
				near[i] = math.Min(c*b.s[i]*(1-1e-9), math.Max(1e-9*c, beta[i]*(1+size*r.Normal())))
			}
			w, moved, off := make([]float64, len(b.x[0])), 0.0, make([]float64, len(b.x[0]))
			for i, row := range b.x {
				for j, v := range row {
					w[j] += near[i] * b.y[i] * v
					off[j] += (near[i] - beta[i]) * b.y[i] * v
				}
			}
			for _, v := range off {
				moved += v * v
			}
			moved = math.Sqrt(moved)
			want, onEdge := true, false
			meets := func(room, reach float64) {
				want = want && room > reach
				onEdge = onEdge || math.Abs(room-reach) < 0.01*reach
			}
			at := make([]int, len(b.y)) // 1 + the position of a free sample
			for k, i := range free {
				at[i] = k + 1
			}
			for i, row := range b.x {
				margin, length := 0.0, math.Sqrt(b.product(i, i))
				for j, v := range row {
					margin += b.y[i] * v * w[j]
				}
				switch {
				case b.s[i] == 0:
				case at[i] > 0:
					unit := make([]float64, len(free))
					unit[at[i]-1] = 1
					x, ok := oracle.SolveDense(gram, unit)
					if !ok {
						t.Fatal("free samples depend on one another")
					}
					meets(math.Min(near[i], c*b.s[i]-near[i]), moved*math.Sqrt(x[at[i]-1]))
				case near[i] == 0:
					meets(margin-1, moved*length)
				default:
					meets(1-margin, moved*length)
				}
			}
			outer := b.outer(near)
			for _, i := range b.held {
				outer.Curvature[i] = r.Float64()
			}
			h, err := implicit.NewSVM(fit).Solve(t.Context(), logC, pointOf(near, free, bound), outer, implicit.Options{Tol: 1e-12})
			if err != nil {
				t.Fatal(err)
			}
			if got := h.Status == outcome.Converged; got != want && !onEdge {
				t.Errorf("seed %d, off by %g: %s, and the sets are the solution's: %t", seed, size, h.Status, want)
			}
			if want {
				confirmed++
			} else {
				refused++
			}
			bend := make([]float64, len(w))
			for i, curvature := range outer.Curvature {
				speed := 0.0
				for j, v := range b.x[i] {
					speed += v * h.Derivative[j]
				}
				for j, v := range b.x[i] {
					bend[j] += curvature * speed * v
				}
			}
			var square float64
			for _, v := range bend {
				square += v * v
			}
			if want := math.Sqrt(square) * moved; math.Abs(h.ErrorBound-want) > 1e-3*want {
				t.Errorf("seed %d, off by %g: bound %g, its term %g", seed, size, h.ErrorBound, want)
			}
		}
	}
	if confirmed < 20 || refused < 20 {
		t.Errorf("%d sets confirmed, %d refused", confirmed, refused)
	}
}

// TestFreeCopiesAreConfirmedWhileTheyStayInside checks two copies of a sample, with a third sample at its bound:
// the copies may share their sum in any way. From an inexact point the step to the nearest solution decides
// whether both copies are free there; they are not if one of them starts too close to its bound.
func TestFreeCopiesAreConfirmedWhileTheyStayInside(t *testing.T) {
	const c = 0.41
	b := &boxCase{x: [][]float64{{1}, {1}, {-0.5}, {1}}, y: []float64{1, 1, -1, 1}, s: []float64{1, 1, 1, 0}, held: []int32{3}}
	fit := b.fit(t, nil, true)
	logC := math.Log(c)
	both := (1 - 0.5*c) / 2 // w = 1 on the margin of the copies
	for _, p := range []struct {
		first, second float64
		want          outcome.Status
	}{
		{both, both, outcome.Converged},
		{both + 0.01, both - 0.01, outcome.Converged},
		{both + 0.0001, both - 0.0101, outcome.Converged},         // +0.005 for each
		{0.409, 0.3, outcome.SupportUncertified},                  // +0.04 each, beyond the bound of the first
		{0.001, 2*both - 0.001 + 0.1, outcome.SupportUncertified}, // −0.05 each, below 0
	} {
		if p.second >= c {
			p.second = c * (1 - 1e-9)
		}
		h, err := implicit.NewSVM(fit).Solve(t.Context(), logC, implicit.SVMPoint{Free: []int32{0, 1}, Dual: []float64{p.first, p.second}, Bound: []int32{2}}, b.outer([]float64{p.first, p.second, c, 0}), implicit.Options{Tol: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		if h.Status != p.want {
			t.Errorf("at %g and %g: %s, want %s", p.first, p.second, h.Status, p.want)
		}
	}
}

// TestFreeSamplesThatDependAreNotFlatUnseen checks three samples in two dimensions, which cannot all be on the
// margin, so that a point at which all are free is not a solution that is constant in C. The solution has w =
// (1/1.01, −C/10) with the first and the last sample at their bounds: at C = 0.4 their margins are 0.986 and
// 0.998, and 0.188 remains for the second. It varies with C.
func TestFreeSamplesThatDependAreNotFlatUnseen(t *testing.T) {
	const c = 0.4
	b := &boxCase{x: [][]float64{{1, 0.1}, {1.01, 0}, {-1, 0.2}, {0, 1}}, y: []float64{1, 1, -1, 1}, s: []float64{1, 1, 1, 0}, held: []int32{3}}
	near := []float64{0.35, 0.3, 0.35, 0} // w = (1.003, −0.035)
	h, err := implicit.NewSVM(b.fit(t, nil, true)).Solve(t.Context(), math.Log(c), implicit.SVMPoint{Free: []int32{0, 1, 2}, Dual: near[:3]}, b.outer(near), implicit.Options{Tol: 1e-10})
	if err != nil || h.Status != outcome.SupportUncertified || h.Bound != implicit.Estimated {
		t.Errorf("%v: %s, %s", err, h.Status, h.Bound)
	}
}

// TestSVMSystemsThatEndEarlySaySo checks dependent free samples, whose system is solved by conjugate gradients:
// too few iterations and cancellation are reported.
func TestSVMSystemsThatEndEarlySaySo(t *testing.T) {
	r := oracle.NewRandom(5350)
	b := drawBox(r, 30, 3, 1, false)
	at := implicit.SVMPoint{}
	c := math.Exp(-2)
	for i := range int32(30) {
		switch {
		case b.s[i] == 0:
		case i < 12:
			at.Free, at.Dual = append(at.Free, i), append(at.Dual, c*(0.1+0.8*r.Float64()))
		default:
			at.Bound = append(at.Bound, i)
		}
	}
	fit := b.fit(t, nil, true)
	outer := b.outer(make([]float64, 30))
	for iterations, want := range map[int]outcome.Status{1: outcome.LinearSystemStalled, 0: outcome.SupportUncertified} {
		h, err := implicit.NewSVM(fit).Solve(t.Context(), -2, at, outer, implicit.Options{Tol: 1e-12, MaxIterations: iterations})
		if err != nil || h.Status != want {
			t.Errorf("%d iterations at most: %v, %s, want %s", iterations, err, h.Status, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	h, err := implicit.NewSVM(fit).Solve(ctx, -2, at, outer, implicit.Options{Tol: 1e-12})
	if err != nil || h.Status != outcome.Cancelled {
		t.Errorf("cancelled: %v, %s", err, h.Status)
	}
}
