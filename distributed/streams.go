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
	retry         = 200 * time.Millisecond
	patience      = time.Minute // with servers of a cluster that have yet to agree, or choose a leader
	reply         = 5 * time.Second
	remembered    = 24 * time.Hour // that a job was removed
)

// streams are what a job needs of JetStream.
type streams struct {
	nc             *nats.Conn
	js             jetstream.JetStream
	tasks, results jetstream.Stream
	jobs           jetstream.KeyValue
	data           jetstream.ObjectStore
	shared         string        // see [Options].Data
	late           time.Duration // at most, until something that was missed is asked for again
}

// Options say how streams are kept.
type Options struct {
	// Job is the id of the selection, of letters, digits, - and _; "" draws one. Who selects
	// again with the id of a selection that was interrupted goes on where it was.
	Job string
	// Presence is how long a worker may be silent before its groups go to others; 0 means
	// 10 s. Workers and coordinators of one server should have the same.
	Presence time.Duration
	// Replicas of streams and data in a cluster of servers; 0 means as many as there are, 1 at first.
	Replicas int
	// Data is where data sets lie under their SHA-256, in place of the servers' object store:
	// a directory that all processes have, where a coordinator writes what is missing, or an
	// address that begins with https:// (or http://), where somebody else has put it. A worker
	// reads from its own Data only, never from a place that a message names.
	Data string
	// MaxBytes bounds the data set that is sent, or taken; 0 means 16 GiB.
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
		return o, outcome.At(outcome.BadParameter, "job", "%q is no id: use up to 64 letters, digits, - and _", o.Job)
	}
	return o, nil
}

// open makes the streams, or finds them. It asks again where there is no answer in time, and where the servers have no
// leader yet, or have lost theirs.
func open(ctx context.Context, nc *nats.Conn, o Options) (s *streams, err error) {
	err = insist(ctx, func() (again bool, err error) {
		s, err = openOnce(ctx, nc, o)
		return errors.Is(err, context.DeadlineExceeded) || leaderless(err), err
	})
	return s, err
}

// withoutLeader is what servers call "JetStream system temporarily unavailable".
const withoutLeader jetstream.ErrorCode = 10008

// leaderless reports that servers have to choose a leader first.
func leaderless(err error) bool {
	of, ok := errors.AsType[*jetstream.APIError](err)
	return ok && of.ErrorCode == withoutLeader
}

// insist calls f until it has no error, or one that it does not want to try again after, or
// patience is at its end, but three times at least.
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

// unreachable returns err as that of the server.
func unreachable(err error) error {
	if err == nil {
		return nil
	}
	return &outcome.Error{Kind: outcome.IO, Flag: "runner", Message: "the NATS server does not do what it is asked (JetStream must be enabled, and this user be allowed what the README of the module lists)", Err: err}
}

// logName names the logs of a job with a record.
func logName(job string, record []byte) string {
	sum := digest(record)
	return job + "." + hex.EncodeToString(sum[:16])
}

func subject(kind, log string, group, n int) string {
	return fmt.Sprintf("pare.%s.%s.%d.%d", kind, log, group, n)
}

// subjects are those of all requests of a group, or of all answers.
func subjects(kind, log string, group int) string {
	return fmt.Sprintf("pare.%s.%s.%d.*", kind, log, group)
}

// request and answered turn the subject of an answer into that of its request, and back.
func request(subject string) string  { return strings.Replace(subject, "result", "task", 1) }
func answered(subject string) string { return strings.Replace(subject, "task", "result", 1) }

// stored is the subject under which servers tell of a message that they have stored.
func stored(subject string) string { return "pare.stored" + strings.TrimPrefix(subject, "pare") }

// publish puts a message into a stream under a subject, unless there is one already, which it
// reports. It tries until ctx ends, since servers may be away for a while; only what is too
// large is an error at once, and what a server refuses again and again, whose disk is full, after a while. Neither an acknowledgement nor a refusal is for ever: a message that
// the servers have yet to agree on may be lost with their leader. So who waits for what comes of
// a message publishes it again.
func (s *streams) publish(ctx context.Context, to jetstream.Stream, subject string, text []byte) (there bool, err error) {
	// A message that is read again travels in base64.
	if most := s.nc.MaxPayload() / 4 * 3; int64(len(text)) > most && most > 0 {
		return false, outcome.Errorf(outcome.Limit, "a message of %d bytes is too large for the server, which takes %d, three quarters of its max_payload: raise that, to 64 MB at most", len(text), most)
	}
	var since time.Time // it has been refused
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

// get returns a message of a stream, by the server that leads it. There may be none, or none
// yet, or no leader.
func get(ctx context.Context, from jetstream.Stream, subject string) (text []byte, there bool) {
	m, err := from.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return nil, false
	}
	return m.Data, true
}

// count returns how many messages a stream has under subjects, by the server that leads it.
func count(ctx context.Context, of jetstream.Stream, subjects string) (int, error) {
	info, err := of.Info(ctx, jetstream.WithSubjectFilter(subjects))
	if err != nil {
		return 0, err
	}
	return len(info.State.Subjects), nil
}

// hear waits for so long for news of a message.
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

// pause waits before something is tried again; false where ctx has ended.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(retry):
		return true
	}
}

// follow waits until a request of a group has no answer, and calls f with all there are and those to come,
// until ctx ends, f says no, an answer to one of them has been lost, or there have been none for so long that the
// coordinator may be gone: five minutes, and longer than it would take to repeat those before. News of a request
// may be lost too, with a connection or a server, so that both are looked for while there are none.
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
		if !told { // of the last one: this one may be there already
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

// unanswered waits until a group has more requests than answers; false where ctx has ended.
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

// watch hands over the jobs that there are, and what changes, until ctx ends. A watcher may
// miss something, or end unnoticed, with a server, so that another takes its place now and then.
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
			case entry == nil: // all there are
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
