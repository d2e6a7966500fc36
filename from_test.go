package pare_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// days draws noisy data of n rows from a fixed seed. A larger n adds rows after the same first ones, so that
// yesterday's rows are the first of today's.
func days(t *testing.T, model pare.Model, n, p int) (*sparse.Dense, []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 1))
	values, y := make([]float64, n*p), make([]float64, n)
	for i := range n {
		for j := range p {
			values[j*n+i] = rng.NormFloat64()
			if j%4 == 0 {
				y[i] += values[j*n+i] / float64(1+j)
			}
		}
		y[i] += 0.7 * rng.NormFloat64()
		if model == pare.Multiclass {
			y[i] = math.Round(min(max(y[i], -1), 1))
		}
	}
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		t.Fatal(err)
	}
	return x, targetsFor(model, y)
}

func totalWork(all []search.Evaluation) (work float64) {
	for _, e := range all {
		work += e.Work
	}
	return work
}

// TestSelectFrom checks that, when few rows are added, a selection that starts from yesterday's is as good as one from
// scratch, to a few hundredths of a standard error, and takes much less work.
func TestSelectFrom(t *testing.T) {
	const n, p = 400, 60
	for i, model := range []pare.Model{pare.Lasso, pare.ElasticNet, pare.Ridge, pare.Logistic, pare.Multiclass} {
		for j, standardize := range []bool{false, true} {
			if !oracle.Turn(i+j, 2) {
				continue
			}
			c := pare.Config{Model: model, Standardize: standardize}
			x, y := days(t, model, n, p)
			yesterday, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, c)
			if err != nil {
				t.Fatal(err)
			}
			for k, more := range []int{n / 100, n / 20, n / 5} {
				if !oracle.Turn(i+k, 3) {
					continue
				}
				x, y := days(t, model, n+more, p)
				warm, err := pare.Select(context.Background(), x, y, pare.SelectOptions{From: yesterday}, c)
				if err != nil {
					t.Fatal(err)
				}
				cold, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{FoldIDs: warm.Folds}}, c)
				if err != nil {
					t.Fatal(err)
				}
				apart := (warm.Value - cold.Value) / cold.StandardError
				share := totalWork(warm.Evaluations) / totalWork(cold.Evaluations)
				t.Logf("%s, %d more rows: %d evaluations of %d, %.2f of the work, %+.4f standard errors", model, more, len(warm.Evaluations), len(cold.Evaluations), share, apart)
				if warm.Final.Status != outcome.Converged || !warm.Status.OK() || !(apart <= 0.03) || !(share <= 0.6) {
					t.Errorf("%s, standardised %v, %d more rows: %s, %.2f of the work, %+.4f standard errors", model, standardize, more, warm.Status, share, apart)
				}
			}
		}
	}
}

// TestRefitBeginsAtTheEarlierOne checks that the refit starts from that of the earlier selection, with or without a
// second thread: on the same rows it has almost nothing left to do.
func TestRefitBeginsAtTheEarlierOne(t *testing.T) {
	ctx := t.Context()
	for _, model := range []pare.Model{pare.Lasso, pare.Logistic} {
		x, y := days(t, model, 400, 60)
		var works []float64
		for _, threads := range []int{1, 6} {
			c := pare.Config{Model: model, Threads: threads}
			first, err := pare.Select(ctx, x, y, pare.SelectOptions{}, c)
			if err != nil {
				t.Fatal(err)
			}
			second, err := pare.Select(ctx, x, y, pare.SelectOptions{From: first}, c)
			if err != nil {
				t.Fatal(err)
			}
			works = append(works, second.Final.Work)
			if second.Final.Status != outcome.Converged || !(second.Final.Work < 0.6*first.Final.Work) {
				t.Errorf("%s, %d threads: %s by %.0f, first by %.0f", model, threads, second.Final.Status, second.Final.Work, first.Final.Work)
			}
		}
		if works[0] != works[1] {
			t.Errorf("%s: the refit takes %v on one thread and on several", model, works)
		}
	}
}

