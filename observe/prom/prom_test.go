package prom_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/observe/prom"
	"github.com/seed-45b9a24c/pare/sparse"
)

// line is a problem of one column.
func line(t testing.TB) (sparse.Matrix, []float64) {
	t.Helper()
	x, err := sparse.NewDense(6, 1, []float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		t.Fatal(err)
	}
	return x, []float64{1, 2.5, 2.5, 4, 5.5, 6}
}

func TestMetrics(t *testing.T) {
	x, y := line(t)
	pool, err := pare.NewPool(pare.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := prom.New(pool)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(o)
	c := pare.Config{Pool: pool, Observer: o}
	for range 2 {
		if _, err := pare.Fit(t.Context(), x, y, []float64{-2}, c); err != nil {
			t.Fatal(err)
		}
	}
	s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, c)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := pare.NewPool(pare.PoolOptions{MaxBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pare.Fit(t.Context(), x, y, []float64{-2}, pare.Config{Pool: narrow, Observer: o}); err == nil {
		t.Error("a call was admitted into one byte")
	}
	byStatus := map[string]int{}
	for _, e := range s.Evaluations {
		byStatus[string(e.Status)]++
	}
	var want strings.Builder
	fmt.Fprintln(&want, "# HELP pare_evaluations_total Evaluations of the criterion.\n# TYPE pare_evaluations_total counter")
	for status, count := range byStatus {
		fmt.Fprintf(&want, "pare_evaluations_total{model=\"lasso\",status=%q} %d\n", status, count)
	}
	want.WriteString(`# HELP pare_solves_total Inner problems solved on all rows.
# TYPE pare_solves_total counter
pare_solves_total{model="lasso",status="converged"} 3
# HELP pare_admissions_total Calls that the pool has admitted, or why not.
# TYPE pare_admissions_total counter
pare_admissions_total{result="admitted"} 3
pare_admissions_total{result="limit"} 1
# HELP pare_pool_running Calls that run in the pool.
# TYPE pare_pool_running gauge
pare_pool_running 0
# HELP pare_pool_waiting Calls that wait for the pool.
# TYPE pare_pool_waiting gauge
pare_pool_waiting 0
# HELP pare_pool_bytes Working memory that the running calls are expected to use.
# TYPE pare_pool_bytes gauge
pare_pool_bytes 0
`)
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want.String()),
		"pare_evaluations_total", "pare_solves_total", "pare_admissions_total", "pare_pool_running", "pare_pool_waiting", "pare_pool_bytes"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"pare_evaluation_seconds", "pare_solve_seconds", "pare_admission_wait_seconds"} {
		if n, err := testutil.GatherAndCount(registry, name); n != 1 || err != nil {
			t.Errorf("%s: %d series, %v", name, n, err)
		}
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// A process that fits and counts.
func ExampleNew() {
	pool, err := pare.NewPool(pare.PoolOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	observer := prom.New(pool)
	registry := prometheus.NewRegistry()
	registry.MustRegister(observer) // and serve it by promhttp.HandlerFor
	x, err := sparse.NewDense(4, 1, []float64{1, 2, 3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := pare.Fit(context.Background(), x, []float64{1, 2, 3, 5}, []float64{-3}, pare.Config{Pool: pool, Observer: observer}); err != nil {
		fmt.Println(err)
		return
	}
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range families {
		if f.GetName() == "pare_solves_total" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	// Output: pare_solves_total 1
}
