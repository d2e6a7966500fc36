package pare

import (
	"context"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/outcome"
)

// ahead runs the refit on idle threads before λ is chosen. The refit begins at the same coefficients in any case, so that
// results do not depend on whether it ran ahead. A nil ahead never runs a refit.
type ahead struct {
	engine *engine
	refit  *underWay // the refit in progress; nil: none
}

// underWay is a refit in progress on its own goroutine.
type underWay struct {
	logLambda []float64
	cancel    context.CancelFunc
	done      chan struct{}
	final     *Fitted
	took      time.Duration
	err       error
}

// expect makes the refit begin while the search makes the evaluation that it expects to end with; ctx is the context of
// the call. It does so, and returns an ahead, only if there is a thread that no lane will use, if memory suffices for all
// problems at once, and if the call is in no pool, where idle threads belong to other calls.
func (t *task) expect(ctx context.Context, o SelectOptions, certify bool) *ahead {
	e := t.engine
	from, ok := t.problem.(common)
	_, able := e.Problem.(startable)
	if !ok || !able || t.columns != nil || len(t.choice.Top) != 1 || o.Lanes != nil || o.TakeOneSE || certify ||
		e.config.grant != nil || e.lanes > 0 || e.config.threads() <= e.solvers(t.spec.Folds) {
		return nil
	}
	a := &ahead{engine: e}
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
	t.ahead = a
	return a
}

// begin starts a refit at λ from the given coefficients. It replaces a refit that is in progress.
func (a *ahead) begin(ctx context.Context, logLambda []float64, columns []int32, coef []float64) {
	a.forget()
	ctx, cancel := context.WithCancel(ctx)
	r := &underWay{logLambda: logLambda, cancel: cancel, done: make(chan struct{})}
	a.refit = r
	go func() {
		defer close(r.done)
		defer outcome.Caught(&r.err)
		a.engine.Problem.(startable).StartAt(columns, coef)
		r.final, r.took, r.err = a.engine.solve(ctx, logLambda)
	}()
}

// begun reports whether a refit at λ has begun.
func (a *ahead) begun(logLambda []float64) bool {
	return a != nil && a.refit != nil && slices.Equal(a.refit.logLambda, logLambda)
}

// take waits for the refit at λ and returns it; nil if none has begun, or if it failed or was cancelled.
func (a *ahead) take(logLambda []float64) *Fitted {
	defer a.forget()
	if !a.begun(logLambda) {
		return nil
	}
	r := a.refit
	if <-r.done; r.err != nil || r.final.Status == outcome.Cancelled {
		return nil
	}
	r.cancel()
	a.refit = nil
	a.engine.observe(r.final, r.took)
	return r.final
}

// forget cancels a refit that is not needed, and discards the state that it has left in the inner problem.
func (a *ahead) forget() {
	if a == nil || a.refit == nil {
		return
	}
	a.refit.cancel()
	<-a.refit.done
	a.refit = nil
	a.engine.Restart()
}
