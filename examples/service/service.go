package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

// limits bound the resources of the service; the flags of main explain them.
type limits struct {
	files                    string // the folder of files that clients may name; "": none
	calls, queue, data, jobs int
	bytes, upload, reading   int64
	longest, sending         time.Duration
}

// service holds data sets, jobs and the model that is served.
type service struct {
	limits
	pool    *pare.Pool
	metrics *metrics
	live    pare.Live

	mu       sync.Mutex
	sets     recent[*table.Data]
	all      recent[*job] // jobs in progress are never removed
	number   int
	draining bool

	running sync.WaitGroup     // the jobs in progress
	soft    chan struct{}      // closed to end all searches with their best points so far
	base    context.Context    // the parent of the contexts of jobs
	kill    context.CancelFunc // ends base
}

func newService(l limits) (*service, error) {
	pool, err := pare.NewPool(pare.PoolOptions{Calls: l.calls, Queue: l.queue, MaxBytes: l.bytes})
	if err != nil {
		return nil, err
	}
	s := &service{limits: l, pool: pool, metrics: newMetrics(pool), soft: make(chan struct{})}
	s.base, s.kill = context.WithCancel(context.Background())
	return s, nil
}

func (s *service) handler() http.Handler {
	routes := http.NewServeMux()
	handle := func(pattern string, h func(http.ResponseWriter, *http.Request) error) {
		routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := h(w, r); err != nil {
				s.metrics.errors.Inc()
				reply(w, statusOf(err), map[string]string{"error": err.Error(), "kind": string(outcome.KindOf(err))})
			}
		})
	}
	handle("POST /data", s.upload)
	handle("POST /select", s.choose)
	handle("GET /jobs/{id}", s.show)
	handle("GET /jobs/{id}/events", s.events)
	handle("DELETE /jobs/{id}", s.cancel)
	handle("PUT /live", s.replace)
	handle("POST /predict", s.predict)
	routes.Handle("GET /metrics", s.metrics.report)
	return routes
}

