package distributed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Run is a selection whose lanes run in workers. Its method Lanes goes into [pare.SelectOptions].
type Run struct {
	// ID is the id of the job.
	ID string

	streams *streams
	hash    string
	size    int64
	present presence
	began   time.Time

	mu      sync.Mutex
	jobs    int // number of jobs so far
	workers map[string]Work
	amiss   map[string]bool // workers that have reported a fault since their last answer
	end     []func()        // functions that Close calls
}

// Work is the work that a worker has done for a run.
type Work struct {
	Answers int
	Seconds float64 // spent on the answers
}

// Submit stores a data set where workers find it, unless it is there already, and returns a run
// for one selection on it. x and y must be those given to [pare.Select]. The error is of kind IO if
// the server cannot be reached, or Limit if the data set is too large. Close ends the run; Remove
// also deletes its jobs.
func Submit(ctx context.Context, nc *nats.Conn, x sparse.Matrix, y []float64, o Options) (*Run, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &Run{ID: cmp.Or(o.Job, nuid.Next()), present: presence{within: o.Presence}, workers: map[string]Work{}, amiss: map[string]bool{}, began: time.Now()}
	if r.streams, err = open(ctx, nc, o); err != nil {
		return nil, err
	}
	heard, err := r.present.listen(nc)
	if err != nil {
		return nil, unreachable(err)
	}
	r.end = append(r.end, func() { _ = heard.Unsubscribe() })
	if r.hash, r.size, err = r.streams.put(ctx, x, y, o.MaxBytes); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Workers returns the workers that can take part, and descriptions of live workers that cannot,
// with their versions.
func (r *Run) Workers() (able []Member, others []string) { return r.present.alive(Version()) }

// Work returns the work of each worker, by name.
func (r *Run) Work() map[string]Work {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.workers)
}

// Close stops listening. The job stays on the server, and a later run with its id can continue it.
func (r *Run) Close() {
	r.mu.Lock()
	end := r.end
	r.end = nil
	r.mu.Unlock()
	for _, f := range end {
		f()
	}
}

// Remove closes the run and deletes its jobs, so that workers stop serving them: when the selection
// is done, or to cancel it. The data set stays, for other runs.
func (r *Run) Remove(ctx context.Context) error {
	r.Close()
	return remove(ctx, r.streams, r.ID)
}

// Remove deletes the jobs of a run that will not be continued, by its id.
func Remove(ctx context.Context, nc *nats.Conn, id string) error {
	o, err := Options{Job: id}.withDefaults()
	if err != nil {
		return err
	}
	s, err := open(ctx, nc, o)
	if err != nil {
		return err
	}
	return remove(ctx, s, id)
}

func remove(ctx context.Context, s *streams, id string) error {
	var all error
	for k := range 2 { // a run has up to two jobs
		job := jobName(id, k)
		all = errors.Join(all,
			s.jobs.Purge(ctx, job, jetstream.PurgeTTL(remembered)),
			s.tasks.Purge(ctx, jetstream.WithPurgeSubject("pare.task."+job+".>")),
			s.results.Purge(ctx, jetstream.WithPurgeSubject("pare.result."+job+".>")))
	}
	return unreachable(all)
}

// jobName names the k-th job of a run.
func jobName(id string, k int) string { return fmt.Sprintf("%s-%d", id, k) }

// Lanes returns a runner that runs the lanes of a job in workers; see [pare.SelectOptions].Lanes. A
// selection has one job, or two; see [pare.Job].
func (r *Run) Lanes(_ context.Context, j pare.Job) (bilevel.Runner, error) {
	record, err := newRecord(j)
	if err != nil {
		return nil, err
	}
	record.Data, record.Bytes = r.hash, r.size
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &coordinator{run: r, job: jobName(r.ID, r.jobs), record: record, asked: map[int]int{}, news: map[string]chan *nats.Msg{}}
	heard, err := r.streams.nc.Subscribe(stored("pare.result."+c.job+".>"), c.hear)
	if err != nil {
		return nil, unreachable(err)
	}
	r.jobs++
	r.end = append(r.end, func() { _ = heard.Unsubscribe() })
	return c, nil
}

