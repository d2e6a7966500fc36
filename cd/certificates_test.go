package cd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// TestInnerGapIsTheGap checks that the gap at which sweeps stop equals the gap of the certificate at the same point
// if the working set has all columns, with and without bounds and a ridge.
func TestInnerGapIsTheGap(t *testing.T) {
	compared := 0
	for seed := range uint64(90) {
		r := oracle.NewRandom(700 + seed)
		const p = 6
		q := r.Problem(oracle.Shape{N: 15, P: p, Density: 1, Mean: r.Pick(0, 1), Weights: seed%3 == 0})
		q.Intercept = seed%2 == 0
		q.Uniform(0.02 * q.AlphaMax())
		if seed%5 > 2 {
			q.Ridge = r.Pick(0.05, 0.5)
		}
		g := fixture.Penalty(t, q)
		lower, upper := make([]float64, p), make([]float64, p)
		for j := range p {
			lower[j], upper[j] = r.Pick(0, -0.3, math.Inf(-1)), r.Pick(0.1, 0.5, math.Inf(1))
		}
		bounded := seed%4 > 0
		if bounded {
			box, err := model.NewBox(lower, upper)
			if err != nil {
				t.Fatal(err)
			}
			if g, err = g.Within(box); err != nil {
				t.Fatal(err)
			}
		}
		for _, tol := range []float64{0.3, 1e-2, 1e-4} {
			s := cd.New(fixture.Squared(t, q, true))
			sol := solve(t, s, g, cd.Options{Tol: tol})
			got, size := cd.InnerGap(s)
			if sol.Gap < 1e-8*q.Null() || size < p {
				continue
			}
			compared++
			// With a ridge the certificate may take a better dual point, which sweeps do not look for.
			if less := sol.Gap - got; math.Abs(less) > 1e-9*sol.Gap+1e-14*q.Null() && (q.Ridge == 0 || less > 0) {
				t.Errorf("seed %d to %g, bounded %t, ridge %g: %g, certified %g", seed, tol, bounded, q.Ridge, got, sol.Gap)
			}
		}
	}
	if compared < 50 {
		t.Errorf("%d compared", compared)
	}
}

// TestNearlyDependentColumnsAreToldApart checks two unpenalised columns x and x + δr, where r is the residual of the
// fit on x alone. Both must be fitted, up to the rounding errors of predictions with coefficients of about 1/δ,
// whatever the number of rows, their weights, the scale and the loss. If δ is itself at the level of rounding, they
// count as one column, and the gap must be that of a fit on one column.
func TestNearlyDependentColumnsAreToldApart(t *testing.T) {
	for _, n := range []int{4, 400} {
		for _, scale := range []float64{1, 0x1p-20, 0x1p20} {
			for _, logistic := range []bool{false, true} {
				for _, cosine := range []float64{0x1p-10, 0x1p-20, 0x1p-30, 0x1p-36, 0x1p-46} {
					q := &oracle.Problem{Alpha: []float64{0, 0}}
					if n == 4 {
						q.Weights = []float64{50, 50, 50, 50}
					}
					for i := range n {
						sign, y := float64(1-2*(i%2)), float64(1-i/2%2*2)
						if !logistic {
							y = (y + 0.5*sign) * scale
						}
						// The residual is ±1 times its scale, orthogonal to the signs; the cosine does not depend on the scale.
						q.X = append(q.X, []float64{sign, sign + cosine*float64(1-i/2%2*2)})
						q.Y = append(q.Y, y)
					}
					var fit model.Datafit = fixture.Squared(t, q, true)
					least, alone := 8*(0x1p-52/cosine*scale)*(0x1p-52/cosine*scale), 0.5*scale*scale
					if logistic {
						fit, least, alone = fixture.Logistic(t, q, true), 1e-8, math.Ln2
					}
					sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{Tol: 1e-8, MaxEpochs: 1})
					switch {
					case cosine > 0x1p-40 && !(sol.Objective <= least):
						t.Errorf("%d rows, scale %g, logistic %t, cosine %g: objective %g", n, scale, logistic, cosine, sol.Objective)
					case cosine < 0x1p-40 && !(math.Abs(sol.Objective-alone) <= 1e-12*alone && sol.Gap <= 1e-12*alone):
						t.Errorf("%d rows, scale %g, logistic %t, cosine %g: objective %g, gap %g", n, scale, logistic, cosine, sol.Objective, sol.Gap)
					}
				}
			}
		}
	}
}

