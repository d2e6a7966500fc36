package model_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// best returns the b within bounds that maximises zb − α|b| − α₂b²/2, for α₂ > 0.
func best(z, alpha, ridge, lower, upper float64) float64 {
	b := math.Copysign(math.Max(0, math.Abs(z)-alpha), z) / ridge
	return math.Max(lower, math.Min(upper, b))
}

// conjugate returns the maximum of zb − α|b| − α₂b²/2 within bounds.
func conjugate(z, alpha, ridge, lower, upper float64) float64 {
	if ridge > 0 {
		b := best(z, alpha, ridge, lower, upper)
		return z*b - alpha*math.Abs(b) - ridge*b*b/2
	}
	most := 0.0
	for _, b := range []float64{lower, upper} {
		if over := math.Copysign(1, b)*z - alpha; over > 1e-12*alpha {
			most = math.Max(most, over*math.Abs(b))
		}
	}
	return most
}

// TestBoundedGapIsTheDirectGap checks the gap of a penalty in a box, a sum of non-negative terms, against primal
// minus dual with conjugates within bounds, at the scale that was chosen. This gap is at most the gap at the scale
// that makes columns without a bound feasible. The KKT residual is checked against the prox.
func TestBoundedGapIsTheDirectGap(t *testing.T) {
	finite, closer := 0, 0
	for seed := range oracle.Cases(200) {
		r := oracle.NewRandom(100 + seed)
		q := r.Problem(oracle.Shape{N: 5 + r.Intn(20), P: 2 + r.Intn(12), Density: 1, Mean: 1, Weights: seed%3 == 1})
		q.Intercept = seed%2 == 0
		q.Uniform(q.AlphaMax() * r.Pick(0.5, 0.1))
		if seed%4 > 1 {
			q.Ridge = r.Pick(0.1, 1)
		}
		p := len(q.Alpha)
		lower, upper, beta := make([]float64, p), make([]float64, p), make([]float64, p)
		for j := range p {
			lower[j], upper[j] = r.Pick(0, -0.3, math.Inf(-1)), r.Pick(0, 0.3, 1, math.Inf(1))
			beta[j] = math.Max(lower[j], math.Min(upper[j], r.Pick(0, 0.2, 3)*r.Normal()))
		}
		box, err := model.NewBox(lower, upper)
		if err != nil {
			t.Fatal(err)
		}
		fit := fixture.Squared(t, q, true)
		g, err := fixture.Penalty(t, q).Within(box)
		if err != nil {
			t.Fatal(err)
		}
		d, s, intercept := dual(fit, g, beta)
		z := q.Correlations(q.Residual(beta, intercept))
		c, loss, kkt := 1.0, s.Loss, 0.0
		for j := range z { // the scale that makes columns without a bound feasible
			a := z[j] - q.Ridge*beta[j]
			if a > 0 && math.IsInf(upper[j], 1) || a < 0 && math.IsInf(lower[j], -1) {
				c = math.Min(c, q.Alpha[j]/math.Abs(a))
			}
		}
		atScale := func(c float64) float64 {
			rest := 1 - c
			sum := rest * rest * loss
			for j, b := range beta {
				alpha, a := q.Alpha[j], z[j]-q.Ridge*b
				sum += alpha*math.Abs(b) + conjugate(c*a, alpha, 0, lower[j], upper[j]) - c*a*b + rest*rest*q.Ridge*b*b/2
			}
			return sum
		}
		scaled, unscaled, primal := atScale(d.Scale()), 0.0, loss
		if most := atScale(c); !(scaled <= most*(1+1e-12)) || d.Scale() > c*(1+1e-12) {
			t.Errorf("seed %d: gap %.15g at the scale %g, %.15g at %g", seed, scaled, d.Scale(), most, c)
		}
		if d.Scale() < c*(1-1e-12) {
			closer++
		}
		for j, b := range beta {
			alpha, a := q.Alpha[j], z[j]-q.Ridge*b
			g := alpha * math.Abs(b)
			primal += g + q.Ridge*b*b/2
			unscaled += g + q.Ridge*b*b/2 - z[j]*b
			if q.Ridge > 0 {
				unscaled += conjugate(z[j], alpha, q.Ridge, lower[j], upper[j])
			}
			if norm := fit.View().Norm(j); norm > 0 {
				l := norm * norm / fit.View().Total()
				moved := b - best(l*b+z[j], alpha, l+q.Ridge, lower[j], upper[j])
				kkt = math.Max(kkt, l*math.Abs(moved))
			}
			if (c*a > alpha && !math.IsInf(upper[j], 1)) || (c*a < -alpha && !math.IsInf(lower[j], -1)) {
				finite++
			}
		}
		want := scaled
		if q.Ridge > 0 {
			want = math.Min(scaled, unscaled)
		}
		if got := fit.Gap(d, s); !(math.Abs(got-want) <= 1e-12*(primal+want)) {
			t.Errorf("seed %d: gap %.15g, by definition %.15g (scaled %g, unscaled %g)", seed, got, want, scaled, unscaled)
		}
		if got := s.Loss + d.Value(); math.Abs(got-primal) > 1e-13*primal {
			t.Errorf("seed %d: objective %.15g, want %.15g", seed, got, primal)
		}
		if !(math.Abs(d.KKT()-kkt) <= 1e-12*(1+kkt)) {
			t.Errorf("seed %d: KKT %.15g, want %.15g", seed, d.KKT(), kkt)
		}
	}
	if finite == 0 || closer == 0 {
		t.Errorf("%d columns were held by their bounds, %d dual points within more constraints", finite, closer)
	}
}