// coordinator sends requests to the lanes of one job.
type coordinator struct {
	run    *Run
	job    string
	record *record
	log    string // see logName; set when the job has been stated

	mu     sync.Mutex
	stated bool
	asked  map[int]int               // number of requests to each group so far
	news   map[string]chan *nats.Msg // channels for the answers that are expected, by subject
}

// hear passes an answer to the channel that waits for it.
func (c *coordinator) hear(m *nats.Msg) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if expected := c.news[m.Subject]; expected != nil {
		expected <- m
		delete(c.news, m.Subject)
	}
}

// expect returns a channel that will receive the answer with this subject.
func (c *coordinator) expect(subject string) <-chan *nats.Msg {
	c.mu.Lock()
	defer c.mu.Unlock()
	news := make(chan *nats.Msg, 1)
	c.news[stored(subject)] = news
	return news
}

// state publishes the record of the job, once. The first requests, which go to all lanes, determine
// the numbers of folds and classes.
func (c *coordinator) state(ctx context.Context, requests []bilevel.LaneRequest) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stated {
		return nil
	}
	classes := 0
	for _, r := range requests {
		c.record.Folds, classes = max(c.record.Folds, r.Lane.Fold+1), max(classes, r.Lane.Class+1)
	}
	if classes > 1 {
		c.record.Classes = classes
	}
	if err := c.record.check(); err != nil {
		return err
	}
	text, err := encode(c.record)
	if err != nil {
		return err
	}
	for {
		_, err := c.run.streams.jobs.Create(ctx, c.job, text)
		if errors.Is(err, jetstream.ErrKeyExists) {
			var there jetstream.KeyValueEntry
			if there, err = c.run.streams.jobs.Get(ctx, c.job); err == nil && !bytes.Equal(there.Value(), text) {
				return outcome.At(outcome.Usage, "job", "the id %s belongs to a selection of other data or options, or by another version of pare; use another id", c.run.ID)
			}
		}
		if err == nil {
			break
		}
		if !pause(ctx) {
			return ctx.Err()
		}
	}
	c.log, c.stated = logName(c.job, text), true
	return nil
}

// batch has the requests that are sent to one group in one message.
type batch struct {
	group   int
	number  int    // position in the log of the group
	at      []int  // indices of the requests
	text    []byte // the encoded message
	subject string // subject of the answer
}

