package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// MulticlassHoldOut is figure 9: one-versus-rest logistic regression with one λ per class. A third of the rows
// trains, a third validates, a third tests. Besides the paper's methods there are the trust region with its
// Gauss–Newton matrix, and one ratio for all classes.
func MulticlassHoldOut(ctx context.Context, o Options) (*Result, error) {
	all := &multiclasses{panels: make(chart.Panels, 3)}
	for _, name := range o.Choose([]string{"usps", "rcv1mc", "mnist", "aloi"}, 1) {
		d, err := o.Load(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			o.say(err.Error())
			continue
		}
		if err == nil {
			err = all.add(ctx, d, o)
		}
		if err != nil {
			return nil, err
		}
	}
	r := newResult()
	r.Tables["multiclass-visits"], r.Tables["multiclass"], r.Charts["multiclass"] = all.visits, all.summary, all.panels
	return r, nil
}

type multiclasses struct {
	visits, summary Table
	panels          chart.Panels // cross-entropy, validation accuracy, test accuracy
}

// thirds returns fold ids: −1 trains, 0 validates, −2 is left out. Each class is split separately, at random,
// so that rare classes are in every part.
func thirds(y []float64) (bilevel.Folds, error) {
	place, err := bilevel.KFold(nil, len(y), len(y), true, 0)
	if err != nil {
		return nil, err
	}
	order := make([]int, len(y))
	for i, at := range place {
		order[at] = i
	}
	folds, dealt := make(bilevel.Folds, len(y)), map[float64]int{}
	for _, i := range order {
		folds[i] = []int{-1, 0, -2}[dealt[y[i]]%3]
		dealt[y[i]]++
	}
	return folds, nil
}

// race is a competition of searches for the λ of one data set's classes.
type race struct {
	data   Data
	folds  bilevel.Folds
	parts  []part // training, validation and test rows
	config pare.Config
	top    []float64 // ln αmax of the classes
	budget int       // evaluations
	box    search.Box
}

func newRace(d Data, o Options) (*race, error) {
	folds, err := thirds(d.Y)
	if err != nil {
		return nil, err
	}
	r := &race{
		data: d, folds: folds, parts: make([]part, 3), budget: 30,
		config: pare.Config{Model: pare.Multiclass, NoIntercept: true, Threads: o.Threads},
	}
	for i, id := range []int{-1, 0, -2} {
		r.parts[i].x, r.parts[i].y = Rows(d.X, d.Y, func(row int) bool { return folds[row] == id })
	}
	if r.top, err = pare.LogLambdaMax(r.parts[0].x, r.parts[0].y, r.config); err != nil {
		return nil, err
	}
	r.box = search.Box{Lower: r.at(1e-4), Upper: r.at(1)}
	if o.Quick {
		r.box.Lower = r.at(1e-2)
	}
	if o.Quick || len(r.top) > 100 {
		r.budget = 8
	}
	return r, nil
}

// at returns λ at a fraction of αmax.
func (r *race) at(ratio float64) []float64 {
	l := make([]float64, len(r.top))
	for i := range l {
		l[i] = r.top[i] + kernels.Log(ratio)
	}
	return l
}

func (r *race) contestants() []contestant {
	start := r.at(0.1)
	return []contestant{
		{"trust-region", "trust region", func(ctx context.Context, f search.Objective, so search.Options) (*search.Result, error) {
			return search.TrustRegion(ctx, f, start, r.box, so)
		}},
		descent(start, r.box, search.Exact),
		descent(start, r.box, search.Approx),
		{"one-ratio", "one ratio for all classes", func(ctx context.Context, _ search.Objective, so search.Options) (*search.Result, error) {
			s, err := pare.Select(ctx, r.data.X, r.data.Y, pare.SelectOptions{
				Validation: pare.Validation{FoldIDs: r.folds}, Evaluations: so.Evaluations, Progress: so.Progress,
			}, r.config)
			if err != nil {
				return nil, err
			}
			return &search.Result{Evaluations: s.Evaluations, Status: s.Status}, nil
		}},
		randomly(r.box, r.budget), parzen(r.box, r.budget),
	}
}

