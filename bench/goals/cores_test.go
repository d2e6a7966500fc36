package goals

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
)

// TestScheduleKeepsItsBounds checks that a round never takes less time than its total work divided by the
// cores, nor less than its longest lane. On one core it takes its total work, and equal lanes that share
// nothing run in turns.
func TestScheduleKeepsItsBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		round := make([]lane, 1+rng.IntN(12))
		var work float64
		for i := range round {
			for step := range round[i] {
				p := part{work: rng.Float64()}
				p.shared = p.work * rng.Float64()
				round[i][step] = p
				work += p.work
			}
		}
		if got := schedule(round, 1); math.Abs(got-work) > 1e-12*work {
			t.Fatalf("one core takes %g for %g", got, work)
		}
		before := work
		for cores := 2; cores <= 64; cores *= 2 {
			got := schedule(round, cores)
			var longest float64
			for _, l := range round {
				longest = max(longest, l[0].alone(float64(cores))+l[1].alone(float64(cores)))
			}
			if got < work/float64(cores)*(1-1e-12) || got < longest*(1-1e-12) || got > work {
				t.Errorf("%d cores take %g for %g, the longest lane %g", cores, got, work, longest)
			}
			if len(round) == 1 && got > before {
				t.Errorf("%d cores take %g, half as many %g", cores, got, before)
			}
			before = got
		}
	}
	alone := lane{{work: 2}, {work: 1}}
	for cores, want := range map[int]float64{1: 15, 2: 8, 3: 5, 5: 3, 64: 3} {
		if got := schedule([]lane{alone, alone, alone, alone, alone}, cores); math.Abs(got-want) > 1e-12 {
			t.Errorf("five equal lanes take %g on %d cores, want %g", got, cores, want)
		}
	}
	if got := schedule([]lane{{{work: 10, shared: 8}}}, 4); math.Abs(got-4) > 1e-12 {
		t.Errorf("a lane of 2 and 8 that are shared takes %g on 4 cores", got)
	}
}

// TestTraceOfASelection checks that a trace has a round of five lanes for each evaluation, and that more
// cores are never slower.
func TestTraceOfASelection(t *testing.T) {
	d := diabetes(t)
	of, err := traced(t.Context(), d.X, d.Y, pare.SelectOptions{}, pare.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := pare.Select(t.Context(), d.X, d.Y, pare.SelectOptions{}, pare.Config{})
	if err != nil || len(of.rounds) != len(s.Evaluations) {
		t.Fatalf("%v: %d rounds of %d evaluations", err, len(of.rounds), len(s.Evaluations))
	}
	for k, round := range of.rounds {
		var work float64
		for _, l := range round {
			work += l[0].work + l[1].work
		}
		if len(round) != 5 || math.Abs(work-s.Evaluations[k].Work) > 1e-9*work {
			t.Errorf("round %d has %d lanes of %g, the evaluation says %g", k, len(round), work, s.Evaluations[k].Work)
		}
	}
	if want := [][]lane{{{{s.Final.Work, s.Final.Shared}}}}; !reflect.DeepEqual(of.refit, want) || !(s.Final.Work > 0) {
		t.Errorf("the refit is %v, want %v", of.refit, want)
	}
	if one, two := of.duration(1), of.duration(2); !(two < one && two >= one/2) {
		t.Errorf("two cores take %g, one %g", two, one)
	}
	if of.ahead {
		t.Error("the refit of a cheap choice has a start that was known beforehand")
	}
}

// TestRefitsAheadAreInTheLastRound checks that a refit begun ahead runs in the last round if there are more
// cores than lanes, and otherwise in a round of its own.
func TestRefitsAheadAreInTheLastRound(t *testing.T) {
	round := func(lanes int) [][]lane { return [][]lane{slices.Repeat([]lane{{{work: 4}}}, lanes)} }
	of := trace{making: round(2), rounds: slices.Concat(round(2), round(2)), refit: round(1), serial: 1}
	for cores, want := range map[int][2]float64{1: {29, 29}, 2: {17, 17}, 3: {17, 13}} {
		for k, ahead := range []bool{false, true} {
			of.ahead = ahead
			if got := of.duration(cores); math.Abs(got-want[k]) > 1e-12 {
				t.Errorf("%d cores, ahead %t: %g, want %g", cores, of.ahead, got, want[k])
			}
		}
	}
}

// TestRefitOfClasses checks that the refit of classes has a round for the fit from which the others start, if
// any, and then one for all classes.
func TestRefitOfClasses(t *testing.T) {
	f := &pare.Fitted{Work: 9, PerClass: []*pare.Fitted{{Work: 2}, {Work: 4, Shared: 1}}}
	want := [][]lane{{{{work: 3}}}, {{{work: 2}}, {{work: 4, shared: 1}}}}
	if got := refitted(f); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
