package bilevel

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
)

// TestCurvatureWithinAReach checks for every loss that curvatureWithin is an upper bound of the curvature at all
// predictions within the reach, also if the loss is treated as a caller's criterion, and that it is at most what
// the self-concordance of the loss allows.
func TestCurvatureWithinAReach(t *testing.T) {
	k, r := fixture.Kernels(t), oracle.NewRandom(61)
	for _, l := range loss.All() {
		if _, of := l.(loss.Squared); of {
			continue
		}
		for _, reach := range []float64{1e-9, 0.01, 0.2, 0.3, 1, 3, 20} {
			j := foldCriterion{k: k, criterion: criterion.Of(l)}
			for range 20 {
				m, y := 3*r.Normal(), math.Abs(r.Normal())
				switch l.(type) {
				case loss.Logistic, loss.SquaredHinge, loss.SmoothedHinge:
					y = math.Copysign(1, r.Normal())
				case loss.Poisson:
					y = math.Floor(y)
				}
				j.y, j.prediction, j.rows = append(j.y, y), append(j.prediction, m), append(j.rows, int32(len(j.rows)))
			}
			n := len(j.y)
			slope := make([]float64, n)
			j.curvature = make([]float64, n)
			j.callCriterion(j.rows, j.prediction, slope, j.curvature)
			largest, at, there := make([]float64, n), make([]float64, n), make([]float64, n)
			for step := -40.; step <= 40; step++ {
				for i, m := range j.prediction {
					at[i] = m + step/40*reach
				}
				j.callCriterion(j.rows, at, slope, there)
				for i, c := range there {
					largest[i] = max(largest[i], c)
				}
			}
			concordance, ok := l.Concordance()
			for _, foreign := range []bool{false, true} {
				j.foreign = foreign
				for i, got := range j.curvatureWithin(reach) {
					slack := 1e-12
					if reach < 1e-8 {
						slack = 2 * slightGrowth
					}
					if !(got >= largest[i]*(1-slack)) {
						t.Errorf("%T within %g, y %g, prediction %g, foreign %t: %g, somewhere it is %g", l, reach, j.y[i], j.prediction[i], foreign, got, largest[i])
					}
					if most := j.curvature[i] * math.Exp(concordance*reach); ok && concordance*reach < 1 && got > most*(1+1e-12) {
						t.Errorf("%T within %g: %g, more than %g", l, reach, got, most)
					}
				}
			}
		}
	}
	j := foldCriterion{k: k, criterion: criterion.Of(loss.Logistic{}), y: []float64{1, 1}, prediction: []float64{0, 0}, rows: []int32{1}, curvature: []float64{0, 0.25}}
	if got := j.curvatureWithin(math.Inf(1)); !math.IsInf(got[1], 1) || got[0] != 0 {
		t.Errorf("within an infinite reach %v", got)
	}
}

// TestRiskByDefinition checks that the value is Fit·Σr² + Weight·Σδr + Constant with r = m − y, and that slopes
// and curvatures are its derivatives.
func TestRiskByDefinition(t *testing.T) {
	p := riskPart{fit: 3, weight: 0.5, constant: 7, direction: []float64{2, -1, 4}}
	y, m := []float64{1, 2, 3}, []float64{2, 0, 5}
	slope, curvature := make([]float64, 3), make([]float64, 3)
	if got := p.Eval([]int32{0, 1, 2}, y, m, slope, curvature); got != 3*(1+4+4)+0.5*(2+2+8)+7 {
		t.Errorf("value %g", got)
	}
	for i, want := range []float64{6 + 1, -12 - 0.5, 12 + 2} {
		if slope[i] != want || curvature[i] != 6 {
			t.Errorf("row %d: slope %g, want %g; curvature %g", i, slope[i], want, curvature[i])
		}
	}
}