// run runs a contestant's search and returns the times at which its evaluations ended.
func (r *race) run(ctx context.Context, s contestant, o Options) (found *search.Result, seconds []float64, err error) {
	k, err := kernels.Active()
	if err != nil {
		return nil, nil, err
	}
	f, err := bilevel.NewMulticlass(k, r.data.X, r.data.Y, bilevel.Spec{
		Folds: r.folds, Threads: o.Threads,
		Penalty: func(l []float64) (model.Penalty, error) { return model.Lasso(l[0]) },
	})
	if err != nil {
		return nil, nil, err
	}
	o.say(r.data.Name + ": " + s.label)
	began := time.Now()
	found, err = s.run(ctx, f, search.Options{Evaluations: r.budget, Progress: func(search.Evaluation) {
		seconds = append(seconds, time.Since(began).Seconds())
		o.say(fmt.Sprintf("%s: %s, evaluation %d", r.data.Name, s.label, len(seconds)))
	}})
	return found, seconds, err
}

func (m *multiclasses) add(ctx context.Context, d Data, o Options) error {
	r, err := newRace(d, o)
	if err != nil {
		return err
	}
	m.visits.Columns = []string{"data", "search", "evaluation", "cross_entropy", "best_so_far", "validation_accuracy", "test_accuracy", "seconds", "status"}
	m.summary.Columns = []string{"data", "classes", "search", "evaluations", "cross-entropy", "validation accuracy", "test accuracy", "seconds"}
	charts := make([]chart.Chart, 3)
	for i, what := range []string{"cross-entropy", "validation accuracy", "test accuracy"} {
		charts[i] = chart.Chart{X: "seconds", Y: what, LogX: true, Right: true, Low: i > 0}
	}
	charts[0].Title = fmt.Sprintf("%s, %d classes", d.Name, len(r.top))
	for _, s := range r.contestants() {
		found, seconds, err := r.run(ctx, s, o)
		if err != nil {
			return err
		}
		// Accuracies are computed outside the timing, whenever the best value has changed.
		best, accuracy := math.Inf(1), [2]float64{}
		var lines [3]chart.Series
		for i := range lines {
			lines[i] = chart.Series{Name: s.label, Line: true, Points: true, Colour: colours[s.name]}
		}
		for i, e := range found.Evaluations {
			if e.Value < best {
				best = e.Value
				if accuracy, err = accuracies(ctx, r.parts, e.LogLambda, r.config); err != nil {
					return err
				}
			}
			when := seconds[min(i, len(seconds)-1)]
			m.visits.Add(d.Name, s.name, i+1, e.Value, best, accuracy[0], accuracy[1], when, string(found.Status))
			for j, v := range []float64{best, accuracy[0], accuracy[1]} {
				lines[j].X, lines[j].Y = append(lines[j].X, when), append(lines[j].Y, v)
			}
		}
		for i := range charts {
			charts[i].Series = append(charts[i].Series, lines[i])
		}
		m.summary.Add(d.Name, len(r.top), s.name, len(found.Evaluations), best, accuracy[0], accuracy[1], seconds[len(seconds)-1])
	}
	for i := range charts {
		m.panels[i] = append(m.panels[i], charts[i])
	}
	return nil
}

// part is a subset of the rows.
type part struct {
	x sparse.Matrix
	y []float64
}

// accuracies fits all classes on the first part and returns, for each other part, the fraction of rows whose
// class has the largest score.
func accuracies(ctx context.Context, parts []part, logLambda []float64, c pare.Config) (shares [2]float64, err error) {
	f, err := pare.Fit(ctx, parts[0].x, parts[0].y, logLambda, c)
	if err != nil {
		return shares, err
	}
	for i, p := range parts[1:] {
		said, err := f.Predictor().Predict(p.x)
		if err != nil {
			return shares, err
		}
		right := 0
		for row, y := range p.y {
			if said[row] == y {
				right++
			}
		}
		shares[i] = float64(right) / float64(len(p.y))
	}
	return shares, nil
}
