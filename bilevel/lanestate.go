package bilevel

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
)

// What lanes begin with, and how they begin anew there. Lanes of classes always do: their
// workers know nothing of an earlier solution.

// renew replaces what solves by what has learnt nothing. A lane that begins nowhere in
// particular keeps the correlations of its null model.
func (l *penalisedLane) renew() {
	from := l.from
	if from == nil && l.last != nil {
		from = l.solution()
	}
	if from == nil {
		return
	}
	l.solver = cd.New(l.fit)
	l.implicit = implicit.NewSharing(l.fit, l.solver.Cache())
	l.solver.Start(from.Support, from.Coef)
}

func (l *penalisedLane) state(number int) []byte {
	if at, ok := l.known[number]; ok {
		return at.encode()
	}
	if l.last == nil || number > 0 {
		return nil
	}
	at := keptSolution{*l.solution(), l.tangent}
	return at.encode()
}

func (l *penalisedLane) restore(number int, state []byte) error {
	_, p := l.fit.View().Dims()
	at, err := decodeState(state, p)
	switch {
	case err != nil:
		return err
	case number > 0:
		remember(&l.known, number, &at.Solution, at.tangent)
	default:
		err = l.moveTo(&at.Solution)
		l.tangent = at.tangent
	}
	return err
}

func (l *classLane) state(number int) []byte {
	at, ok := l.known[number]
	if !ok {
		at = keptSolution{*l.solution(), l.tangent}
	}
	return at.encode()
}

func (l *classLane) restore(number int, state []byte) error {
	_, p := l.fold.view.Dims()
	at, err := decodeState(state, p)
	switch {
	case err != nil:
		return err
	case number > 0:
		remember(&l.known, number, &at.Solution, at.tangent)
	default:
		err = l.moveTo(&at.Solution)
		l.tangent = at.tangent
	}
	return err
}

// The state of an SVM's lane has samples in place of columns, +Inf for what is at its bound.

func (l *svmLane) renew() {
	from := l.from
	if from == nil && l.last != nil {
		from = l.ended()
	}
	if from == nil {
		return
	}
	free := slices.Index(from.Coef, math.Inf(1))
	if free < 0 {
		free = len(from.Coef)
	}
	l.solver = cd.NewSVM(l.fit)
	l.solver.Start(from.Support[:free], from.Coef[:free], from.Support[free:])
}

func (l *svmLane) ended() *Solution {
	bound := slices.Repeat([]float64{math.Inf(1)}, len(l.last.Bound))
	return &Solution{slices.Concat(l.last.Free, l.last.Bound), slices.Concat(l.last.Dual, bound)}
}

func (l *svmLane) state(number int) []byte {
	if l.last == nil || number > 0 {
		return nil
	}
	at := keptSolution{Solution: *l.ended()}
	return at.encode()
}

func (l *svmLane) restore(number int, state []byte) error {
	n, _ := l.fit.Dims()
	at, err := decodeState(state, n)
	if number == 0 {
		l.from = &at.Solution
	}
	return err
}
