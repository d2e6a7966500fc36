package iterdiff

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// engine runs a method: descend, then, for a backward method, reverse. Each part keeps its data in a struct
// of its own: [descent], [forwardMode], [reverseMode] and [evaluation].
type engine struct {
	*smoothLoss
	prox
	setting
	descent
	forwardMode
	reverseMode
	evaluation
}

// setting holds what is fixed by the problem, and what is fixed by the call.
type setting struct {
	fit            model.Datafit // nil: the SVM
	curvatureBound float64       // upper bound of F″
	lipschitzF     float64       // L; 0 before it is computed
	steps          []float64     // 1/Lⱼ

	opts                  Options
	outer                 Outer
	null                  float64 // P₀
	perColumn             bool    // every column has its own λ
	forward, gradientStep bool
	step                  float64 // γ of PGD
}

func (e *engine) init(f *smoothLoss, samples int) {
	e.smoothLoss = f
	e.unpenalised = -1
	if f.ones != nil {
		e.unpenalised = int32(f.p - 1)
	}
	e.steps = make([]float64, f.p)
	for _, j := range f.order {
		e.steps[j] = 1 / f.lipschitz[j]
	}
	e.now = f.newState()
	e.class = make([]class, f.p)
	e.z = make([]float64, len(f.order))
	e.responses = make([]response, len(f.order))
	e.prediction, e.slope = make([]float64, samples), make([]float64, samples)
	e.outerSlope = e.slope
	if f.sign != nil {
		e.outerSlope = make([]float64, f.n)
	}
}

// resizeGradient sets the length of the gradient.
func (e *engine) resizeGradient(count int) {
	if cap(e.h) < count {
		e.h, e.last = make([]float64, count), make([]float64, count)
	}
	e.h, e.last = e.h[:count], e.last[:count]
}

// prepare checks and stores the options of a call.
func (e *engine) prepare(ctx context.Context, opts Options) error {
	opts, err := opts.resolve()
	if err == nil {
		err = e.checkStart(opts.Start)
	}
	if err != nil {
		return err
	}
	e.opts = opts
	e.forward, e.gradientStep = opts.Method.forward(), opts.Method.gradientStep()
	e.step = 0
	if e.gradientStep {
		if e.step = opts.Step; e.step == 0 {
			if l := e.lipschitzBound(ctx); l > 0 {
				e.step = 1 / l
			}
		}
	}
	if !e.forward && e.u == nil {
		e.reverseState = e.newState()
		e.a, e.u = make([]float64, e.p), make([]float64, e.n)
	}
	return nil
}

// begin sets the state to the start of the descent.
func (e *engine) begin() {
	s := &e.now
	clear(s.beta)
	clear(e.class)
	for k, j := range e.opts.Start.Support {
		b := e.opts.Start.Coef[k]
		if e.lipschitz[j] == 0 {
			continue
		}
		if e.svm != nil {
			b = model.Clip(b, e.upperBound(j))
		}
		s.beta[j], e.class[j] = b, e.classAt(j, b)
	}
	if e.unpenalised >= 0 {
		s.beta[e.unpenalised] = e.opts.Start.Intercept
	}
	if e.svm != nil { // the dual variable of an empty sample is at its bound
		for i := range s.beta {
			if e.lipschitz[i] == 0 {
				s.beta[i] = e.upperBound(int32(i))
			}
		}
	}
	e.rebuild(s)
	e.tape.clear()
	e.epoch, e.identified = 0, 0
	e.iterateChanges = convergence{}
	e.change = math.Inf(1)
}

func (e *engine) solve(ctx context.Context, outer Outer, opts Options) (*Result, error) {
	if outer == nil {
		return nil, outcome.Errorf(outcome.Usage, "no criterion")
	}
	if err := e.prepare(ctx, opts); err != nil {
		return nil, err
	}
	e.outer = outer
	e.failure = nil
	e.visited, e.visitedAtCheck, e.reversed, e.recomputed = 0, 0, 0, 0
	e.checkpointing, e.taping = false, !e.forward
	clear(e.h)
	clear(e.last)
	e.begin()
	if e.forward {
		e.gradientChanges = convergence{}
		if e.perColumn {
			e.jacobian.reset(e)
		} else {
			e.clearTangents(len(e.h))
			e.setEmptySamples()
		}
	}
	status := outcome.Cancelled
	if ctx.Err() == nil {
		status = e.run(ctx)
	}
	if e.failure != nil {
		return nil, e.failure
	}
	return e.result(ctx, status), nil
}

// setEmptySamples sets the derivative of empty samples, whose dual variables are at their bounds.
func (e *engine) setEmptySamples() {
	if e.svm == nil {
		return
	}
	for i, b := range e.now.beta {
		if e.lipschitz[i] == 0 {
			e.tangents[0].j[i] = b
		}
	}
}

