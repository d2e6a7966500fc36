package distributed

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed-45b9a24c/pare/outcome"
)

const (
	tasksStream   = "PARE_TASKS"
	resultsStream = "PARE_RESULTS"
	jobsBucket    = "PARE_JOBS"
	dataBucket    = "PARE_DATA"
	retry         = 200 * time.Millisecond // pause before another try
	patience      = time.Minute            // how long to retry while the servers of a cluster agree or choose a leader
	reply         = 5 * time.Second        // time limit of one request to a server
	remembered    = 24 * time.Hour         // how long the server keeps the mark that a job was removed
)

// streams has the JetStream resources of jobs.
type streams struct {
	nc             *nats.Conn
	js             jetstream.JetStream
	tasks, results jetstream.Stream
	jobs           jetstream.KeyValue
	data           jetstream.ObjectStore
	shared         string        // see [Options].Data
	late           time.Duration // longest interval until a missing message is asked for again
}

// Options are the options of coordinators and workers.
type Options struct {
	// Job is the id of the selection, of letters, digits, - and _; "" draws one. A new selection
	// with the id of an interrupted one continues where that stopped.
	Job string
	// Presence is how long a worker may be silent before its groups are given to other workers; 0
	// means 10 s. Workers and coordinators of one server should have the same value.
	Presence time.Duration
	// Replicas is the number of copies of streams and data in a cluster of servers; 0 keeps the
	// number of existing streams, and means 1 for new ones.
	Replicas int
	// Data is where data sets are stored by their SHA-256, instead of the servers' object store. It
	// is a directory that all processes share, to which a coordinator writes missing data sets, or
	// an address that begins with https:// (or http://), to which data sets have been copied by
	// other means. A worker reads only from its own Data, never from a place that a message names.
	Data string
	// MaxBytes bounds the size of a data set that is sent or accepted; 0 means 16 GiB.
	MaxBytes int64
}

func (o Options) withDefaults() (Options, error) {
	if o.Presence == 0 {
		o.Presence = 10 * time.Second
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 16 << 30
	}
	switch {
	case o.Presence < 0 || o.Replicas < 0 || o.MaxBytes < 0:
		return o, outcome.Errorf(outcome.BadParameter, "presence, replicas and bytes must not be negative")
	case !regexp.MustCompile(`^[A-Za-z0-9_-]{0,64}$`).MatchString(o.Job):
		return o, outcome.At(outcome.BadParameter, "job", "%q is not an id: use up to 64 letters, digits, - and _", o.Job)
	}
	return o, nil
}

// open creates the streams, or opens existing ones. It tries again if there is no answer in time, and if the servers have
// no leader.
func open(ctx context.Context, nc *nats.Conn, o Options) (s *streams, err error) {
	err = insist(ctx, func() (again bool, err error) {
		s, err = openOnce(ctx, nc, o)
		return errors.Is(err, context.DeadlineExceeded) || leaderless(err), err
	})
	return s, err
}

// withoutLeader is the error code of "JetStream system temporarily unavailable".
const withoutLeader jetstream.ErrorCode = 10008

// leaderless reports whether err says that the servers have no leader yet.
func leaderless(err error) bool {
	of, ok := errors.AsType[*jetstream.APIError](err)
	return ok && of.ErrorCode == withoutLeader
}

// insist calls f until it succeeds or returns false for again. It gives up after patience, but not before
// the third try.
func insist(ctx context.Context, f func() (again bool, err error)) error {
	last := time.Now().Add(patience)
	for try := 1; ; try++ {
		if again, err := f(); err == nil || !again || try >= 3 && time.Now().After(last) || !pause(ctx) {
			return err
		}
	}
}

