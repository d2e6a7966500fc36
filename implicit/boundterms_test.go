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
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
)

// writtenOut holds, as dense matrices, everything that enters a bound at a point.
type writtenOut struct {
	a         [][]float64 // A on the support
	x         [][]float64 // the columns of the support, centred, on all rows
	h, rho, b []float64   // ∇C_S, the violation of the optimality conditions, and the coefficients
	shift     float64     // |Σ slope|·√(N/Σd)
	curvature []float64
	jacobi    bool // whether norms use the diagonal of A only
}

// writeOut computes a writtenOut at a point; d are the weights of the rows in A.
func writeOut(q *oracle.Problem, at implicit.Point, weighted, d []float64, outer implicit.Outer) *writtenOut {
	w, n, total, all := &writtenOut{b: at.Coef, curvature: outer.Curvature}, len(q.Y), q.Total(), 0.0
	for _, v := range d {
		all += v
	}
	means := make([]float64, len(at.Support))
	for k, j := range at.Support {
		for i := range n {
			means[k] += d[i] * q.X[i][j] / all
		}
		if !q.Intercept {
			means[k] = 0
		}
	}
	w.a, w.h, w.rho = make([][]float64, len(means)), make([]float64, len(means)), make([]float64, len(means))
	for i := range n {
		row := make([]float64, len(means))
		for k, j := range at.Support {
			row[k] = q.X[i][j] - means[k]
			w.h[k] += outer.Slope[i] * row[k]
			w.rho[k] += weighted[i] * q.X[i][j] / total
		}
		w.x = append(w.x, row)
		w.shift += outer.Slope[i]
	}
	if w.shift = math.Abs(w.shift) * math.Sqrt(total/all); !q.Intercept {
		w.shift = 0
	}
	for k, j := range at.Support {
		w.a[k] = make([]float64, len(means))
		for l := range means {
			for i, row := range w.x {
				w.a[k][l] += d[i] * row[k] * row[l] / total
			}
		}
		w.a[k][k] += q.Ridge
		w.rho[k] -= math.Copysign(q.Alpha[j], at.Coef[k]) + q.Ridge*at.Coef[k]
	}
	return w
}

func (w *writtenOut) solve(t *testing.T, b []float64) []float64 {
	t.Helper()
	x, ok := oracle.SolveDense(w.a, b)
	if !ok {
		t.Fatal("a singular system")
	}
	return x
}

// norm returns √(vᵀA⁻¹v), with the diagonal of A in place of A if jacobi.
func (w *writtenOut) norm(t *testing.T, v []float64) float64 {
	t.Helper()
	sum, x := 0.0, v
	if !w.jacobi {
		x = w.solve(t, v)
	}
	for k := range v {
		if w.jacobi {
			sum += v[k] * v[k] / w.a[k][k]
		} else {
			sum += v[k] * x[k]
		}
	}
	return math.Sqrt(sum)
}

// bend returns K·v with K the second derivatives of the criterion, vᵀK·v, and the largest change of a prediction.
func (w *writtenOut) bend(v []float64) (kv []float64, energy, largest float64) {
	kv = make([]float64, len(v))
	for i, row := range w.x {
		var u float64
		for k := range v {
			u += row[k] * v[k]
		}
		largest = math.Max(largest, math.Abs(u))
		energy += w.curvature[i] * u * u
		for k := range v {
			kv[k] += w.curvature[i] * u * row[k]
		}
	}
	return kv, energy, largest
}

// curvatures maps losses to their second derivatives as functions of the prediction.
var curvatures = map[string]func(m float64) float64{
	"squared":  func(float64) float64 { return 1 },
	"logistic": func(m float64) float64 { p := 1 / (1 + math.Exp(m)); return p * (1 - p) },
	"Poisson":  math.Exp,
}

// drawn draws targets that suit a loss, and returns the fit and its αmax.
func drawn(t *testing.T, r *oracle.Random, q *oracle.Problem, of string) (fit model.Datafit, top float64) {
	t.Helper()
	var l loss.Loss = loss.Squared{}
	switch of {
	case "logistic":
		l = loss.Logistic{}
		q.Classes(r)
	case "Poisson":
		l = loss.Poisson{}
		q.Draw(r, oracle.PoissonLoss())
	}
	fit, err := model.NewDatafit(fixture.View(t, q, true), q.Y, l)
	if err != nil {
		t.Fatal(err)
	}
	return fit, model.AlphaMax(fit)
}

