package goals

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/bench/synthetic"
	"github.com/seed-45b9a24c/pare/sparse"
)

// mostRounds is the number of rounds of a brief job.
const mostRounds = 15

// equal is the difference, in standard errors, up to which two criteria count as equal.
const equal = 0.05

// wholeRow is a data set, the model chosen on it, and the goal.
type wholeRow struct {
	data  string
	model pare.Model
	goal  float64
}

// modulo assigns row i to fold i mod 5.
func modulo(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = i % 5
	}
	return ids
}

// WholeJob is O7: λ by 5 folds with an intercept, its one-standard-error choice and the refit, compared with
// cv.glmnet at its defaults on the same folds. If glmnet's path ends before its criterion is as low, another
// row compares with a path down to the λ chosen here.
func WholeJob(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	rows := []wholeRow{
		{"leukemia", pare.Lasso, 10},
		{"colon_cancer", pare.Lasso, 10},
		{"golub_raw", pare.Lasso, 10},
		{"diabetes", pare.Lasso, 10},
		{"breast_cancer", pare.Lasso, 10},
		{"rcv1_dev", pare.Lasso, 10},
		{"rcv1_vw", pare.Lasso, 10},
		{"gina_like", pare.Lasso, 10},
		{"a9a", pare.Lasso, 10},
		{"w8a", pare.Lasso, 10},
		{"reuters_places", pare.Lasso, 3},
		{"imdb", pare.Lasso, 3},
		{"leukemia", pare.Logistic, 10},
		{"rcv1_dev", pare.Logistic, 10},
		{"a9a", pare.Logistic, 10},
		{"reuters_places", pare.Logistic, 3},
	}
	names := o.Choose([]string{"leukemia", "colon_cancer", "golub_raw", "diabetes", "breast_cancer", "rcv1_dev", "rcv1_vw", "gina_like", "a9a", "w8a", "reuters_places", "imdb"}, 7)
	for _, r := range rows {
		err := t.each(ctx, within(names, r.data), func(d studies.Data) error { return t.whole(ctx, d, r) })
		if err != nil {
			return nil, err
		}
	}
	for _, name := range o.Choose([]string{measurements, categories}, 2) {
		if err := t.wholeOfMany(ctx, name); err != nil {
			return nil, err
		}
	}
	return t.result("O7"), nil
}

// Sets with many rows and few columns, dense and sparse; with --quick a tenth of the rows.
const (
	measurements = "measurements"
	categories   = "categories"
)

func (t *table) wholeOfMany(ctx context.Context, name string) error {
	rows := 1_000_000
	if t.Quick {
		rows /= 10
	}
	d := studies.Data{Name: fmt.Sprintf("%s, %d rows", name, rows)}
	var err error
	if name == measurements {
		d.X, d.Y, err = synthetic.Measurements(ctx, rows)
	} else {
		d.X, d.Y, err = synthetic.Categories(ctx, rows)
	}
	if err != nil {
		return err
	}
	if err := t.whole(ctx, d, wholeRow{name, pare.Lasso, 10}); err != nil {
		return err
	}
	for i, v := range d.Y {
		d.Y[i] = math.Copysign(1, v)
	}
	return t.whole(ctx, d, wholeRow{name, pare.Logistic, 10})
}

// whole adds a row from rounds of both programs in turn.
func (t *table) whole(ctx context.Context, d studies.Data, r wholeRow) error {
	x := d.X
	if read, ok := x.(*sparse.CSC); ok {
		x = sparse.Compact(read)
	}
	ids := modulo(len(d.Y))
	what := fmt.Sprintf("%s, 5 folds, whole job", r.model)
	model := peers.Lasso
	if r.model.Traits().Link.Classes() {
		model = peers.Logistic
	}
	glmnet, absent := peers.StartWhole(ctx, &peers.Problem{X: x, Y: d.Y, Model: model}, ids)
	if absent == nil {
		defer glmnet.Close()
	}
	var s *pare.Selection
	var a peers.WholeAnswer
	jobs := []job{awake(timed(func() (err error) {
		s, err = pare.Select(ctx, x, d.Y, pare.SelectOptions{Validation: pare.Validation{FoldIDs: ids}, OneSE: true}, pare.Config{Model: r.model, Threads: 1})
		return err
	}))}
	if absent == nil {
		jobs = append(jobs, awake(func() (seconds float64, err error) {
			a, err = glmnet.Solve(ctx)
			return a.Seconds, err
		}))
	}
	t.say("%s, %s", d.Name, r.model)
	seconds, err := byTurns(func(ours []float64) bool {
		rounds := len(ours)
		return rounds < t.rounds() || rounds < mostRounds && float64(rounds)*median(ours) < brief
	}, jobs...)
	if err != nil {
		return err
	}
	goal := fmt.Sprintf("≥ %g", r.goal)
	found := fmt.Sprintf("%s, %.6g after %d evaluations", s.Status, s.Value, len(s.Evaluations))
	if absent != nil {
		t.note(d.Name, what, seconds[0], goal, found+"; glmnet: "+absent.Error())
		return ctx.Err()
	}
	beside := func(what string, theirs float64, goal string) {
		note := fmt.Sprintf("%s; theirs %.6g, ours is %+.3f standard errors from it", found, a.Value, standardErrors(s, a))
		t.add(d.Name, what, seconds[0], glmnet.Version(), theirs, goal, note)
	}
	beside(what, seconds[1], goal)
	if s.LogLambda == nil || standardErrors(s, a) > -equal { // the null model, or equal
		return nil
	}
	top, err := pare.LogLambdaMax(x, d.Y, pare.Config{Model: r.model})
	if err != nil {
		return err
	}
	t.say("%s, %s, beside a deeper path", d.Name, r.model)
	if a, err = glmnet.SolveDownTo(ctx, math.Exp(s.LogLambda[0]-top[0])); err != nil {
		return err
	}
	beside(what+", theirs down to the same λ", a.Seconds, "")
	return nil
}

// standardErrors returns how far our criterion is above glmnet's, in standard errors.
func standardErrors(s *pare.Selection, a peers.WholeAnswer) float64 {
	return (s.Value - a.Value) / math.Max(s.StandardError, math.SmallestNonzeroFloat64)
}
