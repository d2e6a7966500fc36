package bilevel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// combination is a model together with a criterion.
type combination struct {
	model, penalty, criterion string
	intercept                 bool
}

// combinations lists every model with every criterion that applies to it.
func combinations() (all []combination) {
	for _, penalty := range []string{"lasso", "enet", "wlasso"} {
		for _, intercept := range []bool{false, true} {
			for _, c := range []string{"mse", "logistic", "smoothed_hinge"} {
				all = append(all, combination{"squared", penalty, c, intercept}, combination{"logreg", penalty, c, intercept})
			}
			all = append(all, combination{"squared", penalty, "sure", intercept})
		}
	}
	for _, c := range []string{"mse", "logistic", "smoothed_hinge"} {
		all = append(all, combination{"svm", "", c, false})
	}
	return append(all, combination{"multiclass", "lasso", "cross_entropy", false}, combination{"multiclass", "lasso", "cross_entropy", true})
}

// evaluator is a bilevel problem together with the discrete state at its last evaluation, within which its
// derivative is continuous: the signed supports, and the pieces of the smoothed hinge.
type evaluator struct {
	evaluate func(context.Context, search.Request) (Report, error)
	pieces   func() string
}

// drawCombination draws a well-conditioned problem and a λ.
func drawCombination(t *testing.T, r *oracle.Random, c combination) (evaluator, []float64) {
	t.Helper()
	k := fixture.Kernels(t)
	n, p := 60+r.Intn(30), 4+r.Intn(8)
	q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.5, 1), Correlation: r.Pick(0, 0.4), Mean: r.Pick(0, 0.5)})
	mean := q.Mean(-1)
	for i, y := range q.Y {
		switch {
		case c.model == "multiclass":
			q.Y[i] = float64(r.Intn(2))
			if y > mean {
				q.Y[i] += float64(1 + r.Intn(2))
			}
			q.Y[i] = math.Min(q.Y[i], 2)
		case c.criterion == "logistic" || c.criterion == "smoothed_hinge" || c.model != "squared":
			q.Y[i] = math.Copysign(1, y-mean+r.Normal())
		}
	}
	x := fixture.Matrix(t, q, true)
	folds, err := HoldOut(nil, n, 3, true, r.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	spec := Spec{
		Folds: folds, Intercept: c.intercept, Threads: 1,
		Solver: cd.Options{Tol: 1e-14, Polish: true},
		Criterion: map[string]criterion.Criterion{
			"mse": criterion.MeanSquaredError{}, "logistic": criterion.Of(loss.Logistic{}), "smoothed_hinge": criterion.Of(loss.SmoothedHinge{}),
		}[c.criterion],
		Penalty: map[string]func([]float64) (model.Penalty, error){
			"lasso":  func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
			"enet":   func(l []float64) (model.Penalty, error) { return model.ElasticNet(l[0], l[1]) },
			"wlasso": model.WeightedLasso,
		}[c.penalty],
	}
	view, err := sparse.NewView(k, x, nil, c.intercept)
	if err != nil {
		t.Fatal(err)
	}
	var top float64 // λmax, on all rows
	switch c.model {
	case "logreg":
		spec.Datafit = func(view *sparse.View, y []float64) (model.Datafit, error) { return model.NewLogistic(view, y) }
		fit, err := spec.Datafit(view, q.Y)
		if err != nil {
			t.Fatal(err)
		}
		top = math.Log(model.AlphaMax(fit))
	case "squared":
		fit, err := model.NewSquared(view, q.Y)
		if err != nil {
			t.Fatal(err)
		}
		top = math.Log(model.AlphaMax(fit))
	}
	lambda := []float64{top - 1 - 2*r.Float64()}
	switch c.penalty {
	case "enet":
		lambda = append(lambda, top-1-r.Float64())
	case "wlasso":
		for range p - 1 {
			lambda = append(lambda, top-1-2*r.Float64())
		}
	}
	switch {
	case c.model == "multiclass":
		m, err := NewMulticlass(k, x, q.Y, spec)
		if err != nil {
			t.Fatal(err)
		}
		return evaluator{m.Evaluate, func() string {
			var s strings.Builder
			for k := range m.classes {
				l := inProcess[*classLane](t, m.runner, LaneID{Class: k})
				fmt.Fprint(&s, signed(l.support, l.coef))
			}
			return s.String()
		}}, []float64{-3 - r.Float64(), -3 - r.Float64(), -3 - r.Float64()}
	case c.model == "svm":
		problem, err := NewSVM(k, sparse.Transpose(x), q.Y, spec)
		if err != nil {
			t.Fatal(err)
		}
		lambda := []float64{-5 + 4*r.Float64()}
		l := inProcess[*svmLane](t, problem.runner, LaneID{})
		return evaluator{problem.Evaluate, func() string {
			return fmt.Sprint(l.last.Free, l.last.Bound, l.corners())
		}}, lambda
	case c.criterion == "sure":
		spec.Risk = &Risk{Information: SURE(n, 0.5), Sigma: 0.5, Seed: r.Uint64()}
		s, err := New(k, x, q.Y, spec)
		if err != nil {
			t.Fatal(err)
		}
		return evaluator{s.Evaluate, func() string {
			a, b := inProcess[*penalisedLane](t, s.runner, LaneID{}).last, inProcess[*penalisedLane](t, s.runner, LaneID{Fold: 1}).last
			return fmt.Sprint(signed(a.Support, a.Coef), signed(b.Support, b.Coef))
		}}, lambda
	default:
		problem, err := New(k, x, q.Y, spec)
		if err != nil {
			t.Fatal(err)
		}
		l := inProcess[*penalisedLane](t, problem.runner, LaneID{})
		return evaluator{problem.Evaluate, func() string {
			return fmt.Sprint(signed(l.last.Support, l.last.Coef), l.corners())
		}}, lambda
	}
}

