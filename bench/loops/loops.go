// Package loops times the kernels: every operation in every set and, for comparison, the plain Go loop, gonum's
// blas64, C loops and OpenBLAS, over sizes from one cache level to the next. Rates are computed from the
// operations and bytes that the loop needs, whatever the hardware did.
package loops

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare/bench/machine"
)

// Result is one operation of one set at one size.
type Result struct {
	Operation string `json:"operation"`
	Set       string `json:"set"` // or "loop", "gonum", "openblas", "gcc" …
	Size      string `json:"size"`
	// Elements of one call: those of a dense vector, or nonzeros times problems.
	Elements int `json:"elements"`
	Bytes    int `json:"bytes"` // bytes that one call must move
	Flops    int `json:"flops"` // of one call; 0 if it has practically none

	Nanoseconds float64 `json:"ns"`     // of one call: the median of the runs
	Fastest     float64 `json:"ns_min"` // the best run
	PerElement  float64 `json:"ns_per_element"`
	GBs         float64 `json:"gb_s"`
	GFLOPs      float64 `json:"gflop_s"`
	Level       string  `json:"level"` // the memory level from which the operands stream
	// Share is the rate divided by the measured ceiling at that level: the lower of the arithmetic and the
	// memory ceiling.
	Share float64 `json:"share_of_ceiling"`

	runs []float64
}

// Options select what is timed.
type Options struct {
	Match string        // only operations whose name contains it; "" means all
	Runs  int           // runs of each operation; 0 means 6, which benchstat needs for an interval
	Each  time.Duration // the shortest duration of a run; 0 means 10 ms
	Large bool          // sizes beyond the caches too
	// Compiled, if not nil, is timed in turn with our loops.
	Compiled *Compiled
	// Progress, if not nil, is called with what is about to run, how many are done and how many there are.
	Progress func(what string, done, all int)
}

// Measure times the operations. All operations of one size run in turn, so that a disturbance affects all of
// them.
func Measure(ctx context.Context, c machine.Ceilings, o Options) ([]Result, error) {
	if o.Runs < 0 {
		return nil, fmt.Errorf("a count of %d runs: give 1 or more", o.Runs)
	}
	o.Runs, o.Each = cmp.Or(o.Runs, 6), cmp.Or(o.Each, 10*time.Millisecond)
	var chosen []operation
	for _, op := range operations(o.Large) {
		if strings.Contains(op.name, o.Match) {
			chosen = append(chosen, op)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("the name of no operation contains %q", o.Match)
	}
	var results []Result
	for done := 0; done < len(chosen); {
		same := ofOneSize(chosen[done:])
		groups := make([][]implementation, len(same))
		for i, op := range same {
			if groups[i] = op.prepare(); o.Compiled != nil {
				groups[i] = append(o.Compiled.implementations(op), groups[i]...)
			}
		}
		if err := o.inTurn(ctx, same, groups, done, len(chosen)); err != nil {
			return results, err
		}
		for i, group := range groups {
			for _, g := range group {
				results = append(results, g.finish(same[i], c))
			}
		}
		done += len(same)
	}
	return results, nil
}

// ofOneSize returns the leading operations that have the same size.
func ofOneSize(operations []operation) []operation {
	other := slices.IndexFunc(operations, func(op operation) bool { return op.size != operations[0].size })
	if other < 0 {
		return operations
	}
	return operations[:other]
}

// inTurn runs the implementations repeatedly, those of each operation one after another.
func (o Options) inTurn(ctx context.Context, operations []operation, groups [][]implementation, done, all int) error {
	for run := range o.Runs {
		for i, op := range operations {
			if o.Progress != nil {
				o.Progress(fmt.Sprintf("%s %s, run %d", op.name, op.size, run+1), done+i, all)
			}
			for m := range groups[i] {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				g := &groups[i][m]
				g.runs = append(g.runs, g.time(o.Each))
			}
		}
	}
	return nil
}

// once returns the nanoseconds per call, over enough calls to take at least each.
func once(f func(), each time.Duration) float64 {
	f()
	for calls := 1; ; {
		start := time.Now()
		for range calls {
			f()
		}
		took := time.Since(start)
		if took >= each {
			return float64(took.Nanoseconds()) / float64(calls)
		}
		grow := 2.0
		if took > 0 {
			grow = min(100, max(1.2, 1.2*float64(each)/float64(took)))
		}
		calls = int(float64(calls)*grow) + 1
	}
}

func (r Result) finish(op operation, c machine.Ceilings) Result {
	r.Operation, r.Size, r.Elements, r.Bytes, r.Flops = op.name, op.size, op.elements, op.bytes, op.flops
	sorted := slices.Sorted(slices.Values(r.runs))
	r.Nanoseconds, r.Fastest = sorted[len(sorted)/2], sorted[0]
	r.PerElement = r.Nanoseconds / float64(r.Elements)
	r.GBs, r.GFLOPs = float64(r.Bytes)/r.Nanoseconds, float64(r.Flops)/r.Nanoseconds
	level := c.At(op.footprint)
	r.Level = level.Name
	rate := level.Read
	if op.writes {
		rate = level.Triad
	}
	ideal := max(float64(r.Bytes)/rate, float64(r.Flops)/c.GFLOPs)
	r.Share = ideal / r.Nanoseconds
	return r
}

// WriteGo writes the results in the format of Go benchmarks, one line per run, for benchstat: benchstat -col
// /set compares sets.
func WriteGo(w io.Writer, m machine.Machine, all []Result) error {
	if _, err := fmt.Fprintf(w, "goos: %s\ngoarch: %s\ncpu: %s\nisa: %s\nload: %s\nUnit GB/s better=higher\nUnit GFLOP/s better=higher\n",
		m.OS, m.Arch, m.CPU, m.Active, m.Load); err != nil {
		return err
	}
	for _, r := range all {
		for _, ns := range r.runs {
			if _, err := fmt.Fprintf(w, "Benchmark%s/set=%s/%s 1 %.6g ns/op %.5g ns/element %.5g GB/s %.5g GFLOP/s\n",
				r.Operation, r.Set, r.Size, ns, ns/float64(r.Elements), float64(r.Bytes)/ns, float64(r.Flops)/ns); err != nil {
				return err
			}
		}
	}
	return nil
}
