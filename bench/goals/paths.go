package goals

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Paths is S6. Both programs get the same λ and the same contiguous folds, and are timed without reading or
// splitting. glmnet's thresh is the loosest with which every tenth point of every fold is certified to 1e-6. If
// glmnet misses that after ten times our seconds, the ratio is a lower bound, and the row says so.
func Paths(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	goals := map[string]string{"reuters_places": "≥ 8", "gina_like": "≥ 5", "leukemia": "≥ 4", "imdb": "≥ 1.5"}
	sets := o.Choose([]string{"leukemia", "rcv1_dev", "reuters_places", "gina_like", "imdb"}, 3)
	err := t.each(ctx, sets, func(d studies.Data) error {
		x, ids := sparse.Compact(d.X.(*sparse.CSC)), fifths(len(d.Y))
		grid, alphas, err := gridOf(x, d.Y, 0.01, 100)
		if err != nil {
			return err
		}
		return t.besidePath(ctx, studies.Data{Name: d.Name, X: x, Y: d.Y}, ids, grid, alphas, goals[d.Name])
	})
	return t.result("S6"), err
}

// gridOf returns a geometric grid of the Lasso, as λ for pare and as strengths for glmnet.
func gridOf(x sparse.Matrix, y []float64, ratio float64, points int) (grid [][]float64, alphas peers.Points, err error) {
	top, err := pare.LogLambdaMax(x, y, pare.Config{NoIntercept: true})
	if err != nil {
		return nil, nil, err
	}
	grid = search.Geometric(top[0], kernels.Log(ratio), points)
	var path [][2]float64
	for _, l := range grid {
		path = append(path, [2]float64{math.Exp(l[0]), 0})
	}
	return grid, peers.Points{path}, nil
}

func (t *table) besidePath(ctx context.Context, d studies.Data, ids []int, grid [][]float64, alphas peers.Points, goal string) error {
	var values []float64
	worst := 0.0
	ours := func() (float64, error) {
		values, worst = values[:0], 0
		began := time.Now()
		for e, err := range pare.Validate(ctx, d.X, d.Y, grid, pare.Validation{FoldIDs: ids}, pare.Config{NoIntercept: true, Threads: 1}) {
			if err != nil {
				return 0, err
			}
			values, worst = append(values, e.Value), math.Max(worst, e.Tol)
		}
		return time.Since(began).Seconds(), nil
	}
	t.say("%s: ours", d.Name)
	first, err := ours()
	if err != nil {
		return err
	}
	what := fmt.Sprintf("%d λ, folds", len(grid))
	glmnet, err := t.calibrated(ctx, d, ids, alphas, 10*first)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		t.note(d.Name, what, first, goal, "glmnet: "+err.Error())
		return nil
	}
	defer glmnet.Close()
	if a := glmnet.stopped; a != nil {
		us, err := t.seconds(func() error { _, err := ours(); return err })
		t.add(d.Name, what, us, glmnet.Version(), a.Seconds, goal,
			fmt.Sprintf("a floor: gaps ≤ %.1e, and glmnet's still ≤ %.1e at thresh %.0e", worst, a.Gap, glmnet.thresh))
		return err
	}
	var us, them []float64
	var answer *peers.PathAnswer
	for round := range t.rounds() {
		t.say("%s: round %d", d.Name, round+1)
		s, err := ours()
		if err != nil {
			return err
		}
		us = append(us, s)
		if answer, err = glmnet.Solve(ctx, glmnet.thresh); err != nil {
			return err
		}
		them = append(them, answer.Seconds)
	}
	differ := 0.0
	for k, v := range answer.Values {
		differ = math.Max(differ, math.Abs(v-values[k])/values[k])
	}
	t.add(d.Name, what, median(us), glmnet.Version(), median(them), goal,
		fmt.Sprintf("gaps ≤ %.1e and %.1e (thresh %.0e); errors differ by %.0e", worst, answer.Gap, glmnet.thresh, differ))
	return nil
}

// calibratedPath is glmnet at the loosest thresh that meets the target.
type calibratedPath struct {
	*peers.PathPeer
	thresh  float64
	stopped *peers.PathAnswer // the answer at a thresh that misses the target beyond the time limit; else nil
}

// calibrated tries decreasing thresholds until glmnet takes longer than limit, in seconds. The covariance
// variant is glmnet's own choice below 500 columns; for up to 2000 columns and more rows than columns it is
// tried too.
func (t *table) calibrated(ctx context.Context, d studies.Data, ids []int, points peers.Points, limit float64) (*calibratedPath, error) {
	n, p := d.X.Dims()
	model := peers.Lasso
	if points[0][0][1] > 0 {
		model = peers.ElasticNet
	}
	problem := &peers.Problem{X: d.X, Y: d.Y, Model: model}
	g, err := peers.StartPaths(ctx, problem, ids, points, p < 500 || p <= 2000 && n > p)
	if err != nil {
		return nil, err
	}
	var a *peers.PathAnswer
	meets := func(thresh float64) (ok bool, err error) {
		t.say("%s: glmnet at thresh %.0e", d.Name, thresh)
		a, err = g.Solve(ctx, thresh)
		return err == nil && a.Gap <= 1e-6, err
	}
	// Gaps are proportional to the square root of thresh.
	for thresh := 1e-8; thresh >= 1e-20; thresh /= 100 {
		ok, err := meets(thresh)
		looser := false
		if ok {
			looser, err = meets(10 * thresh)
		}
		switch {
		case err != nil:
			g.Close()
			return nil, err
		case looser:
			return &calibratedPath{PathPeer: g, thresh: 10 * thresh}, nil
		case ok:
			return &calibratedPath{PathPeer: g, thresh: thresh}, nil
		case a.Seconds > limit:
			return &calibratedPath{g, thresh, a}, nil
		}
	}
	g.Close()
	return nil, errors.New("no thresh certifies 1e-6")
}

// Threads is S7.
func Threads(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	sets := o.Choose([]string{"reuters_places", "gina_like", "syn_rcv1", "imdb"}, 1)
	fits := map[string]string{"imdb": "≥ 1.7"}
	err := t.each(ctx, sets, func(d studies.Data) error {
		x := sparse.Compact(d.X.(*sparse.CSC))
		grid, _, err := gridOf(x, d.Y, 0.01, 50)
		if err != nil {
			return err
		}
		v := pare.Validation{}
		path := func(threads int) error {
			for _, err := range pare.Validate(ctx, x, d.Y, grid, v, pare.Config{NoIntercept: true, Threads: threads}) {
				if err != nil {
					return err
				}
			}
			return nil
		}
		choice := func(threads int) error {
			_, err := pare.Select(ctx, x, d.Y, pare.SelectOptions{Validation: v}, pare.Config{NoIntercept: true, Threads: threads})
			return err
		}
		fit := func(threads int) error {
			_, err := pare.Fit(ctx, x, d.Y, grid[len(grid)-1], pare.Config{NoIntercept: true, Threads: threads})
			return err
		}
		for _, work := range []struct {
			name, goal string
			run        func(threads int) error
		}{{"50 λ to αmax/100, 5 folds", "≥ 1.8", path}, {"Select, 5 folds", "≥ 1.85", choice}, {"one Fit at αmax/100", fits[d.Name], fit}} {
			one, two, err := t.inTurn(func() error { return work.run(1) }, func() error { return work.run(2) })
			if err != nil {
				return err
			}
			t.add(d.Name, work.name+", two threads", two, "one thread", one, work.goal, "")
		}
		return nil
	})
	return t.result("S7"), err
}
