package distributed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/distributed/internal/scratch"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Worker solves inner problems for selections.
type Worker struct {
	Name  string // unique among all workers of a server; "" means host name and process id
	Slots int    // inner problems at once; 0 means all processors
	Cache string // directory of data sets; "" means a temporary one
	Log   *slog.Logger
	// Options should be those of the coordinators: Presence, Replicas and MaxBytes.
	Options Options
}

// Run takes part in all jobs of the server until ctx ends; then it announces that it leaves,
// finishes the requests that it has begun, and returns nil. The error is of kind IO if the server
// cannot be reached at the beginning; later Run waits for the server to come back.
func (w Worker) Run(ctx context.Context, nc *nats.Conn) error {
	w, err := w.withDefaults()
	if err != nil {
		return err
	}
	if w.Cache != "" {
		if err := os.MkdirAll(w.Cache, 0o700); err != nil {
			return &outcome.Error{Kind: outcome.IO, File: w.Cache, Message: "cannot be made", Err: err}
		}
	}
	own, remove, err := scratch.Directory(w.Cache, "pare-worker-")
	if err != nil {
		return err
	}
	defer remove()
	w.Cache = cmp.Or(w.Cache, own)
	s := &shift{Worker: w, parts: own, jobs: map[string]*holding{}, known: map[string]uint64{}, again: make(chan struct{}, 1), amiss: map[string]time.Time{}}
	if s.streams, err = open(ctx, nc, w.Options); err != nil {
		if ctx.Err() != nil { // the worker ends before it has begun
			return nil
		}
		return err
	}
	return s.run(ctx)
}

func (w Worker) withDefaults() (Worker, error) {
	var err error
	if w.Options, err = w.Options.withDefaults(); err != nil {
		return w, err
	}
	if w.Slots == 0 {
		w.Slots = runtime.GOMAXPROCS(0)
	}
	if w.Slots < 0 || w.Slots > mostSlots {
		return w, outcome.At(outcome.BadParameter, "slots", "must be 1 to %d, got %d", mostSlots, w.Slots)
	}
	if w.Name == "" {
		host, _ := os.Hostname()
		w.Name = fmt.Sprintf("%s-%d", host, os.Getpid())
	}
	if len(w.Name) > mostName {
		return w, outcome.At(outcome.BadParameter, "name", "has %d bytes, but at most %d are allowed", len(w.Name), mostName)
	}
	if w.Log == nil {
		w.Log = slog.New(slog.DiscardHandler)
	}
	return w, nil
}

// shift is the state of one call of [Worker.Run].
type shift struct {
	Worker
	parts   string // directory of data sets that are being downloaded
	streams *streams
	present presence
	jobs    map[string]*holding
	known   map[string]uint64 // revision of each job record seen
	again   chan struct{}     // a signal to announce this worker and reassign groups

	mu    sync.Mutex
	amiss map[string]time.Time // jobs that this worker leaves to others after a fault, and until when
}

// holding is a job of the server, with the state that this worker holds of it.
type holding struct {
	id     string
	record *record
	log    string          // see logName
	ctx    context.Context // ends when the job is removed
	cancel func()
	groups map[int]*duty  // the groups that this worker serves
	busy   sync.WaitGroup // the goroutines of the duties

	loading sync.Mutex
	made    *bilevel.Lanes // nil until the lanes have been made
}

// duty is a group that this worker serves.
type duty struct {
	stop func() // ends the duty after the current request
	done chan struct{}
}

func (s *shift) run(ctx context.Context) error {
	s.present = presence{within: s.Options.Presence, hello: s.greet}
	heard, err := s.present.listen(s.streams.nc)
	if err != nil {
		return unreachable(err)
	}
	defer func() { _ = heard.Unsubscribe() }()
	watching, stop := context.WithCancel(context.Background())
	entries := make(chan jetstream.KeyValueEntry)
	var watch sync.WaitGroup
	watch.Go(func() { s.streams.watch(watching, entries) })
	defer watch.Wait()
	defer stop()
	s.say(beat{Hello: true})
	select { // time for the other workers to announce themselves
	case <-ctx.Done():
	case <-time.After(min(s.Options.Presence/10, 300*time.Millisecond)):
	}
	tick := time.NewTicker(s.Options.Presence / 5)
	defer tick.Stop()
	s.Log.Info("ready", "worker", s.Name, "slots", s.Slots, "version", Version())
	for {
		select {
		case <-ctx.Done():
			s.leave()
			return nil
		case <-tick.C:
			s.say(beat{})
		case <-s.again:
			s.say(beat{})
		case entry := <-entries:
			s.hear(entry)
		}
		s.settle()
	}
}

