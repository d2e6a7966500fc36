package pare_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

var _ = flag.Bool("long", false, "starts on large data, too")

// shared reads a data set that lies beside the repository, or skips.
func shared(t *testing.T, name string) (sparse.Matrix, []float64) {
	t.Helper()
	if oracle.Few() {
		t.Skip("short: the embedded data are tested")
	}
	path := "../shared/data/" + name + ".svm.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here; the embedded data are tested all the same", path)
	}
	x, y, err := sparse.OpenSVMLight(context.Background(), path, sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return sparse.Compact(x), y
}

// The default search comes within a thousandth of the best of a fine grid, in 8
// evaluations; the paper's gradient descent gets there too, in more. One thread or two,
// the bits are the same.
func TestStarts(t *testing.T) {
	type set struct {
		name   string
		points int     // of the grid
		ratio  float64 // its last α/αmax
	}
	sets := []set{{"diabetes", 400, 1e-4}, {"leukemia", 400, 1e-4}}
	if oracle.Long() { // down to near the optimum that finer grids have found
		sets = append(sets, set{"gina_like", 20, 6e-3}, set{"reuters_places", 8, 7e-4})
	}
	for _, set := range sets {
		t.Run(set.name, func(t *testing.T) {
			var x sparse.Matrix
			var y []float64
			if set.name == "diabetes" {
				x, y = load(t)
			} else {
				x, y = shared(t, set.name)
			}
			besideGrid(t, x, y, set.points, set.ratio)
		})
	}
}

func besideGrid(t *testing.T, x sparse.Matrix, y []float64, points int, ratio float64) {
	t.Helper()
	c := pare.Config{NoIntercept: true}
	grid, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}, Search: pare.Grid, Points: points, MinRatio: ratio}, c)
	if err != nil {
		t.Fatal(err)
	}
	near := func(evaluations []search.Evaluation) int {
		for k, e := range evaluations {
			if e.Value <= grid.Value*(1+1e-3) && e.Trusted {
				return k + 1
			}
		}
		return math.MaxInt
	}
	s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}}, c)
	if err != nil {
		t.Fatal(err)
	}
	if took := near(s.Evaluations); took > 8 || !s.Status.OK() || s.Value > grid.Value*(1+1e-3) {
		t.Errorf("%s at %.8g after %d, near after %d; the grid has %.8g", s.Status, s.Value, len(s.Evaluations), took, grid.Value)
	}
	for _, e := range s.Evaluations {
		if e.Final && e.Value < s.Value {
			t.Errorf("%g is returned, %g was seen", s.Value, e.Value)
		}
	}
	if points < 400 {
		return // slow
	}
	c.Threads = 1
	again, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}}, c)
	c.Threads = 2
	two, err2 := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}}, c)
	if err != nil || err2 != nil || fmt.Sprint(again.LogLambda, again.Value, again.Final.Coef) != fmt.Sprint(two.LogLambda, two.Value, two.Final.Coef) {
		t.Errorf("one thread %v %.17g, two %v %.17g", again.LogLambda, again.Value, two.LogLambda, two.Value)
	}
	for _, start := range []float64{0.01, 0.5} {
		paper, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Validation: pare.Validation{InOrder: true}, Search: pare.GradientStep, Start: start}, c)
		if err != nil || near(paper.Evaluations) > 50 {
			t.Errorf("gradient descent from %g: near after %d: %v", start, near(paper.Evaluations), err)
		}
	}
}
