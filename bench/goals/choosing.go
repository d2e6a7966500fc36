package goals

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// recordedChoice is the recorded result of sparse-ho: five contiguous folds, ten steps of gradient descent from
// αmax/100, celer as the inner solver, one thread. value is the largest number that rounds to the recorded
// digits. NaN: unknown.
type recordedChoice struct {
	data           string
	value, seconds float64
}

// selected is a choice by pare.Select, with its times.
type selected struct {
	*pare.Selection
	seconds float64     // median time of the search
	spent   [][]float64 // seconds of each evaluation, by round
}

func (t *table) selection(ctx context.Context, x sparse.Matrix, y []float64, v pare.Validation, c pare.Config) (s selected, err error) {
	var all []float64
	for range t.rounds() {
		if s.Selection, err = pare.Select(ctx, x, y, pare.SelectOptions{Validation: v, Precision: true}, c); err != nil {
			return s, err
		}
		all = append(all, s.SecondsSearch)
		var spent []float64
		for _, e := range s.Evaluations {
			spent = append(spent, e.Seconds)
		}
		s.spent = append(s.spent, spent)
	}
	s.seconds = median(all)
	return s, nil
}

// to returns after how many evaluations, and in how many seconds, the search reached a value; 0 and 0 if it did
// not.
func (s selected) to(value float64) (evaluations int, seconds float64) {
	k := slices.IndexFunc(s.Evaluations, func(e search.Evaluation) bool { return e.Value <= value })
	if k < 0 {
		return 0, 0
	}
	var all []float64
	for _, spent := range s.spent {
		sum := 0.0
		for _, v := range spent[:k+1] {
			sum += v
		}
		all = append(all, sum)
	}
	return k + 1, median(all)
}

// besideRecord adds a row against sparse-ho's search and, if our search goes beyond sparse-ho's value, another
// row for the time up to that value.
func (t *table) besideRecord(s selected, r recordedChoice, what, goal, note string, factor float64) {
	const beside = "sparse-ho (recorded)"
	if k, seconds := s.to(r.value); k > 0 {
		t.add(r.data, what+fmt.Sprintf(", to its %.4g", r.value), seconds, beside, r.seconds*factor, goal, fmt.Sprintf("after %d evaluations", k))
	} else if !math.IsNaN(r.value) {
		note = fmt.Sprintf("its %.4g is not reached; ", r.value) + note
	}
	t.add(r.data, what, s.seconds, beside, r.seconds*factor, goal, note)
}

// report says how and where the search ended.
func (s selected) report(top []float64) string {
	return fmt.Sprintf("%s, %.6g at %s of αmax, %d evaluations", s.Status, s.Value, s.shares(top), len(s.Evaluations))
}

// shares formats the chosen strengths as fractions of αmax.
func (s selected) shares(top []float64) string {
	all := make([]string, 0, len(s.LogLambda))
	for i, l := range s.LogLambda {
		all = append(all, fmt.Sprintf("%.3g", kernels.Exp(l-top[i])))
	}
	return strings.Join(all, ", ")
}

