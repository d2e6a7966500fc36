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
)

// TestClearanceOfSingleCoefficients checks that the clearance is 1 − |z|/α at 0, and 1 elsewhere.
func TestClearanceOfSingleCoefficients(t *testing.T) {
	mcp, err := model.NewMCP(math.Log(2), 1)
	if err != nil {
		t.Fatal(err)
	}
	g := model.Elementwise{Of: mcp}
	for _, c := range []struct{ b, z, want float64 }{{0, 0.5, 0.75}, {0, -1, 0.5}, {0, 3, -0.5}, {1, 0.5, 1}, {-1, 9, 1}} {
		if got := g.Clearance(0, []float64{c.b}, []float64{c.z}); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("b %g, z %g: %g, want %g", c.b, c.z, got, c.want)
		}
	}
}

// TestKinksAreWhereThereIsAnL1Term checks that a penalty has a kink at 0 if it has an ℓ1 term of any size, and
// nowhere otherwise.
func TestKinksAreWhereThereIsAnL1Term(t *testing.T) {
	whole, err := model.GroupLasso(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	weak, err := model.SparseGroup(nil, 0.3, 0)
	if err != nil {
		t.Fatal(err)
	}
	strong, err := model.SparseGroup(nil, 0.3, 3)
	if err != nil {
		t.Fatal(err)
	}
	if whole.Kinked(0, 0) || !weak.Kinked(0, 1) || !strong.Kinked(0, 1) {
		t.Errorf("kinks: %t, %t, %t", whole.Kinked(0, 0), weak.Kinked(0, 1), strong.Kinked(0, 1))
	}
}

// TestRowsAreThoseListed checks that the listed rows are selected, with their targets and offsets.
func TestRowsAreThoseListed(t *testing.T) {
	r := oracle.NewRandom(31)
	q := r.Problem(oracle.Shape{N: 8, P: 2}).Classes(r)
	offset := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}
	list := []int32{1, 2, 4, 5, 7}
	part := &oracle.Problem{Alpha: q.Alpha}
	var own []float64
	for _, i := range list {
		part.X, part.Y, own = append(part.X, q.X[i]), append(part.Y, q.Y[i]), append(own, offset[i])
	}
	part.Y[0], part.Y[1], q.Y[1], q.Y[2] = 1, -1, 1, -1
	for _, o := range [][2][]float64{{nil, nil}, {offset, own}} {
		whole, err := model.NewOffset(fixture.View(t, q, true), q.Y, o[0], loss.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		view := fixture.View(t, part, true)
		got, err := whole.(model.Curved).Rows(view, list)
		if err != nil {
			t.Fatal(err)
		}
		want, err := model.NewOffset(view, part.Y, o[1], loss.Logistic{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Target(), part.Y) || got.Null() != want.Null() {
			t.Errorf("targets %v of %v, null model %g, want %g", got.Target(), part.Y, got.Null(), want.Null())
		}
	}
}

// TestCloneOfANullModel checks that a clone is equal and shares no memory.
func TestCloneOfANullModel(t *testing.T) {
	r := oracle.NewRandom(32)
	q := r.Problem(oracle.Shape{N: 8, P: 3, Weights: true, Mean: 1})
	q.Intercept = true
	null := model.NewNull(fixture.Squared(t, q, true))
	own := null.Clone()
	if !slices.Equal(own.State.Residual, null.State.Residual) || own.State.Intercept != null.State.Intercept || own.State.Loss != null.State.Loss || own.AlphaMax() != null.AlphaMax() {
		t.Error("the clone is another null model")
	}
	alpha, first := null.AlphaMax(), null.State.Residual[0]
	clear(own.Correlation)
	clear(own.State.Residual)
	if null.AlphaMax() != alpha || null.State.Residual[0] != first {
		t.Error("a change of the clone changes the original")
	}
}

// foreign is a datafit of another package.
type foreign struct{ model.Datafit }

// TestDatafitsOfBlocks checks that a datafit of another package is refused, because it does not provide the
// divergence.
func TestDatafitsOfBlocks(t *testing.T) {
	fit := fixture.Squared(t, oracle.NewRandom(33).Problem(oracle.Shape{N: 5, P: 2}), true)
	if _, err := model.OneScore(fit); err != nil {
		t.Error(err)
	}
	if _, err := model.OneScore(foreign{fit}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("of another package: %v", err)
	}
}

// TestSoftmaxMetricIsItsCurvature checks that the metric of a row is w(diag p − ppᵀ) with p the softmax of its
// scores, and that the concordance is 1: a third derivative is at most the metric times the range of the
// direction.
func TestSoftmaxMetricIsItsCurvature(t *testing.T) {
	q := oracle.NewRandom(34).Problem(oracle.Shape{N: 9, P: 2, Weights: true})
	class := make([]int32, 9)
	weights := make([]float64, 9)
	for i := range class {
		class[i], weights[i] = int32(i%3), float64(1+i%4)
	}
	q.Weights = weights
	fit, err := model.NewSoftmax(fixture.View(t, q, true), class, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	at, m := fit.NewPoint(), new(model.Metric)
	fit.Fit([]int32{0, 1}, []float64{0.3, -1, 0.2, 0.9, 0.1, -0.4}, at)
	fit.Metric(at, m)
	if m.Count != 3 || !slices.Equal(m.Weight, weights) {
		t.Fatalf("%d scores, weights %v", m.Count, m.Weight)
	}
	for i := range class {
		var sum float64
		for k := range 3 {
			sum += math.Exp(at.Prediction[3*i+k])
		}
		for k := range 3 {
			if want := math.Exp(at.Prediction[3*i+k]) / sum; math.Abs(m.Share[3*i+k]-want) > 1e-14 {
				t.Errorf("row %d: share %g, want %g", i, m.Share[3*i+k], want)
			}
		}
	}
	if c, ok := fit.Concordance(); !ok || c != 1 {
		t.Errorf("concordance %g, %t", c, ok)
	}
}

// TestGroupAtZeroLacksWhatPullsBeyondItsStrength checks that the violation of a group at zero is z(1 − w/‖z‖) if
// ‖z‖ > w, and 0 otherwise.
func TestGroupAtZeroLacksWhatPullsBeyondItsStrength(t *testing.T) {
	g, err := model.GroupLasso([]float64{2}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, z := range [][]float64{{3, -4}, {1, 1}} {
		out, size := make([]float64, 2), math.Hypot(z[0], z[1])
		g.Lack(0, []float64{0, 0}, z, out)
		for k, v := range z {
			if want := v * math.Max(0, 1-2/size); math.Abs(out[k]-want) > 1e-15*size {
				t.Errorf("of %v: %v", z, out)
			}
		}
	}
}