// say publishes a presence message of this worker.
func (s *shift) say(b beat) {
	b.Name, b.Version, b.Slots, b.Without = s.Name, Version(), s.Slots, s.without()
	if text, err := json.Marshal(b); err == nil {
		_ = s.streams.nc.Publish(presenceSubject, text) // if it fails, the next message may arrive
		_ = s.streams.nc.FlushTimeout(time.Second)
	}
}

// without lists the jobs that this worker leaves to others after a fault.
func (s *shift) without() (jobs []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for job, until := range s.amiss {
		if time.Now().After(until) {
			delete(s.amiss, job)
		} else if len(jobs) < mostWithout {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// greet makes the loop of run publish a presence message soon.
func (s *shift) greet() {
	select {
	case s.again <- struct{}{}:
	default:
	}
}

// leave announces that the worker leaves, and finishes the current requests.
func (s *shift) leave() {
	s.say(beat{Leaving: true})
	for _, h := range s.jobs {
		for _, d := range h.groups {
			d.stop()
		}
	}
	for _, h := range s.jobs {
		h.busy.Wait()
		h.cancel()
	}
	s.Log.Info("left", "worker", s.Name)
}

// hear processes a job record that was created, changed or removed.
func (s *shift) hear(entry jetstream.KeyValueEntry) {
	id := entry.Key()
	if s.known[id] == entry.Revision() {
		return
	}
	s.known[id] = entry.Revision()
	if old := s.jobs[id]; old != nil {
		old.cancel()
		old.busy.Wait()
		delete(s.jobs, id)
	}
	if entry.Operation() != jetstream.KeyValuePut {
		delete(s.known, id)
		return
	}
	r := &record{}
	if err := decode(entry.Value(), r); err != nil {
		s.Log.Warn("refused", "job", id, "error", err)
		return
	}
	if r.Version != Version() {
		s.Log.Warn("refused", "job", id, "its version", r.Version, "this version", Version())
		return
	}
	if err := r.check(); err != nil {
		s.Log.Warn("refused", "job", id, "error", err)
		return
	}
	h := &holding{id: id, record: r, log: logName(id, entry.Value()), groups: map[int]*duty{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	s.jobs[id] = h
}

// lanes returns the lanes of a job, which the first call makes. After an error the next call tries again.
func (s *shift) lanes(h *holding) (*bilevel.Lanes, error) {
	h.loading.Lock()
	defer h.loading.Unlock()
	if h.made != nil {
		return h.made, nil
	}
	j, err := h.record.job()
	if err != nil {
		return nil, err
	}
	data, err := s.streams.get(h.ctx, s.Cache, s.parts, h.record.Data, h.record.Bytes, s.Options.MaxBytes)
	if err != nil {
		return nil, workerError{err}
	}
	j.Config.Threads = s.Slots
	lanes, err := pare.NewLanes(h.ctx, data.Matrix(), data.Target(), j)
	if err != nil {
		_ = data.Close()
		return nil, err
	}
	h.made = lanes
	context.AfterFunc(h.ctx, func() {
		h.busy.Wait()
		_ = data.Close()
	})
	s.Log.Info("took", "job", h.id, "data", h.record.Data[:12], "folds", h.record.Folds, "classes", h.record.Classes)
	return lanes, nil
}

// settle starts and stops serving groups, by the assignment to the workers that are alive.
func (s *shift) settle() {
	for _, h := range s.jobs {
		for group, owner := range assign(h.id, h.record.groups(), s.present.able(Version(), h.id)) {
			d := h.groups[group]
			if d != nil && d.ended() {
				delete(h.groups, group)
				d = nil
			}
			switch {
			case owner == s.Name && d == nil:
				h.groups[group] = s.begin(h, group)
			case owner != s.Name && d != nil:
				d.stop()
			}
		}
	}
}

// ended reports whether a duty has ended.
func (d *duty) ended() bool {
	select {
	case <-d.done:
		return true
	default:
		return false
	}
}

// begin starts to serve a group, from the beginning of its log.
func (s *shift) begin(h *holding, group int) *duty {
	ctx, stop := context.WithCancel(h.ctx)
	d := &duty{stop: stop, done: make(chan struct{})}
	h.busy.Go(func() {
		defer close(d.done)
		defer stop()
		var lanes *bilevel.Lanes
		err := s.streams.follow(ctx, h.log, group, func(at string, text []byte) bool {
			a, err := s.answer(h, group, &lanes, text)
			if err == nil {
				err = s.publish(ctx, h, answered(at), a)
			}
			if err != nil && ctx.Err() == nil {
				s.Log.Error("not answered", "subject", at, "error", err)
				s.tell(ctx, h, answered(at), text, err)
			}
			return err == nil && ctx.Err() == nil
		})
		if err != nil {
			s.Log.Error("not served", "job", h.id, "group", group, "error", err)
		}
		if lanes != nil {
			s.Log.Debug("let go", "job", h.id, "group", group)
			for _, id := range h.record.lanes(group) {
				lanes.Forget(id)
			}
		}
	})
	return d
}

// mending is how long a worker leaves a job to others after a fault, in units of [streams].late.
const mending = 6

// workerError is an error of this worker, which other workers may not have.
type workerError struct{ error }

func (e workerError) Unwrap() error { return e.error }

// publish publishes an answer. If the group has moved to another worker meanwhile, it still tries for a short time.
func (s *shift) publish(ctx context.Context, h *holding, subject string, answer []byte) error {
	if ctx.Err() != nil {
		last, end := context.WithTimeout(h.ctx, reply)
		defer end()
		ctx = last
	}
	_, err := s.streams.publish(ctx, s.streams.results, subject, answer)
	return err
}

// tell reports a fault of this worker, such as a full disk, to the coordinator that waits for an answer. It leaves the job
// to other workers for a while, and pauses. The report is not stored in the stream, so that a later try can still answer
// the request.
func (s *shift) tell(ctx context.Context, h *holding, subject string, request []byte, amiss error) {
	s.mu.Lock()
	s.amiss[h.id] = time.Now().Add(mending * s.streams.late)
	s.mu.Unlock()
	s.greet()
	if text, err := encode(answer{Request: digest(request), Worker: s.Name, Error: newRefusal(amiss), Amiss: true}); err == nil {
		_ = s.streams.nc.Publish(stored(subject), text)
	}
	select {
	case <-ctx.Done():
	case <-time.After(s.streams.late):
	}
}

// answer returns the answer to a request to a group, and makes the lanes first if there are none. It
// returns an error only if the job has ended, or for a fault of this worker; errors of the request
// itself are part of the answer.
func (s *shift) answer(h *holding, group int, lanes **bilevel.Lanes, request []byte) ([]byte, error) {
	began := time.Now()
	a := answer{Request: digest(request), Worker: s.Name}
	var results []bilevel.LaneResult
	var err error
	if *lanes == nil {
		*lanes, err = s.lanes(h)
	}
	if err == nil {
		results, err = serve(h.ctx, *lanes, h.record, group, request)
	}
	switch {
	case h.ctx.Err() != nil:
		return nil, h.ctx.Err()
	case outcome.KindOf(err) == outcome.IO, errors.As(err, &workerError{}):
		return nil, err
	case err != nil:
		a.Error = newRefusal(err)
	}
	a.Seconds = time.Since(began).Seconds()
	text, err := encode(a)
	if err != nil {
		return nil, err
	}
	return encodeEach(text, results)
}

// serve checks the requests of a message and runs the lanes of the group on them.
func serve(ctx context.Context, lanes *bilevel.Lanes, r *record, group int, text []byte) (results []bilevel.LaneResult, err error) {
	requests, err := decodeEach[bilevel.LaneRequest](text, perGroup)
	if err != nil {
		return nil, err
	}
	seen := map[bilevel.LaneID]bool{}
	for _, one := range requests {
		if id := one.Lane; id.Fold < 0 || id.Class < 0 || r.group(id) != group || seen[id] {
			return nil, malformed("lane %v in group %s, or twice", id, strconv.Itoa(group))
		}
		seen[one.Lane] = true
	}
	defer func() {
		if cause := recover(); cause != nil {
			err = outcome.Errorf(outcome.Internal, "a lane panicked: %v", cause)
		}
	}()
	return lanes.Run(ctx, requests, nil)
}