// inProcess returns a lane of a problem that runs in this process.
func inProcess[L lane](t *testing.T, r Runner, id LaneID) (none L) {
	t.Helper()
	l, err := r.(*Lanes).slot(id)
	if err != nil {
		t.Fatal(err)
		return none
	}
	return l.lane.(L)
}

// signed lists the columns of a support, counted from 1, with their signs.
func signed(support []int32, coef []float64) []int32 {
	out := slices.Clone(support)
	for k, b := range coef {
		out[k] = int32(math.Copysign(float64(out[k]+1), b))
	}
	return out
}

// corners returns the piece of the smoothed hinge on which each held-out row is.
func (j *foldCriterion) corners() string {
	if j.criterion.Name() != "smoothed_hinge" {
		return ""
	}
	var s strings.Builder
	for _, i := range j.rows {
		fmt.Fprint(&s, j.curvature[i] != 0, j.slope[i] != 0)
	}
	return s.String()
}

// TestGradientsAreTheLimitOfDifferences checks hypergradients against central differences of the value, solved
// anew at each λ. Where no support changes between λ − h and λ + h, the differences approach the hypergradient
// with the square of h: they are within 1e-6 at h = 1e-4, and a hundred times closer at 1e-3 than at 1e-2.
//
// Rounding limits the relative accuracy of the value to about 1e-14, so a slope below 1e-3 of the value is
// compared with a tolerance of 1e-9 of the value, and a ratio is taken only where the error at 1e-2 exceeds 1e-6
// of the slope. The ratio also requires that the third derivative dominates: where the ratio of the errors at 1e-2
// and 5e-3 is not near 4 either, the fifth derivative matters and the ratio says nothing. Such coordinates are
// counted, and must be few.
func TestGradientsAreTheLimitOfDifferences(t *testing.T) {
	all := combinations()
	var compared, ratios, beyond, flat, redrawn, unpolished int
	for seed := range oracle.Cases(len(all)) {
		c := all[seed%uint64(len(all))]
		r := oracle.NewRandom(9000 + seed)
		done := false
		for attempt := 0; !done && attempt < 60; attempt++ {
			e, lambda := drawCombination(t, r, c)
			blunt := false
			at := func(i int, by float64) (Report, string) {
				moved := slices.Clone(lambda)
				if i >= 0 {
					moved[i] += by
				}
				// A polish is one Newton step, which for a curved loss can leave an error of 1e-9 of the value: too much for h =
				// 1e-4. The next solve starts from its end.
				var report Report
				for range 4 {
					var err error
					if report, err = e.evaluate(context.Background(), search.Request{LogLambda: moved}); err != nil {
						t.Fatal(err)
					}
					if report.KKT <= 1e-13 {
						break
					}
				}
				blunt = blunt || report.KKT > 1e-12
				return report, e.pieces()
			}
			here, pieces := at(-1, 0)
			if here.Status == outcome.Flat || here.InjectivityMargin < 1e-6 {
				redrawn++
				continue
			}
			coordinates := make([]int, 0, 4)
			for i, g := range here.Gradient {
				if g != 0 && len(coordinates) < 4 {
					coordinates = append(coordinates, i)
				}
			}
			// The error of the difference quotient with step h, and whether the discrete state is the same at both ends.
			smooth := true
			quotient := func(i int, h float64) float64 {
				up, above := at(i, h)
				down, below := at(i, -h)
				smooth = smooth && above == pieces && below == pieces
				return (up.Value - down.Value) / (2 * h)
			}
			type row struct{ got, coarse, half, middle, fine float64 }
			var rows []row
			for _, i := range coordinates {
				if smooth {
					rows = append(rows, row{here.Gradient[i], quotient(i, 1e-2), quotient(i, 5e-3), quotient(i, 1e-3), quotient(i, 1e-4)})
				}
			}
			if !smooth || len(rows) == 0 {
				redrawn++
				continue
			}
			if blunt {
				unpolished++
				continue
			}
			done = true
			if here.Status != outcome.Converged {
				t.Errorf("seed %d, %+v: %s", seed, c, here.Status)
			}
			for k, d := range rows {
				i := coordinates[k]
				compared++
				floor := 1e-3 * math.Abs(here.Value)
				if !(math.Abs(d.got-d.fine) <= 1e-6*max(math.Abs(d.fine), floor)) {
					t.Errorf("seed %d, %+v, λ%d: gradient %.12g, differences %.12g", seed, c, i+1, d.got, d.fine)
				}
				if math.Abs(d.fine) < floor {
					flat++
					continue
				}
				a, b := math.Abs(d.got-d.coarse), math.Abs(d.got-d.middle)
				if a < 1e-6*math.Abs(d.fine) {
					flat++
					continue
				}
				if four := a / math.Abs(d.got-d.half); !(math.Abs(four-4) <= 0.5) {
					beyond++
					continue
				}
				ratios++
				if ratio := a / b; ratio < 50 || ratio > 200 {
					t.Errorf("seed %d, %+v, λ%d: errors %.2e and %.2e at steps 1e-2 and 1e-3, slope %g", seed, c, i+1, a, b, d.got)
				}
			}
		}
		if !done {
			t.Errorf("seed %d, %+v: no problem without a knot", seed, c)
		}
	}
	t.Logf("%d slopes, %d ratios; %d too flat for one, %d with a fifth derivative; %d problems with a knot or no slope drawn again, %d not solved to working precision", compared, ratios, flat, beyond, redrawn, unpolished)
	if 20*beyond > ratios+20 || 2*flat > compared || 50*unpolished > compared+50 {
		t.Errorf("of %d slopes %d were too flat for a ratio, %d had a fifth derivative", compared, flat, beyond)
	}
}