func openOnce(ctx context.Context, nc *nats.Conn, o Options) (*streams, error) {
	s := &streams{nc: nc, shared: o.Data, late: o.Presence}
	var err error
	if s.js, err = jetstream.New(nc); err != nil {
		return nil, unreachable(err)
	}
	if o.Replicas == 0 {
		o.Replicas = 1
		there, err := s.js.Stream(ctx, tasksStream)
		switch {
		case err == nil:
			o.Replicas = there.CachedInfo().Config.Replicas
		case !errors.Is(err, jetstream.ErrStreamNotFound):
			return nil, unreachable(err)
		}
	}
	log := func(name, kind string) (jetstream.Stream, error) {
		all := "pare." + kind + ".>"
		return s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{all}, Storage: jetstream.FileStorage, Replicas: o.Replicas,
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, // publishing is idempotent
			RePublish: &jetstream.RePublish{Source: all, Destination: stored(all)},
		})
	}
	if s.tasks, err = log(tasksStream, "task"); err == nil {
		s.results, err = log(resultsStream, "result")
	}
	if err == nil {
		s.jobs, err = s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: jobsBucket, Replicas: o.Replicas, LimitMarkerTTL: remembered})
	}
	if err == nil {
		s.data, err = s.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: dataBucket, Replicas: o.Replicas})
	}
	return s, unreachable(err)
}

// unreachable wraps err as an error of the server; nil stays nil.
func unreachable(err error) error {
	if err == nil {
		return nil
	}
	return &outcome.Error{Kind: outcome.IO, Flag: "runner", Message: "the NATS server refuses a request (JetStream must be enabled, and this user needs the permissions that the README of the module lists)", Err: err}
}

// logName returns the JOB.RECORD part of the subjects of a job.
func logName(job string, record []byte) string {
	sum := digest(record)
	return job + "." + hex.EncodeToString(sum[:16])
}

// subject returns the subject of the n-th request ("task") or answer ("result") of a group.
func subject(kind, log string, group, n int) string {
	return fmt.Sprintf("pare.%s.%s.%d.%d", kind, log, group, n)
}

// subjects returns a pattern for the subjects of all requests or answers of a group.
func subjects(kind, log string, group int) string {
	return fmt.Sprintf("pare.%s.%s.%d.*", kind, log, group)
}

// request and answered convert the subject of an answer to the subject of its request, and back.
func request(subject string) string  { return strings.Replace(subject, "result", "task", 1) }
func answered(subject string) string { return strings.Replace(subject, "task", "result", 1) }

// stored returns the subject under which servers republish a message that they have stored.
func stored(subject string) string { return "pare.stored" + strings.TrimPrefix(subject, "pare") }

// publish stores a message in a stream under a subject. there reports that the subject had a
// message already. It tries until ctx ends, since servers may be away for a while. It returns an
// error at once only for a message that is too large, and after a while if the server keeps
// refusing the message, as with a full disk. Neither an acknowledgement nor a refusal is final: a
// message that the servers have not yet agreed on may be lost with their leader. So callers that
// wait for a reaction to a message publish it again.
func (s *streams) publish(ctx context.Context, to jetstream.Stream, subject string, text []byte) (there bool, err error) {
	// Servers send a stored message in base64.
	if most := s.nc.MaxPayload() / 4 * 3; int64(len(text)) > most && most > 0 {
		return false, outcome.Errorf(outcome.Limit, "a message of %d bytes is too large for the server, which takes %d, three quarters of its max_payload: raise that, to 64 MB at most", len(text), most)
	}
	var since time.Time // the time of the first of successive refusals
	for {
		once, end := context.WithTimeout(ctx, reply)
		_, err := s.js.Publish(once, subject, text)
		end()
		var refused *jetstream.APIError
		switch {
		case !errors.As(err, &refused):
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > 6*s.late:
			return false, &outcome.Error{Kind: outcome.IO, Flag: "runner", Message: "the NATS server refuses to store a message; look at its log and its disk", Err: err}
		}
		if errors.As(err, &refused) && strings.Contains(refused.Description, "maximum messages per subject") {
			if n, err := count(ctx, to, subject); n > 0 && err == nil {
				return true, nil
			}
		}
		if err == nil {
			return false, nil
		}
		if !pause(ctx) {
			return false, ctx.Err()
		}
	}
}

// get returns a message of a stream, from the server that leads the stream. there is false if there is
// no message, or not yet, or no leader.
func get(ctx context.Context, from jetstream.Stream, subject string) (text []byte, there bool) {
	m, err := from.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return nil, false
	}
	return m.Data, true
}

