// Package otel records metrics of pare with OpenTelemetry. It is a module of its own, so that
// programs without OpenTelemetry do not depend on it.
package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// Scope is the name of the instrumentation scope.
const Scope = "github.com/seed-45b9a24c/pare/observe/otel"

// New returns an observer for [pare.Config] that records to a meter of the provider. It also
// observes the state of the pool, unless pool is nil. The error is that of the provider. The
// instruments are
//
//	pare.evaluation.duration         s, of evaluations of the criterion, by model and status
//	pare.solve.duration              s, of solves on all rows, by model and status
//	pare.admission.wait              s, of all calls to a pool, by result: admitted, cancelled, or the kind of error
//	pare.pool.running, .waiting      the numbers of calls that run and that wait
//	pare.pool.memory                 By, that the running calls are expected to use
func New(provider metric.MeterProvider, pool *pare.Pool) (pare.Observer, error) {
	meter := provider.Meter(Scope)
	var all error
	// Bounds in steps of a factor of two, from a tenth of a millisecond to nearly two hours.
	bounds := []float64{1e-4}
	for len(bounds) < 27 {
		bounds = append(bounds, 2*bounds[len(bounds)-1])
	}
	duration := func(name, about string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(about), metric.WithExplicitBucketBoundaries(bounds...))
		all = errors.Join(all, err)
		return h
	}
	o := &observer{
		evaluation: duration("pare.evaluation.duration", "Duration of evaluations of the criterion."),
		solve:      duration("pare.solve.duration", "Duration of solves on all rows."),
		wait:       duration("pare.admission.wait", "How long calls have waited for the pool."),
	}
	if pool != nil {
		all = errors.Join(all, observe(meter, pool))
	}
	if all != nil {
		return nil, all
	}
	return o, nil
}

// observe registers a callback that observes the state of a pool.
func observe(meter metric.Meter, pool *pare.Pool) error {
	gauge := func(name, unit, about string) (metric.Int64ObservableUpDownCounter, error) {
		return meter.Int64ObservableUpDownCounter(name, metric.WithUnit(unit), metric.WithDescription(about))
	}
	running, a := gauge("pare.pool.running", "{call}", "Calls that run in the pool.")
	waiting, b := gauge("pare.pool.waiting", "{call}", "Calls that wait for the pool.")
	memory, c := gauge("pare.pool.memory", "By", "Working memory that the running calls are expected to use.")
	if err := errors.Join(a, b, c); err != nil {
		return err
	}
	_, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		now := pool.State()
		o.ObserveInt64(running, int64(now.Running))
		o.ObserveInt64(waiting, int64(now.Waiting))
		o.ObserveInt64(memory, now.Bytes)
		return nil
	}, running, waiting, memory)
	return err
}

// observer implements [pare.Observer].
type observer struct{ evaluation, solve, wait metric.Float64Histogram }

func (o *observer) Admission(a pare.Admission) {
	if !a.Left {
		o.wait.Record(context.Background(), a.Waited.Seconds(), metric.WithAttributes(attribute.String("result", a.Result())))
	}
}

func (o *observer) Evaluation(m pare.Model, e search.Evaluation) {
	o.evaluation.Record(context.Background(), e.Seconds, about(m, e.Status))
}

func (o *observer) Solve(f *pare.Fitted, took time.Duration) {
	o.solve.Record(context.Background(), took.Seconds(), about(f.Model, f.Status))
}

func about(m pare.Model, s outcome.Status) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String("model", string(m)), attribute.String("status", string(s)))
}
