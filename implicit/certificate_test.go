package implicit_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestCertificateByItsDefinition checks what [implicit.Solver.Certify] proves and leaves undecided against its
// description, written out on dense matrices, from points close to the solution and far from it, also for supports
// as large as the number of rows.
func TestCertificateByItsDefinition(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(45) {
		r := oracle.NewRandom(5400 + seed)
		of := []string{"squared", "logistic", "Poisson"}[seed%3]
		curved := of != "squared"
		q := r.Problem(oracle.Shape{N: 20, P: 5 + r.Intn(30), Mean: r.Pick(0, 1), Weights: seed%4 < 2})
		q.Intercept = seed%2 == 0
		fit, top := drawn(t, r, q, of)
		q.Uniform(math.Exp(math.Log(r.Pick(0.05, 0.5) * top)))
		g := scalar(t, q)
		switch {
		case seed%5 == 0:
			q.Ridge = math.Exp(math.Log(0.1 * q.Norm2(0) / q.Total()))
			g = scalar(t, q)
		case seed%5 < 3 && !curved: // unpenalised columns and excluded ones
			for j := range q.Alpha {
				q.Alpha[j] = math.Exp(math.Log(q.Alpha[j] * (0.5 + r.Float64())))
				if turn := r.Intn(8); turn == 0 {
					q.Alpha[j] = 0
				} else if turn == 1 {
					q.Alpha[j] = math.Inf(1)
				}
			}
			g = weighted(t, q)
		}
		best := solved(t, fit, g)
		for _, off := range []float64{1e-7, 1e-4, 1e-3, 1e-2, 0.1, 0.5} {
			at, weights, d := beside(t, r, q, fit, of, best, off)
			if len(at.Support) == 0 {
				continue
			}
			got, err := implicit.New(fit).Certify(t.Context(), g, at)
			if err != nil {
				t.Fatal(err)
			}
			beta := make([]float64, len(q.Alpha))
			for k, j := range at.Support {
				beta[j] = at.Coef[k]
			}
			if slices.Contains(q.Alpha, 0) { // unpenalised coefficients are optimised with the other coefficients fixed
				rest := q.Clone()
				rest.Y = q.Residual(beta, 0)
				for j, alpha := range q.Alpha {
					if alpha > 0 {
						rest.Alpha[j] = math.Inf(1)
					}
				}
				for k, d := range rest.Solve().Beta {
					beta[k] += d
				}
				for k, j := range at.Support {
					at.Coef[k] = beta[j]
				}
				state := model.NewState(fit)
				fit.Fit(at.Support, at.Coef, state)
				weights = state.Weighted
			}
			if !curved {
				if gap := q.Gap(beta, q.BestIntercept(beta)); math.Abs(got.Gap-gap) > 1e-9*gap+1e-14*q.Null() {
					t.Errorf("seed %d, off by %g: gap %g, the oracle has %g", seed, off, got.Gap, gap)
				}
			}
			total, gap, closeCall := q.Total(), got.Gap+1e3*0x1p-53*fit.Null(), false
			exceeds := func(a, b float64) bool {
				closeCall = closeCall || math.Abs(a-b) < 1e-6*math.Abs(b)
				return a > b
			}
			share, margin := 2., 1.
			if curved {
				share = 3
			}
			all := 0.0
			for _, v := range d {
				all += v
			}
			// reach returns how far a correlation may be off, by a bound of the curvature or by self-concordance.
			reach := func(j int) float64 {
				switch of {
				case "squared":
					return math.Sqrt(2 * gap * q.Norm2(j) / total)
				case "logistic":
					return math.Sqrt(0.5 * gap * q.Norm2(j) / total)
				}
				mean, square, largest := 0.0, 0.0, 0.0
				for i, row := range q.X {
					if q.Intercept {
						mean += d[i] * row[j] / all
					}
				}
				for i, row := range q.X {
					square += d[i] * (row[j] - mean) * (row[j] - mean) / total
					if d[i] > 0 {
						largest = math.Max(largest, math.Abs(row[j]-mean))
					}
				}
				return math.Sqrt(2*gap*square) + largest*gap/3
			}
			var open implicit.Point
			for j, alpha := range q.Alpha {
				z := 0.0
				for i, row := range q.X {
					z += row[j] * weights[i] / total
				}
				if beta[j] == 0 && alpha > 0 {
					margin = math.Min(margin, 1-math.Abs(z)/alpha)
				}
				if beta[j] != 0 || alpha == 0 || !exceeds(alpha, math.Abs(z)+reach(j)) {
					open.Support, open.Coef = append(open.Support, int32(j)), append(open.Coef, beta[j])
				}
			}
			none := make([]float64, len(q.Y))
			w := writeOut(q, open, weights, d, implicit.Outer{Slope: none, Curvature: none})
			support, unique, undecided := false, q.Ridge > 0, len(open.Support)
			inverse := make([]float64, len(w.a))
			regular := true
			for k := range w.a {
				unit := make([]float64, len(w.a))
				unit[k] = 1
				x, ok := oracle.SolveDense(w.a, unit)
				if regular = regular && ok; ok {
					inverse[k] = x[k]
				}
			}
			if regular && curved {
				leverage := 0.0
				for i, row := range w.x {
					if q.Weight(i) > 0 {
						x, _ := oracle.SolveDense(w.a, row)
						sum := 0.0
						for k, v := range row {
							sum += v * x[k]
						}
						leverage = math.Max(leverage, sum)
					}
				}
				if q.Intercept {
					leverage += total / all
				}
				regular = !exceeds(leverage*gap, 0.1)
			}
			if regular {
				support, unique, undecided = true, true, 0
				for k, b := range open.Coef {
					if q.Alpha[open.Support[k]] > 0 && !exceeds(math.Abs(b), math.Sqrt(share*gap*inverse[k])) {
						support = false
						undecided++
					}
				}
			}
			if closeCall {
				continue
			}
			if got.Support != support || got.Unique != unique || got.Undecided != undecided || math.Abs(got.DualMargin-margin) > 1e-9 {
				t.Errorf("seed %d, off by %g: %+v, by definition support %t, unique %t, %d undecided, dual margin %g", seed, off, got, support, unique, undecided, margin)
			}
			switch {
			case support:
				seen["support"]++
			case unique:
				seen["unique"]++
			default:
				seen["neither"]++
			}
		}
	}
	for _, kind := range []string{"support", "unique", "neither"} {
		if seen[kind] < 10 {
			t.Errorf("%d certificates of kind %s", seen[kind], kind)
		}
	}
}

