package iterdiff

import (
	"context"

	"github.com/seed-45b9a24c/pare/outcome"
)

// watch calls Options.Watch.
func (e *engine) watch(epoch int, reverse bool) {
	e.progress = Progress{
		Epoch: epoch, Reverse: reverse, Gradient: e.h, Value: e.value,
	}
	p := e.p
	if e.unpenalised >= 0 {
		p--
	}
	if !reverse {
		e.progress.Coef = e.now.beta[:p]
	}
	if e.forward && !e.perColumn {
		e.columns = e.columns[:0]
		for i := range e.tangents {
			e.columns = append(e.columns, e.tangents[i].j[:p])
		}
		e.progress.Jacobian = e.columns
	}
	e.opts.Watch(&e.progress)
}

// result assembles the result of the call.
func (e *engine) result(ctx context.Context, status outcome.Status) *Result {
	c := e.certify()
	out := &e.out
	gradient := out.Gradient[:0]
	if e.perColumn {
		for _, j := range e.support {
			gradient = append(gradient, e.h[j])
		}
	} else {
		gradient = append(gradient, e.h...)
	}
	*out = Result{
		Support: e.support, Coef: e.coef, Primal: e.primal, Value: e.value, Gradient: gradient,
		Epochs: e.epoch, Identified: e.identified, Gap: c.gap, KKT: c.kkt, Margin: c.margin, Change: e.change, Step: e.step,
		ForwardEntries: e.visited - e.reversed, ReverseEntries: e.reversed, Recomputed: e.recomputed, Status: status,
	}
	if e.fit != nil {
		out.Intercept = e.point.UncentredIntercept(e.fit.View(), e.support, e.coef)
	}
	if status != outcome.Converged {
		return out
	}
	switch {
	case !(c.gap <= e.opts.Tol && e.change <= e.opts.Tol):
		out.Status = outcome.Budget
	case e.flat():
		out.Status = outcome.Flat
	case e.opts.Epochs == 0 && e.singular(ctx):
		out.Status = outcome.NotDifferentiable
	case c.entryDistance <= c.kkt:
		out.Status = outcome.SupportUncertified
	}
	return out
}

// flat reports whether no coefficient at the point moves with λ.
func (e *engine) flat() bool {
	want := onSupport
	if e.svm != nil {
		want = atBound
	}
	for _, j := range e.order {
		if e.class[j] == want {
			return false
		}
	}
	return true
}
