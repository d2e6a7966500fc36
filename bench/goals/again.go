package goals

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/machine"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

const (
	againOrders = 3
	againGoal   = 0.6  // of the work, and of the processor time, of a selection from scratch
	againClose  = 0.05 // standard errors
	againTiming = 0.15 // seconds for which a selection is repeated
)

// against compares a selection that resumes from an earlier one with a selection from scratch.
type against struct {
	work, processor float64 // fractions of what the selection from scratch took
	above           float64 // its criterion above the other's, each at its λ, in standard errors
	apart           float64 // distance in ln λ from the other's choice
}

func (a against) ofWork() float64  { return a.work }
func (a against) ofTime() float64  { return a.processor }
func (a against) ofValue() float64 { return a.above }
func (a against) ofPlace() float64 { return a.apart }

// Again is S12. The rows of a set are put in random orders; an earlier selection has the first rows, a later
// one has all: 1, 5 and 20 % more. A selection that resumes from the earlier one is compared with one from
// scratch on the same rows and folds; the criterion is computed again at both choices.
func Again(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	t.rows.Columns = []string{"data", "model", "new rows", "work", "processor", "standard errors above", "ln λ apart", "goal"}
	var all []against
	models := map[string][]pare.Model{"breast_cancer": {pare.Logistic}, "rcv1_dev": {pare.Lasso, pare.Logistic}}
	err := t.each(ctx, o.Choose([]string{"leukemia", "rcv1_dev", "colon_cancer", "golub_raw", "diabetes", "breast_cancer", "a9a"}, 2), func(d studies.Data) error {
		of := models[d.Name]
		if of == nil {
			of = []pare.Model{pare.Lasso}
		}
		for _, model := range of {
			seen, err := t.again(ctx, d, model)
			if err != nil {
				return err
			}
			all = append(all, seen...)
		}
		return nil
	})
	if len(all) > 0 {
		count := func(least float64, of func(a against) float64) string {
			hold := 0
			for _, a := range all {
				if of(a) <= least {
					hold++
				}
			}
			return fmt.Sprintf("%d of %d ≤ %g", hold, len(all), least)
		}
		t.rows.Add("all", "", "", count(againGoal, against.ofWork), count(againGoal, against.ofTime), count(againClose, against.ofValue), "", "")
	}
	return t.result("S12"), err
}

// again adds the rows of one set and model.
func (t *table) again(ctx context.Context, d studies.Data, model pare.Model) (all []against, err error) {
	n := len(d.Y)
	for _, share := range []float64{0.01, 0.05, 0.2} {
		var row []against
		orders := againOrders
		if t.Quick {
			orders = 1
		}
		for order := range orders {
			t.say("%s, %s, %g %% more, order %d", d.Name, model, 100*share, order+1)
			x, y, err := shuffled(d, order)
			if err != nil {
				return nil, err
			}
			before := min(n-1, int(math.Round(float64(n)/(1+share))))
			a, err := t.oneAgain(ctx, x, y, before, pare.Config{Model: model, Threads: 1})
			if err != nil {
				return nil, err
			}
			row = append(row, a)
		}
		each := func(of func(a against) float64, format string) string {
			cells := make([]string, 0, len(row))
			for _, a := range row {
				cells = append(cells, fmt.Sprintf(format, of(a)))
			}
			return strings.Join(cells, " ")
		}
		t.rows.Add(d.Name, string(model), fmt.Sprintf("%g %%", 100*share), each(against.ofWork, "%.2f"), each(against.ofTime, "%.2f"),
			each(against.ofValue, "%.3f"), each(against.ofPlace, "%.2f"), "≤ 0.6; ≤ 0.05")
		all = append(all, row...)
	}
	return all, nil
}

// oneAgain selects on the first rows, then on all rows, both resuming and from scratch.
func (t *table) oneAgain(ctx context.Context, x sparse.Matrix, y []float64, before int, c pare.Config) (a against, err error) {
	first := make([]int32, before)
	for i := range first {
		first[i] = int32(i)
	}
	yesterday, err := pare.Select(ctx, sparse.Rows(nil, x, first), y[:before], pare.SelectOptions{}, c)
	if err != nil {
		return a, err
	}
	var warm, cold *pare.Selection
	goingOn := func() (err error) {
		warm, err = pare.Select(ctx, x, y, pare.SelectOptions{From: yesterday}, c)
		return err
	}
	fromNothing := func() (err error) {
		cold, err = pare.Select(ctx, x, y, pare.SelectOptions{Validation: pare.Validation{FoldIDs: warm.Folds}}, c)
		return err
	}
	taken := [2]float64{math.Inf(1), math.Inf(1)}
	for round, spent := 0, 0.0; round < 2 || !t.Quick && !(spent > againTiming); round++ {
		for k, f := range []func() error{goingOn, fromNothing} {
			seconds, err := processorTime(f)
			if err != nil {
				return a, err
			}
			taken[k] = min(taken[k], seconds)
			spent += seconds
		}
	}
	work := func(all []search.Evaluation) (sum float64) {
		for _, e := range all {
			sum += e.Work
		}
		return sum
	}
	a = against{work: work(warm.Evaluations) / work(cold.Evaluations), processor: taken[0] / taken[1], apart: warm.LogLambda[0] - cold.LogLambda[0]}
	var value []float64
	for e, err := range pare.Validate(ctx, x, y, [][]float64{warm.LogLambda, cold.LogLambda}, pare.Validation{FoldIDs: warm.Folds}, c) {
		if err != nil {
			return a, err
		}
		value = append(value, e.Value)
	}
	a.above = (value[0] - value[1]) / cold.StandardError
	return a, nil
}

// processorTime returns the processor time of f in seconds; NaN if it is not known.
func processorTime(f func() error) (float64, error) {
	runtime.GC()
	began, _ := machine.ProcessorTime()
	err := f()
	ended, known := machine.ProcessorTime()
	if !known {
		return math.NaN(), err
	}
	return (ended - began).Seconds(), err
}

// shuffled returns the rows of a set in a random order given by a seed.
func shuffled(d studies.Data, seed int) (sparse.Matrix, []float64, error) {
	n, p := d.X.Dims()
	order := rand.New(rand.NewPCG(uint64(seed), 1)).Perm(n)
	y, place := make([]float64, n), make([]int32, n)
	for at, i := range order {
		y[at], place[i] = d.Y[i], int32(at)
	}
	size := int(d.X.NNZ())
	ptr, rows, values := make([]int64, 1, p+1), make([]int32, 0, size), make([]float64, 0, size)
	for j := range p {
		index, v := d.X.Column(j)
		from := len(rows)
		at := map[int32]float64{}
		for k := range v {
			i := int32(k)
			if index != nil {
				i = index[k]
			}
			rows, at[place[i]] = append(rows, place[i]), v[k]
		}
		slices.Sort(rows[from:])
		for _, i := range rows[from:] {
			values = append(values, at[i])
		}
		ptr = append(ptr, int64(len(rows)))
	}
	x, err := sparse.NewCSC(n, p, ptr, rows, values)
	if err != nil {
		return nil, nil, err
	}
	return sparse.Compact(x), y, nil
}