// TestRowwiseGapIsTheDirectGap checks for every loss the gap against ℓ + ℓ* + ρ̃m at the dual point that sums to
// zero, and the objective of the null model against its definition.
func TestRowwiseGapIsTheDirectGap(t *testing.T) {
	for _, w := range fixture.Losses() {
		if _, squared := w.Loss.(loss.Squared); squared {
			continue
		}
		for seed := range oracle.Cases(40) {
			r := oracle.NewRandom(seed)
			q := r.Problem(oracle.Shape{N: 8 + r.Intn(10), P: 4, Density: 1, Weights: seed%3 == 1})
			q.Intercept = seed%2 == 0
			for i := range q.Y {
				if q.Y[i] = w.Defined.Draw(r); w.Check(-1) == nil && i < 2 {
					q.Y[i] = float64(2*i - 1)
				}
			}
			fit, err := model.NewRowwise(fixture.View(t, q, true), q.Y, w.Loss)
			if outcome.KindOf(err) == outcome.SingleClass {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", w.Name(), err)
			}
			q.Uniform(0.05)
			g := fixture.Penalty(t, q)
			for _, size := range []float64{0, 0.3, 1} {
				cols, coef := []int32{0, 2}, []float64{size * r.Normal(), size * r.Normal()}
				s := model.NewState(fit)
				fit.Fit(cols, coef, s)
				d := model.NewDual(fit, g, s)
				for j := range 4 {
					b := 0.0
					if j%2 == 0 {
						b = coef[j/2]
					}
					d.Add(j, fit.View().Dot(j, s.Weighted)/fit.View().Total(), b, fit.View().Norm(j))
				}
				c := d.Scale()
				var value, lack, sum, magnitude, total float64
				for i, y := range q.Y {
					weight := 1.0
					if q.Weights != nil {
						weight = q.Weights[i]
					}
					m, rho := s.Prediction[i], c*s.Residual[i]
					total += weight
					value += weight * w.Defined.Value(y, m)
					lack += weight * (w.Defined.Value(y, m) + w.Defined.Conjugate(y, rho) + rho*m)
					sum += weight * s.Residual[i]
					magnitude += weight * math.Abs(s.Residual[i])
					if slope := w.Defined.Slope(y, m); math.Abs(s.Residual[i]-slope) > 1e-7*(1+math.Abs(slope)) {
						t.Errorf("%s, seed %d: residual %g, slope %g", w.Name(), seed, s.Residual[i], slope)
					}
				}
				if q.Intercept && math.Abs(sum) > 1e-14*(1+magnitude) {
					t.Errorf("%s, seed %d: residuals sum to %g", w.Name(), seed, sum)
				}
				value, lack = value/total, lack/total
				if math.Abs(s.Loss-value) > 1e-13*(1+value) || size == 0 && math.Abs(fit.Null()-value) > 1e-12*(1+value) {
					t.Errorf("%s, seed %d: loss %.15g, null %.15g, want %.15g", w.Name(), seed, s.Loss, fit.Null(), value)
				}
				checkCurvatures(t, w, fit, q, s)
				for k, j := range cols {
					z := fit.View().Dot(int(j), s.Weighted) / fit.View().Total()
					lack += q.Alpha[j]*math.Abs(coef[k]) - c*z*coef[k]
				}
				if got := fit.Gap(&d, s); !(math.Abs(got-lack) <= 1e-12*(1+value)) {
					t.Errorf("%s, seed %d: gap %.15g, by definition %.15g", w.Name(), seed, got, lack)
				}
			}
		}
	}
}

