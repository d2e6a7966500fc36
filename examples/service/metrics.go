package main

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/search"
)

// metrics counts what there is to count. It implements pare.Observer.
type metrics struct {
	errors, predictions                  atomic.Int64
	admitted, refused, waited            atomic.Int64 // waited in microseconds
	evaluations, solves, done, cancelled atomic.Int64
}

func (m *metrics) Admission(a pare.Admission) {
	switch {
	case a.Err != nil:
		m.refused.Add(1)
	case !a.Left:
		m.admitted.Add(1)
		m.waited.Add(a.Waited.Microseconds())
	}
}

func (m *metrics) Evaluation(pare.Model, search.Evaluation) { m.evaluations.Add(1) }

func (m *metrics) Solve(*pare.Fitted, time.Duration) { m.solves.Add(1) }

func (m *metrics) ended(j *job) {
	if j.err == nil && j.result.Final != nil {
		m.done.Add(1)
		return
	}
	m.cancelled.Add(1)
}

// report writes the metrics in the text format of Prometheus.
func (s *service) report(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	pool, m := s.pool.State(), &s.metrics
	for _, of := range []struct {
		kind, name string
		value      float64
	}{
		{"gauge", "pare_pool_running", float64(pool.Running)},
		{"gauge", "pare_pool_waiting", float64(pool.Waiting)},
		{"gauge", "pare_pool_bytes", float64(pool.Bytes)},
		{"counter", "pare_admitted_total", float64(m.admitted.Load())},
		{"counter", "pare_refused_total", float64(m.refused.Load())},
		{"counter", "pare_waited_seconds_total", float64(m.waited.Load()) / 1e6},
		{"counter", "pare_evaluations_total", float64(m.evaluations.Load())},
		{"counter", "pare_solves_total", float64(m.solves.Load())},
		{"counter", "pare_selections_done_total", float64(m.done.Load())},
		{"counter", "pare_selections_cancelled_total", float64(m.cancelled.Load())},
		{"counter", "pare_predictions_total", float64(m.predictions.Load())},
		{"counter", "pare_http_errors_total", float64(m.errors.Load())},
	} {
		if _, err := fmt.Fprintf(w, "# TYPE %s %s\n%s %g\n", of.name, of.kind, of.name, of.value); err != nil {
			return nil // the client has gone
		}
	}
	return nil
}
