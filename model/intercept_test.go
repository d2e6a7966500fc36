package model_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
)

// rare returns n rows of one column, of which one in every rows is of class +1 and has a larger mean.
func rare(n, every int) *oracle.Problem {
	r := oracle.NewRandom(uint64(every))
	q := r.Problem(oracle.Shape{N: n, P: 1, Density: 1})
	q.Intercept = true
	for i := range q.Y {
		q.Y[i] = -1
		q.X[i][0] = r.Normal()
		if i%every == every/2 {
			q.Y[i] = 1
			q.X[i][0] += 1.5
		}
	}
	return q
}

// TestInterceptIsTheBest checks that the best intercept is found from any start, for predictions of any size: all
// alike, nearly all saturated, or so extreme that there is no curvature at all.
func TestInterceptIsTheBest(t *testing.T) {
	for _, every := range []int{2, 10, 400} {
		q := rare(2000, every)
		q.Uniform(0)
		fit := fixture.Logistic(t, q, true)
		s := model.NewState(fit)
		for _, beta := range []float64{0, 1, -3, 30, 1e3, -1e5, 1e8} {
			best := q.LogisticObjective([]float64{beta}, q.LogisticIntercept([]float64{beta}))
			for _, start := range []float64{0, -7, 1e3, -1e7} {
				s.Intercept = start
				fit.Fit([]int32{0}, []float64{beta}, s)
				if d := math.Abs(s.Loss - best); !(d <= 1e-13*best) {
					t.Errorf("one in %d, β = %g from b = %g: loss %.17g, the best %.17g", every, beta, start, s.Loss, best)
				}
			}
		}
	}
}

// counted is a loss that counts how often its slopes are computed.
type counted struct {
	loss.SquaredHinge
	slopes *int
}

// Slope implements [loss.Loss].
func (c counted) Slope(k *kernels.Set, y, m, out []float64) {
	*c.slopes++
	c.SquaredHinge.Slope(k, y, m, out)
}

// TestInterceptsAreFoundInFewSteps checks that the search for an intercept ends if the best one lies between two
// adjacent floating-point numbers, at neither of which the residuals sum to zero.
func TestInterceptsAreFoundInFewSteps(t *testing.T) {
	most := 0
	for seed := range uint64(40) {
		r := oracle.NewRandom(seed)
		q := &oracle.Problem{Alpha: []float64{0}, Intercept: true}
		for range 200 { // rows just short of their margin: between adjacent floating-point intercepts the sum changes by more than rounding
			y := -1.0
			if r.Intn(3) == 0 {
				y = 1
			}
			q.X, q.Y = append(q.X, []float64{y*(1-0.001*r.Float64()) - 3}), append(q.Y, y)
		}
		slopes := 0
		fit, err := model.NewRowwise(fixture.View(t, q, true), q.Y, counted{slopes: &slopes})
		if err != nil {
			t.Fatal(err)
		}
		s := model.NewState(fit)
		for _, beta := range []float64{1, 0.999, 0.9985} {
			slopes = 0
			fit.Fit([]int32{0}, []float64{beta}, s)
			most = max(most, slopes)
		}
	}
	if most > 20 {
		t.Errorf("the residuals are computed %d times for one intercept", most)
	}
}

// TestInterceptBalancesRowsFarOut checks that the residuals sum to zero up to rounding relative to their own size
// rather than to 1, because gradients depend on the difference.
func TestInterceptBalancesRowsFarOut(t *testing.T) {
	q := &oracle.Problem{Alpha: []float64{0}, Intercept: true}
	for i := range 21 {
		y := float64(1 - 2*(i%2))
		q.X, q.Y = append(q.X, []float64{y + 0.01*float64(i)}), append(q.Y, y)
	}
	fit := fixture.Logistic(t, q, true)
	for _, beta := range []float64{1, 10, 20, 30, 100, 600} {
		s := model.NewState(fit)
		fit.Fit([]int32{0}, []float64{beta}, s)
		var sum, size float64
		for i, m := range s.Prediction {
			r := q.Y[i] / (1 + math.Exp(q.Y[i]*m))
			sum, size = sum+r, size+math.Abs(r)
		}
		if rounding := 4 * 0x1p-52 * beta; !(math.Abs(sum) <= rounding*size) {
			t.Errorf("β = %g: residuals sum to %.3g of their size, rounding makes %.3g", beta, sum/size, rounding)
		}
	}
}