// reply writes a value as JSON.
func reply(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil { // the status has not been sent yet
		status, text = http.StatusInternalServerError, []byte(`{"error": "the answer cannot be written as JSON", "kind": "internal"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // the client may have gone
}

// missing is the error of a thing that the service does not hold.
type missing string

func (m missing) Error() string { return "there is no " + string(m) }

var errDraining = errors.New("the service is ending")

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	_, notFound := errors.AsType[missing](err)
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	of, _ := errors.AsType[*outcome.Error](err)
	switch {
	case notFound:
		return http.StatusNotFound
	case tooLarge:
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errDraining), of != nil && of.Flag == "queue":
		return http.StatusServiceUnavailable
	case of == nil || of.Kind == outcome.Internal || of.Kind == outcome.IO:
		return http.StatusInternalServerError
	default:
		return http.StatusUnprocessableEntity
	}
}

// upload reads a data file in any supported format: the body, or the file that path names in the
// folder of files. The id of the data set is a hash of the bytes and the target.
func (s *service) upload(w http.ResponseWriter, r *http.Request) error {
	body, name := io.Reader(http.MaxBytesReader(w, r.Body, s.limits.upload)), "the body"
	path := r.URL.Query().Get("path")
	if path != "" {
		if s.files == "" {
			return outcome.At(outcome.Usage, "path", "this service has no folder of files")
		}
		folder, err := os.OpenRoot(s.files)
		if err != nil {
			return err
		}
		defer folder.Close()
		file, err := folder.Open(path)
		if err != nil {
			return missing("file " + path)
		}
		defer file.Close()
		body, name = file, path
	}
	hash := sha256.New()
	target := r.URL.Query().Get("target")
	data, err := table.Read(r.Context(), io.TeeReader(body, hash), table.Options{Name: name, Target: target, OneFile: true, Limits: sparse.Limits{Bytes: s.reading}})
	if err != nil && path == "" && outcome.KindOf(err) == outcome.IO {
		return &outcome.Error{Kind: outcome.Parse, Message: "the body is damaged, or was not sent to its end", Err: err}
	}
	if err != nil {
		return err
	}
	_, _ = hash.Write([]byte(target))
	id := hex.EncodeToString(hash.Sum(nil))[:16]
	s.mu.Lock()
	s.sets.put(id, data)
	s.sets.forget(s.data, nil)
	s.mu.Unlock()
	n, p := data.X.Dims()
	reply(w, http.StatusCreated, map[string]any{"data": id, "format": data.Format, "rows": n, "columns": p})
	return nil
}

// choose begins a selection: POST /select?data=ID&model=lasso&seconds=10&evaluations=20&from=JOB.
// With wait=true the answer is sent when the job has ended, and the job is cancelled if the request
// ends first.
func (s *service) choose(w http.ResponseWriter, r *http.Request) error {
	j, err := s.begin(r)
	switch {
	case err != nil:
		return err
	case r.URL.Query().Get("wait") != "true":
		reply(w, http.StatusAccepted, j.state())
		return nil
	}
	defer context.AfterFunc(r.Context(), j.cancel)()
	<-j.done
	if j.err != nil {
		return j.err
	}
	reply(w, http.StatusOK, j.state())
	return nil
}

// request reads the data set, options and configuration that a request asks for.
func (s *service) request(r *http.Request) (*table.Data, pare.SelectOptions, pare.Config, error) {
	var o pare.SelectOptions
	c := pare.Config{Model: pare.Model(cmp.Or(r.URL.Query().Get("model"), string(pare.Lasso))), Pool: s.pool, Observer: s.metrics.observer}
	var bad error
	number := func(name string, most float64) float64 {
		v, err := strconv.ParseFloat(cmp.Or(r.URL.Query().Get(name), "0"), 64)
		if err != nil || !(v >= 0 && v <= most) {
			bad = outcome.At(outcome.BadParameter, name, "must be a number from 0 to %g, got %q", most, r.URL.Query().Get(name))
		}
		return v
	}
	o.MaxDuration = time.Duration(number("seconds", s.longest.Seconds()) * float64(time.Second))
	o.MaxDuration = cmp.Or(o.MaxDuration, s.longest)
	o.Evaluations = int(number("evaluations", 1000))
	o.Validation.Folds = int(number("folds", 100))
	o.Validation.Seed = uint64(number("seed", 1<<53))
	o.Stop = s.soft
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.sets.get(r.URL.Query().Get("data"))
	if !ok {
		return nil, o, c, missing("data " + r.URL.Query().Get("data"))
	}
	if id := r.URL.Query().Get("from"); id != "" {
		earlier, ok := s.all.get(id)
		if !ok {
			return nil, o, c, missing("job " + id)
		}
		if o.From = earlier.selection(); o.From == nil {
			return nil, o, c, outcome.At(outcome.Usage, "from", "job %s has no model", id)
		}
	}
	return data, o, c, bad
}

// replace replaces the model that is served by the model of a job, or by one in the body, in the
// format of pare.Predictor.Write.
func (s *service) replace(w http.ResponseWriter, r *http.Request) error {
	var next *pare.Predictor
	if id := r.URL.Query().Get("job"); id != "" {
		s.mu.Lock()
		j, ok := s.all.get(id)
		s.mu.Unlock()
		switch {
		case !ok:
			return missing("job " + id)
		case j.selection() == nil:
			return outcome.At(outcome.Usage, "job", "job %s has no model", id)
		}
		next = j.selection().Final.Predictor()
	} else {
		var err error
		if next, err = pare.Read(http.MaxBytesReader(w, r.Body, s.limits.upload)); err != nil {
			return err
		}
	}
	last := s.live.Swap(next)
	reply(w, http.StatusOK, map[string]any{"model": next.Model(), "columns": next.Columns(), "replaced": last != nil})
	return nil
}

// predict answers {"rows": [[…], …]} with a target for each.
func (s *service) predict(w http.ResponseWriter, r *http.Request) error {
	var asked struct{ Rows [][]*float64 } // pointers, to detect null
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.limits.upload))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &asked); err != nil || asked.Rows == nil {
		return &outcome.Error{Kind: outcome.Parse, Message: `the body must be {"rows": [[…], …]} with numbers`, Err: err}
	}
	p := s.live.Predictor() // the same predictor for all rows
	if p == nil {
		return missing("model yet; PUT /live first")
	}
	targets, scores := make([]float64, len(asked.Rows)), make([]float64, p.Scores())
	row := make([]float64, p.Columns())
	for i, cells := range asked.Rows {
		if len(cells) != len(row) {
			return &outcome.Error{Kind: outcome.Shape, HasRow: true, Row: i, Message: fmt.Sprintf("%d numbers, the model has %d columns", len(cells), len(row))}
		}
		for j, v := range cells {
			if v == nil {
				return &outcome.Error{Kind: outcome.Parse, HasRow: true, Row: i, HasColumn: true, Column: j, Message: "null, where there must be a number"}
			}
			row[j] = *v
		}
		if err := p.DecideRow(nil, row, scores); err != nil {
			return outcome.In("row "+strconv.Itoa(i), err)
		}
		if targets[i] = p.Target(scores); math.IsNaN(targets[i]) || math.IsInf(targets[i], 0) {
			return &outcome.Error{Kind: outcome.NonFinite, HasRow: true, Row: i, Message: "its values are so large that its prediction is not finite"}
		}
	}
	s.metrics.predictions.Add(float64(len(targets)))
	reply(w, http.StatusOK, map[string]any{"targets": targets})
	return nil
}

// drain refuses new jobs and ends searches softly; when ctx ends, it cancels jobs that are still
// running. It returns when all jobs have ended.
func (s *service) drain(ctx context.Context) {
	s.mu.Lock()
	if !s.draining {
		s.draining = true
		close(s.soft)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.running.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
	s.kill()
	<-done
}
