package pare

import (
	"context"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/outcome"
)

// earlyRefit runs the refit on idle threads before λ is chosen. The refit begins at the same coefficients in any case, so that
// results do not depend on whether it ran ahead. A nil earlyRefit never runs a refit.
type earlyRefit struct {
	engine  *engine
	running *runningRefit // the refit in progress; nil: none
}

// runningRefit is a refit in progress on its own goroutine.
type runningRefit struct {
	logLambda []float64
	cancel    context.CancelFunc
	done      chan struct{}
	final     *Fitted
	duration  time.Duration
	err       error
}

// refitEarly makes the refit begin while the search makes the evaluation that it expects to end with; ctx is the context of
// the call. It does so, and returns an earlyRefit, only if there is a thread that no lane will use, if memory suffices for all
// problems at once, and if the call is in no pool, where idle threads belong to other calls.
func (t *task) refitEarly(ctx context.Context, o SelectOptions, certify bool) *earlyRefit {
	e := t.engine
	from, ok := t.problem.(common)
	_, able := e.Problem.(startable)
	if !ok || !able || t.columns != nil || len(t.choice.Top) != 1 || o.Lanes != nil || o.TakeOneSE || certify ||
		e.config.grant != nil || e.lanes > 0 || e.config.threads() <= e.laneProblems(t.spec.Folds) {
		return nil
	}
	a := &earlyRefit{engine: e}
	from.OnExpected(func(searching context.Context, logLambda []float64) {
		var err error
		columns, coef := t.earlierRefit(logLambda)
		if len(columns) == 0 {
			columns, coef, err = from.MeanBefore(searching, logLambda)
		}
		if err == nil && len(columns) > 0 {
			a.begin(ctx, logLambda, columns, coef)
		}
	})
	t.earlyRefit = a
	return a
}

// begin starts a refit at λ from the given coefficients. It replaces a refit that is in progress.
func (a *earlyRefit) begin(ctx context.Context, logLambda []float64, columns []int32, coef []float64) {
	a.discard()
	ctx, cancel := context.WithCancel(ctx)
	r := &runningRefit{logLambda: logLambda, cancel: cancel, done: make(chan struct{})}
	a.running = r
	go func() {
		defer close(r.done)
		defer outcome.Caught(&r.err)
		a.engine.Problem.(startable).StartAt(columns, coef)
		r.final, r.duration, r.err = a.engine.solve(ctx, logLambda)
	}()
}

// hasBegun reports whether a refit at λ has begun.
func (a *earlyRefit) hasBegun(logLambda []float64) bool {
	return a != nil && a.running != nil && slices.Equal(a.running.logLambda, logLambda)
}

// result waits for the refit at λ and returns it; nil if none has begun, or if it failed or was cancelled.
func (a *earlyRefit) result(logLambda []float64) *Fitted {
	defer a.discard()
	if !a.hasBegun(logLambda) {
		return nil
	}
	r := a.running
	if <-r.done; r.err != nil || r.final.Status == outcome.Cancelled {
		return nil
	}
	r.cancel()
	a.running = nil
	a.engine.observe(r.final, r.duration)
	return r.final
}

// discard cancels a refit that is not needed, and discards the state that it has left in the inner problem.
func (a *earlyRefit) discard() {
	if a == nil || a.running == nil {
		return
	}
	a.running.cancel()
	<-a.running.done
	a.running = nil
	a.engine.Restart()
}
