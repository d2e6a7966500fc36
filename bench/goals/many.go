package goals

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// ChooseWeighted is O5. Half of the rows train, a quarter validates, a quarter is
// only looked at in the end. The start is the best single λ; then L-BFGS moves one
// λ per column in a box of ±2 around it, held there by a prox of a tenth of the value
// per column of the support.
func ChooseWeighted(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	t.rows.Columns = []string{"data", "columns", "evaluations", "seconds", "validation_one", "validation_each", "third_one", "third_each", "largest_gradient", "monotone", "status", "goal", "note"}
	sets := []string{"leukemia", "rcv1_dev", "reuters_places", "imdb"}
	if o.Quick {
		sets = sets[:3]
	}
	err := t.each(ctx, sets, func(d studies.Data) error {
		x, n := sparse.Compact(d.X.(*sparse.CSC)), len(d.Y)
		_, p := x.Dims()
		deal, err := bilevel.KFold(n, 4, true, 1)
		if err != nil {
			return err
		}
		ids := make([]int, n)
		for i, f := range deal { // two quarters train
			ids[i] = []int{-1, -1, 0, -2}[f]
		}
		c := pare.Config{NoIntercept: true, Threads: 1}
		t.say("%s: one λ", d.Name)
		one, err := pare.Select(ctx, x, d.Y, pare.SelectOptions{Validation: pare.Validation{FoldIDs: ids}}, c)
		if err != nil {
			return err
		}
		start, box := constant(one.LogLambda[0], p), search.Box{Lower: constant(one.LogLambda[0]-2, p), Upper: constant(one.LogLambda[0]+2, p)}
		k, err := kernels.Active()
		if err != nil {
			return err
		}
		f, err := bilevel.New(k, x, d.Y, bilevel.Spec{Folds: ids, Threads: 1, Penalty: func(l []float64) (model.Penalty, error) { return model.WeightedLasso(l) }})
		if err != nil {
			return err
		}
		t.say("%s: %d λ", d.Name, p)
		support := len(one.Final.Support)
		largest, monotone, last := 0.0, "yes", math.Inf(1)
		began := time.Now()
		r, err := search.LBFGS(ctx, f, start, box, search.LBFGSOptions{
			Options: search.Options{Evaluations: 15, Progress: func(e search.Evaluation) {
				for _, g := range e.Gradient {
					largest = math.Max(largest, math.Abs(g))
				}
			}},
			Prox: 0.1 * one.Value / math.Max(1, float64(support)),
			Judge: func(_ context.Context, e search.Evaluation) (float64, error) { // sees the iterates it accepts
				if e.Value > last*(1+1e-6) {
					monotone = "no"
				}
				last = e.Value
				return e.Value, nil
			},
		})
		if err != nil {
			return err
		}
		seconds := time.Since(began).Seconds()
		thirdOne, err := third(ctx, x, d.Y, ids, start)
		if err != nil {
			return err
		}
		thirdEach, err := third(ctx, x, d.Y, ids, r.Best.LogLambda)
		if err != nil {
			return err
		}
		t.rows.Add(d.Name, p, 15, seconds, one.Value, r.Best.Value, thirdOne, thirdEach, largest, monotone, string(r.Status),
			"third_each < third_one, ≤ 15 evaluations", "search.LBFGS over package bilevel: pare.Select does not take this way by itself")
		return nil
	})
	return t.result("O5"), err
}

func constant(v float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

// third fits the weighted Lasso on the training rows and returns the mean squared
// error on those that took no part.
func third(ctx context.Context, x sparse.Matrix, y []float64, ids []int, logLambda []float64) (float64, error) {
	train, target, err := studies.Rows(x, y, func(i int) bool { return ids[i] == -1 })
	if err != nil {
		return 0, err
	}
	f, err := pare.Fit(ctx, sparse.Compact(train), target, logLambda, pare.Config{Model: pare.WeightedLasso, NoIntercept: true, Threads: 1})
	if err != nil {
		return 0, err
	}
	unseen, target, err := studies.Rows(x, y, func(i int) bool { return ids[i] == -2 })
	if err != nil {
		return 0, err
	}
	for k, j := range f.Support {
		rows, values := unseen.Column(int(j))
		for t, i := range rows {
			target[i] -= f.Coef[k] * values[t]
		}
	}
	sum := 0.0
	for _, r := range target {
		sum += r * r
	}
	return sum / float64(len(target)), nil
}

// counted adds up what evaluations spend on solving and on differentiating.
type counted struct {
	*bilevel.Multiclass
	solve, gradient float64
}

// Eval implements [search.Objective].
func (c *counted) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	report, err := c.Evaluate(ctx, r)
	c.solve += report.SecondsSolve
	c.gradient += report.SecondsGradient
	return report.Evaluation, err
}

// ChooseClasses is O6: half of the rows trains, half validates. The trust region
// starts where one ratio serves all classes.
func ChooseClasses(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	t.rows.Columns = []string{"data", "classes", "one_ratio_evaluations", "one_ratio_seconds", "one_ratio_value", "evaluations_to_1e-3", "value", "status", "step_over_solves", "seconds", "seconds_two_threads", "two_threads_ratio", "goal"}
	sets := []string{"usps", "reuters_multi53", "syn_aloi"}
	goals := []string{"≤ 12 evaluations; step ≤ 1.15; ≥ 1.8", "≤ 7 evaluations; step ≤ 1.5; ≥ 1.8", "step ≤ 1.15; ≥ 1.8"}
	if o.Quick {
		sets = sets[:2]
	}
	for k, name := range sets {
		err := t.each(ctx, []string{name}, func(d studies.Data) error {
			x, ids := sparse.Compact(d.X.(*sparse.CSC)), halves(len(d.Y))
			c := pare.Config{Model: pare.Multiclass, NoIntercept: true}
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
			for threads := range 2 {
				set, err := kernels.Active()
				if err != nil {
					return err
				}
				f, err := bilevel.NewMulticlass(set, x, d.Y, bilevel.Spec{
					Folds: ids, Threads: threads + 1, Penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
				})
				if err != nil {
					return err
				}
				t.say("%s: %d λ, %d threads", d.Name, len(top), threads+1)
				spent[threads] = counted{Multiclass: f}
				began := time.Now()
				if found[threads], err = search.TrustRegion(ctx, &spent[threads], one.LogLambda, box, search.Options{Evaluations: 15}); err != nil {
					return err
				}
				seconds[threads] = time.Since(began).Seconds()
			}
			r := found[0]
			reached := 0
			for i, e := range r.Evaluations {
				if reached == 0 && e.Value <= r.Best.Value*(1+1e-3) {
					reached = i + 1
				}
			}
			t.rows.Add(d.Name, len(top), len(one.Evaluations), one.SecondsSearch, one.Value, reached, r.Best.Value, string(r.Status),
				(spent[0].solve+spent[0].gradient)/spent[0].solve, seconds[0], seconds[1], fmt.Sprintf("%.2f", seconds[0]/seconds[1]), goals[k])
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t.result("O6"), nil
}
