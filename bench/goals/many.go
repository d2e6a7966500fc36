package goals

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// ChooseWeighted is O5: [pare.Select] with one λ per column. Two fifths of the rows train and one fifth
// validates. Another fifth is the third split, which decides when the search stops, and the last fifth is
// unseen. Errors on these two are of models fitted on the training rows.
func ChooseWeighted(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	t.rows.Columns = []string{
		"data", "columns", "evaluations", "seconds", "validation_one", "validation_each", "third_one", "third_each",
		"unseen_one", "unseen_each", "largest_gradient", "status", "goal",
	}
	err := t.each(ctx, o.Choose([]string{"leukemia", "rcv1_dev", "reuters_places", "imdb"}, 3), func(d studies.Data) error {
		deal, err := bilevel.KFold(nil, len(d.Y), 5, true, 1)
		if err != nil {
			return err
		}
		compact := sparse.Compact(d.X.(*sparse.CSC))
		part := func(chosen ...int) (sparse.Matrix, []float64) {
			return studies.Rows(compact, d.Y, func(i int) bool { return slices.Contains(chosen, deal[i]) })
		}
		x, y := part(0, 1, 2, 3)
		var ids []int
		for _, f := range deal {
			if f < 4 {
				ids = append(ids, []int{-1, -1, 0, -2}[f])
			}
		}
		largest := 0.0
		c := pare.Config{Model: pare.WeightedLasso, NoIntercept: true, Threads: 1}
		t.say("%s", d.Name)
		s, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{FoldIDs: ids}, Progress: func(e search.Evaluation) {
			for _, g := range e.Gradient {
				largest = max(largest, math.Abs(g))
			}
		}}, c)
		if err != nil {
			return err
		}
		one := s.LogLambda // used if the search for one share found nothing better
		from := s.Value
		if s.Common != nil {
			one, from = s.Common.LogLambda, s.Common.Value
		}
		found := make([]any, 0, 4)
		train, target := part(0, 1)
		for _, unseen := range []int{3, 4} {
			other, labels := part(unseen)
			for _, l := range [][]float64{one, s.LogLambda} {
				e, err := heldOut(ctx, train, target, l, c, other, labels)
				if err != nil {
					return err
				}
				found = append(found, e)
			}
		}
		row := append([]any{d.Name, len(one), len(s.Evaluations), s.SecondsSearch, from, s.Value}, found...)
		t.rows.Add(append(row, largest, string(s.Status), "third_each < third_one; ≤ 15 evaluations; gradients of modest size")...)
		return nil
	})
	return t.result("O5"), err
}

// heldOut fits on some rows and returns the mean squared error on others.
func heldOut(ctx context.Context, x sparse.Matrix, y, logLambda []float64, c pare.Config, other sparse.Matrix, labels []float64) (float64, error) {
	f, err := pare.Fit(ctx, x, y, logLambda, c)
	if err != nil {
		return 0, err
	}
	predicted, err := f.Predictor().Predict(other)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for i, m := range predicted {
		sum += (labels[i] - m) * (labels[i] - m)
	}
	return sum / float64(len(labels)), nil
}

// counted adds up the seconds of evaluations, and those of their solves.
type counted struct {
	*bilevel.Multiclass
	solve, all float64
}

// Eval implements [search.Objective].
func (c *counted) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	report, err := c.Evaluate(ctx, r)
	c.solve += report.SecondsSolve
	c.all += report.Seconds
	return report.Evaluation, err
}

// ChooseClasses is O6: half of the rows train, a quarter validates, a quarter tests. The trust region starts at
// the best common ratio of all classes. The reference optimum is found by running the search to convergence.
func ChooseClasses(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	t.rows.Columns = []string{
		"data", "classes", "one_ratio_evaluations", "one_ratio_seconds", "one_ratio_value", "one_ratio_test", "evaluations_to_1e-3", "evaluations",
		"value", "test", "status", "step_over_solves", "seconds", "seconds_two_threads", "two_threads_ratio", "goal",
	}
	goals := map[string]string{
		"usps": "≤ 12 evaluations to 1e-3; step ≤ 1.15; ≥ 1.8", "reuters_multi53": "≤ 7 evaluations to 1e-3; step ≤ 1.5; ≥ 1.8", "syn_aloi": "step ≤ 1.15; ≥ 1.8",
	}
	for _, name := range o.Choose([]string{"usps", "reuters_multi53", "syn_aloi"}, 2) {
		if err := t.each(ctx, []string{name}, func(d studies.Data) error { return chooseClasses(ctx, t, d, goals[name]) }); err != nil {
			return nil, err
		}
	}
	return t.result("O6"), nil
}

// chooseClasses adds the row of a data set.
func chooseClasses(ctx context.Context, t *table, d studies.Data, goal string) error {
	x, ids := sparse.Compact(d.X.(*sparse.CSC)), make([]int, len(d.Y))
	for i := range ids {
		ids[i] = []int{0, bilevel.AlwaysTrain, bilevel.TestOnly, bilevel.AlwaysTrain}[i%4]
	}
	c := pare.Config{Model: pare.Multiclass, NoIntercept: true, Threads: t.Threads}
	t.say("%s: one ratio", d.Name)
	one, err := pare.Select(ctx, x, d.Y, pare.SelectOptions{Validation: pare.Validation{FoldIDs: ids}}, c)
	if err != nil {
		return err
	}
	top, err := pare.LogLambdaMax(x, d.Y, c)
	if err != nil {
		return err
	}
	box := search.Box{}
	for _, l := range top {
		box.Lower, box.Upper = append(box.Lower, l-12), append(box.Upper, l)
	}
	var found [2]*search.Result
	var seconds [2]float64
	var spent [2]counted
	for k := range found { // on one thread, and on two
		t.say("%s: %d λ, %d threads", d.Name, len(top), k+1)
		if spent[k].Multiclass, err = multiclass(x, d.Y, ids, k+1); err != nil {
			return err
		}
		began := time.Now()
		if found[k], err = search.TrustRegion(ctx, &spent[k], one.LogLambda, box, search.Options{Stop: 1e-4}); err != nil {
			return err
		}
		seconds[k] = time.Since(began).Seconds()
	}
	r := found[0]
	t.say("%s: going on", d.Name)
	optimum, err := search.TrustRegion(ctx, spent[0].Multiclass, r.Best.LogLambda, box, search.Options{})
	if err != nil {
		return err
	}
	reached := 1 + slices.IndexFunc(r.Evaluations, func(e search.Evaluation) bool { return e.Value <= optimum.Best.Value*(1+1e-3) })
	t.rows.Add(d.Name, len(top), len(one.Evaluations), one.SecondsSearch, one.Value, one.Test, reached, len(r.Evaluations), r.Best.Value, r.Best.Test, string(r.Status),
		spent[0].all/spent[0].solve, seconds[0], seconds[1], fmt.Sprintf("%.2f", seconds[0]/seconds[1]), goal)
	return nil
}

// multiclass returns the problem with one λ per class, with the curvature of its criterion.
func multiclass(x sparse.Matrix, y []float64, ids []int, threads int) (*bilevel.Multiclass, error) {
	set, err := kernels.Active()
	if err != nil {
		return nil, err
	}
	m, err := bilevel.NewMulticlass(set, x, y, bilevel.Spec{
		Folds: ids, Threads: threads, Penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
	})
	if err == nil {
		m.Curvature = true
	}
	return m, err
}
