package pare

import (
	"context"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/outcome"
)

// ahead has the refit be under way before λ is chosen, on threads that are idle. It begins where the refit begins in any
// case, so that results are the same whether it was or not. nil never does.
type ahead struct {
	engine *engine
	refit  *underWay // nil: none
}

// underWay is a refit on a goroutine of its own.
type underWay struct {
	logLambda []float64
	cancel    context.CancelFunc
	done      chan struct{}
	final     *Fitted
	took      time.Duration
	err       error
}

// expect has the refit begin beside the evaluation that the search expects to end with, for a call that ends with ctx.
// There has to be a thread that no lane will want, and room for what all hold; in a pool idle threads are those of other
// calls.
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

// begin has a refit begin at coefficients of some columns, in the place of another.
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

// begun reports whether the refit at λ is under way.
func (a *ahead) begun(logLambda []float64) bool {
	return a != nil && a.refit != nil && slices.Equal(a.refit.logLambda, logLambda)
}

// take waits for the refit at λ. It returns nil where none has begun, or has come to nothing.
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

// forget ends a refit that is not wanted, and what has been learnt by it.
func (a *ahead) forget() {
	if a == nil || a.refit == nil {
		return
	}
	a.refit.cancel()
	<-a.refit.done
	a.refit = nil
	a.engine.Restart()
}