// run descends, and reverses, until the stopping rule is met or the epochs are used up.
func (e *engine) run(ctx context.Context) outcome.Status {
	limit := e.opts.MaxEpochs
	if e.opts.Epochs > 0 {
		limit = e.opts.Epochs
	}
	until, firstCheck := limit, 1
	for rest := math.Inf(1); ; {
		if status := e.descend(ctx, until, firstCheck); status != outcome.Converged || e.forward {
			return status
		}
		rest = min(rest, e.change) // rounding may keep a converged sequence moving
		if !e.reverse(ctx) {
			return outcome.Cancelled
		}
		if e.change = max(rest, e.relativeRemainder()); !(rest <= e.opts.Tol) || e.change <= e.opts.Tol || e.epoch >= limit {
			return outcome.Converged
		}
		// The iterates have converged, the gradient has not: run half as many epochs again.
		until = min(limit, e.epoch+max(10, e.epoch/2))
		firstCheck = until
	}
}

// relativeRemainder estimates what epochs before the first would have added to the gradient of the reverse
// sweep, relative to that gradient.
func (e *engine) relativeRemainder() float64 {
	return relativeTo(e.remainder, e.k.MaxAbs(e.h), e.contributed)
}

// relativeTo returns a change relative to a gradient, or to leastShare of the size of its parts if that is
// larger.
func relativeTo(change, gradient, parts float64) float64 {
	if change == 0 {
		return 0
	}
	return change / max(gradient, leastShare*parts)
}

const leastShare = 1e-6

// descend runs epochs until the stopping rule is met, at epoch firstCheck at the earliest, but no further than
// epoch until. The status Converged only means that nothing failed.
func (e *engine) descend(ctx context.Context, until, firstCheck int) outcome.Status {
	nextCheck := firstCheck
	for e.epoch < until {
		if !e.sweep(ctx) {
			return outcome.Cancelled
		}
		e.epoch++
		if math.IsNaN(e.movement) || math.IsInf(e.movement, 0) {
			return outcome.NotConverged
		}
		e.record()
		if e.epoch == 0 { // record has restarted the descent, with checkpoints
			nextCheck = firstCheck
			continue
		}
		e.change = e.remainingDistance()
		if e.forward && (e.opts.Watch != nil || e.epoch+len(e.gradientChanges.last) >= until || e.change <= math.Sqrt(e.opts.Tol)) {
			e.change = max(e.change, e.differentiate())
			if e.opts.Watch != nil {
				e.watch(e.epoch, false)
			}
		} else {
			e.gradientChanges = convergence{}
			if e.forward {
				e.change = math.Inf(1)
			}
		}
		if e.opts.Epochs > 0 || e.epoch < nextCheck || !(e.change <= e.opts.Tol) {
			continue
		}
		if e.certify().gap <= e.opts.Tol {
			return outcome.Converged
		}
		nextCheck = e.epoch + max(10, e.epoch/4)
	}
	return outcome.Converged
}

// remainingDistance estimates the remaining distance of the iterates.
func (e *engine) remainingDistance() float64 {
	if e.movement == 0 {
		return e.iterateChanges.remaining(0, 1)
	}
	return e.iterateChanges.remaining(e.movement/math.Sqrt(2*e.null), 1)
}

// differentiate sets h = Jᵀ∇C of a forward method at the current point and estimates its remaining distance.
func (e *engine) differentiate() float64 {
	e.evalOuter()
	e.h, e.last = e.last, e.h
	var parts float64
	if e.perColumn {
		for len(e.gradientBySlot) < len(e.jacobian.members) {
			e.gradientBySlot = append(e.gradientBySlot, 0)
		}
		slots := e.gradientBySlot[:len(e.jacobian.members)]
		parts = e.jacobian.gradient(e, slots)
		clear(e.h)
		for s, j := range e.jacobian.members {
			if j != e.unpenalised {
				e.h[j] = slots[s]
			}
		}
	} else {
		norm := e.k.Nrm2(e.outerSlope)
		for i := range e.tangents {
			t := &e.tangents[i]
			e.h[i] = math.FMA(t.offset, e.outerSlopeSum, e.k.Dot(e.outerSlope, t.u))
			parts = max(parts, norm*e.k.Nrm2(t.u))
		}
	}
	var change float64
	for i, v := range e.h {
		change = max(change, math.Abs(v-e.last[i]))
	}
	return e.gradientChanges.remaining(relativeTo(change, e.k.MaxAbs(e.h), parts), 1)
}

func (e *engine) rateAt(ctx context.Context, opts Options) (float64, error) {
	if err := e.prepare(ctx, opts); err != nil {
		return 0, err
	}
	e.begin()
	return e.rate(ctx), nil
}
