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

// recordedChoice is what sparse-ho found and took: five contiguous folds, ten steps
// of gradient descent from αmax/100, celer inside, one thread. Values are the most
// that their digits leave open. NaN where unknown.
type recordedChoice struct {
	data           string
	value, seconds float64
}

// selected runs pare.Select, timed, and tells when a value was reached.
type selected struct {
	*pare.Selection
	seconds     float64 // of the search, in the median
	evaluations int     // until value was reached; 0: never
}

func (t *table) selection(ctx context.Context, x sparse.Matrix, y []float64, v pare.Validation, c pare.Config, value float64) (selected, error) {
	var s selected
	var all []float64
	for range t.rounds() {
		r, err := pare.Select(ctx, x, y, pare.SelectOptions{Validation: v}, c)
		if err != nil {
			return s, err
		}
		s.Selection = r
		all = append(all, r.SecondsSearch)
	}
	s.seconds = median(all)
	for k, e := range s.Evaluations {
		if s.evaluations == 0 && e.Value <= value {
			s.evaluations = k + 1
		}
	}
	return s, nil
}

// shares prints the chosen strengths as shares of αmax.
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
			s, err := t.selection(ctx, x, d.Y, pare.Validation{FoldIDs: fifths(len(d.Y))}, c, r.value)
			if err != nil {
				return err
			}
			note := fmt.Sprintf("%s, %.6g at %s of αmax after %d evaluations", s.Status, s.Value, s.shares(top), len(s.Evaluations))
			if s.evaluations > 0 {
				note += fmt.Sprintf("; %.4g, sparse-ho's, after %d", r.value, s.evaluations)
			} else if !math.IsNaN(r.value) {
				note += fmt.Sprintf("; sparse-ho's %.4g is not reached", r.value)
			}
			t.add(d.Name, "Lasso, 5 folds", s.seconds, "sparse-ho (recorded)", r.seconds*factor, "≥ 20; ≤ 6 evaluations", note+"; "+how)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t.result("O1"), nil
}

// ChooseLassoBesideGrid is O2, with sets on which nothing was tuned after those that
// it was. glmnet has its default thresh, which certifies less than our points do.
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
			return t.besideGrid(ctx, studies.Data{Name: d.Name, X: x, Y: y}, points, pare.Config{NoIntercept: true, Threads: 1},
				fmt.Sprintf("grid of 100 to %.2g", g.down), "≥ 5, a value as good")
		})
		if err != nil {
			return nil, err
		}
	}
	return t.result("O2"), nil
}

// besideGrid sets a choice beside all of glmnet's points.
func (t *table) besideGrid(ctx context.Context, d studies.Data, points peers.Points, c pare.Config, what, goal string) error {
	ids := fifths(len(d.Y))
	top, err := pare.LogLambdaMax(d.X, d.Y, c)
	if err != nil {
		return err
	}
	t.say("%s: our choice", d.Name)
	s, err := t.selection(ctx, d.X, d.Y, pare.Validation{FoldIDs: ids}, c, math.NaN())
	if err != nil {
		return err
	}
	note := fmt.Sprintf("%s, %.6g at %s of αmax, %d evaluations", s.Status, s.Value, s.shares(top), len(s.Evaluations))
	n, p := d.X.Dims()
	model := peers.Lasso
	if c.Model == pare.ElasticNet {
		model = peers.ElasticNet
	}
	glmnet, err := peers.StartPaths(ctx, &peers.Problem{X: d.X, Y: d.Y, Model: model}, ids, points, p < 500 || p <= 2000 && n > p, studies.Rows)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		t.note(d.Name, what, s.seconds, goal, note+"; glmnet: "+err.Error())
		return nil
	}
	defer glmnet.Close()
	t.say("%s: glmnet's grid", d.Name)
	a, err := glmnet.Solve(ctx, 1e-7)
	if err != nil {
		return err
	}
	best := math.Inf(1)
	for _, v := range a.Values {
		best = math.Min(best, v)
	}
	t.add(d.Name, what, s.seconds, glmnet.Version(), a.Seconds, goal, fmt.Sprintf("%s; the grid's best is %.6g, its gaps ≤ %.0e", note, best, a.Gap))
	return nil
}

// diagonals are the points of a square grid of both strengths, along lines of one
// ratio, which is how glmnet can warm start.
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
	err = t.each(ctx, sets, func(d studies.Data) error {
		x := sparse.Compact(d.X.(*sparse.CSC))
		c := pare.Config{Model: pare.ElasticNet, NoIntercept: true, Threads: 1}
		top, err := pare.LogLambdaMax(x, d.Y, c)
		if err != nil {
			return err
		}
		data := studies.Data{Name: d.Name, X: x, Y: d.Y}
		if err := t.besideGrid(ctx, data, diagonals(math.Exp(top[0]), down, 10), c, fmt.Sprintf("grid of 10 × 10 to %g", down), "≥ 10"); err != nil {
			return err
		}
		if d.Name == "reuters_places" {
			ours := t.rows.Rows[len(t.rows.Rows)-1][2].(float64)
			t.add(d.Name, "elastic net, 5 folds", ours, "sparse-ho (recorded)", 157*factor, "≥ 20", "its value: 0.27361; "+how)
		}
		return nil
	})
	return t.result("O3"), err
}

// ChooseClassifiers is O4; nobody's seconds are recorded for it.
func ChooseClassifiers(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	sets := o.Choose([]string{"rcv1_dev", "reuters_places", "a9a", "imdb"}, 2)
	err := t.each(ctx, sets, func(d studies.Data) error {
		x, y := sparse.Compact(d.X.(*sparse.CSC)), studies.Signs(d.Y)
		for _, m := range []pare.Model{pare.Logistic, pare.SVM} {
			v, what := pare.Validation{FoldIDs: fifths(len(y))}, "5 folds"
			if m == pare.SVM {
				v, what = pare.Validation{FoldIDs: halves(len(y))}, "hold-out"
			}
			t.say("%s, %s", d.Name, m)
			began := time.Now()
			s, err := t.selection(ctx, x, y, v, pare.Config{Model: m, NoIntercept: true, Threads: 1}, math.NaN())
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