// TestRowsStayInTheirFolds checks that rows of the earlier selection keep their folds if they come first, whatever the
// split, and that new rows keep the folds equal in size. The choice equals one with explicit fold ids, and a selection
// that starts from it behaves alike. Otherwise folds are dealt anew.
func TestRowsStayInTheirFolds(t *testing.T) {
	const n, p, more = 60, 8, 17
	ctx := context.Background()
	x, y := days(t, pare.Lasso, n, p)
	later, z := days(t, pare.Lasso, n+more, p)
	groups := make([]int, n+2*more)
	for i := range groups {
		groups[i] = i % 13
	}
	for name, v := range map[string]pare.Validation{
		"zero value": {},
		"in order":   {InOrder: true, Folds: 3},
		"stratified": {Split: pare.Stratified, Seed: 3},
		"hold-out":   {Criterion: pare.HoldOut, Seed: 1},
		"groups":     {Groups: groups},
	} {
		of := func(rows int) pare.Validation {
			v := v
			if v.Groups != nil {
				v.Groups = groups[:rows]
			}
			return v
		}
		first, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: of(n)}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		second, err := pare.Select(ctx, later, z, pare.SelectOptions{Validation: of(n + more), From: first}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		last, rest := days(t, pare.Lasso, n+2*more, p)
		third, err := pare.Select(ctx, last, rest, pare.SelectOptions{Validation: of(n + 2*more), From: second}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if len(third.Folds) != n+2*more || !slices.Equal(second.Folds[:n], first.Folds) || !slices.Equal(third.Folds[:n+more], second.Folds) {
			t.Errorf("%s: %v, then %v, then %v", name, first.Folds, second.Folds, third.Folds)
		}
		if v.Groups != nil {
			continue
		}
		size := map[int]int{}
		for _, fold := range third.Folds {
			size[fold]++
		}
		delete(size, -1) // not a fold of a hold-out
		for fold, rows := range size {
			if folds := max(5, len(size)); v.Folds == 0 && rows != (n+2*more)/folds && rows != (n+2*more)/folds+1 {
				t.Errorf("%s: fold %d has %d rows of %d", name, fold, rows, n+2*more)
			}
		}
	}
	anew, err := pare.Select(ctx, later, z, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	moved := slices.Clone(y)
	moved[7], moved[8] = moved[8], moved[7]
	other, err := pare.Select(ctx, x, moved, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]pare.SelectOptions{
		"other rows":   {From: other},
		"another seed": {From: same, Validation: pare.Validation{Seed: 4}},
	} {
		s, err := pare.Select(ctx, later, z, o, pare.Config{})
		if err != nil || (name == "other rows") != slices.Equal(s.Folds, anew.Folds) {
			t.Errorf("%s: %v: %v, anew %v", name, err, s.Folds, anew.Folds)
		}
	}
}

// TestFromTellsFoldsNothing checks that held-out rows do not leak into their folds: a selection that starts from an
// earlier one has the values that its folds have from scratch.
func TestFromTellsFoldsNothing(t *testing.T) {
	const n, p = 60, 200
	ctx := context.Background()
	x, y := days(t, pare.Lasso, n, p)
	yesterday, err := pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	x, y = days(t, pare.Lasso, n+6, p)
	today, err := pare.Select(ctx, x, y, pare.SelectOptions{From: yesterday}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range pare.Validate(ctx, x, y, [][]float64{today.LogLambda}, pare.Validation{FoldIDs: today.Folds}, pare.Config{}) {
		if err != nil || !(math.Abs(e.Value-today.Value) <= 0.03*e.StandardError) {
			t.Errorf("%v: %g, from nothing %g ± %g", err, today.Value, e.Value, e.StandardError)
		}
	}
}

// TestSelectFromElsewhere checks that a start from an unrelated selection gives the choice from scratch, or an error
// that says why it cannot.
func TestSelectFromElsewhere(t *testing.T) {
	x, y := days(t, pare.Lasso, 200, 20)
	ctx := context.Background()
	earlier, err := pare.Select(ctx, x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	noise := slices.Clone(y)
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	cold, err := pare.Select(ctx, x, noise, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	warm, err := pare.Select(ctx, x, noise, pare.SelectOptions{From: earlier}, pare.Config{})
	if err != nil || warm.Value > cold.Value+0.03*cold.StandardError {
		t.Errorf("of noise: %v, %g, from nothing %g", err, warm.Value, cold.Value)
	}
	narrow, _ := days(t, pare.Lasso, 200, 19)
	broken := *earlier
	fit := *earlier.Final
	fit.Support = slices.Repeat(fit.Support[:1], len(fit.Support))
	broken.Final = &fit
	ended := *earlier
	ended.Final = nil
	longer, long := *earlier, *earlier
	longer.LogLambda = []float64{-1, -2}
	long.Evaluations = slices.Clone(long.Evaluations)
	long.Evaluations[1].LogLambda = []float64{-1, -2}
	none, two := *earlier, *earlier
	none.Common = &search.Evaluation{}
	split := *earlier.Final
	split.PerClass = []*pare.Fitted{earlier.Final, earlier.Final}
	two.Final = &split
	for name, refused := range map[string]struct {
		x    sparse.Matrix
		o    pare.SelectOptions
		c    pare.Config
		kind outcome.Kind
	}{
		"fewer columns":    {narrow, pare.SelectOptions{From: earlier}, pare.Config{}, outcome.Shape},
		"another model":    {x, pare.SelectOptions{From: earlier}, pare.Config{Model: pare.Ridge}, outcome.Usage},
		"samples":          {x, pare.SelectOptions{From: earlier}, pare.Config{Model: pare.SVM}, outcome.Usage},
		"another search":   {x, pare.SelectOptions{From: earlier, Search: pare.Grid}, pare.Config{}, outcome.Usage},
		"no model":         {x, pare.SelectOptions{From: &ended}, pare.Config{}, outcome.Usage},
		"columns repeated": {x, pare.SelectOptions{From: &broken}, pare.Config{}, outcome.BadParameter},
		"two λ's":          {x, pare.SelectOptions{From: &longer}, pare.Config{}, outcome.Shape},
		"a point of two":   {x, pare.SelectOptions{From: &long}, pare.Config{}, outcome.BadParameter},
		"a point of none":  {x, pare.SelectOptions{From: &none}, pare.Config{}, outcome.BadParameter},
		"two predictors":   {x, pare.SelectOptions{From: &two}, pare.Config{}, outcome.BadParameter},
	} {
		if _, err := pare.Select(ctx, refused.x, targetsFor(refused.c.Model, y), refused.o, refused.c); outcome.KindOf(err) != refused.kind {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSelectFromAnotherScale checks that a selection starts from scratch if the columns have changed their unit. The
// scale of λ differs then, and the old start would lie where the criterion is flat, which looks like a minimum.
func TestSelectFromAnotherScale(t *testing.T) {
	const n, p = 200, 10
	x, y := days(t, pare.Lasso, n, p)
	yesterday, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, scale := range []float64{1e-3, 1e3} {
		values := make([]float64, 0, n*p)
		for j := range p {
			_, column := x.Column(j)
			for _, v := range column {
				values = append(values, scale*v)
			}
		}
		scaled, err := sparse.NewDense(n, p, values)
		if err != nil {
			t.Fatal(err)
		}
		cold, err := pare.Select(context.Background(), scaled, y, pare.SelectOptions{}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		warm, err := pare.Select(context.Background(), scaled, y, pare.SelectOptions{From: yesterday}, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		if cold.LogLambda[0] != warm.LogLambda[0] || cold.Value != warm.Value {
			t.Errorf("times %g: λ %g and %g, criterion %g and %g", scale, warm.LogLambda, cold.LogLambda, warm.Value, cold.Value)
		}
	}
}

// TestSelectFromAnotherCriterion checks that a selection starts from scratch if the earlier one used another criterion,
// or a target in another unit: its values do not say how far to look. The same holds for a selection read from a file,
// where the criterion of the null model shows the difference.
func TestSelectFromAnotherCriterion(t *testing.T) {
	const n, p = 300, 30
	ctx := context.Background()
	for model, criteria := range map[pare.Model][][2]pare.Criterion{
		pare.Lasso: {{pare.SURE, pare.HoldOut}, {pare.BIC, pare.CV}, {pare.CV, pare.SURE}},
		pare.Ridge: {{pare.SURE, pare.HoldOut}, {pare.AIC, pare.HoldOut}, {pare.CV, pare.CV}},
	} {
		x, y := days(t, model, n, p)
		for _, was := range criteria {
			c, target := pare.Config{Model: model}, slices.Clone(y)
			earlier, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{Criterion: was[0]}}, c)
			if err != nil {
				t.Fatal(err)
			}
			if was[0] == was[1] {
				for i := range target {
					target[i] *= 1000
				}
			}
			now := pare.Validation{Criterion: was[1]}
			cold, err := pare.Select(ctx, x, target, pare.SelectOptions{Validation: now}, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, from := range []*pare.Selection{earlier, read(t, earlier)} {
				warm, err := pare.Select(ctx, x, target, pare.SelectOptions{Validation: now, From: from}, c)
				if err != nil {
					t.Fatal(err)
				}
				if warm.Value != cold.Value || warm.LogLambda[0] != cold.LogLambda[0] {
					t.Errorf("%s, from %s to %s: λ %g and %g, criterion %g and %g", model, was[0], was[1], warm.LogLambda, cold.LogLambda, warm.Value, cold.Value)
				}
			}
		}
	}
}

// read writes a selection as JSON and reads it back.
func read(t *testing.T, s *pare.Selection) *pare.Selection {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again := &pare.Selection{}
	if err := json.Unmarshal(text, again); err != nil {
		t.Fatal(err)
	}
	return again
}

// TestSelectFromARidgeOfZero checks that an elastic net which is best without its ridge still is after it was written
// and read.
func TestSelectFromARidgeOfZero(t *testing.T) {
	x, y := days(t, pare.ElasticNet, 200, 20)
	c := pare.Config{Model: pare.ElasticNet}
	earlier, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, c)
	if err != nil || !math.IsInf(earlier.LogLambda[1], -1) {
		t.Fatalf("%v, λ %g, which should be without its ridge", err, earlier.LogLambda)
	}
	again := read(t, earlier)
	if !slices.Equal(again.LogLambda, earlier.LogLambda) || !slices.Equal(again.Final.LogLambda, earlier.LogLambda) {
		t.Errorf("read λ %g and %g, written %g", again.LogLambda, again.Final.LogLambda, earlier.LogLambda)
	}
	for i, e := range again.Evaluations {
		if !slices.Equal(e.LogLambda, earlier.Evaluations[i].LogLambda) {
			t.Errorf("evaluation %d: read λ %g, written %g", i, e.LogLambda, earlier.Evaluations[i].LogLambda)
		}
	}
	warm, err := pare.Select(context.Background(), x, y, pare.SelectOptions{From: again}, c)
	if err != nil || !(warm.Value <= earlier.Value+0.01*earlier.StandardError) {
		t.Errorf("%v, %g at λ %g, earlier %g at λ %g", err, warm.Value, warm.LogLambda, earlier.Value, earlier.LogLambda)
	}
}

// TestReadEvaluationsWithoutAValue checks that an evaluation whose value is not finite still has none after it was
// written and read. A value of 0 would be the best of all.
func TestReadEvaluationsWithoutAValue(t *testing.T) {
	s := &pare.Selection{}
	for _, v := range []float64{math.Inf(1), math.NaN(), 0, 2.5} {
		s.Evaluations = append(s.Evaluations, search.Evaluation{LogLambda: []float64{1}, Value: v})
	}
	for i, e := range read(t, s).Evaluations {
		if want := s.Evaluations[i].Value; i < 2 && !math.IsNaN(e.Value) || i >= 2 && e.Value != want {
			t.Errorf("read %g, written %g", e.Value, want)
		}
	}
}

// TestStoppedBeforeTheFirstEvaluation checks that a search which starts from an earlier one and is stopped at once
// reports it, as any other search does.
func TestStoppedBeforeTheFirstEvaluation(t *testing.T) {
	stop := make(chan struct{})
	close(stop)
	for _, model := range pare.Models() {
		x, y := days(t, model, 60, 8)
		if model.Traits().Classes {
			x, y = days(t, pare.Multiclass, 60, 8)
		}
		c := pare.Config{Model: model}
		earlier, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Evaluations: 12}, c)
		if err != nil {
			t.Fatalf("%s: %v", model, err)
		}
		if model == pare.ElasticNet { // with two λ's
			earlier.LogLambda = []float64{earlier.LogLambda[0], earlier.LogLambda[0]}
		}
		for _, from := range []*pare.Selection{nil, earlier} {
			if from != nil && model.Traits().Samples {
				continue
			}
			s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{From: from, Stop: stop}, c)
			if err != nil || outcome.KindOf(s.Err) != outcome.Limit || s.LogLambda != nil || !math.IsNaN(s.Value) || s.Status != outcome.Cancelled {
				t.Errorf("%s, from an earlier one %t: %v, %+v", model, from != nil, err, s)
			}
		}
	}
}

// TestSelectFromNearlyExactFitsOfManyRows checks a choice that uses all of a few columns on many rows and explains
// nearly all of the target. Such a choice does not overfit single rows, so a later selection starts there and is as
// good, even if a third of the rows is new and the standard error is tiny beside the null model's value.
func TestSelectFromNearlyExactFitsOfManyRows(t *testing.T) {
	const n, earlier, p = 600, 400, 4
	for seed := range oracle.Cases(10) {
		q := oracle.NewRandom(seed + 1).Problem(oracle.Shape{N: n, P: p, Density: 1, Active: p, Noise: 1e-3})
		x, ctx := matrixOf(t, q.X, p, true), t.Context()
		for _, model := range []pare.Model{pare.Lasso, pare.GroupLasso} {
			c := pare.Config{Model: model}
			cold, err := pare.Select(ctx, x, q.Y, pare.SelectOptions{}, c)
			if err != nil {
				t.Fatal(err)
			}
			fewer, err := pare.Select(ctx, matrixOf(t, q.X[:earlier], p, true), q.Y[:earlier], pare.SelectOptions{}, c)
			if err != nil {
				t.Fatal(err)
			}
			for _, from := range []*pare.Selection{cold, fewer} {
				warm, err := pare.Select(ctx, x, q.Y, pare.SelectOptions{From: from}, c)
				if err == nil {
					cold, err = pare.Select(ctx, x, q.Y, pare.SelectOptions{Validation: pare.Validation{FoldIDs: warm.Folds}}, c)
				}
				if err != nil {
					t.Fatal(err)
				}
				if apart := (warm.Value - cold.Value) / cold.StandardError; !(apart <= 0.03) {
					t.Errorf("draw %d, %s, %d rows in folds: %g standard errors above at %g, where it was %g", seed, model, len(from.Folds), apart, warm.LogLambda, cold.LogLambda)
				}
			}
		}
	}
}