// Run implements [bilevel.Runner].
func (c *coordinator) Run(ctx context.Context, requests []bilevel.LaneRequest, solved func()) ([]bilevel.LaneResult, error) {
	if err := c.state(ctx, requests); err != nil {
		return nil, err
	}
	batches, err := c.batches(requests)
	if err != nil {
		return nil, err
	}
	results := make([]bilevel.LaneResult, len(requests))
	all, asking := errgroup.WithContext(ctx)
	for _, b := range batches {
		all.Go(func() error {
			answers, err := c.ask(asking, b)
			if err != nil {
				return err
			}
			for k, at := range b.at {
				results[at] = answers[k]
				if solved != nil && requests[at].Ask == bilevel.AskSolve {
					solved()
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return results, nil
}

// batches collects the requests into one batch per group, and numbers the batches.
func (c *coordinator) batches(requests []bilevel.LaneRequest) ([]*batch, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*batch
	of := map[int]*batch{}
	for i, r := range requests {
		group := c.record.group(r.Lane)
		b := of[group]
		if b == nil {
			b = &batch{group: group}
			of[group] = b
			all = append(all, b)
		}
		b.at = append(b.at, i)
	}
	for _, b := range all {
		asked := make([]bilevel.LaneRequest, 0, len(b.at))
		for _, at := range b.at {
			asked = append(asked, requests[at])
		}
		var err error
		if b.text, err = encodeEach(nil, asked); err != nil {
			return nil, err
		}
		c.asked[b.group]++
		b.number = c.asked[b.group]
		b.subject = subject("result", c.log, b.group, b.number)
	}
	return all, nil
}

// ask publishes a batch and waits for its answer. A failing server can lose requests and answers, so
// ask repeats the request at growing intervals, until there is an answer or there can be none.
func (c *coordinator) ask(ctx context.Context, b *batch) ([]bilevel.LaneResult, error) {
	to := c.run.streams
	news := c.expect(b.subject)
	var doubt error // counts only when it is found twice, since a server may lag behind others for a while
	for wait := retry; ; wait = min(2*wait, to.late) {
		there, err := to.publish(ctx, to.tasks, request(b.subject), b.text)
		if err != nil {
			return nil, err
		}
		var text []byte
		if there { // the request was published before, so there may be an answer
			text, there = get(ctx, to.results, b.subject)
		}
		if !there {
			text, there = hear(ctx, news, b.subject, wait)
		}
		switch {
		case there:
			results, worker, err := c.read(b, text)
			if worker != "" && c.run.others(worker) {
				news = c.expect(b.subject)
				continue
			}
			return results, err
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case wait == to.late:
			was := doubt
			if doubt = c.hopeless(ctx, b); doubt != nil && was != nil {
				return nil, doubt
			}
		}
	}
}

// hopeless returns an error if no worker will ever answer a batch.
func (c *coordinator) hopeless(ctx context.Context, b *batch) error {
	if able, others := c.run.Workers(); len(able) == 0 && len(others) > 0 {
		return outcome.At(outcome.Usage, "runner", "all workers are of other versions than this coordinator's (%s): %s", Version(), strings.Join(others, "; "))
	}
	if _, err := c.run.streams.jobs.Get(ctx, c.job); errors.Is(err, jetstream.ErrKeyNotFound) {
		return outcome.At(outcome.Limit, "job", "the job %s was removed while a selection waited for it", c.run.ID)
	}
	there, err := count(ctx, c.run.streams.tasks, subjects("task", c.log, b.group))
	if err == nil && there < b.number {
		return outcome.At(outcome.IO, "job", "the servers have lost requests of the job %s; select again with this id to continue it", c.run.ID)
	}
	return nil
}

// others records that a worker has reported a fault, and returns whether there is another worker without a fault, or there
// may be one that has not announced itself yet.
func (r *Run) others(worker string) bool {
	able, _ := r.Workers()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.amiss[worker] = true
	return time.Since(r.began) < r.present.within/2 || slices.ContainsFunc(able, func(m Member) bool { return !r.amiss[m.Name] })
}

// read decodes an answer. It returns the results, or the name of the worker if the answer reports a fault of
// the worker.
func (c *coordinator) read(b *batch, text []byte) (results []bilevel.LaneResult, amiss string, err error) {
	var a answer
	rest, err := decodeFirst(text, &a)
	if err != nil {
		return nil, "", err
	}
	results, err = decodeEach[bilevel.LaneResult](rest, len(b.at))
	switch {
	case a.Request != digest(b.text):
		return nil, "", outcome.At(outcome.Usage, "job", "the id %s belongs to a selection with other requests; use another id", c.run.ID)
	case a.Error != nil && a.Amiss:
		return nil, a.Worker, a.Error.err(a.Worker)
	case a.Error != nil:
		return nil, "", a.Error.err(a.Worker)
	case err != nil:
		return nil, "", err
	case len(results) != len(b.at):
		return nil, "", malformed("%d results to %d requests", len(results), len(b.at))
	}
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	w := c.run.workers[a.Worker]
	c.run.workers[a.Worker] = Work{w.Answers + 1, w.Seconds + a.Seconds}
	delete(c.run.amiss, a.Worker)
	return results, "", nil
}
