package model_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestSoftmaxSlopesBalance checks that the slopes of a softmax sum to zero over the rows for every class, up to
// the rounding of probabilities, however extreme the scores are: only then is their dual point feasible for a
// model with intercepts.
func TestSoftmaxSlopesBalance(t *testing.T) {
	q := &oracle.Problem{Alpha: []float64{0, 0}, Intercept: true}
	var class []int32
	for i := range 22 {
		c := i % 3
		angle := 2*math.Pi*float64(c)/3 + 0.03*float64(i)
		q.X, q.Y = append(q.X, []float64{math.Cos(angle), math.Sin(angle)}), append(q.Y, float64(c))
		class = append(class, int32(c))
	}
	fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []float64{0.5, 10, 30, 100} {
		b := make([]float64, 6)
		for k := range 3 {
			angle := 2 * math.Pi * float64(k) / 3
			b[k], b[3+k] = size*math.Cos(angle), size*math.Sin(angle)
		}
		at := fit.NewPoint()
		fit.Fit([]int32{0, 1}, b, at)
		for k := range 3 {
			var sum oracle.Sum
			for i := range class {
				sum.Add(at.Weighted[3*i+k])
			}
			if off := math.Abs(sum.Value()); !(off <= 0x1p-51*float64(len(class))) {
				t.Errorf("coefficients of %g: the slopes of class %d sum to %.3g", size, k, off)
			}
		}
	}
}

// TestDivergenceFromImpossibleClasses checks dual points that give a class some probability, by rounding of the
// intercepts, although the scores make the class impossible in double precision. The divergence must use the
// logarithm of the class's probability, which does not underflow.
func TestDivergenceFromImpossibleClasses(t *testing.T) {
	q := oracle.NewRandom(8).Problem(oracle.Shape{N: 30, P: 2, Density: 1})
	q.Intercept = true
	class := make([]int32, 30)
	for i := range class {
		class[i] = int32(i % 3)
	}
	fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	impossible := 0
	for _, size := range []float64{1, 200, 300} {
		at := fit.NewPoint()
		fit.Fit([]int32{0, 1}, []float64{size, 0, -size, -size / 2, size, 0}, at)
		for _, c := range []float64{0.5, 1} {
			var want float64
			for i, own := range class {
				m := at.Prediction[3*i:][:3]
				top := max(m[0], m[1], m[2])
				sum := math.Exp(m[0]-top) + math.Exp(m[1]-top) + math.Exp(m[2]-top)
				for k, v := range m {
					tilted := -c * at.Weighted[3*i+k]
					if int32(k) == own {
						tilted++
					}
					if tilted > 0 {
						want += tilted * (math.Log(tilted) - (v - top - math.Log(sum))) / 30
					}
					if v-top < -750 && tilted > 0 && int32(k) != own {
						impossible++
					}
				}
			}
			if got := fit.Divergence(at, c); !(math.Abs(got-want) <= 1e-12*(1+want)) {
				t.Errorf("coefficients of %g, c %g: a divergence of %g, want %g", size, c, got, want)
			}
		}
	}
	if impossible == 0 {
		t.Error("no dual point has an impossible class")
	}
}

// TestSoftmaxFitsFromAnywhere checks that the fit depends on the coefficients alone: starting intercepts from
// which Newton steps diverge, as after too long a trial step, are discarded.
func TestSoftmaxFitsFromAnywhere(t *testing.T) {
	q := oracle.NewRandom(3).Problem(oracle.Shape{N: 12, P: 2, Density: 1})
	q.Intercept = true
	class := make([]int32, 12)
	for i := range class {
		class[i] = int32(i % 3)
	}
	fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	b := []float64{3, -2, 1, 0.5, 4, -1}
	want := fit.NewPoint()
	fit.Fit([]int32{0, 1}, b, want)
	for _, far := range []float64{1, 40, 1e3, 13335, 1e6, 1e12, math.Inf(1), math.NaN()} {
		at := fit.NewPoint()
		copy(at.Intercept, []float64{far, -far / 2, -far / 2})
		fit.Fit([]int32{0, 1}, b, at)
		if !(math.Abs(at.Loss-want.Loss) <= 1e-14*want.Loss) {
			t.Errorf("from intercepts of %g a loss of %.17g, want %.17g", far, at.Loss, want.Loss)
		}
	}
}

// TestNullScoresAreCorrelations checks that the correlations of the null model are XᵀU/N of its slopes U, for each
// column and score.
func TestNullScoresAreCorrelations(t *testing.T) {
	q := oracle.NewRandom(2).Problem(oracle.Shape{N: 10, P: 4, Density: 1, Weights: true})
	class := make([]int32, 10)
	for i := range class {
		class[i] = int32(i % 3)
	}
	fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	at, z := model.NullScores(fit)
	for j := range 4 {
		for k := range 3 {
			var sum oracle.Sum
			for i, row := range q.X {
				sum.AddProduct(row[j], at.Weighted[3*i+k])
			}
			if want := sum.Value() / q.Total(); math.Abs(z[3*j+k]-want) > 1e-14 {
				t.Errorf("column %d, score %d: %.15g, want %.15g", j, k, z[3*j+k], want)
			}
		}
	}
}

// TestDirectionsAlongAFaceKeepTheSum checks that AlongFace projects a direction onto a face of the simplex:
// entries off the face become 0, and a constant is subtracted on the face so that the entries sum to 0.
func TestDirectionsAlongAFaceKeepTheSum(t *testing.T) {
	r := oracle.NewRandom(5)
	for range 100 {
		at, w := make([]float64, 7), make([]float64, 7)
		for j := range at {
			at[j], w[j] = r.Pick(0, r.Float64()+0.01), r.Normal()
		}
		at[r.Intn(7)] = 1
		before, sum, taken := append([]float64(nil), w...), 0.0, math.NaN()
		model.AlongFace(at, w)
		for j, v := range w {
			sum += v
			switch {
			case at[j] == 0 && v != 0:
				t.Errorf("at %v: %v leaves the face", at, w)
			case at[j] > 0 && math.Abs(before[j]-v-taken) > 1e-14:
				t.Errorf("at %v: %v became %v", at, before, w)
			case at[j] > 0:
				taken = before[j] - v
			}
		}
		if math.Abs(sum) > 1e-14 {
			t.Errorf("at %v: %v sums to %g", at, w, sum)
		}
	}
}

// TestSimplexLackIsAboveTheProjection checks that SimplexLack is the difference of ½‖w‖² − v'w between w and the
// projection of v, by definition, also for large v.
func TestSimplexLackIsAboveTheProjection(t *testing.T) {
	r := oracle.NewRandom(6)
	for range 200 {
		v, w, sum := make([]float64, 6), make([]float64, 6), 0.0
		shift := r.Pick(0, 1e6)
		for j := range v {
			v[j], w[j] = shift+math.Round(1024*r.Normal())/1024, r.Pick(0, r.Float64())
			sum += w[j]
		}
		w[0], sum = w[0]+1, sum+1
		tau, want := model.SimplexThreshold(v), 0.0
		for j := range w {
			w[j] /= sum
			p := max(0, v[j]-tau)
			want += (w[j]-p)*(w[j]+p)/2 - (v[j]-shift)*(w[j]-p)
		}
		got := model.SimplexLack(v, w)
		if !(got >= 0 && math.Abs(got-want) <= 1e-9*(1+want)) {
			t.Errorf("v %v, w %v: %g, want %g", v, w, got, want)
		}
	}
}
