package bilevel

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
)

// state is what the next solve of a lane depends on: the coefficients, and their derivative in λ
// for lanes that follow it.
type state struct {
	Solution
	tangent tangent
}

// keep keeps the lane's current state under a number. Lanes without coefficients of their own
// keep nothing.
func (m *laneSlot) keep(number int) {
	if m.lane.innerView() == nil {
		return
	}
	at := m.lane.currentState()
	m.store(number, state{at.Solution, at.tangent.clone()})
}

func (m *laneSlot) store(number int, at state) {
	if m.kept == nil {
		m.kept = map[int]state{}
	}
	m.kept[number] = at
}

// recall makes the next solve begin with the state kept under a number, if there is one.
func (m *laneSlot) recall(number int) {
	if at, ok := m.kept[number]; ok {
		_ = m.lane.restoreState(&state{at.Solution, at.tangent.clone()})
	}
}

// keptSolution returns the answer to [AskKept].
func (m *laneSlot) keptSolution(r *LaneRequest) *Solution {
	at, ok := m.kept[r.From]
	if !ok {
		return nil
	}
	if step, ok := at.tangent.step(r.LogLambda); ok {
		columns, coef := cd.Advance(slices.Clone(at.Support), slices.Clone(at.Coef), step, at.tangent.coef)
		return &Solution{columns, coef}
	}
	return &at.Solution
}

// encodedState encodes the state kept under a number; 0 means the current one.
func (m *laneSlot) encodedState(number int) []byte {
	if at, ok := m.kept[number]; ok {
		return at.encode()
	}
	if at := m.lastState(); at != nil && number == 0 {
		return at.encode()
	}
	return nil
}

// lastState returns the state after the last solve, or else the one that was released or restored.
func (m *laneSlot) lastState() *state {
	if at := m.lane.currentState(); at != nil {
		return at
	}
	return m.savedState
}

// restore decodes a state. It keeps it under the number if that is positive, else the next solve
// begins with it.
func (m *laneSlot) restore(number int, data []byte) error {
	at, err := decodeState(data, m.lane.indexLimit())
	switch {
	case err != nil:
		return err
	case number > 0:
		m.store(number, at)
		return nil
	default:
		m.savedState = &at
		return m.lane.restoreState(&state{at.Solution, at.tangent.clone()})
	}
}

// What follows are, for each kind of lane, its state and how it begins anew, with a new solver, from
// its coefficients. Lanes of classes always begin anew: their solvers keep nothing of an earlier solution.

// renew replaces the solvers by new ones that begin at the current coefficients. A lane that has none
// yet keeps its solver, and with it the correlations of the null model.
func (l *penalisedLane) renew() {
	from := l.start
	if from == nil && l.last != nil {
		from = l.solution()
	}
	if from == nil {
		return
	}
	if l.last == nil && !l.released { // the solver is still as new
		l.solver.Start(from.Support, from.Coef)
		return
	}
	l.solver = cd.New(l.fit)
	l.solver.RelativeTo(l.nullObjective)
	l.implicit = implicit.NewSharing(l.fit, l.solver.Cache())
	l.solver.Start(from.Support, from.Coef)
}

func (l *penalisedLane) currentState() *state {
	if l.last == nil {
		return nil
	}
	return &state{*l.solution(), l.tangent}
}

func (l *penalisedLane) restoreState(at *state) error {
	err := l.moveTo(&at.Solution)
	l.tangent = at.tangent
	return err
}

func (l *penalisedLane) indexLimit() int { return columnsOf(l) }

func (l *classLane) currentState() *state { return &state{*l.solution(), l.tangent} }

func (l *classLane) restoreState(at *state) error {
	err := l.moveTo(&at.Solution)
	l.tangent = at.tangent
	return err
}

func (l *classLane) indexLimit() int { return columnsOf(l) }

// columnsOf returns the number of columns of a lane.
func columnsOf(l lane) int {
	_, p := l.innerView().Dims()
	return p
}

// The state of an SVM's lane has samples instead of columns, and dual variables as coefficients: +Inf
// for a sample at its bound.

func (l *svmLane) renew() {
	from := l.start
	if from == nil && l.last != nil {
		from = l.atBounds()
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

// atBounds returns the last solution, the free samples first, then those at their bounds.
func (l *svmLane) atBounds() *Solution {
	bound := slices.Repeat([]float64{math.Inf(1)}, len(l.last.Bound))
	return &Solution{slices.Concat(l.last.Free, l.last.Bound), slices.Concat(l.last.Dual, bound)}
}

func (l *svmLane) currentState() *state {
	if l.last == nil {
		return nil
	}
	return &state{Solution: *l.atBounds()}
}

func (l *svmLane) restoreState(at *state) error {
	l.start = &at.Solution
	return nil
}

func (l *svmLane) indexLimit() int {
	n, _ := l.fit.Dims()
	return n
}