// count returns the number of messages that a stream has under subjects, from the server that leads it.
func count(ctx context.Context, of jetstream.Stream, subjects string) (int, error) {
	info, err := of.Info(ctx, jetstream.WithSubjectFilter(subjects))
	if err != nil {
		return 0, err
	}
	return len(info.State.Subjects), nil
}

// hear waits up to the given time for the message with this subject in news.
func hear(ctx context.Context, news <-chan *nats.Msg, subject string, wait time.Duration) (text []byte, there bool) {
	for enough := time.After(wait); ; {
		select {
		case m := <-news:
			if m.Subject == stored(subject) {
				return m.Data, true
			}
		case <-enough:
			return nil, false
		case <-ctx.Done():
			return nil, false
		}
	}
}

// pause waits before another try; it returns false if ctx has ended.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(retry):
		return true
	}
}

// follow waits until some request of a group has no answer. It then calls f with all requests of the group, from the
// first on, and with new ones as they come. It returns when ctx ends, when f returns false, when an answer has been
// lost, or when there has been no request for so long that the coordinator may be gone: 30 times late (five minutes by
// default), and longer than replaying the earlier requests would take. A notification of a request may be lost with a
// connection or a server, so that follow also looks for the request, and for lost answers, in the streams.
func (s *streams) follow(ctx context.Context, log string, group int, f func(subject string, text []byte) bool) error {
	news := make(chan *nats.Msg, 64)
	heard, err := s.nc.ChanSubscribe(stored(subjects("task", log, group)), news)
	if err != nil {
		return unreachable(err)
	}
	defer func() { _ = heard.Unsubscribe() }()
	if !s.unanswered(ctx, log, group, news) {
		return nil
	}
	var text []byte
	var spent time.Duration
	for n, told := 1, false; ; n++ {
		at, there := subject("task", log, group, n), false
		if !told { // the last request was found in the stream, so this one may be there too
			text, there = get(ctx, s.tasks, at)
		}
		told = false
		since := time.Now()
		for wait := retry; !there; wait = min(2*wait, s.late) {
			if text, told = hear(ctx, news, at, wait); told {
				break
			}
			if answers, err := count(ctx, s.results, subjects("result", log, group)); err == nil && answers < n-1 || ctx.Err() != nil {
				return nil
			}
			if idle := time.Since(since); idle > 30*s.late && idle > spent {
				return nil
			}
			text, there = get(ctx, s.tasks, at)
		}
		since = time.Now()
		if !f(at, text) {
			return nil
		}
		spent += time.Since(since)
	}
}

// unanswered waits until a group has more requests than answers; it returns false if ctx has ended.
func (s *streams) unanswered(ctx context.Context, log string, group int, news <-chan *nats.Msg) bool {
	for wait := retry; ctx.Err() == nil; wait = min(2*wait, s.late) {
		requests, err := count(ctx, s.tasks, subjects("task", log, group))
		if err == nil {
			var answers int
			if answers, err = count(ctx, s.results, subjects("result", log, group)); err == nil && requests > answers {
				return true
			}
		}
		select {
		case <-news:
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return false
}

// watch sends the records of all jobs, and their changes, to a channel until ctx ends. A watcher may miss
// changes, or end unnoticed, when a server fails, so watch replaces it by a new one at intervals.
func (s *streams) watch(ctx context.Context, to chan<- jetstream.KeyValueEntry) {
	for ctx.Err() == nil {
		s.watchFor(ctx, 5*s.late, to)
		if !pause(ctx) {
			return
		}
	}
}

func (s *streams) watchFor(ctx context.Context, long time.Duration, to chan<- jetstream.KeyValueEntry) {
	ctx, stop := context.WithTimeout(ctx, long)
	defer stop()
	watcher, err := s.jobs.WatchAll(ctx)
	if err != nil {
		return
	}
	defer func() { _ = watcher.Stop() }()
	for {
		select {
		case entry, open := <-watcher.Updates():
			switch {
			case !open:
				return
			case entry == nil: // marks the end of the existing records
				continue
			}
			select {
			case to <- entry:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

func digest(text []byte) [sha256.Size]byte { return sha256.Sum256(text) }
