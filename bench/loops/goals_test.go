package loops

import (
	"context"
	"math"
	"testing"
	"time"
)

func TestGoalsAreRatiosOfTheBestRuns(t *testing.T) {
	best := bestSet()
	result := func(operation, set string, elements int, fastest float64) Result {
		return Result{Operation: operation, Set: set, Size: "n=2000,nnz=74", Elements: elements, Nanoseconds: 99, Fastest: fastest}
	}
	got := Goals([]Result{result("DotIndexed", best, 100, 50), result("DotLanes", best, 800, 80), result("AxpyLanes", best, 800, 80)})
	found := map[string]Goal{}
	for _, g := range got {
		found[g.What] = g
	}
	if g := found["DotLanes"]; math.Abs(g.Reached-5) > 1e-12 || !g.Met() || g.Name != "K4" {
		t.Errorf("8 lanes in 80 ns beside one in 50: %+v", g)
	}
	if g := found["AxpyLanes"]; g.Reached != 0 || g.Met() {
		t.Errorf("there is nothing to compare with: %+v", g)
	}
	if _, ok := found["Dot"]; ok {
		t.Error("a goal for what was not measured")
	}
}

func TestWithoutACompilerTheOthersAreAbsent(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	c := Compile(context.Background())
	defer c.Close()
	if all := c.implementations(operation{name: "Dot", n: 8}); len(all) != 0 || c.Version == "" {
		t.Errorf("%d implementations, %q", len(all), c.Version)
	}
}

func TestCompiledLoopsAnswer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	c := Compile(context.Background())
	defer c.Close()
	if c.process == nil {
		t.Skipf("C loops are %s", c.Version)
	}
	for _, op := range append(dense(100), indexed(500, 74)...) {
		for _, i := range c.implementations(op) {
			if ns := i.time(time.Microsecond); !(ns > 0) {
				t.Errorf("%s of %s: %g ns", op.name, i.Set, ns)
			}
		}
	}
	if ns := c.once("gcc", "Nothing", 8, 0, 1); ns != 0 {
		t.Errorf("an unknown operation took %g ns", ns)
	}
}
