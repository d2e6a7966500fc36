package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// job is a selection that is waiting, in progress, or done.
type job struct {
	id     string
	cancel context.CancelFunc
	done   chan struct{} // closed when the job has ended; result and err do not change after that
	result *pare.Selection
	err    error

	mu      sync.Mutex
	seen    []event
	changed chan struct{} // closed and replaced when an event is added
}

// event is an evaluation in the form that is sent to clients.
type event struct {
	LogLambda []number `json:"log_lambda"`
	Value     number   `json:"value"`
	Support   int      `json:"support"`
}

// number is written as null in JSON if it is not finite, such as the λ of an elastic net that is
// best without its ridge.
type number float64

func (n number) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(n)) || math.IsInf(float64(n), 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

func numbers(of []float64) []number {
	all := make([]number, len(of))
	for k, v := range of {
		all[k] = number(v)
	}
	return all
}

// begin starts a job.
func (s *service) begin(r *http.Request) (*job, error) {
	data, o, c, err := s.request(r)
	if err != nil {
		return nil, err
	}
	y, _, err := c.Target(data.Y, data.Labels)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(s.base)
	j := &job{cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	o.Progress = j.add
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		cancel()
		return nil, errDraining
	}
	s.number++
	j.id = strconv.Itoa(s.number)
	s.all.put(j.id, j)
	s.all.forget(s.jobs, (*job).ended)
	s.running.Go(func() {
		defer cancel()
		defer close(j.done)
		j.result, j.err = pare.Select(ctx, data.X, y, o, c)
		s.metrics.ended(j)
	})
	return j, nil
}

// add adds an evaluation and wakes the clients that wait for one.
func (j *job) add(e search.Evaluation) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.seen = append(j.seen, event{numbers(e.LogLambda), number(e.Value), e.Support})
	close(j.changed)
	j.changed = make(chan struct{})
}

// since returns the events after the first n, and a channel that is closed when there are more.
func (j *job) since(n int) ([]event, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.seen[n:], j.changed
}

func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// selection returns the result of the job; nil if there is no model, or not yet.
func (j *job) selection() *pare.Selection {
	if !j.ended() || j.err != nil || j.result.Final == nil {
		return nil
	}
	return j.result
}

// state returns the state of a job in the form that is sent to clients.
func (j *job) state() map[string]any {
	seen, _ := j.since(0)
	state := map[string]any{"job": j.id, "state": "under way", "evaluations": len(seen)}
	switch {
	case !j.ended():
	case j.err != nil:
		state["state"], state["error"], state["kind"] = "failed", j.err.Error(), outcome.KindOf(j.err)
	case j.result.Final == nil:
		state["state"] = "cancelled"
	default:
		state["state"], state["status"] = "done", j.result.Status
		state["log_lambda"], state["value"], state["null_value"] = numbers(j.result.LogLambda), number(j.result.Value), number(j.result.NullValue)
		state["support"] = j.result.Final.Support
	}
	return state
}

// of returns the job that a request names.
func (s *service) of(r *http.Request) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, ok := s.all.get(r.PathValue("id"))
	if !ok {
		return nil, missing("job " + r.PathValue("id"))
	}
	return j, nil
}

func (s *service) show(w http.ResponseWriter, r *http.Request) error {
	j, err := s.of(r)
	if err == nil {
		reply(w, http.StatusOK, j.state())
	}
	return err
}

// cancel cancels a job and waits until it has ended.
func (s *service) cancel(w http.ResponseWriter, r *http.Request) error {
	j, err := s.of(r)
	if err != nil {
		return err
	}
	j.cancel()
	<-j.done
	reply(w, http.StatusOK, j.state())
	return nil
}

// events sends the evaluations of a job as they are made, as server-sent events, and its state
// at the end.
func (s *service) events(w http.ResponseWriter, r *http.Request) error {
	j, err := s.of(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(kind string, value any) bool {
		text, err := json.Marshal(value)
		if err == nil {
			_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", kind, text)
		}
		return err == nil && out.Flush() == nil
	}
	for sent := 0; ; {
		ended := j.ended() // before the call of since, so that no event is missed
		seen, changed := j.since(sent)
		for _, e := range seen {
			if sent++; !send("evaluation", e) {
				return nil // the client has gone
			}
		}
		if ended {
			send("end", j.state())
			return nil
		}
		select {
		case <-changed:
		case <-j.done:
		case <-r.Context().Done():
			return nil
		}
	}
}
