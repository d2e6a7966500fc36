package studies

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// differentiations are the methods of figures 4 and 12, from β = 0 to a gap of 1e-6.
var differentiations = []pare.Method{pare.Implicit, pare.ForwardPCD, pare.BackwardPCD}

// TimeLasso is figure 4: seconds for one hold-out error and its gradient against
// the number of columns drawn from the gina data, at αmax/10 and αmax/100.
func TimeLasso(ctx context.Context, o Options) (*Result, error) {
	r := newResult()
	var panels chart.Panels
	var table Table
	for _, share := range []float64{0.1, 0.01} {
		c, err := timeAgainstColumns(ctx, o, &table, pare.Lasso, share)
		if err != nil {
			return nil, err
		}
		panels = append(panels, []chart.Chart{c})
	}
	r.Tables["time-lasso"] = table
	r.Charts["time-lasso"] = chart.Panels{{panels[0][0], panels[1][0]}}
	return r, nil
}

// TimeWeighted is figure 12: the same for one λ per column, strengths drawn
// uniformly from [0, αmax].
func TimeWeighted(ctx context.Context, o Options) (*Result, error) {
	r := newResult()
	var table Table
	c, err := timeAgainstColumns(ctx, o, &table, pare.WeightedLasso, 0)
	if err != nil {
		return nil, err
	}
	r.Tables["time-wlasso"], r.Charts["time-wlasso"] = table, c
	return r, nil
}

// timeAgainstColumns draws columns, several times for each number of columns, and times the methods in turn.
// share is α/αmax; 0 draws a strength for each column.
func timeAgainstColumns(ctx context.Context, o Options, t *Table, m pare.Model, share float64) (chart.Chart, error) {
	sizes, repeats := []int{20, 50, 100, 200, 400, 600, 800, 970}, 10
	if o.Quick {
		sizes, repeats = []int{20, 100, 400}, 3
	}
	d, err := o.Load(ctx, "gina")
	if err != nil {
		return chart.Chart{}, err
	}
	n, p := d.X.Dims()
	ids := make([]int, n) // half trains, half validates
	split, err := half(n)
	if err != nil {
		return chart.Chart{}, err
	}
	copy(ids, split.Folds)
	t.Columns = []string{"data", "strength", "columns", "method", "repeat", "seconds", "value", "status"}
	median := map[pare.Method]*chart.Series{}
	for _, method := range differentiations {
		name := strings.Replace(string(method), "-cd", " PCD", 1)
		median[method] = &chart.Series{Name: name, Line: true, Points: true, Colour: colours[name]}
	}
	random := rand.New(rand.NewPCG(0, uint64(m[0])))
	for _, size := range sizes {
		if size > p {
			continue
		}
		seconds := map[pare.Method][]float64{}
		for repeat := range repeats {
			part, err := Columns(d.X, random.Perm(p)[:size])
			if err != nil {
				return chart.Chart{}, err
			}
			x := sparse.Compact(part)
			logLambda, err := strengths(x, d.Y, m, share, random)
			if err != nil {
				return chart.Chart{}, err
			}
			for turn := range differentiations {
				method := differentiations[(turn+repeat)%len(differentiations)]
				o.say(fmt.Sprintf("%s, %d columns, %d of %d: %s", m, size, repeat+1, repeats, method))
				c := pare.Config{Model: m, NoIntercept: true, Threads: 1, Method: method}
				began := time.Now()
				h, err := pare.Gradient(ctx, x, d.Y, logLambda, pare.Validation{FoldIDs: ids}, c)
				if err != nil {
					return chart.Chart{}, err
				}
				s := time.Since(began).Seconds()
				seconds[method] = append(seconds[method], s)
				t.Add(d.Name, share, size, string(method), repeat+1, s, h.Value, string(h.Status))
			}
		}
		for method, line := range median {
			sorted := slices.Sorted(slices.Values(seconds[method]))
			line.X, line.Y = append(line.X, float64(size)), append(line.Y, sorted[len(sorted)/2])
		}
	}
	t.Add(d.Name, share, p, "cvxpylayers", 0, math.NaN(), math.NaN(), "not run: not part of this comparison")
	return growthChart(d.Name, m, share, median), nil
}

// growthChart draws the median seconds of the methods.
func growthChart(name string, m pare.Model, share float64, median map[pare.Method]*chart.Series) chart.Chart {
	c := chart.Chart{
		Title: fmt.Sprintf("%s, %s, αmax × %g", name, m, share), X: "columns", Y: "seconds for a hypergradient", LogX: true, LogY: true,
	}
	if share == 0 {
		c.Title = fmt.Sprintf("%s, %s", name, m)
	}
	for _, method := range differentiations {
		c.Series = append(c.Series, *median[method])
	}
	return c
}

// strengths returns λ at a fraction of αmax; for a fraction of 0 it draws a strength for each column.
func strengths(x sparse.Matrix, y []float64, m pare.Model, share float64, random *rand.Rand) ([]float64, error) {
	l, err := pare.LogLambdaMax(x, y, pare.Config{Model: m, NoIntercept: true})
	for j := range l {
		if share == 0 {
			l[j] += kernels.Log(max(random.Float64(), 1e-9))
		} else {
			l[j] += kernels.Log(share)
		}
	}
	return l, err
}
