package main

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/observe/prom"
)

// metrics has the metrics of the service, and the observer with those of pare.
type metrics struct {
	observer            *prom.Observer
	selections          *prometheus.CounterVec // ended selections, by result
	predictions, errors prometheus.Counter
	report              http.Handler
}

func newMetrics(pool *pare.Pool) *metrics {
	count := func(name, help string) prometheus.CounterOpts {
		return prometheus.CounterOpts{Namespace: "service", Name: name, Help: help}
	}
	m := &metrics{
		observer:    prom.New(pool),
		selections:  prometheus.NewCounterVec(count("selections_total", "Selections that have ended, with a model or without."), []string{"result"}),
		predictions: prometheus.NewCounter(count("predictions_total", "Rows predicted.")),
		errors:      prometheus.NewCounter(count("errors_total", "Requests answered by an error.")),
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.observer, m.selections, m.predictions, m.errors)
	m.report = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// ended counts a job that has ended.
func (m *metrics) ended(j *job) {
	result := "none"
	if j.err == nil && j.result.Final != nil {
		result = "model"
	}
	m.selections.WithLabelValues(result).Inc()
}
