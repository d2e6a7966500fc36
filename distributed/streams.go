package distributed

import (
	"context"
	"crypto/sha256"
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
	opening       = time.Minute // servers of a cluster may yet have to agree on streams
	reply         = 5 * time.Second
	heartbeat     = time.Second     // of a server to who waits for messages
	silence       = 2 * time.Minute // after which a server forgets a consumer
)

// streams are what a job needs of JetStream.
type streams struct {
	nc             *nats.Conn
	js             jetstream.JetStream
	tasks, results jetstream.Stream
	jobs           jetstream.KeyValue
	data           jetstream.ObjectStore
	shared         string // see [Options].Data
}

// Options say how streams are kept.
type Options struct {
	// Job is the id of the selection, of letters, digits, - and _; "" draws one. Who selects
	// again with the id of a selection that was interrupted goes on where it was.
	Job string
	// Presence is how long a worker may be silent before its groups go to others; 0 means
	// 10 s. Workers and coordinators of one server should have the same.
	Presence time.Duration
	// Replicas of streams and data in a cluster of servers; 0 means 1.
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
	if o.Replicas == 0 {
		o.Replicas = 1
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

// open makes the streams, or finds them. It asks again where there is no answer in time.
func open(ctx context.Context, nc *nats.Conn, o Options) (*streams, error) {
	for last := time.Now().Add(opening); ; {
		s, err := openOnce(ctx, nc, o)
		if !errors.Is(err, context.DeadlineExceeded) || time.Now().After(last) || !pause(ctx) {
			return s, err
		}
	}
}

func openOnce(ctx context.Context, nc *nats.Conn, o Options) (*streams, error) {
	s := &streams{nc: nc, shared: o.Data}
	var err error
	if s.js, err = jetstream.New(nc); err != nil {
		return nil, unreachable(err)
	}
	log := func(name, subject string) (jetstream.Stream, error) {
		return s.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{subject}, Storage: jetstream.FileStorage, Replicas: o.Replicas,
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, // publishing is idempotent
		})
	}
	if s.tasks, err = log(tasksStream, "pare.task.>"); err == nil {
		s.results, err = log(resultsStream, "pare.result.>")
	}
	if err == nil {
		s.jobs, err = s.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: jobsBucket, Replicas: o.Replicas})
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
	return &outcome.Error{Kind: outcome.IO, Flag: "runner", Message: "the NATS server does not do what it is asked (JetStream must be enabled)", Err: err}
}

func subject(kind, job string, group, n int) string {
	return fmt.Sprintf("pare.%s.%s.%d.%d", kind, job, group, n)
}

// publish puts a message into a stream under a subject, unless there is one already. It tries
// until ctx ends, since servers may be away for a while; only what is too large is an error at
// once. A refusal may be due to a message that the servers have yet to agree on, and may still
// lose with their leader, so that it counts only once the message is there.
func (s *streams) publish(ctx context.Context, to jetstream.Stream, subject string, text []byte) error {
	if most := s.nc.MaxPayload(); int64(len(text)) > most && most > 0 {
		return outcome.Errorf(outcome.Limit, "a message of %d bytes is too large for the server, whose max_payload is %d: raise it, to 64 MB at most", len(text), most)
	}
	for {
		once, end := context.WithTimeout(ctx, reply)
		_, err := s.js.Publish(once, subject, text)
		end()
		var refused *jetstream.APIError
		if errors.As(err, &refused) && strings.Contains(refused.Description, "maximum messages per subject") {
			_, err = to.GetLastMsgForSubject(ctx, subject)
		}
		if err == nil {
			return nil
		}
		if !pause(ctx) {
			return ctx.Err()
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

// follow calls f with all messages of a stream under a subject, in their order, those there
// are and those to come, until ctx ends or f says no. Its consumer is one server's; where that
// server is silent, or a message is missing, another consumer goes on from there.
func follow(ctx context.Context, s jetstream.Stream, subject string, f func(jetstream.Msg) bool) {
	next := uint64(1) // the place in the stream
	for {
		if !consume(ctx, s, subject, &next, f) || !pause(ctx) {
			return
		}
	}
}

// consume follows with one consumer, and moves next behind what f has had. It returns false
// where f says no.
func consume(ctx context.Context, s jetstream.Stream, subject string, next *uint64, f func(jetstream.Msg) bool) bool {
	consumer, err := s.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject: subject, DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: *next,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, Replicas: 1, InactiveThreshold: silence,
	})
	if err != nil {
		return true
	}
	name := consumer.CachedInfo().Name
	defer func() {
		ctx, end := context.WithTimeout(context.WithoutCancel(ctx), reply)
		defer end()
		_ = s.DeleteConsumer(ctx, name) // or it ends by itself
	}()
	messages, err := consumer.Messages(jetstream.PullExpiry(2*heartbeat), jetstream.PullHeartbeat(heartbeat), jetstream.WithMessagesErrOnMissingHeartbeat(true))
	if err != nil {
		return true
	}
	defer messages.Stop()
	for delivered := uint64(1); ; delivered++ {
		m, err := messages.Next(jetstream.NextContext(ctx))
		if err != nil {
			return true
		}
		about, err := m.Metadata()
		if err != nil || about.Sequence.Consumer != delivered {
			return true
		}
		if !f(m) {
			return false
		}
		*next = about.Sequence.Stream + 1
	}
}

func digest(text []byte) [sha256.Size]byte { return sha256.Sum256(text) }