// checkCurvatures compares the curvatures of a datafit's rows with those of the loss, times the row weights.
func checkCurvatures(t *testing.T, w fixture.Loss, fit *model.Rowwise, q *oracle.Problem, s *model.State) {
	t.Helper()
	k, n := fit.View().Kernels(), len(q.Y)
	curvature, third, damped, want := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	fit.Curvature(s, curvature)
	fit.Third(s, third)
	const share = 0.25
	fit.Dampen(s, share, damped)
	bound, smooth := w.Smoothness()
	concordance, _ := w.Concordance()
	for what, of := range map[string]struct {
		got  []float64
		loss func(out []float64)
	}{
		"curvature": {curvature, func(out []float64) { fit.Loss().Curvature(k, q.Y, s.Prediction, out) }},
		"third":     {third, func(out []float64) { fit.Loss().Third(k, q.Y, s.Prediction, out) }},
		"damped": {damped, func(out []float64) {
			if l, ok := fit.Loss().(loss.Majorised); ok {
				l.Majorant(k, q.Y, s.Prediction, out)
			} else {
				for i, r := range s.Residual {
					if out[i] = concordance * math.Abs(r); smooth {
						out[i] = bound
					}
				}
			}
			for i := range out {
				out[i] *= share
			}
		}},
	} {
		of.loss(want)
		for i, v := range want {
			if q.Weights != nil {
				v *= q.Weights[i]
			}
			if !(math.Abs(of.got[i]-v) <= 1e-15*math.Abs(v)) {
				t.Errorf("%s: %s of row %d is %g, want %g", w.Name(), what, i, of.got[i], v)
			}
		}
	}
}

// TestDatafitsAreRefused checks that invalid data are refused with an error that names the fault, and valid data
// accepted.
func TestDatafitsAreRefused(t *testing.T) {
	q := oracle.NewRandom(1).Problem(oracle.Shape{N: 4, P: 2, Density: 1})
	view := fixture.View(t, q, true)
	for _, l := range []loss.Loss{loss.Squared{}, loss.Huber{Delta: 1}} {
		for _, test := range []struct {
			y, offset []float64
			want      outcome.Kind
		}{
			{q.Y, nil, ""},
			{q.Y, q.Y, ""},
			{q.Y, q.Y[:3], outcome.Shape},
			{q.Y[:3], nil, outcome.Shape},
			{q.Y, []float64{0, 0, math.NaN(), 0}, outcome.NonFinite},
			{q.Y, []float64{0, 0, math.Inf(1), 0}, outcome.NonFinite},
			{[]float64{0, math.Inf(-1), 0, 0}, nil, outcome.NonFinite},
		} {
			_, err := model.NewOffset(view, test.y, test.offset, l)
			if test.want == "" && err != nil || test.want != "" && outcome.KindOf(err) != test.want {
				t.Errorf("%s of %v with offset %v: %v", l.Name(), test.y, test.offset, err)
			}
		}
	}
	large := []float64{1e300, -1e300, 1e300, -1e300}
	if _, err := model.NewRowwise(view, large, loss.Huber{Delta: 1e300}); outcome.KindOf(err) != outcome.NonFinite {
		t.Errorf("a loss that overflows: %v", err)
	}
	for _, l := range [][2]float64{{math.NaN(), 1}, {1, math.NaN()}, {800, 1}, {1, 800}, {math.Inf(1), 1}} {
		_, mcp := model.NewMCP(l[0], l[1])
		_, scad := model.NewSCAD(l[0], l[1])
		if outcome.KindOf(mcp) != outcome.BadParameter || outcome.KindOf(scad) != outcome.BadParameter {
			t.Errorf("λ = %v: %v, %v", l, mcp, scad)
		}
	}
}

