package implicit_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// inUnits returns a problem in other units: X times one number and y times another.
func inUnits(q *oracle.Problem, x, y float64) *oracle.Problem {
	c := q.Clone()
	c.X, c.Y = nil, nil
	for i, row := range q.X {
		row = slices.Clone(row)
		for j := range row {
			row[j] *= x
		}
		c.X, c.Y = append(c.X, row), append(c.Y, y*q.Y[i])
	}
	for j := range c.Alpha {
		c.Alpha[j] *= x * y
	}
	c.Ridge *= x * x
	return c
}

// saying is the result for a problem, in units that do not depend on those of the data.
type saying struct {
	words   string
	numbers []float64 // compared to eight digits
	bounds  []float64 // bounds of rounding errors and of iterations, compared to a factor of two
}

func (s saying) same(t *testing.T, name string, as saying) {
	t.Helper()
	if s.words != as.words {
		t.Errorf("%s: %s, in other units %s", name, as.words, s.words)
		return
	}
	for k, v := range as.numbers {
		if !(math.Abs(s.numbers[k]-v) <= 1e-8*math.Abs(v)+1e-12) {
			t.Errorf("%s: number %d is %.12g, in other units %.12g", name, k, v, s.numbers[k])
		}
	}
	for k, v := range as.bounds {
		if !(s.bounds[k] <= 2*v && v <= 2*s.bounds[k]) {
			t.Errorf("%s: bound %d is %g, in other units %g", name, k, v, s.bounds[k])
		}
	}
}

// sayingsOf differentiates the problem in other units at the point that corresponds to beta.
func sayingsOf(t *testing.T, q *oracle.Problem, beta []float64, rows []int, x, y float64, each, iterate bool) saying {
	t.Helper()
	c, moved := inUnits(q, x, y), slices.Clone(beta)
	for j := range moved {
		moved[j] *= y / x
	}
	g := scalar(t, c)
	if each {
		g = weighted(t, c)
	}
	s := implicit.New(fixture.Squared(t, c, true))
	if iterate {
		s = implicit.NewIterative(fixture.Squared(t, c, true))
	}
	h := gradientAt(t, s, g, c, moved, rows, implicit.Options{Tol: 1e-12})
	out := saying{words: fmt.Sprint(h.Status, h.Bound), numbers: []float64{h.InjectivityMargin}, bounds: []float64{h.ErrorBound / (y * y)}}
	for _, v := range h.Gradient {
		out.numbers = append(out.numbers, v/(y*y))
	}
	cols, coef := (&oracle.Solution{Beta: moved}).Support()
	proof, err := s.Certify(t.Context(), g, implicit.Point{Support: cols, Coef: coef})
	if err != nil {
		t.Fatal(err)
	}
	out.words += fmt.Sprint(" ", proof.Support, proof.Unique, proof.Undecided, proof.Dependent)
	out.numbers = append(out.numbers, proof.DualMargin)
	return out
}

// TestUnitsDoNotMatter checks that with X and y in other units the gradient, its bound, the statuses and the
// certificates are the same, at the solution and beside it.
func TestUnitsDoNotMatter(t *testing.T) {
	for seed := range uint64(12) {
		r := oracle.NewRandom(700 + seed)
		q, best, rows := smooth(r)
		for _, off := range []float64{0, 1e-9, 1e-4, 0.1} {
			beta := slices.Clone(best.Beta)
			for j := range beta {
				beta[j] *= 1 + off*r.Normal()
			}
			for turn := range 4 {
				each, iterate := turn%2 == 1 && q.Ridge == 0, turn > 1
				want := sayingsOf(t, q, beta, rows, 1, 1, each, iterate)
				for _, units := range [][2]float64{{0x1p20, 1}, {0x1p-20, 1}, {1, 0x1p20}, {1, 0x1p-20}} {
					name := fmt.Sprintf("seed %d, %g off, each %t, iterated %t, X times %g, y times %g", seed, off, each, iterate, units[0], units[1])
					sayingsOf(t, q, beta, rows, units[0], units[1], each, iterate).same(t, name, want)
				}
			}
		}
	}
}

