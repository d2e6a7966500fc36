package model_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestCurvatureOfSaturatedRows checks σσ̄ = e^{−|m|}/(1 + e^{−|m|})² to a few ulp for margins of either sign, far
// beyond those at which p(1 − p) cancels or a floor of 1e-12 would show.
func TestCurvatureOfSaturatedRows(t *testing.T) {
	margins := []float64{0, 0.5, -3, 24, -26, 28, 37, -40, 120, -300, 690, -705}
	q := &oracle.Problem{Alpha: []float64{0}}
	for i, m := range margins {
		q.X, q.Y = append(q.X, []float64{m}), append(q.Y, 1-2*float64(i%2))
	}
	f := fixture.Logistic(t, q, true)
	s, d := model.NewState(f), make([]float64, len(margins))
	f.Fit([]int32{0}, []float64{1}, s)
	f.Curvature(s, d)
	for i, m := range margins {
		e := exponential(-math.Abs(m))
		one := new(big.Float).SetPrec(200).SetInt64(1)
		one.Add(one, e)
		want, _ := e.Quo(e, one.Mul(one, one)).Float64()
		if !(math.Abs(d[i]/want-1) <= 8*0x1p-52) {
			t.Errorf("margin %g: curvature %.17g, want %.17g", m, d[i], want)
		}
	}
}

// exponential returns e^x to 200 bits: the series at x/2¹², squared twelve times.
func exponential(x float64) *big.Float {
	number := func(v float64) *big.Float { return new(big.Float).SetPrec(260).SetFloat64(v) }
	small, term, sum := number(math.Ldexp(x, -12)), number(1), number(1)
	for k := 1; k < 60; k++ {
		term.Quo(term.Mul(term, small), number(float64(k)))
		sum.Add(sum, term)
	}
	for range 12 {
		sum.Mul(sum, sum)
	}
	return sum
}