// beside returns a point at a relative distance off from the solution, s⊙r there, and d, the weights of the rows
// in A.
func beside(t *testing.T, r *oracle.Random, q *oracle.Problem, fit model.Datafit, of string, best *cd.Solution, off float64) (at implicit.Point, weighted, d []float64) {
	t.Helper()
	at = implicit.Point{Support: best.Support, Coef: slices.Clone(best.Coef), KKT: -1, Clearance: math.Inf(1)}
	for k := range at.Coef {
		at.Coef[k] *= 1 + off*r.Normal()
	}
	state := model.NewState(fit)
	fit.Fit(at.Support, at.Coef, state)
	for i := range q.Y {
		d = append(d, q.Weight(i)*curvatures[of](state.Prediction[i]))
	}
	return at, state.Weighted, d
}

func solved(t *testing.T, fit model.Datafit, g model.Penalty) *cd.Solution {
	t.Helper()
	best, err := cd.New(fit).Solve(t.Context(), g, cd.Options{Tol: 1e-14})
	if err != nil {
		t.Fatal(err)
	}
	return best
}

// TestBoundIsTheSumOfItsTerms checks that, at points whose distance from the solution is well above rounding and
// for systems solved to convergence, a bound equals the formula in bound.go, whose terms are written out on dense
// matrices. Linear, curved and almost purely curved criteria make different terms dominate.
func TestBoundIsTheSumOfItsTerms(t *testing.T) {
	tried := 0
	for seed := range uint64(36) {
		r := oracle.NewRandom(5100 + seed)
		curved, net := seed%2 == 1, seed%3 == 0
		q := r.Problem(oracle.Shape{N: 40, P: 4, Mean: r.Pick(0, 1), Weights: seed%4 < 2})
		q.Intercept = seed%4 == 1 || seed%4 == 2
		of := "squared"
		if curved {
			of = []string{"logistic", "Poisson"}[seed/2%2]
		}
		fit, top := drawn(t, r, q, of)
		q.Uniform(math.Exp(math.Log(0.05 * top)))
		if net {
			q.Ridge = math.Exp(math.Log(r.Pick(0.01, 1) * q.Norm2(0) / q.Total()))
		}
		strengths := 1
		if net {
			strengths = 2
		}
		at, weights, d := beside(t, r, q, fit, of, solved(t, fit, scalar(t, q)), 1e-7)
		if len(at.Support) < 2 {
			continue
		}
		for _, bent := range []float64{0, 1, 1e4} {
			outer := implicit.Outer{Slope: make([]float64, len(q.Y)), Curvature: make([]float64, len(q.Y))}
			for i := range q.Y {
				outer.Slope[i], outer.Curvature[i] = r.Normal(), bent*r.Float64()
			}
			w := writeOut(q, at, weights, d, outer)
			h, rho := w.norm(t, w.h), w.norm(t, w.rho)
			right := [][]float64{make([]float64, len(w.b)), make([]float64, len(w.b))} // one right-hand side for each strength
			for k, b := range w.b {
				right[0][k], right[1][k] = math.Copysign(q.Alpha[0], b), q.Ridge*b
			}
			want, motion := 0.0, 0.0
			for i, b := range right[:strengths] {
				kv, energy, largest := w.bend(w.solve(t, b))
				term := w.norm(t, kv) * rho
				if curved {
					term += largest * math.Hypot(h, w.shift) * rho
				}
				if i == 1 { // the ridge's right-hand side is inexact as well
					trace, least := 0.0, math.Inf(1)
					for k := range w.b {
						unit := make([]float64, len(w.b))
						unit[k] = 1
						trace += w.a[k][k] * w.solve(t, unit)[k]
						least = math.Min(least, w.a[k][k])
					}
					term += math.Min(1, q.Ridge*1.01*trace/least) * h * rho
				}
				want, motion = math.Max(want, term), math.Sqrt(energy)
			}
			got, err := implicit.New(fit).Solve(t.Context(), scalar(t, q), at, outer, implicit.Options{Tol: 1e-13, Prove: true})
			if err != nil {
				t.Fatal(err)
			}
			tried++
			name := fmt.Sprintf("seed %d, curvature %g, support %d", seed, bent, len(w.b))
			if got.Bound != implicit.Proved || math.Abs(got.ErrorBound-want) > 2e-3*want+1e-11 {
				t.Errorf("%s: %s, %s, bound %.6g, its terms %.6g", name, got.Status, got.Bound, got.ErrorBound, want)
			}
			if !net && (curved || bent > 0) && math.Abs(got.MotionNorm-motion) > 1e-6*motion {
				t.Errorf("%s: predictions move by %g, and by %g", name, got.MotionNorm, motion)
			}
			if net {
				continue
			}
			// One λ per column: computed from v = A⁻¹h, with the column of the largest norm.
			v, drift := w.solve(t, w.h), w.solve(t, w.rho)
			kv, _, _ := w.bend(drift)
			off := w.norm(t, kv)
			if curved {
				_, _, largest := w.bend(v)
				all := 0.0
				for _, s := range d {
					all += s
				}
				off += (largest + w.shift*math.Sqrt(q.Total()/all)) * rho
			}
			most := 0.0
			for k := range w.b {
				unit := make([]float64, len(w.b))
				unit[k] = q.Alpha[0]
				most = math.Max(most, w.norm(t, unit))
			}
			each, err := implicit.New(fit).Solve(t.Context(), weighted(t, q), at, outer, implicit.Options{Tol: 1e-13, Prove: true})
			if err != nil {
				t.Fatal(err)
			}
			if want := most * off; math.Abs(each.ErrorBound-want) > 2e-3*want+1e-11 {
				t.Errorf("%s, one λ per column: bound %.6g, its terms %.6g", name, each.ErrorBound, want)
			}
		}
	}
	if tried < 60 {
		t.Errorf("%d points tried", tried)
	}
}