// TestUnitsDoNotMatterToMachines checks that an SVM on X times u is that on X with C times u².
func TestUnitsDoNotMatterToMachines(t *testing.T) {
	for seed := range uint64(8) {
		r := oracle.NewRandom(800 + seed)
		b := drawBox(r, 30, 12, 1, false)
		const logC = -3.0
		beta, free, bound := b.solve(t, math.Exp(logC))
		say := func(x float64) saying {
			c, moved := *b, slices.Clone(beta)
			c.x = nil
			for _, row := range b.x {
				row = slices.Clone(row)
				for j := range row {
					row[j] *= x
				}
				c.x = append(c.x, row)
			}
			for i := range moved {
				moved[i] /= x * x
			}
			fit := c.fit(t, nil, true)
			at := pointOf(moved, free, bound)
			h, err := implicit.NewSVM(fit).Solve(t.Context(), logC-2*math.Log(x), at, b.outer(beta), implicit.Options{Tol: 1e-12})
			if err != nil {
				t.Fatal(err)
			}
			return saying{words: fmt.Sprint(h.Status, h.Bound), numbers: append([]float64{h.InjectivityMargin, h.DegeneracyMargin}, h.Gradient...), bounds: []float64{h.ErrorBound}}
		}
		want := say(1)
		for _, x := range []float64{0x1p20, 0x1p-20} {
			say(x).same(t, fmt.Sprintf("SVM, seed %d, X times %g", seed, x), want)
		}
	}
}

// TestUnitsDoNotMatterToBlocks checks groups of two columns, and MCP with γ in units of 1/Lⱼ.
func TestUnitsDoNotMatterToBlocks(t *testing.T) {
	const p = 8
	pairs, err := model.NewPartition([]int{0, 0, 1, 1, 2, 2, 3, 3})
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(12) {
		r := oracle.NewRandom(600 + seed)
		q := r.Problem(oracle.Shape{N: 40, P: p, Density: 1})
		q.Intercept = seed%2 == 0
		rows := holdOut(r, q)
		top := math.Log(q.AlphaMax())
		say := func(x, y float64) saying {
			c := inUnits(q, x, y)
			part, scores := pairs, fixture.OneScore(t, fixture.Squared(t, c, true))
			var g model.Blocks
			g, err := model.GroupNet(nil, top-1+math.Log(x*y), top-2+2*math.Log(x))
			if seed%3 == 0 {
				var mcp model.MCP
				mcp, err = model.NewMCP(top-1.5+math.Log(x*y), math.Log(4/(x*x)))
				g, part = model.Elementwise{Of: mcp}, model.Singletons(p)
			}
			if err != nil {
				t.Fatal(err)
			}
			solver := cd.NewBlocks(scores, part)
			sol, err := solver.Solve(t.Context(), g, cd.Options{Tol: 1e-13})
			if err != nil {
				t.Fatal(err)
			}
			at := implicit.BlockPoint{Support: sol.Support, Beta: sol.Beta, Correlation: solver.Correlation(), Point: sol.Point, KKT: sol.KKT, Margin: 1}
			slope, curvature := make([]float64, len(c.Y)), make([]float64, len(c.Y))
			for _, i := range rows {
				slope[i], curvature[i] = 2*(sol.Point.Prediction[i]-c.Y[i]), 2
			}
			h, err := implicit.NewBlocks(scores, part, solver.System()).Solve(t.Context(), g, at, slope, curvature, implicit.Options{})
			if err != nil {
				t.Fatal(err)
			}
			out := saying{words: fmt.Sprint(h.Status, sol.Support), numbers: []float64{h.InjectivityMargin}}
			for _, v := range h.Gradient {
				out.numbers = append(out.numbers, v/(y*y))
			}
			return out
		}
		want := say(1, 1)
		for _, units := range [][2]float64{{0x1p20, 1}, {0x1p-20, 1}, {1, 0x1p20}, {1, 0x1p-20}} {
			say(units[0], units[1]).same(t, fmt.Sprintf("seed %d, X times %g, y times %g", seed, units[0], units[1]), want)
		}
	}
}