// TestConfirmedByItsOwnClearance checks when the support of a point beside the solution is confirmed: the residual
// moves by less than the clearance of every column outside the support or at a bound, and no coefficient reaches 0
// or its bound on the way. Distances are computed on dense columns.
func TestConfirmedByItsOwnClearance(t *testing.T) {
	confirmed, refused, held := 0, 0, 0
	for seed := range uint64(30) {
		r := oracle.NewRandom(5500 + seed)
		q := r.Problem(oracle.Shape{N: 30, P: 4 + r.Intn(12), Mean: r.Pick(0, 1), Weights: seed%4 < 2})
		q.Intercept = seed%3 == 0
		q.Uniform(math.Exp(math.Log(0.2 * q.AlphaMax())))
		best := q.Solve()
		bound, column := math.Inf(1), -1
		rest := q.Clone()
		if seed%2 == 0 { // the largest coefficient is held at a smaller bound
			for j, b := range best.Beta {
				if column < 0 || math.Abs(b) > math.Abs(best.Beta[column]) {
					column = j
				}
			}
			bound = r.Pick(0.3, 0.9) * math.Abs(best.Beta[column])
			rest.Y = slices.Clone(q.Y)
			for i, row := range q.X {
				rest.Y[i] -= math.Copysign(bound, best.Beta[column]) * row[column]
			}
			rest.Alpha[column] = math.Inf(1)
			side := best.Beta[column]
			best = rest.Solve()
			best.Beta[column] = math.Copysign(bound, side)
		}
		lower, upper := make([]float64, len(q.Alpha)), make([]float64, len(q.Alpha))
		for j := range lower {
			lower[j], upper[j] = -1e3, 1e3
		}
		if column >= 0 {
			lower[column], upper[column] = -bound, bound
		}
		box, err := model.NewBox(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		fit := fixture.Squared(t, q, true)
		g, err := scalar(t, q).Within(box.In(fit.View()))
		if err != nil {
			t.Fatal(err)
		}
		for _, off := range []float64{1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.3} {
			beta := slices.Clone(best.Beta)
			for j := range beta {
				if beta[j] *= 1 + off*r.Normal(); j == column {
					beta[j] = best.Beta[j]
				}
			}
			residual := q.Residual(beta, q.BestIntercept(beta))
			there := q.Residual(best.Beta, q.BestIntercept(best.Beta))
			var moved float64
			for i, v := range residual {
				moved += q.Weight(i) * (v - there[i]) * (v - there[i])
			}
			moved = math.Sqrt(moved)
			want, closeCall := true, false
			meets := func(room, reach float64) {
				want = want && room > reach
				closeCall = closeCall || math.Abs(room-reach) < 0.01*reach
			}
			at := implicit.Point{KKT: -1}
			z := q.Correlations(residual)
			for j, b := range beta {
				room := (q.Alpha[j] - math.Abs(z[j])) * q.Total() / math.Sqrt(q.Norm2(j))
				if b != 0 {
					at.Support, at.Coef = append(at.Support, int32(j)), append(at.Coef, b)
				}
				switch {
				case j == column:
					room = (math.Copysign(1, b)*z[j] - q.Alpha[j]) * q.Total() / math.Sqrt(q.Norm2(j))
					meets(room, moved)
				case b == 0:
					meets(room, moved)
				}
			}
			free := implicit.Point{}
			for k, j := range at.Support {
				if int(j) != column {
					free.Support, free.Coef = append(free.Support, j), append(free.Coef, at.Coef[k])
				}
			}
			if len(free.Support) == 0 {
				continue
			}
			none, weights := make([]float64, len(q.Y)), make([]float64, len(q.Y))
			for i := range weights {
				weights[i] = q.Weight(i)
			}
			w := writeOut(q, free, none, weights, implicit.Outer{Slope: none, Curvature: none})
			for k, b := range free.Coef {
				unit := make([]float64, len(w.a))
				unit[k] = 1
				meets(math.Abs(b), moved/math.Sqrt(q.Total())*math.Sqrt(w.solve(t, unit)[k]))
			}
			if closeCall {
				continue
			}
			outer := outerOf(q, beta, []int{0, 1, 2})
			h, err := implicit.New(fit).Solve(t.Context(), g, at, outer, implicit.Options{Tol: 1e-12, Prove: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := h.Status == outcome.Converged; got != want {
				t.Errorf("seed %d, off by %g, column %d held: %s, confirmed by lengths %t", seed, off, column, h.Status, want)
			}
			switch {
			case !want:
				refused++
			case column >= 0:
				held++
			default:
				confirmed++
			}
		}
	}
	if confirmed < 10 || held < 10 || refused < 20 {
		t.Errorf("%d supports confirmed, %d with a bound, %d not", confirmed, held, refused)
	}
}
