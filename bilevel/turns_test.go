package bilevel

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// TestLanesThatTakeTurnsShareVectors checks that where one lane works at a time, the next lane reuses the row
// vectors of the last one, until the call ends; otherwise each lane has its own.
func TestLanesThatTakeTurnsShareVectors(t *testing.T) {
	const n = 1 << 13 // too long to be lent from a block
	q := oracle.NewRandom(18).Problem(oracle.Shape{N: n, P: 2})
	x := fixture.Matrix(t, q, true)
	for _, atOnce := range []int{0, 1, 2} {
		var mu sync.Mutex
		var weights []*float64
		lanes, err := NewLanes(fixture.Kernels(t), x, q.Y, Spec{
			Folds: slices.Repeat(Folds{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, n/16), Penalty: lassoOf, AtOnce: atOnce, Threads: 1,
			Training: func(_ *kernels.Set, own []float64) {
				mu.Lock()
				defer mu.Unlock()
				weights = append(weights, &own[0])
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		solve := func(lambda float64, folds ...int) error {
			var all []LaneRequest
			for _, fold := range folds {
				all = append(all, LaneRequest{Lane: LaneID{Fold: fold}, Ask: AskSolve, LogLambda: []float64{lambda}})
			}
			weights = nil
			_, err := lanes.Run(t.Context(), all, nil)
			return err
		}
		if err := solve(-3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15); err != nil {
			t.Fatal(err)
		}
		// A lane uses seven vectors at a time, and the order in which they are lent varies.
		if different := distinct(weights); atOnce == 1 && different > 7 || atOnce != 1 && different != 16 {
			t.Errorf("%d at once: vectors of %d of sixteen lanes", atOnce, different)
		}
		if atOnce != 1 {
			continue
		}
		weights = nil
		one, err := lanes.makeLane(LaneID{})
		if err != nil {
			t.Fatal(err)
		}
		if held := one.(*penalisedLane); &held.slope[0] != weights[0] && &held.curvature[0] != weights[0] {
			t.Error("the weights of a lane are not given back when its view has them")
		}
		if err := solve(-3, 0, 1, 2); err != nil {
			t.Fatal(err)
		}
		last := slices.Clone(weights)
		if err := solve(-3, 0, 1); err != nil || slices.Contains(last, weights[0]) {
			t.Errorf("the next call has the vectors of the last, %v", err)
		}
	}
}

func distinct(all []*float64) int {
	seen := map[*float64]bool{}
	for _, at := range all {
		seen[at] = true
	}
	return len(seen)
}

// TestLanesThatHaveLetGo checks lanes that have released their data: they return kept solutions without being
// rebuilt, wait for room when they must be rebuilt, and free that room afterwards.
func TestLanesThatHaveLetGo(t *testing.T) {
	q := oracle.NewRandom(19).Problem(oracle.Shape{N: 20, P: 4})
	lanes, err := NewLanes(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, Spec{Folds: slices.Repeat(Folds{0, 1}, 10), Penalty: lassoOf, AtOnce: 1})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, r LaneRequest) (LaneResult, error) {
		results, err := lanes.Run(ctx, []LaneRequest{r}, nil)
		return results[0], err
	}
	held := func() bool { return lanes.slots[LaneID{}].lane != nil }
	told, err := ask(t.Context(), LaneRequest{Ask: AskSolve, LogLambda: []float64{-3}, Keep: 2, Tell: true})
	if err != nil || held() || told.Solution == nil || len(told.Gradient) != 1 {
		t.Fatalf("%+v, %v, held %t", told, err, held())
	}
	for number, want := range map[int]*Solution{2: told.Solution, 1: nil} {
		kept, err := ask(t.Context(), LaneRequest{Ask: AskKept, From: number})
		if err != nil || held() || (kept.Solution == nil) != (want == nil) || want != nil && !slices.Equal(kept.Solution.Coef, want.Coef) {
			t.Errorf("kept as %d: %+v, want %+v, %v, held %t", number, kept.Solution, want, err, held())
		}
	}
	if kept, err := ask(t.Context(), LaneRequest{Lane: LaneID{Fold: 1}, Ask: AskKept, From: 2}); err != nil || kept.Solution != nil {
		t.Errorf("a lane that was never asked: %+v, %v", kept.Solution, err)
	}
	if _, err := ask(t.Context(), LaneRequest{Lane: LaneID{Fold: 2}, Ask: AskKept, From: 2}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("no such lane: %v", err)
	}
	state, err := ask(t.Context(), LaneRequest{Ask: AskState})
	if err != nil || len(state.State) == 0 || held() {
		t.Errorf("a state of %d bytes, %v", len(state.State), err)
	}
	if again, err := ask(t.Context(), LaneRequest{Ask: AskState}); err != nil || !slices.Equal(again.State, state.State) {
		t.Errorf("asked again: %v, %v", again.State, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	lanes.semaphore <- struct{}{} // taken by another call
	stop()
	if _, err := ask(ctx, LaneRequest{Ask: AskState}); !errors.Is(err, context.Canceled) {
		t.Errorf("without room: %v", err)
	}
	<-lanes.semaphore
	lanes.Forget(LaneID{})
	if kept, err := ask(t.Context(), LaneRequest{Ask: AskKept, From: 2}); err != nil || kept.Solution != nil {
		t.Errorf("of a lane that was forgotten: %+v, %v", kept.Solution, err)
	}
}

// TestSharedWorkIsThatOfOneAnswer checks that the work that threads can share in a solve and in a gradient is at
// most the work of that answer, whatever was done before, and is the same with one thread.
func TestSharedWorkIsThatOfOneAnswer(t *testing.T) {
	q := oracle.NewRandom(20).Problem(oracle.Shape{N: 400, P: 600})
	var alone []float64
	for _, threads := range []int{1, 2} {
		lanes, err := NewLanes(fixture.Kernels(t), fixture.Matrix(t, q, true), q.Y, Spec{Folds: slices.Repeat(Folds{0, -1}, 200), Penalty: lassoOf, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		var all []float64
		top := math.Log(q.AlphaMax())
		for _, lambda := range []float64{top - 4, top - 4} {
			r, err := lanes.Run(t.Context(), []LaneRequest{{Ask: AskSolve, LogLambda: []float64{lambda}}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			solved, derived := r[0].Solved, r[0].Derived
			all = append(all, solved.Shared, derived.Shared)
			if solved.Shared < 0 || solved.Shared > solved.Work || derived.Shared < 0 || derived.Shared > derived.Work {
				t.Errorf("%d threads, λ %g: %g of %g, %g of %g", threads, lambda, solved.Shared, solved.Work, derived.Shared, derived.Work)
			}
		}
		if threads == 1 {
			alone = all
		}
		if !(all[0] > 0) || !slices.Equal(all, alone) {
			t.Errorf("%d threads: %v shared, with one %v", threads, all, alone)
		}
	}
}
