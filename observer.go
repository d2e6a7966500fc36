package pare

import (
	"context"
	"log/slog"
	"time"

	"github.com/seed-45b9a24c/pare/search"
)

// Observer is told of what calls do whose [Config] has it. Its methods may be called by
// several goroutines at once, and should return soon. [LogTo] makes one of a logger.
type Observer interface {
	// Admission is told when a call is admitted to a [Pool], refused, or has left it.
	Admission(Admission)
	// Evaluation is told of every evaluation of [Select] that no log answers.
	Evaluation(Model, search.Evaluation)
	// Solve is told of every solution of the inner problem on all rows: those of [Fit],
	// [Path] and the refit of [Select]. It must not keep or change the solution.
	Solve(*Fitted, time.Duration)
}

// Admission is a call that has come to a [Pool], or has left it.
type Admission struct {
	Waited time.Duration // for the others
	Bytes  int64         // that the call is expected to have in use
	Left   bool          // the call has ended
	Err    error         // why it was not admitted
	Pool   PoolState     // afterwards
}

// LogTo returns an observer that writes to a logger at level Debug; calls that are not admitted
// at level Warn.
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