// TestRowsArePaidForByState checks the cost per row of a logistic fit of one unpenalised column, by adding rows
// without entries. It is that of the states computed: one if the fit ends where it begins, and one more for each
// Newton step.
func TestRowsArePaidForByState(t *testing.T) {
	var first, again [2]float64
	steps := 0
	for i, n := range []int{1000, 3000} {
		r := oracle.NewRandom(9)
		q := r.Problem(oracle.Shape{N: 60, P: 10}).Classes(r)
		for range n - 60 {
			q.X, q.Y = append(q.X, make([]float64, 10)), append(q.Y, 1)
		}
		q.Uniform(10).Alpha[2] = 0 // the coefficients of the other columns are 0
		steps = 0
		for b := 0.0; ; steps++ {
			slope, curvature := 0.0, 0.0
			for i, row := range q.X {
				x, p := row[2], 1/(1+math.Exp(q.Y[i]*row[2]*b))
				slope, curvature = slope+q.Y[i]*x*p, curvature+x*x*p*(1-p)
			}
			if slope*slope/curvature <= 1e-26*math.Ln2*float64(n) {
				break
			}
			b += slope / curvature
		}
		s, g := cd.New(fixture.Logistic(t, q, false)), fixture.Penalty(t, q)
		first[i] = solve(t, s, g, cd.Options{Tol: 1e-8}).Work
		again[i] = solve(t, s, g, cd.Options{Tol: 1e-8}).Work
	}
	for _, c := range []struct {
		work   [2]float64
		states int
	}{{first, 1 + steps}, {again, 1}} {
		if got := (c.work[1] - c.work[0]) / 2000 / cd.CurvedRow; math.Abs(got-float64(c.states)) > 1e-6 {
			t.Errorf("%g states, want %d", got, c.states)
		}
	}
}

// TestPassesSkipWhatHasNotMoved checks that passes skip columns whose correlations have hardly changed: a solve at a
// strength next to the last costs less than one full pass, under the squared loss and another.
func TestPassesSkipWhatHasNotMoved(t *testing.T) {
	r := oracle.NewRandom(12)
	q := r.Problem(oracle.Shape{N: 60, P: 800, Density: 1})
	for _, logistic := range []bool{false, true} {
		var fit model.Datafit = fixture.Squared(t, q, true)
		top := q.AlphaMax()
		if logistic {
			q.Classes(r)
			fit, top = fixture.Logistic(t, q, true), q.LogisticAlphaMax()
		}
		pass := solve(t, cd.New(fit), fixture.Penalty(t, q.Uniform(1.01*top)), cd.Options{}).Work
		s := cd.New(fit)
		first := fixture.Penalty(t, q.Uniform(0.6*top))
		solve(t, s, first, cd.Options{Tol: 1e-6})
		next := solve(t, s, fixture.Penalty(t, q.Uniform(0.599*top)), cd.Options{Tol: 1e-6})
		if next.Passes < 2 || next.Work > pass {
			t.Errorf("logistic %t: a pass costs %g, the next strength %g in %d", logistic, pass, next.Work, next.Passes)
		}
	}
}

// TestOneEntryOfTheHeaviestRowMovesAsFarAsItsReach checks that the bound on the change of a correlation is attained
// by a centred column with a single entry, in the row of the largest weight where the residual changes most.
func TestOneEntryOfTheHeaviestRowMovesAsFarAsItsReach(t *testing.T) {
	const n = 60
	for _, heaviest := range []float64{1, 3, 20} {
		q := &oracle.Problem{Y: make([]float64, n), Weights: make([]float64, n), Alpha: make([]float64, n), Intercept: true}
		change := make([]float64, n)
		for i := range n {
			row := make([]float64, n)
			row[i] = 0.5 + float64(i%7)
			q.X, q.Weights[i] = append(q.X, row), 1-0.5*float64(i%2)
			change[i] = float64(1 - 2*(i%2))
		}
		const j = 8
		q.Weights[j], change[j] = heaviest, 3
		if heaviest == 1 {
			q.Weights = nil
		}
		view := fixture.View(t, q, false)
		for i, mean := 0, view.MeanOf(change); i < n; i++ {
			change[i] -= mean
		}
		moved := heaviest * q.X[j][j] * change[j]
		if reach := cd.Reach(view, change)[j]; math.Abs(reach-math.Abs(moved)) > 1e-12*reach {
			t.Errorf("weight %g: the correlation moves by %g, its reach is %g", heaviest, moved, reach)
		}
	}
}

// TestUnpenalisedStepsAreHalvedWhileTheLossRises checks Newton's method on counts around y. Its first step overshoots
// by about y, and halved steps lead to the minimum, ln y, without a sweep. The last steps, which change the loss by
// no more than rounding, are not halved. Rows without entries show how many states were computed.
func TestUnpenalisedStepsAreHalvedWhileTheLossRises(t *testing.T) {
	halved := 0
	for _, size := range []float64{1, 20, 150, 1000, 3000, 1e4} {
		var work [2]float64
		mean, null := 0.0, 0.0
		for k, rows := range []int{30, 1830} {
			q := &oracle.Problem{Alpha: []float64{0}}
			for i := range rows {
				x, y := 1.0, math.Floor(size*(1+float64(i%3))/2)
				if i >= 30 {
					x, y = 0, 1
				} else if k == 0 {
					mean += y / 30
				}
				q.X, q.Y = append(q.X, []float64{x}), append(q.Y, y)
			}
			fit, err := model.NewDatafit(fixture.View(t, q, false), q.Y, loss.Poisson{})
			if err != nil {
				t.Fatal(err)
			}
			null = fit.Null() * float64(rows)
			sol := solve(t, cd.New(fit), fixture.Penalty(t, q), cd.Options{Tol: 1e-12})
			if sol.Epochs != 0 || len(sol.Coef) != 1 || math.Abs(sol.Coef[0]-math.Log(mean)) > 1e-10 {
				t.Errorf("counts around %g: %v after %d sweeps, want %g", mean, sol.Coef, sol.Epochs, math.Log(mean))
			}
			work[k] = sol.Work
		}
		// The loss of the 30 rows is 30(e^b − b·mean) plus a constant.
		value := func(b float64) float64 { return 30 * (math.Exp(b) - b*mean) }
		states := 1
		for b := 0.0; ; {
			slope, curvature := 30*(mean-math.Exp(b)), 30*math.Exp(b)
			if slope*slope/curvature <= 1e-26*null {
				break
			}
			length := 1.0
			for states++; value(b+length*slope/curvature) > value(b)+1e-13*null; states++ {
				length, halved = length/2, halved+1
			}
			b += length * slope / curvature
		}
		if got := (work[1] - work[0]) / 1800 / cd.CurvedRow; math.Abs(got-float64(states)) > 1e-6 {
			t.Errorf("counts around %g: %g states, want %d", mean, got, states)
		}
	}
	if halved == 0 {
		t.Error("no step was halved")
	}
}