// TestProxSlopes checks the derivatives of both non-convex proxes, in z and in the λ's, against differences away
// from kinks, and that the derivative in z is exactly 0 where the coefficient stays at 0.
func TestProxSlopes(t *testing.T) {
	r := oracle.NewRandom(5)
	const h = 1e-6
	for range 2000 {
		l0, l1, step, z := 0.5*r.Normal(), 1.2+r.Float64(), 0.2+r.Float64(), 6*r.Normal()
		mcp, err := model.NewMCP(l0, l1)
		if err != nil {
			t.Fatal(err)
		}
		scad, err := model.NewSCAD(l0, l1)
		if err != nil {
			t.Fatal(err)
		}
		for name, g := range map[string]model.Separable{"mcp": mcp, "scad": scad} {
			b, slope := g.Prox(0, z, step)
			up, above := g.Prox(0, z+h, step)
			down, below := g.Prox(0, z-h, step)
			if (b == 0) != (slope == 0) {
				t.Errorf("%s: prox(%g) = %g with slope %g", name, z, b, slope)
			}
			if above != below {
				continue // a kink lies between
			}
			if want := (up - down) / (2 * h); math.Abs(slope-want) > 1e-6*(1+want) {
				t.Errorf("%s: ∂prox(%g)/∂z = %g, differences %g", name, z, slope, want)
			}
			for i := range 2 {
				at := func(d float64) (float64, float64) {
					l := [2]float64{l0, l1}
					l[i] += d
					if name == "mcp" {
						g, err := model.NewMCP(l[0], l[1])
						if err != nil {
							t.Fatal(err)
						}
						return g.Prox(0, z, step)
					}
					g, err := model.NewSCAD(l[0], l[1])
					if err != nil {
						t.Fatal(err)
					}
					return g.Prox(0, z, step)
				}
				up, above := at(h)
				down, below := at(-h)
				if math.Abs(above-below) > 1e-3 {
					continue // a kink lies between
				}
				got := g.(interface {
					Sensitivity(j, i int, z, step float64) float64
				}).Sensitivity(0, i, z, step)
				if want := (up - down) / (2 * h); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
					t.Errorf("%s: ∂prox(%g)/∂λ%d = %g, differences %g", name, z, i+1, got, want)
				}
			}
		}
	}
}

