// Package prom records metrics of pare for Prometheus. It is a module of its own, so that programs
// without Prometheus do not depend on it.
package prom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/search"
)

// Observer is a [pare.Observer] and a [prometheus.Collector]: set it in [pare.Config], and register
// it with Prometheus. It is safe for concurrent use. Its metrics are
//
//	pare_evaluations_total                evaluations of the criterion, by model and status
//	pare_evaluation_seconds               their durations, by model
//	pare_solves_total                     solves on all rows, by model and status
//	pare_solve_seconds                    their durations, by model
//	pare_admissions_total                 calls to the pool, by result: admitted, cancelled, or the kind of error
//	pare_admission_wait_seconds           how long admitted calls have waited
//	pare_pool_running, pare_pool_waiting  the numbers of calls that run and that wait
//	pare_pool_bytes                       working memory that the running calls are expected to use
type Observer struct {
	evaluations, solves, admissions *prometheus.CounterVec
	evaluationSeconds, solveSeconds *prometheus.HistogramVec
	wait                            prometheus.Histogram
	pool                            *pare.Pool
	running, waiting, bytes         *prometheus.Desc
}

// New returns an observer. It also collects the state of the pool, unless pool is nil.
func New(pool *pare.Pool) *Observer {
	count := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	// Buckets in steps of a factor of two, from a tenth of a millisecond to nearly two hours.
	seconds := func(name, help string) prometheus.HistogramOpts {
		return prometheus.HistogramOpts{Name: name, Help: help, Buckets: prometheus.ExponentialBuckets(1e-4, 2, 27)}
	}
	return &Observer{
		evaluations:       count("pare_evaluations_total", "Evaluations of the criterion.", "model", "status"),
		evaluationSeconds: prometheus.NewHistogramVec(seconds("pare_evaluation_seconds", "Duration of evaluations of the criterion."), []string{"model"}),
		solves:            count("pare_solves_total", "Inner problems solved on all rows.", "model", "status"),
		solveSeconds:      prometheus.NewHistogramVec(seconds("pare_solve_seconds", "Duration of solves on all rows."), []string{"model"}),
		admissions:        count("pare_admissions_total", "Calls that the pool has admitted, or why not.", "result"),
		wait:              prometheus.NewHistogram(seconds("pare_admission_wait_seconds", "How long admitted calls have waited.")),
		pool:              pool,
		running:           prometheus.NewDesc("pare_pool_running", "Calls that run in the pool.", nil, nil),
		waiting:           prometheus.NewDesc("pare_pool_waiting", "Calls that wait for the pool.", nil, nil),
		bytes:             prometheus.NewDesc("pare_pool_bytes", "Working memory that the running calls are expected to use.", nil, nil),
	}
}

// Admission implements [pare.Observer].
func (o *Observer) Admission(a pare.Admission) {
	if a.Left {
		return
	}
	o.admissions.WithLabelValues(a.Result()).Inc()
	if a.Err == nil {
		o.wait.Observe(a.Waited.Seconds())
	}
}

// Evaluation implements [pare.Observer].
func (o *Observer) Evaluation(m pare.Model, e search.Evaluation) {
	o.evaluations.WithLabelValues(string(m), string(e.Status)).Inc()
	o.evaluationSeconds.WithLabelValues(string(m)).Observe(e.Seconds)
}

// Solve implements [pare.Observer].
func (o *Observer) Solve(f *pare.Fitted, took time.Duration) {
	o.solves.WithLabelValues(string(f.Model), string(f.Status)).Inc()
	o.solveSeconds.WithLabelValues(string(f.Model)).Observe(took.Seconds())
}

// collectors returns the metrics that are collectors themselves.
func (o *Observer) collectors() []prometheus.Collector {
	return []prometheus.Collector{o.evaluations, o.evaluationSeconds, o.solves, o.solveSeconds, o.admissions, o.wait}
}

// Describe implements [prometheus.Collector].
func (o *Observer) Describe(to chan<- *prometheus.Desc) {
	for _, c := range o.collectors() {
		c.Describe(to)
	}
	if o.pool != nil {
		to <- o.running
		to <- o.waiting
		to <- o.bytes
	}
}

// Collect implements [prometheus.Collector].
func (o *Observer) Collect(to chan<- prometheus.Metric) {
	for _, c := range o.collectors() {
		c.Collect(to)
	}
	if o.pool == nil {
		return
	}
	now := o.pool.State()
	to <- prometheus.MustNewConstMetric(o.running, prometheus.GaugeValue, float64(now.Running))
	to <- prometheus.MustNewConstMetric(o.waiting, prometheus.GaugeValue, float64(now.Waiting))
	to <- prometheus.MustNewConstMetric(o.bytes, prometheus.GaugeValue, float64(now.Bytes))
}