// ChooseLasso is O1.
func ChooseLasso(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	factor, how, err := t.factor(ctx)
	if err != nil {
		return nil, err
	}
	records := []recordedChoice{{"leukemia", 0.468915, 1.60}, {"reuters_places", 0.29235, 53.7}, {"imdb", math.NaN(), math.NaN()}}
	names := o.Choose([]string{"leukemia", "reuters_places", "imdb"}, 2)
	for _, r := range records {
		err := t.each(ctx, within(names, r.data), func(d studies.Data) error {
			x := sparse.Compact(d.X.(*sparse.CSC))
			c := pare.Config{NoIntercept: true, Threads: 1}
			top, err := pare.LogLambdaMax(x, d.Y, c)
			if err != nil {
				return err
			}
			t.say("%s", d.Name)
			s, err := t.selection(ctx, x, d.Y, pare.Validation{FoldIDs: fifths(len(d.Y))}, c)
			if err != nil {
				return err
			}
			t.besideRecord(s, r, "Lasso, 5 folds", "≥ 20; ≤ 6 evaluations", s.report(top)+"; "+how, factor)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t.result("O1"), nil
}

// ChooseLassoBesideGrid is O2; the sets on which nothing was tuned come after those that were used for tuning.
// glmnet has its default thresh, which certifies a larger gap than our points have.
func ChooseLassoBesideGrid(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	type grid struct {
		data string
		down float64
	}
	grids := []grid{{"leukemia", 0.01}, {"rcv1_dev", 0.01}, {"reuters_places", math.Pow(10, -3.5)}, {"w8a", 0.001}, {"rcv1_vw", 0.01}, {"usps", 0.001}, {"mnist", 0.001}}
	names := o.Choose([]string{"leukemia", "rcv1_dev", "reuters_places", "w8a", "rcv1_vw", "usps", "mnist"}, 2)
	for _, g := range grids {
		err := t.each(ctx, within(names, g.data), func(d studies.Data) error {
			x := sparse.Compact(d.X.(*sparse.CSC))
			y := d.Y
			if slices.Contains([]string{"usps", "mnist"}, d.Name) { // one digit against the rest
				y = studies.Signs(y)
			}
			_, points, err := gridOf(x, y, g.down, 100)
			if err != nil {
				return err
			}
			_, err = t.besideGrid(ctx, studies.Data{Name: d.Name, X: x, Y: y}, points, pare.Config{NoIntercept: true, Threads: 1},
				fmt.Sprintf("grid of 100 to %.2g", g.down), "≥ 5, a value as good")
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return t.result("O2"), nil
}

// besideGrid compares a choice with all of glmnet's grid points: by the total time, and by the time until our
// search was as good as the best grid point.
func (t *table) besideGrid(ctx context.Context, d studies.Data, points peers.Points, c pare.Config, what, goal string) (s selected, err error) {
	ids := fifths(len(d.Y))
	top, err := pare.LogLambdaMax(d.X, d.Y, c)
	if err != nil {
		return s, err
	}
	t.say("%s: our choice", d.Name)
	if s, err = t.selection(ctx, d.X, d.Y, pare.Validation{FoldIDs: ids}, c); err != nil {
		return s, err
	}
	n, p := d.X.Dims()
	model := peers.Lasso
	if c.Model.Traits().Strengths == pare.L1AndRidge {
		model = peers.ElasticNet
	}
	glmnet, err := peers.StartPaths(ctx, &peers.Problem{X: d.X, Y: d.Y, Model: model}, ids, points, p < 500 || p <= 2000 && n > p)
	if ctx.Err() != nil {
		return s, ctx.Err()
	}
	if err != nil {
		t.note(d.Name, what, s.seconds, goal, s.report(top)+"; glmnet: "+err.Error())
		return s, nil
	}
	defer glmnet.Close()
	t.say("%s: glmnet's grid", d.Name)
	a, err := glmnet.Solve(ctx, 1e-7)
	if err != nil {
		return s, err
	}
	best := slices.Min(a.Values)
	if k, seconds := s.to(best); k > 0 {
		t.add(d.Name, what+", to its best", seconds, glmnet.Version(), a.Seconds, goal, fmt.Sprintf("%.6g after %d evaluations", s.Evaluations[k-1].Value, k))
	}
	t.add(d.Name, what, s.seconds, glmnet.Version(), a.Seconds, goal, fmt.Sprintf("%s; the grid's best is %.6g, its gaps ≤ %.0e", s.report(top), best, a.Gap))
	return s, nil
}

// diagonals are the points of a square grid of both strengths, along lines with a constant ratio of the two, so
// that glmnet can use warm starts.
func diagonals(top, down float64, side int) peers.Points {
	strengths := search.Geometric(kernels.Log(top), kernels.Log(down), side)
	value := func(i int) float64 { return math.Exp(strengths[i][0]) }
	var lines peers.Points
	for offset := 1 - side; offset < side; offset++ {
		var line [][2]float64
		for i := range side {
			if j := i + offset; j >= 0 && j < side {
				line = append(line, [2]float64{value(i), value(j)})
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// ChooseElasticNet is O3.
func ChooseElasticNet(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	factor, how, err := t.factor(ctx)
	if err != nil {
		return nil, err
	}
	sets, down := o.Choose([]string{"leukemia", "rcv1_dev", "reuters_places"}, 2), 1e-4
	if o.Quick {
		down = 1e-3
	}
	record := recordedChoice{"reuters_places", 0.273615, 157}
	err = t.each(ctx, sets, func(d studies.Data) error {
		x := sparse.Compact(d.X.(*sparse.CSC))
		c := pare.Config{Model: pare.ElasticNet, NoIntercept: true, Threads: 1}
		top, err := pare.LogLambdaMax(x, d.Y, c)
		if err != nil {
			return err
		}
		data := studies.Data{Name: d.Name, X: x, Y: d.Y}
		s, err := t.besideGrid(ctx, data, diagonals(math.Exp(top[0]), down, 10), c, fmt.Sprintf("grid of 10 × 10 to %g", down), "≥ 10")
		if err == nil && d.Name == record.data {
			t.besideRecord(s, record, "elastic net, 5 folds", "≥ 20", s.report(top)+"; "+how, factor)
		}
		return err
	})
	return t.result("O3"), err
}

// ChooseClassifiers is O4; there are no recorded times for it.
func ChooseClassifiers(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	sets := o.Choose([]string{"rcv1_dev", "reuters_places", "a9a", "imdb"}, 2)
	err := t.each(ctx, sets, func(d studies.Data) error {
		x, y := sparse.Compact(d.X.(*sparse.CSC)), studies.Signs(d.Y)
		for _, m := range []pare.Model{pare.Logistic, pare.SVM} {
			v, what := pare.Validation{FoldIDs: fifths(len(y))}, "5 folds"
			if m.Traits().Strengths == pare.Cost {
				v, what = pare.Validation{FoldIDs: halves(len(y))}, "hold-out"
			}
			t.say("%s, %s", d.Name, m)
			began := time.Now()
			s, err := t.selection(ctx, x, y, v, pare.Config{Model: m, NoIntercept: true, Threads: 1})
			if err != nil {
				return err
			}
			t.note(d.Name, fmt.Sprintf("%s, %s", m, what), s.seconds, "≥ 20 × sparse-ho",
				fmt.Sprintf("%s, %.6g after %d evaluations; no recorded time; %.1f s in all", s.Status, s.Value, len(s.Evaluations), time.Since(began).Seconds()))
		}
		return nil
	})
	return t.result("O4"), err
}
