package otel_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/observe/otel"
	"github.com/seed-45b9a24c/pare/sparse"
)

// counts are how often a histogram was recorded to, and the values of the rest, by name and
// attributes.
func counts(t *testing.T, reader metric.Reader) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					name := m.Name
					for _, a := range p.Attributes.ToSlice() {
						name += " " + a.Value.AsString()
					}
					out[name] += int64(p.Count)
				}
			case metricdata.Sum[int64]:
				out[m.Name] = data.DataPoints[0].Value
			}
		}
	}
	return out
}

func TestInstruments(t *testing.T) {
	x, err := sparse.NewDense(6, 1, []float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		t.Fatal(err)
	}
	y := []float64{1, 2.5, 2.5, 4, 5.5, 6}
	pool, err := pare.NewPool(pare.PoolOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reader := metric.NewManualReader()
	o, err := otel.New(metric.NewMeterProvider(metric.WithReader(reader)), pool)
	if err != nil {
		t.Fatal(err)
	}
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
	want := map[string]int64{
		"pare.solve.duration lasso converged": 3,
		"pare.admission.wait admitted":        3, "pare.admission.wait limit": 1,
		"pare.pool.running": 0, "pare.pool.waiting": 0, "pare.pool.memory": 0,
	}
	for _, e := range s.Evaluations {
		want["pare.evaluation.duration lasso "+string(e.Status)]++
	}
	if got := counts(t, reader); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Durations of fits, read as an exporter would.
func ExampleNew() {
	reader := metric.NewManualReader() // or one that exports
	observer, err := otel.New(metric.NewMeterProvider(metric.WithReader(reader)), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	x, err := sparse.NewDense(4, 1, []float64{1, 2, 3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := pare.Fit(context.Background(), x, []float64{1, 2, 3, 5}, []float64{-3}, pare.Config{Observer: observer}); err != nil {
		fmt.Println(err)
		return
	}
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(all.ScopeMetrics[0].Metrics[0].Name)
	// Output: pare.solve.duration
}
