package goals

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/machine"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/sparse"
)

// part is the work that one thread begins, in counted work, and how much of it idle threads may share.
type part struct{ work, shared float64 }

// lane is an inner problem in a round: its solve, then its derivative.
type lane [2]part

// trace is the work of a selection, in the unit of counted work. First the lanes are made, in rounds of equal
// parts. Then come rounds of lanes, one after another, and the refit. The refit is one round or, with classes,
// one or two; if the search predicts its λ, the refit may run as one more lane of the last round. Everything
// else is serial.
type trace struct {
	making [][]lane
	rounds [][]lane
	refit  [][]lane
	ahead  bool // the refit may run in the last round
	serial float64
}

// tracer records the work that lanes report.
type tracer struct {
	bilevel.Runner
	mu      sync.Mutex
	making  [][]lane // in processor seconds
	rounds  [][]lane
	made    float64 // seconds of rounds that only made lanes
	seconds float64 // seconds of the other rounds
	ended   float64 // processor time at the end of the last round
	ahead   bool    // the refit's starting point was known before the last λ was evaluated
}

// Run implements [bilevel.Runner].
func (t *tracer) Run(ctx context.Context, requests []bilevel.LaneRequest, solved func()) ([]bilevel.LaneResult, error) {
	began := taken()
	results, err := t.Runner.Run(ctx, requests, solved)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range requests {
		t.ahead = requests[i].Ask == bilevel.AskKept && requests[i].LogLambda != nil && results[i].Solution != nil
	}
	t.ended = taken()
	took := t.ended - began
	var round []lane
	for i := range results {
		s, d := &results[i].Solved, &results[i].Derived
		if l := (lane{{s.Work, s.Shared}, {d.Work, d.Shared}}); l[0].work+l[1].work > 0 {
			round = append(round, l)
		}
	}
	if round != nil {
		t.rounds = append(t.rounds, round)
		t.seconds += took
	} else {
		t.making = append(t.making, slices.Repeat([]lane{{{work: took / float64(len(requests))}}}, len(requests)))
		t.made += took
	}
	return results, err
}

// taken returns the processor time used so far, in seconds, or the clock's time if that is not known.
func taken() float64 {
	if t, ok := machine.ProcessorTime(); ok {
		return t.Seconds()
	}
	return float64(time.Now().UnixNano()) / 1e9
}

// traced selects with one thread and records the work of lanes and of the refit. Work that is not counted is
// converted from processor seconds, at the rate of the lanes' counted work: making lanes, and everything before
// the end of the last lane that is not a lane. What follows the last lane is the refit.
func traced(ctx context.Context, x sparse.Matrix, y []float64, o pare.SelectOptions, c pare.Config) (*trace, error) {
	t := &tracer{}
	o.Lanes = func(ctx context.Context, j pare.Job) (_ bilevel.Runner, err error) {
		j.Config.Threads = 1
		t.Runner, err = pare.NewLanes(ctx, x, y, j)
		return t, err
	}
	c.Threads = 1
	began := taken()
	s, err := pare.Select(ctx, x, y, o, c)
	if err != nil {
		return nil, err
	}
	searched := t.ended - began
	var counted float64
	for _, l := range slices.Concat(t.rounds...) {
		counted += l[0].work + l[1].work
	}
	unit := counted / t.seconds
	for _, round := range t.making {
		for i := range round {
			round[i][0].work *= unit
		}
	}
	out := &trace{making: t.making, rounds: t.rounds, refit: refitted(s.Final), ahead: t.ahead}
	out.serial = max(0, unit*(searched-t.seconds-t.made))
	return out, nil
}

// refitted returns the rounds of a refit. If each class has a predictor of its own, these are solved
// concurrently, after the fit that they start from, if there is one.
func refitted(f *pare.Fitted) [][]lane {
	if f.PerClass == nil {
		return [][]lane{{{{f.Work, f.Shared}}}}
	}
	first := f.Work
	var classes []lane
	for _, class := range f.PerClass {
		first -= class.Work
		classes = append(classes, lane{{class.Work, class.Shared}})
	}
	return [][]lane{{{{work: max(0, first)}}}, classes}
}

