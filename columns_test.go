package pare_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// words draws data that look like text: rare columns, half of which repeat another column on
// the rows that always train, one of them negated, and differ from it on other rows only. Few
// columns influence the target.
func words(t *testing.T, n, p int) (x sparse.Matrix, y []float64, ids []int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(6, 6))
	ids = make([]int, n)
	for i := range ids {
		ids[i] = []int{0, -1, -1, -2}[i%4]
	}
	y = make([]float64, n)
	columns := make([][]float64, p)
	for j := range columns {
		columns[j] = make([]float64, n)
		for i := range n {
			if rng.Float64() < 0.15 {
				columns[j][i] = math.Round(4*rng.Float64()) / 2
			}
			if j >= p/2 && ids[i] == -1 {
				columns[j][i] = columns[j-p/2][i]
				if j == p-1 {
					columns[j][i] *= -1
				}
			}
			if j < 8 {
				y[i] += columns[j][i] * float64(8-j) * []float64{1, -1}[j%2]
			}
		}
	}
	for i := range y {
		y[i] += 2 * rng.NormFloat64()
	}
	colPtr, rows, values := []int64{0}, []int32(nil), []float64(nil)
	for _, column := range columns {
		for i, v := range column {
			if v != 0 {
				rows, values = append(rows, int32(i)), append(values, v)
			}
		}
		colPtr = append(colPtr, int64(len(rows)))
	}
	m, err := sparse.NewCSC(n, p, colPtr, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	return m, y, ids
}

// TestSelectColumns checks a choice of one λ per column: the criterion only decreases from the
// best common λ; rows that the choice does not depend on are predicted better than with the
// common λ; columns that are equal on the training rows share a λ, and nothing diverges on
// them.
func TestSelectColumns(t *testing.T) {
	const p = 120
	x, y, ids := words(t, 600, p)
	heldOut := pare.Validation{Criterion: pare.HoldOut, FoldIDs: ids}
	for _, c := range []struct {
		v pare.Validation
		pare.Config
	}{
		{heldOut, pare.Config{}},
		{heldOut, pare.Config{Standardize: true}},
		{heldOut, pare.Config{Positive: true}},
		{pare.Validation{Folds: 3}, pare.Config{}},
	} {
		v := c.v
		c.Model = pare.WeightedLasso
		s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: v}, c.Config)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Status.OK() && s.Status != outcome.Budget || len(s.Evaluations) > 15+12 || len(s.LogLambda) != p || s.Common == nil || s.Final.Status != outcome.Converged {
			t.Fatalf("%s after %d evaluations, refit %s", s.Status, len(s.Evaluations), s.Final.Status)
		}
		if !(s.Value < s.Common.Value) || !(s.Value < s.NullValue) {
			t.Errorf("value %g, with one λ %g, null %g", s.Value, s.Common.Value, s.NullValue)
		}
		for j, l := range s.LogLambda {
			if d := l - s.Common.LogLambda[0]; !(math.Abs(d) <= 2) {
				t.Errorf("λ %d is %g from the one for all", j, d)
			}
		}
		for _, e := range s.Evaluations {
			for _, g := range e.Gradient {
				if !(math.Abs(g) <= 10*s.NullValue) {
					t.Fatalf("slope %g", g)
				}
			}
		}
		if v.FoldIDs == nil {
			continue
		}
		if !s.Tested || !(s.Test < s.Common.Test) {
			t.Errorf("rows for testing: %g, with one λ %g", s.Test, s.Common.Test)
		}
		for j := range p / 2 {
			opposite := c.Positive && j == p/2-1 // no copies with β ≥ 0
			if s.LogLambda[j] != s.LogLambda[j+p/2] && !opposite {
				t.Errorf("copies %d and %d have λ's %g and %g", j, j+p/2, s.LogLambda[j], s.LogLambda[j+p/2])
			}
		}
	}
}

// TestSlopesOfColumns checks that the slopes used by the search over columns are the
// derivatives of its values, also for merged copies.
func TestSlopesOfColumns(t *testing.T) {
	x, y, ids := words(t, 120, 24)
	var seen []search.Evaluation
	o := pare.SelectOptions{
		Validation: pare.Validation{Criterion: pare.HoldOut, FoldIDs: ids},
		Progress:   func(e search.Evaluation) { seen = append(seen, e) }, Evaluations: 10, Schedule: search.Exact,
	}
	c := pare.Config{Model: pare.WeightedLasso, Tol: 1e-12}
	if _, err := pare.Select(context.Background(), x, y, o, c); err != nil {
		t.Fatal(err)
	}
	at := seen[len(seen)-1]
	if at.Gradient == nil {
		t.Fatal("no gradient")
	}
	// Move one λ together with that of its copy, and evaluate the point by a search that begins
	// there.
	checked := 0
	for j := range 12 {
		slope := at.Gradient[j] + at.Gradient[j+12]
		if slope == 0 {
			continue
		}
		value := func(h float64) float64 {
			// columns that are equal on the training rows share a coefficient: solve on their
			// means
			return meansValue(t, x, y, ids, at.LogLambda, j, h)
		}
		const h = 1e-5
		want := (value(h) - value(-h)) / (2 * h)
		if math.Abs(slope-want) > 1e-4*math.Abs(want)+1e-8 {
			t.Errorf("λ %d: slope %g, by differences %g", j, slope, want)
		}
		checked++
	}
	if checked < 3 {
		t.Errorf("%d slopes checked", checked)
	}
}

// meansValue evaluates the hold-out error on a matrix in which the copies made by words are
// replaced by their means, at λ with the λ of column j moved by h.
func meansValue(t *testing.T, x sparse.Matrix, y []float64, ids []int, logLambda []float64, j int, h float64) float64 {
	t.Helper()
	n, p := x.Dims()
	means := make([]float64, n*p/2)
	for k := range p {
		sign := 0.5
		if k == p-1 {
			sign = -0.5
		}
		rows, values := x.Column(k)
		for at, i := range rows {
			means[k%(p/2)*n+int(i)] += sign * values[at]
		}
	}
	merged, err := sparse.NewDense(n, p/2, means)
	if err != nil {
		t.Fatal(err)
	}
	l := slices.Clone(logLambda[:p/2])
	l[j] += h
	v := pare.Validation{Criterion: pare.HoldOut, FoldIDs: ids}
	for e, err := range pare.Validate(context.Background(), merged, y, [][]float64{l}, v, pare.Config{Model: pare.WeightedLasso, Tol: 1e-14}) {
		if err != nil {
			t.Fatal(err)
		}
		return e.Value
	}
	return math.NaN()
}