// TestFactoringUnpenalisedColumnsIsPaidFor checks that the first solve, and no later one, is charged for factorising
// the system of the unpenalised columns: for their Gram matrix and, where rows are few, mostly for the Cholesky
// factor.
func TestFactoringUnpenalisedColumnsIsPaidFor(t *testing.T) {
	const n, p = 10, 150
	q := oracle.NewRandom(3).Problem(oracle.Shape{N: n, P: p}) // α = 0
	q.Alpha = make([]float64, p)
	s, g := cd.New(fixture.Squared(t, q, true)), fixture.Penalty(t, q)
	first := solve(t, s, g, cd.Options{}).Work
	again := solve(t, s, g, cd.Options{}).Work
	factor := support.CholeskyCost(p)
	if gram := first - again - factor; again <= 0 || gram <= 0 || gram > 0.9*factor {
		t.Errorf("work %g, and %g again; a factorisation is %g", first, again, factor)
	}
}

// TestFactoringUnpenalisedColumnsIsPaidForAtEveryPoint checks that under a loss that is not quadratic a solve is
// charged for a factorisation at every point, whatever was charged before. A solve that begins at its solution is
// charged for one, and for the Gram matrix, which costs less.
func TestFactoringUnpenalisedColumnsIsPaidForAtEveryPoint(t *testing.T) {
	const n, p = 10, 150
	q := oracle.NewRandom(3).Problem(oracle.Shape{N: n, P: p, Density: 1}) // α = 0
	q.Alpha = make([]float64, p)
	for i := range q.Y {
		q.Y[i] = float64(1 + i%3)
	}
	fit, err := model.NewDatafit(fixture.View(t, q, true), q.Y, loss.Poisson{})
	if err != nil {
		t.Fatal(err)
	}
	s, g := cd.New(fit), fixture.Penalty(t, q)
	factor := support.CholeskyCost(p)
	first := solve(t, s, g, cd.Options{Tol: 1e-9}).Work
	for range 3 {
		again := solve(t, s, g, cd.Options{Tol: 1e-9}).Work
		if first < 4*factor || again < factor || again > 2*factor {
			t.Errorf("work %g, and %g again; a factorisation is %g", first, again, factor)
		}
	}
}

// TestIterationsGetFurther checks what counts as progress: more columns than ever before, at most half the gap of the
// last iteration that made progress, or an objective lower than in that iteration by more than a given amount.
func TestIterationsGetFurther(t *testing.T) {
	columns := []int{5, 5, 4, 5, 6, 5, 6, 6, 6, 7, 6}
	gap := []float64{8, 5, 4, 2.5, 2.4, 2.1, 1, 1, 0.6, 9, 8}
	objective := []float64{9, 9, 9, 9, 8.5, 8, 8, 6.5, 6.5, 9, 8}
	want := []bool{true, false, true, false, true, false, true, true, false, true, false}
	if got := cd.Advances(columns, gap, objective, 1); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestWhatStandsIsNotPaidForAgain checks that a solve from its own solution is charged for visiting the columns only.
func TestWhatStandsIsNotPaidForAgain(t *testing.T) {
	const n, p = 60, 30
	for seed := range uint64(8) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.2, 1), Mean: r.Pick(0, 1)}).Classes(r)
		q.Intercept = seed%2 == 0
		for _, logistic := range []bool{false, true} {
			var fit model.Datafit = fixture.Squared(t, q, false)
			top := q.AlphaMax()
			if logistic {
				fit, top = fixture.Logistic(t, q, false), q.LogisticAlphaMax()
			}
			s, g := cd.New(fit), fixture.Penalty(t, q.Uniform(0.3*top))
			solve(t, s, g, cd.Options{})
			sol, want := solve(t, s, g, cd.Options{}), cd.VisitColumn*float64(p)
			if math.Abs(sol.Work-want) > 1e-9*want {
				t.Errorf("seed %d, logistic %t: work %g, want %g", seed, logistic, sol.Work, want)
			}
		}
	}
}