// TestResidualsBalance checks that the residuals of a state sum to zero up to rounding, whichever class has more
// rows.
func TestResidualsBalance(t *testing.T) {
	for _, more := range []float64{-1, 1} {
		q := &oracle.Problem{Alpha: []float64{0}, Intercept: true}
		for i := range 21 {
			y := more * float64(1-2*(i%2))
			q.X, q.Y = append(q.X, []float64{y + 0.01*float64(i)}), append(q.Y, y)
		}
		fit := fixture.Logistic(t, q, true)
		for _, beta := range []float64{0.1, 3, 30, 100, 600} {
			s := model.NewState(fit)
			fit.Fit([]int32{0}, []float64{beta}, s)
			var sum oracle.Sum
			size := 0.0
			for _, r := range s.Weighted {
				sum.Add(r)
				size += math.Abs(r)
			}
			if off := math.Abs(sum.Value()); !(off <= 0x1p-50*size) {
				t.Errorf("class %g has more rows, β = %g: residuals of size %g sum to %.3g", more, beta, size, off)
			}
		}
	}
}

// TestPointwiseIsTheStateOfARow checks that slope and curvature of a single row are those of the state, with and
// without an offset.
func TestPointwiseIsTheStateOfARow(t *testing.T) {
	q := rare(40, 3)
	offset := make([]float64, len(q.Y))
	for i := range offset {
		offset[i] = float64(i%5) - 2
	}
	for _, o := range [][]float64{nil, offset} {
		fit, err := model.NewOffset(fixture.View(t, q, true), q.Y, o, loss.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		at := fit.(*model.Rowwise).Pointwise()
		s := model.NewState(fit)
		fit.Fit([]int32{0}, []float64{0.8}, s)
		for i, m := range s.Prediction {
			linear := m
			if o != nil {
				linear -= o[i]
			}
			p := 1 / (1 + math.Exp(q.Y[i]*m))
			slope, curvature := at(i, linear)
			if math.Abs(slope-q.Y[i]*p) > 1e-14 || math.Abs(curvature-p*(1-p)) > 1e-14 {
				t.Errorf("row %d, offset %v: slope %g and curvature %g, want %g and %g", i, o != nil, slope, curvature, q.Y[i]*p, p*(1-p))
			}
		}
	}
}

// BenchmarkIntercept measures finding the intercept after a change of β, with 10 of 20,000 rows in one class.
func BenchmarkIntercept(b *testing.B) {
	q := rare(20_000, 2000)
	fit := fixture.Logistic(b, q, true)
	s := model.NewState(fit)
	for _, beta := range []float64{0, 1, 5, 100} {
		b.Run(fmt.Sprint("β=", beta), func(b *testing.B) {
			for b.Loop() {
				fit.Fit([]int32{0}, []float64{0.8 * beta}, s)
				fit.Fit([]int32{0}, []float64{beta}, s)
			}
		})
	}
}

// TestTargetsThatTheNullModelFits checks that objective and residuals are exactly 0 if the null model fits all
// training rows up to rounding, as with the squared loss; held-out rows are exempt. They are positive if targets
// differ by more.
func TestTargetsThatTheNullModelFits(t *testing.T) {
	r := oracle.NewRandom(5)
	for _, l := range []loss.Loss{loss.Poisson{}, loss.Gamma{}, loss.Tweedie{}, loss.Tweedie{Power: 1.1}} {
		for trial := range 200 {
			n := 1 + trial%40
			q := r.Problem(oracle.Shape{N: n, P: 2, Density: 1})
			q.Intercept = trial%3 > 0
			scale := 30 * r.Normal()
			if !q.Intercept {
				scale = 0
			}
			var offset []float64
			if trial%2 == 1 {
				offset = make([]float64, n)
			}
			for i := range q.Y {
				q.Y[i] = math.Exp(scale)
				if offset != nil {
					offset[i] = 3 * r.Normal()
					q.Y[i] = math.Exp(scale + offset[i])
				}
			}
			held := trial%5 == 0 && n > 3
			if held {
				q.Weights = make([]float64, n)
				for i := range q.Weights {
					q.Weights[i] = float64(i % 3)
				}
				q.Y[0] = 2 * q.Y[0]
			}
			view := fixture.View(t, q, true)
			fit, err := model.NewOffset(view, q.Y, offset, l)
			if err != nil {
				t.Fatal(err)
			}
			s := model.NewState(fit)
			fit.Fit(nil, nil, s)
			if fit.Null() != 0 || s.Loss != 0 || view.Kernels().MaxAbs(s.Weighted) != 0 || held && s.Residual[0] == 0 {
				t.Errorf("%s %+v of %d rows of e^%g, intercept %t, offset %t: P₀ = %g, loss %g, residuals %g", l.Name(), l, n, scale, q.Intercept, offset != nil, fit.Null(), s.Loss, s.Weighted)
			}
			if n < 4 {
				continue
			}
			q.Y[1] *= 1 + 1e-10
			if fit, err = model.NewOffset(view, q.Y, offset, l); err != nil {
				t.Fatal(err)
			}
			if fit.Fit(nil, nil, s); !(fit.Null() > 0 && s.Loss > 0) {
				t.Errorf("%s: targets that differ: P₀ = %g, loss %g", l.Name(), fit.Null(), s.Loss)
			}
		}
	}
}

// TestACommonOffsetMovesTheInterceptAlone checks that a common offset changes nothing but the intercept. On the
// steep side of an exponential a Newton step is bounded by a constant, so that plain Newton steps would number a
// thousand.
func TestACommonOffsetMovesTheInterceptAlone(t *testing.T) {
	r := oracle.NewRandom(5)
	q := r.Problem(oracle.Shape{N: 30, P: 2, Density: 1})
	q.Intercept = true
	q.Uniform(0)
	for _, l := range append(loss.All(), loss.Loss(loss.Tweedie{Power: 1.1}), loss.Loss(loss.Tweedie{Power: 1.9})) {
		y := make([]float64, len(q.Y))
		for i := range y {
			switch y[i] = q.Y[i]; {
			case l.Link().Classes():
				y[i] = float64(2*(i%3/2) - 1)
			case l.Link() == loss.Log:
				y[i] = math.Abs(y[i]) + 0.1
			}
		}
		fitted := func(offset float64) *model.State {
			offsets := make([]float64, len(y))
			for i := range offsets {
				offsets[i] = offset
			}
			fit, err := model.NewOffset(fixture.View(t, q, true), y, offsets, l)
			if err != nil {
				t.Fatalf("%s, offset %g: %v", l.Name(), offset, err)
			}
			return model.NewNull(fit).State
		}
		want := fitted(0)
		for _, offset := range []float64{99, -99, 250, -250, 999, -999} {
			got := fitted(offset)
			if !(math.Abs(got.Loss-want.Loss) <= 1e-10*want.Loss) || !(math.Abs(got.Intercept+offset-want.Intercept) <= 1e-6) {
				t.Errorf("%s, offset %g: loss %g at %g, want %g at %g", l.Name(), offset, got.Loss, got.Intercept+offset, want.Loss, want.Intercept)
			}
		}
	}
}
