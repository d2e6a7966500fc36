package cd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// degenerate is a degenerate problem, such as one without columns.
type degenerate struct {
	name    string
	q       *oracle.Problem
	alpha   float64
	trivial bool // with an intercept, it is solved in at most two passes
	zero    bool // with an intercept, β of a Lasso must be 0
}

func degenerates() []degenerate {
	r := oracle.NewRandom(9)
	constant := func(n, p int, x, y float64) *oracle.Problem {
		q := &oracle.Problem{Alpha: make([]float64, p)}
		for range n {
			row := make([]float64, p)
			for j := range row {
				row[j] = x
			}
			q.X, q.Y = append(q.X, row), append(q.Y, y)
		}
		return q
	}
	random := func(n, p int) *oracle.Problem { return r.Problem(oracle.Shape{N: n, P: p}) }
	identical := random(1, 5)
	for range 6 {
		identical.X, identical.Y = append(identical.X, identical.X[0]), append(identical.Y, r.Normal())
	}
	holes := random(10, 8)
	for i := range holes.X {
		holes.X[i][0], holes.X[i][3], holes.X[i][7] = 0, 0, 0
	}
	flat := random(12, 4)
	for i := range flat.X {
		flat.X[i][1], flat.X[i][2] = 0.1, 3e4
	}
	target := random(10, 4)
	for i := range target.Y {
		target.Y[i] = 0.1
	}
	nothing := random(10, 4)
	clear(nothing.Y)
	return []degenerate{
		{name: "one row", q: random(1, 3), alpha: 0.01, trivial: true, zero: true},
		{name: "one column", q: random(9, 1), alpha: 0.01},
		{name: "no column", q: random(9, 0), alpha: 0.01, trivial: true, zero: true},
		{name: "one number", q: constant(1, 1, 2, 3), alpha: 0.01, trivial: true, zero: true},
		{name: "X = 0", q: constant(5, 3, 0, 2), alpha: 0.01, trivial: true, zero: true},
		{name: "some columns 0", q: holes, alpha: 0.01},
		{name: "constant columns", q: flat, alpha: 1e-3}, // whose centred entries are rounding only
		{name: "y = 0", q: nothing, alpha: 0.01, trivial: true, zero: true},
		{name: "constant y", q: target, alpha: 1e-6, trivial: true, zero: true},
		{name: "as many rows as the support", q: random(8, 40), alpha: 1e-3},
		{name: "all rows equal", q: identical, alpha: 0.01, trivial: true, zero: true},
	}
}

// TestDegenerateShapes checks that Lasso solves of degenerate problems converge, at once
// if they are trivial, and that all numbers are finite.
func TestDegenerateShapes(t *testing.T) {
	for _, c := range degenerates() {
		for _, intercept := range []bool{true, false} {
			for _, dense := range []bool{true, false} {
				q := c.q.Clone().Uniform(c.alpha)
				q.Intercept = intercept
				g, err := model.Lasso(math.Log(c.alpha))
				if err != nil {
					t.Fatal(err)
				}
				q.Uniform(g.Alpha(0))
				name := fmt.Sprintf("%s, intercept %v, dense %v", c.name, intercept, dense)
				sol := solve(t, cd.New(fixture.Squared(t, q, dense)), g, cd.Options{Tol: 1e-8})
				certified(t, name, q, sol, 1e-8)
				if sol.Status != outcome.Converged {
					t.Errorf("%s: %s at %g", name, sol.Status, sol.RelativeGap)
				}
				if intercept && c.trivial && sol.Passes > 2 {
					t.Errorf("%s: %d passes", name, sol.Passes)
				}
				if intercept && c.zero && len(sol.Support) != 0 {
					t.Errorf("%s: β = %v", name, sol.Coef)
				}
			}
		}
	}
}

// TestDegenerateShapesOfOtherPenalties checks the same for β ≥ 0, ridges and unpenalised
// columns.
func TestDegenerateShapesOfOtherPenalties(t *testing.T) {
	for _, c := range degenerates() {
		_, p := c.q.Dims()
		for _, kind := range []string{"positive", "enet", "ridge", "unpenalised", "least squares"} {
			for at := range 4 {
				q := c.q.Clone().Uniform(c.alpha)
				q.Intercept = at%2 == 0
				switch kind {
				case "positive":
					q.Positive = true
				case "enet":
					q.Ridge = c.alpha
				case "ridge":
					q.Uniform(0).Ridge = c.alpha
				case "unpenalised":
					for j := 0; j < p; j += 2 {
						q.Alpha[j] = 0
					}
				case "least squares":
					q.Uniform(0)
				}
				name := fmt.Sprintf("%s, %s, intercept %v, dense %v", c.name, kind, q.Intercept, at < 2)
				sol := solve(t, cd.New(fixture.Squared(t, q, at < 2)), fixture.Penalty(t, q), cd.Options{Tol: 1e-8})
				if sol.Status != outcome.Converged {
					t.Errorf("%s: %s at %g", name, sol.Status, sol.RelativeGap)
				}
				for k, b := range sol.Coef {
					if math.IsNaN(b) || math.IsInf(b, 0) || q.Positive && b < 0 {
						t.Errorf("%s: column %d has %g", name, sol.Support[k], b)
					}
				}
				if kind == "positive" || kind == "enet" || kind == "ridge" {
					certified(t, name, q, sol, 1e-8)
				}
			}
		}
	}
}
