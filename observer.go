package pare

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// Observer is notified of what a call does if it is in the [Config] of the call. Its methods are
// called by several goroutines at once. The call waits for them while it keeps its place in a
// [Pool]: they should return quickly, and must not make another call with that pool ([Pool.State]
// is allowed). A panic in a method becomes the error of the call, of kind Internal, except that a
// panic in Admission at the end of [Path] or [Validate], which can no longer return an error,
// propagates to the caller. [LogTo] makes an Observer that writes to a logger.
type Observer interface {
	// Admission is called when a [Pool] admits or refuses a call, and when an admitted call has
	// left the pool: once for a refused call, twice for an admitted one.
	Admission(Admission)
	// Evaluation is called after every evaluation in [Select] that was not answered by
	// [SelectOptions].Log.
	Evaluation(Model, search.Evaluation)
	// Solve is called after every solve of the inner problem on all rows, by [Fit], a [Fitter],
	// [Path], [Relax] and the refits of [Select], with its duration. It must not keep or modify the
	// solution.
	Solve(*Fitted, time.Duration)
}

// Admission reports that a [Pool] has admitted or refused a call, or that an admitted call has ended.
type Admission struct {
	Waited time.Duration // how long the call waited
	Bytes  int64         // working memory that the call is, or was, expected to use, in bytes
	Left   bool          // the call has ended, with a result or an error; Waited is then 0
	Err    error         // why the call was not admitted; nil if it was
	Pool   PoolState     // the state of the pool afterwards
}

// Result says in one word whether the call was admitted: "admitted", "cancelled" if its context
// ended while it waited, or the kind of the error (see [outcome.KindOf]).
func (a Admission) Result() string {
	switch {
	case a.Err == nil:
		return "admitted"
	case errors.Is(a.Err, context.Canceled) || errors.Is(a.Err, context.DeadlineExceeded):
		return "cancelled"
	default:
		return string(outcome.KindOf(a.Err))
	}
}

// LogTo returns an observer that writes to a logger, which must not be nil: at level Warn for calls
// that are not admitted, and otherwise at level Debug.
func LogTo(to *slog.Logger) Observer { return logger{to} }

type logger struct{ to *slog.Logger }

func (l logger) Admission(a Admission) {
	pool := slog.Group("pool", "running", a.Pool.Running, "waiting", a.Pool.Waiting, "bytes", a.Pool.Bytes)
	switch {
	case a.Err != nil:
		l.to.Warn("not admitted", "waited", a.Waited, "bytes", a.Bytes, "error", a.Err, pool)
	case a.Left:
		l.to.Debug("left", "bytes", a.Bytes, pool)
	default:
		l.to.Debug("admitted", "waited", a.Waited, "bytes", a.Bytes, pool)
	}
}

func (l logger) Evaluation(model Model, e search.Evaluation) {
	if !l.to.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	at := slog.Any("log_lambda", e.LogLambda)
	if len(e.LogLambda) == 1 {
		at = slog.Float64("log_lambda", e.LogLambda[0])
	}
	l.to.Debug("evaluation", "model", model, at, "value", e.Value, "support", e.Support, "status", e.Status, "seconds", e.Seconds)
}

func (l logger) Solve(f *Fitted, took time.Duration) {
	l.to.Debug("solve", "model", f.Model, "support", len(f.Support), "relative_gap", f.RelativeGap, "status", f.Status, "seconds", took.Seconds())
}
