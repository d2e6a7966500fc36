package goals

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/sparse"
)

// precisionRow is a data set, a model, and the largest number of evaluations allowed (0: any).
type precisionRow struct {
	data  string
	model pare.Model
	most  int
}

// Precision is O9: the cost and the gain of the digits below a hundredth of the standard error.
func Precision(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := &studies.Table{Columns: []string{"data", "model", "evaluations", "goal", "seconds", "in cold evaluations", "value", "evaluations with precision", "seconds with precision", "value with precision", "gain (SE)"}}
	rows := []precisionRow{
		{"leukemia", pare.Lasso, 8},
		{"diabetes", pare.Lasso, 0},
		{"colon_cancer", pare.Lasso, 0},
		{"rcv1_dev", pare.Lasso, 0},
		{"a9a", pare.Lasso, 0},
		{"reuters_places", pare.Lasso, 6},
		{"leukemia", pare.Logistic, 0},
		{"rcv1_dev", pare.Logistic, 0},
	}
	names := o.Choose([]string{"leukemia", "diabetes", "colon_cancer", "rcv1_dev", "a9a", "reuters_places"}, 4)
	all := newTable(o)
	for _, r := range rows {
		err := all.each(ctx, within(names, r.data), func(d studies.Data) error {
			all.say("%s, %s", d.Name, r.model)
			return r.measure(ctx, all, t, d)
		})
		if err != nil {
			return nil, err
		}
	}
	return &studies.Result{Tables: map[string]studies.Table{"O9": *t}}, nil
}

// measure adds a row: a choice, a choice to the last digits, and a cold evaluation at the choice.
func (r precisionRow) measure(ctx context.Context, all *table, t *studies.Table, d studies.Data) error {
	x, c := sparse.Compact(d.X.(*sparse.CSC)), pare.Config{Model: r.model, Threads: 1}
	v := pare.Validation{FoldIDs: modulo(len(d.Y))}
	choose := func(precision bool) (s *pare.Selection, seconds float64, err error) {
		seconds, err = all.seconds(func() error {
			var err error
			s, err = pare.Select(ctx, x, d.Y, pare.SelectOptions{Validation: v, Precision: precision}, c)
			return err
		})
		return s, seconds, err
	}
	s, seconds, err := choose(false)
	if err != nil {
		return err
	}
	exact, longer, err := choose(true)
	if err != nil {
		return err
	}
	cold, err := all.seconds(func() error {
		_, err := pare.Gradient(ctx, x, d.Y, s.LogLambda, v, c)
		return err
	})
	if err != nil {
		return err
	}
	var goal any = ""
	if r.most > 0 {
		goal = r.most
	}
	t.Add(d.Name, string(r.model), len(s.Evaluations), goal, seconds, seconds/cold, s.Value,
		len(exact.Evaluations), longer, exact.Value, (s.Value-exact.Value)/math.Max(s.StandardError, math.SmallestNonzeroFloat64))
	return nil
}