// TestBoundByARidgeIsTheSumOfItsTerms checks that without a factor, and if conjugate gradients take few
// iterations, only the ridge bounds how close a system is to a singular one.
func TestBoundByARidgeIsTheSumOfItsTerms(t *testing.T) {
	for seed := range uint64(6) {
		r := oracle.NewRandom(5200 + seed)
		q := r.Problem(oracle.Shape{N: 60, P: 24, Weights: seed%2 == 0})
		q.Intercept = seed%3 == 0
		fit, top := drawn(t, r, q, "squared")
		q.Uniform(math.Exp(math.Log(1e-3 * top)))
		q.Ridge = math.Exp(math.Log(30 * q.Norm2(0) / q.Total()))
		at, weights, d := beside(t, r, q, fit, "squared", solved(t, fit, scalar(t, q)), 1e-3)
		for _, bent := range []float64{0, 1e6} {
			outer := implicit.Outer{Slope: make([]float64, len(q.Y)), Curvature: make([]float64, len(q.Y))}
			for i := range q.Y {
				outer.Slope[i], outer.Curvature[i] = r.Normal(), bent*r.Float64()
			}
			w := writeOut(q, at, weights, d, outer)
			w.jacobi = true
			most := 0.0
			for k := range w.b {
				most = math.Max(most, w.a[k][k])
			}
			mu, rho, v := q.Ridge/most, w.norm(t, w.rho), w.solve(t, w.h)
			kv, _, _ := w.bend(w.solve(t, w.rho))
			strengths, coefs, scaled := make([]float64, len(w.b)), make([]float64, len(w.b)), 0.0
			for k, b := range w.b {
				strengths[k], coefs[k] = q.Alpha[0], q.Ridge*b
				scaled += q.Ridge / w.a[k][k] * v[k] * v[k]
			}
			drift := w.norm(t, kv) / mu
			want := math.Max(w.norm(t, strengths)*drift, w.norm(t, coefs)*drift+math.Sqrt(q.Ridge*scaled)*rho/mu)
			h, err := implicit.NewIterative(fit).Solve(t.Context(), scalar(t, q), at, outer, implicit.Options{Tol: 1e-7})
			if err != nil {
				t.Fatal(err)
			}
			if h.Bound != implicit.Estimated || math.Abs(h.ErrorBound-want) > 0.01*want {
				t.Errorf("seed %d, curvature %g: %d iterations, %s, bound %.6g, its terms %.6g", seed, bent, h.Iterations, h.Status, h.ErrorBound, want)
			}
		}
	}
}