// duration returns the time of a trace on the given number of cores.
func (t *trace) duration(cores int) float64 {
	total := t.serial
	rounds := slices.Concat(t.making, t.rounds, t.refit)
	if last := len(t.rounds) - 1; t.ahead && cores > len(t.rounds[last]) {
		rounds = slices.Concat(t.making, t.rounds[:last], [][]lane{slices.Concat(t.refit[0], t.rounds[last])})
	}
	for _, round := range rounds {
		total += schedule(round, cores)
	}
	return total
}

// alone returns the time of a part that has the given number of cores to itself.
func (p part) alone(cores float64) float64 { return p.work - p.shared + p.shared/cores }

// schedule returns the time of a round on the given number of cores. Threads take the solves in order and then
// the derivatives, each of which waits for its solve; cores without a part of their own are divided among the
// parts in progress.
func schedule(round []lane, cores int) (now float64) {
	left := make([][2]float64, len(round)) // fraction of each part that is not done
	for i := range left {
		left[i] = [2]float64{1, 1}
	}
	for {
		var busy [][2]int
		for step := range 2 {
			for i := range left {
				if left[i][step] > 0 && (step == 0 || left[i][0] <= 0) && len(busy) < cores {
					busy = append(busy, [2]int{i, step})
				}
			}
		}
		if len(busy) == 0 {
			return now
		}
		each := float64(cores) / float64(len(busy))
		next := make([]float64, len(busy))
		for k, b := range busy {
			next[k] = left[b[0]][b[1]] * round[b[0]][b[1]].alone(each)
		}
		least := slices.Min(next)
		for k, b := range busy {
			if next[k] <= least {
				left[b[0]][b[1]] = 0
			} else {
				left[b[0]][b[1]] *= 1 - least/next[k]
			}
		}
		now += least
	}
}

// Cores is S10.
func Cores(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := newTable(o)
	goals := map[string]map[int]string{"imdb": {2: "≥ 1.85", 16: "≥ 10"}, "reuters_multi53": {2: "≥ 1.85", 64: "≥ 20"}}
	models := map[string]pare.Model{"imdb": pare.Logistic, "reuters_multi53": pare.Multiclass}
	err := t.each(ctx, o.Choose([]string{"rcv1_dev", "reuters_places", "imdb", "reuters_multi53"}, 2), func(d studies.Data) error {
		x := sparse.Compact(d.X.(*sparse.CSC))
		c := pare.Config{Model: models[d.Name]}
		t.say("%s: the trace of a selection", d.Name)
		of, err := traced(ctx, x, d.Y, pare.SelectOptions{}, c)
		if err != nil {
			return err
		}
		one := of.duration(1)
		for cores := 2; cores <= 64; cores *= 2 {
			at := of.duration(cores)
			t.add(d.Name, fmt.Sprintf("Select, 5 folds, %d cores by the model, in ns of counted work", cores), at, "one core", one, goals[d.Name][cores], fmt.Sprintf("%.0f %% of the cores busy", 100*one/at/float64(cores)))
		}
		choose := func(threads int) func() error {
			return func() error {
				c := c
				c.Threads = threads
				_, err := pare.Select(ctx, x, d.Y, pare.SelectOptions{}, c)
				return err
			}
		}
		for threads, goal := 2, goals[d.Name][2]; threads <= min(64, runtime.GOMAXPROCS(0)); threads, goal = 2*threads, "" {
			t.say("%s: %d threads", d.Name, threads)
			first, more, err := t.inTurn(choose(1), choose(threads))
			if err != nil {
				return err
			}
			t.add(d.Name, fmt.Sprintf("Select, 5 folds, %d threads here", threads), more, "one thread", first, goal, "")
		}
		return nil
	})
	return t.result("S10"), err
}