// TestClearanceIsThatOfTheNearestKink checks that the clearance is the least over zero entries with an ℓ1
// strength; other entries do not limit it.
func TestClearanceIsThatOfTheNearestKink(t *testing.T) {
	g, err := model.SparseGroup([]float64{1.3}, 0.4, 0)
	if err != nil {
		t.Fatal(err)
	}
	b, z := []float64{0.5, 0, 0}, []float64{9, 0.1, -0.3}
	if got, want := g.Clearance(0, b, z), 1-0.3/0.4; math.Abs(got-want) > 1e-15 {
		t.Errorf("%g, want %g", got, want)
	}
	smooth, err := model.GroupLasso([]float64{1.3}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := smooth.Clearance(0, b, z); got != 1 {
		t.Errorf("without ℓ1 terms %g, want 1", got)
	}
}

// TestSoftmaxIsItsDefinition checks the losses of rows, also for extreme scores, the weighted null model, and the
// divergence as Σ KL(T‖P) of probabilities.
func TestSoftmaxIsItsDefinition(t *testing.T) {
	r := oracle.NewRandom(3)
	for range 300 {
		m := make([]float64, 2+r.Intn(4))
		for k := range m {
			m[k] = r.Pick(1, 30, 900) * r.Normal()
		}
		own := r.Intn(len(m))
		top, sum := math.Inf(-1), 0.0
		for _, v := range m {
			top = math.Max(top, v)
		}
		for _, v := range m {
			sum += math.Exp(v - top)
		}
		if got, want := model.RowLoss(m, own), math.Log(sum)+top-m[own]; !(math.Abs(got-want) <= 1e-13*(1+want)) {
			t.Errorf("ℓ(%v, %d) = %g, want %g", m, own, got, want)
		}
	}
	for seed := range uint64(20) {
		q := oracle.NewRandom(seed).Problem(oracle.Shape{N: 12, P: 3, Density: 1, Weights: seed%2 == 1})
		q.Intercept = seed%4 > 1
		class := make([]int32, 12)
		for i := range class {
			class[i] = int32(i % 3)
		}
		fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		weight := func(i int) float64 {
			if q.Weights == nil {
				return 1
			}
			return q.Weights[i]
		}
		var total float64
		var share [3]float64
		for i, c := range class {
			total += weight(i)
			share[c] += weight(i)
		}
		null := math.Log(3)
		if q.Intercept {
			null = 0
			for _, s := range share {
				null -= s / total * math.Log(s/total)
			}
		}
		if math.Abs(fit.Null()-null) > 1e-14 {
			t.Errorf("seed %d: null model %.16g, want %.16g", seed, fit.Null(), null)
		}
		at, b := fit.NewPoint(), []float64{0.3, -0.1, 0.4, 1, 0.2, -0.8}
		fit.Fit([]int32{0, 2}, b, at)
		for i := range class {
			for k := range 3 { // scores relative to the first row's, which eliminates the intercept
				want := (q.X[i][0]-q.X[0][0])*b[k] + (q.X[i][2]-q.X[0][2])*b[3+k]
				if got := at.Prediction[3*i+k] - at.Prediction[k]; math.Abs(got-want) > 1e-13 {
					t.Errorf("seed %d: score %d of row %d is %g above row 0's, want %g", seed, k, i, got, want)
				}
			}
		}
		var lost float64
		var excess [3]float64
		for i := range class {
			var sum float64
			for k := range 3 {
				sum += math.Exp(at.Prediction[3*i+k])
			}
			for k := range 3 {
				excess[k] += weight(i) * math.Exp(at.Prediction[3*i+k]) / sum
			}
		}
		for k := range 3 {
			if q.Intercept && math.Abs(excess[k]-share[k]) > 1e-12*total {
				t.Errorf("seed %d: probabilities of class %d sum to %.15g, its rows to %.15g: the intercepts are not the best", seed, k, excess[k], share[k])
			}
		}
		for i, own := range class {
			lost += weight(i) * model.RowLoss(at.Prediction[3*i:3*i+3], int(own)) / total
		}
		if math.Abs(at.Loss-lost) > 1e-13*lost {
			t.Errorf("seed %d: loss %.16g, of its scores %.16g", seed, at.Loss, lost)
		}
		for _, c := range []float64{0, 0.3, 0.99} {
			var want float64
			for i, own := range class {
				if weight(i) == 0 {
					continue
				}
				var sum float64
				for k := range 3 {
					sum += math.Exp(at.Prediction[3*i+k])
				}
				for k := range 3 {
					p, y := math.Exp(at.Prediction[3*i+k])/sum, 0.0
					if int32(k) == own {
						y = 1
					}
					tilted := y - c*at.Weighted[3*i+k]/weight(i) // the dual point is c(Y − T̃)
					if tilted > 0 {
						want += weight(i) * tilted * math.Log(tilted/p)
					}
				}
			}
			if got := fit.Divergence(at, c); !(math.Abs(got-want/total) <= 1e-12) {
				t.Errorf("seed %d, c %g: divergence %.15g, want %.15g", seed, c, got, want/total)
			}
		}
	}
}

// TestShiftedSystemsAreSolved checks that A·x = b is solved with Σx = 0 if A has the vector of ones in its null
// space.
func TestShiftedSystemsAreSolved(t *testing.T) {
	r := oracle.NewRandom(4)
	for range 100 {
		q := 2 + r.Intn(5)
		a, b := make([]float64, q*q), make([]float64, q)
		for range 2 * q { // A is the Laplacian of a random graph
			i, k, w := r.Intn(q), r.Intn(q), r.Float64()+0.1
			if i != k {
				a[i*q+i] += w
				a[k*q+k] += w
				a[i*q+k] -= w
				a[k*q+i] -= w
				b[i] += w
				b[k] -= w
			}
		}
		x, matrix := append([]float64(nil), b...), append([]float64(nil), a...)
		model.SolveShifted(matrix, x)
		var sum float64
		for i := range q {
			sum += x[i]
			var got float64
			for k := range q {
				got += a[i*q+k] * x[k]
			}
			if math.Abs(got-b[i]) > 1e-6 { // the graph may be disconnected: its further null vectors are regularised by rounding only
				t.Errorf("%v·%v has %g at %d, want %g", a, x, got, i, b[i])
			}
		}
		if math.Abs(sum) > 1e-6 {
			t.Errorf("Σx = %g", sum)
		}
	}
}

// TestShiftedSystemOfNothingHasNoSolutionButZero checks the zero matrix, which saturated probabilities produce.
func TestShiftedSystemOfNothingHasNoSolutionButZero(t *testing.T) {
	x := make([]float64, 3)
	model.SolveShifted(make([]float64, 9), x)
	if !slices.Equal(x, make([]float64, 3)) {
		t.Errorf("0·x = 0 is solved by %v", x)
	}
}

// TestInterceptOfClassesIsTheBest checks the intercept for classes. If the best intercepts form an interval, its
// midpoint is returned; the end of a row's hinge on the side without loss does not count as an end of the
// interval.
func TestInterceptOfClassesIsTheBest(t *testing.T) {
	r := oracle.NewRandom(16)
	for range 300 {
		n := 2 + r.Intn(8)
		x, err := sparse.NewDense(n, 1, make([]float64, n))
		if err != nil {
			t.Fatal(err)
		}
		y, m := make([]float64, n), make([]float64, n)
		for i := range y {
			y[i], m[i] = float64(1-2*(i%2)), math.Round(3*r.Normal())/2
		}
		f, err := model.NewVectors(fixture.Kernels(t), x, y, model.VectorsOptions{Intercept: true, Classes: true})
		if err != nil {
			t.Fatal(err)
		}
		value := func(b float64) (sum float64) {
			for i := range y {
				sum += math.Max(0, 1-y[i]*(m[i]+b))
			}
			return sum
		}
		b, _ := f.Intercept(m, 1, 0)
		least, first, last := math.Inf(1), 0.0, 0.0
		for i := range y {
			at := y[i] - m[i]
			switch v := value(at); {
			case v < least-1e-12:
				least, first, last = v, at, at
			case v <= least+1e-12:
				first, last = math.Min(first, at), math.Max(last, at)
			}
		}
		if math.Abs(b-(first+last)/2) > 1e-12 {
			t.Errorf("y %v, m %v: b = %g with %g; the best are %g to %g with %g", y, m, b, value(b), first, last, least)
		}
	}
}

// TestInterceptOfVectorsIsTheBest checks that no kink of the piecewise linear objective has a lower value, and
// that the midpoint is returned if the best intercepts form an interval.
func TestInterceptOfVectorsIsTheBest(t *testing.T) {
	r := oracle.NewRandom(6)
	for range 200 {
		n := 2 + r.Intn(9)
		x, err := sparse.NewDense(n, 1, make([]float64, n))
		if err != nil {
			t.Fatal(err)
		}
		y, m, weights := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range y {
			y[i], m[i], weights[i] = math.Round(3*r.Normal()), math.Round(2*r.Normal()), r.Pick(0, 1, 1, 2)
		}
		weights[n-1] = 1
		f, err := model.NewVectors(fixture.Kernels(t), x, y, model.VectorsOptions{Intercept: true, Weights: weights})
		if err != nil {
			t.Fatal(err)
		}
		const c, epsilon = 1, 0.25
		value := func(b float64) (sum float64) {
			for i := range y {
				sum += c * weights[i] * math.Max(0, math.Abs(y[i]-m[i]-b)-epsilon)
			}
			return sum
		}
		b, got := f.Intercept(m, c, epsilon)
		if math.Abs(value(b)-got) > 1e-12 {
			t.Errorf("value %g at %g, want %g", got, b, value(b))
		}
		least, first, last := math.Inf(1), 0.0, 0.0
		for i := range y {
			if weights[i] == 0 {
				continue
			}
			for _, at := range []float64{y[i] - m[i] - epsilon, y[i] - m[i] + epsilon} {
				switch v := value(at); {
				case v < least-1e-12:
					least, first, last = v, at, at
				case v <= least+1e-12:
					first, last = math.Min(first, at), math.Max(last, at)
				}
			}
		}
		if got > least+1e-12 || math.Abs(b-(first+last)/2) > 1e-12 {
			t.Errorf("b = %g with %g; the best are %g to %g with %g", b, got, first, last, least)
		}
	}
}

// TestNullModelUnderAnOffset checks that the null model has the least loss of offset plus intercept, found by
// golden-section search.
func TestNullModelUnderAnOffset(t *testing.T) {
	r := oracle.NewRandom(21)
	q := r.Problem(oracle.Shape{N: 30, P: 2}).Classes(r)
	offset := make([]float64, 30)
	for i := range offset {
		offset[i] = r.Normal()
	}
	for _, intercept := range []bool{false, true} {
		q.Intercept = intercept
		fit, err := model.NewOffset(fixture.View(t, q, true), q.Y, offset, loss.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		at := func(b float64) float64 {
			var sum oracle.Sum
			for i, y := range q.Y {
				sum.Add(math.Log1p(math.Exp(-y*(offset[i]+b))) / 30)
			}
			return sum.Value()
		}
		want := at(0)
		if intercept {
			for lower, upper := -5., 5.; upper-lower > 1e-9; {
				a, b := lower+0.382*(upper-lower), lower+0.618*(upper-lower)
				if at(a) < at(b) {
					upper = b
				} else {
					lower = a
				}
				want = at(a)
			}
		}
		if math.Abs(fit.Null()-want) > 1e-12 {
			t.Errorf("intercept %t: %.15g, want %.15g", intercept, fit.Null(), want)
		}
	}
}
