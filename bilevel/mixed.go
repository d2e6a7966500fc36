package bilevel

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/seed-45b9a24c/pare/search"
)

// Mixed is a problem of two strengths, ℓ1 and ridge. Where ln α₁ is −Inf, it evaluates another problem,
// of the ridge alone.
type Mixed struct {
	*Problem
	ridge *Rotated
}

// NewMixed returns the problem p with its problem of the ridge alone, which must have the same folds.
func NewMixed(p *Problem, ridge *Rotated) *Mixed { return &Mixed{p, ridge} }

// Bits added to the tag of the problem in the tags of its memories.
const (
	ridgeTag = 0x80 // of the problem of the ridge alone
	bothTag  = 0x40 // of what the lanes of both problems begin with
)

var noL1 = math.Inf(-1)

// ridgeAlone returns the λ of the ridge, and whether the ℓ1 strength is 0.
func ridgeAlone(logLambda []float64) (ridge []float64, ok bool) {
	if len(logLambda) == 2 && logLambda[0] == noL1 {
		return logLambda[1:], true
	}
	return nil, false
}

// Eval implements [search.Objective].
func (p *Mixed) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	return evalOnSide(ctx, p, r)
}

// Evaluate is [Problem.Evaluate]. The ridge alone has no curvature.
func (p *Mixed) Evaluate(ctx context.Context, r search.Request) (Report, error) {
	ridge, ok := ridgeAlone(r.LogLambda)
	if !ok {
		return p.Problem.Evaluate(ctx, r)
	}
	both := r.LogLambda
	r.LogLambda = ridge
	r.From, _ = ridgeAlone(r.From)
	report, err := p.ridge.Evaluate(ctx, r)
	if report.LogLambda = both; report.Gradient != nil {
		report.Gradient = []float64{0, report.Gradient[0]}
	}
	return report, err
}

// Remember is [Problem.Remember].
func (p *Mixed) Remember(ctx context.Context, tag byte, left []search.Memory) error {
	var own []search.Memory
	for _, m := range left {
		own = append(own, search.Memory{Kept: m.Kept})
		if len(m.Last) == 0 || m.Last[0] != tag|bothTag {
			continue
		}
		d := decoder{rest: m.Last[1:]}
		own = append(own, search.Memory{Last: d.bytes()}, search.Memory{Last: d.bytes()})
		if d.failed || len(d.rest) > 0 {
			return errMemory()
		}
	}
	if err := p.Problem.Remember(ctx, tag, own); err != nil {
		return err
	}
	return p.ridge.Remember(ctx, tag|ridgeTag, own)
}

// memoryAfter returns the memory after an evaluation: what the lanes of both problems begin with, and what the
// lanes evaluated have kept.
func (p *Mixed) memoryAfter(ctx context.Context, logLambda []float64) (search.Memory, error) {
	ridge, _ := ridgeAlone(logLambda)
	left, err := p.Problem.memoryAfter(ctx, logLambda)
	if err != nil || !p.memory.on {
		return left, err
	}
	own, err := p.ridge.memoryAfter(ctx, ridge)
	if ridge != nil {
		left.Kept = own.Kept
	}
	last := []byte{p.memory.tag | bothTag}
	for _, state := range [][]byte{left.Last, own.Last} {
		last = append(binary.AppendUvarint(last, uint64(len(state))), state...)
	}
	left.Last = last
	return left, err
}

// Mean is [Problem.Mean].
func (p *Mixed) Mean(ctx context.Context, logLambda []float64) (columns []int32, coef []float64, err error) {
	if ridge, ok := ridgeAlone(logLambda); ok {
		return p.ridge.Mean(ctx, ridge)
	}
	return p.Problem.Mean(ctx, logLambda)
}

// Solutions is [Problem.Solutions].
func (p *Mixed) Solutions(ctx context.Context, logLambda []float64) ([]*Solution, error) {
	if ridge, ok := ridgeAlone(logLambda); ok {
		return p.ridge.Solutions(ctx, ridge)
	}
	return p.Problem.Solutions(ctx, logLambda)
}

// HeldOut is [Problem.HeldOut].
func (p *Mixed) HeldOut(ctx context.Context, logLambda []float64) ([]Predicted, error) {
	if ridge, ok := ridgeAlone(logLambda); ok {
		return p.ridge.HeldOut(ctx, ridge)
	}
	return p.Problem.HeldOut(ctx, logLambda)
}

// KeepSolutions is [Problem.KeepSolutions].
func (p *Mixed) KeepSolutions() {
	p.Problem.KeepSolutions()
	p.ridge.KeepSolutions()
}
