package peers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/bench/machine"
)

// Options bound a comparison. The zero value is ready to use.
type Options struct {
	Targets []float64 // relative gaps to certify; nil means 1e-6 and 1e-10, for support vectors 1e-4
	Rounds  int       // timed runs of each contestant; 0 means 5
	// Limit is the longest time for one solve; 0 means 2 minutes.
	Limit time.Duration
	// Budget is the longest total time for the timed runs of one contestant, regardless of Rounds; the first
	// run is exempt. 0 means 20 seconds.
	Budget   time.Duration
	Peers    []Peer // nil means Peers()
	Kernels  string // our kernel set; "" means the best
	Progress func(what string)
}

func (o Options) withDefaults(m Model) Options {
	if o.Targets == nil {
		o.Targets = []float64{1e-6, 1e-10}
		if m.family().kind == ofVectors {
			o.Targets = []float64{1e-4}
		}
	}
	if o.Rounds == 0 {
		o.Rounds = 5
	}
	if o.Limit == 0 {
		o.Limit = 2 * time.Minute
	}
	if o.Budget == 0 {
		o.Budget = 20 * time.Second
	}
	if o.Peers == nil {
		o.Peers = Peers()
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}

// rival is a contestant during a comparison.
type rival struct {
	contestant
	Entry
	tolerances func(target float64) []float64
	yardstick  float64
	tried      map[float64]attempt
	out        string // why it takes no further part
}

type attempt struct {
	answer Answer
	found  Certificate
}

// Compare has every contestant solve the problem, once for each target.
func Compare(ctx context.Context, row string, p *Problem, o Options) ([]Comparison, error) {
	o = o.withDefaults(p.Model)
	dir, err := os.MkdirTemp("", "perf-peers-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is in the temporary directory
	data := filepath.Join(dir, "problem.bin")
	if err := p.save(data); err != nil {
		return nil, err
	}

	rivals, err := enter(ctx, row, p, o, dir, data)
	defer func() {
		for _, r := range rivals {
			if r.contestant != nil {
				r.close()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	n, columns := p.X.Dims()
	var all []Comparison
	for _, target := range o.Targets {
		c := Comparison{Row: row, Model: p.Model, N: n, P: columns, NNZ: nonzeros(p.X), Alpha: p.Alpha, Target: target, Load: machine.Load()}
		for _, r := range rivals {
			r.calibrate(ctx, p, target, o)
		}
		for round := range o.Rounds {
			for k := range rivals {
				r := rivals[(k+round)%len(rivals)] // the order rotates, so that nobody always follows the same contestant
				o.Progress(fmt.Sprintf("%s, gap %.0e: round %d of %d, %s", row, target, round+1, o.Rounds, r.Name))
				r.time(ctx, o)
			}
		}
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
		for _, r := range rivals {
			c.Outcomes = append(c.Outcomes, r.Entry)
		}
		c.Load += " … " + machine.Load()
		all = append(all, c)
	}
	return all, nil
}

// enter returns the contestants for the problem in the file data: pare, and the peers that solve such problems;
// peers that do not start are marked as out. The caller closes all that are returned, even with an error.
func enter(ctx context.Context, row string, p *Problem, o Options, dir, data string) ([]*rival, error) {
	alone, err := prepare(ctx, p, o.Kernels)
	if err != nil {
		return nil, err
	}
	exact := func(target float64) []float64 { return ladder(target, 2, 3) }
	rivals := []*rival{
		{contestant: ours{p, o.Kernels}, Entry: Entry{Name: Ours}, tolerances: exact, tried: map[float64]attempt{}},
		{contestant: alone, Entry: Entry{Name: Prepared}, tolerances: exact, tried: map[float64]attempt{}},
	}
	for _, peer := range o.Peers {
		if !slices.Contains(peer.Models, p.Model) || peer.Fits != nil && !peer.Fits(p) {
			continue
		}
		o.Progress(row + ": starting " + peer.Name)
		r := &rival{Entry: Entry{Name: peer.Name}, tolerances: peer.Tolerances, yardstick: peer.Yardstick, tried: map[float64]attempt{}}
		rivals = append(rivals, r)
		started, err := startPeer(ctx, peer, dir, data, p)
		switch {
		case ctx.Err() != nil:
			return rivals, ctx.Err()
		case err != nil:
			r.out = err.Error()
		default:
			r.contestant, r.Version = started, started.version
		}
	}
	return rivals, nil
}

func (p *Problem) save(path string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := p.Write(file); err != nil {
		return err
	}
	return file.Close()
}

// calibrate lowers the rival's tolerance until its certified gap meets the target.
func (r *rival) calibrate(ctx context.Context, p *Problem, target float64, o Options) {
	r.Entry = Entry{Name: r.Name, Version: r.Version, Absent: r.out}
	if r.out != "" {
		return
	}
	if r.yardstick > 0 {
		a, err := r.attempt(ctx, p, r.yardstick, o)
		if err != nil {
			r.out, r.Absent = err.Error(), err.Error()
			return
		}
		r.Yardstick = a.answer.Seconds
	}
	spent := 0.0
	for _, tol := range r.tolerances(target) {
		if spent > 3*o.Limit.Seconds() {
			r.Absent = fmt.Sprintf("at a gap of %.1e after %.0f s of trying tolerances, down to %.0e", r.Gap, spent, r.Tol)
			return
		}
		o.Progress(fmt.Sprintf("%s at %.1e, for a gap of %.0e", r.Name, tol, target))
		a, err := r.attempt(ctx, p, tol, o)
		if err != nil {
			r.out, r.Absent = err.Error(), err.Error()
			return
		}
		spent += a.answer.Seconds
		r.Tol, r.Certificate, r.False = tol, a.found, p.falsehood(a)
		if a.found.Gap <= target {
			return
		}
	}
	r.Absent = fmt.Sprintf("reaches a gap of %.1e at its tolerance %.0e", r.Gap, r.Tol)
}

// attempt solves and certifies; results are cached by tolerance.
func (r *rival) attempt(ctx context.Context, p *Problem, tol float64, o Options) (attempt, error) {
	if a, done := r.tried[tol]; done {
		return a, nil
	}
	answer, err := r.limited(ctx, tol, o)
	if err != nil {
		return attempt{}, err
	}
	found, err := p.Certify(answer.Index, answer.Value)
	r.tried[tol] = attempt{answer, found}
	return r.tried[tol], err
}

func (r *rival) limited(ctx context.Context, tol float64, o Options) (Answer, error) {
	limited, cancel := context.WithTimeout(ctx, o.Limit)
	defer cancel()
	a, err := r.solve(limited, tol)
	if errors.Is(err, context.DeadlineExceeded) {
		r.close() // otherwise it would continue while others are timed
		err = fmt.Errorf("took more than %v at its tolerance %.0e", o.Limit, tol)
	}
	return a, err
}

// time runs one timed round.
func (r *rival) time(ctx context.Context, o Options) {
	if r.Absent != "" {
		return
	}
	spent := 0.0
	for _, s := range r.Seconds {
		spent += s
	}
	if len(r.Seconds) > 0 && spent+spent/float64(len(r.Seconds)) > o.Budget.Seconds() {
		return
	}
	runtime.GC() // only our solver runs in this process
	a, err := r.limited(ctx, r.Tol, o)
	if err != nil {
		r.out, r.Absent, r.Seconds = err.Error(), err.Error(), nil
		return
	}
	r.Seconds = append(r.Seconds, a.Seconds)
}

// falsehood compares what a contestant reports about its result with what was certified.
func (p *Problem) falsehood(a attempt) string {
	null := p.null()
	if claimed := a.answer.Objective; claimed != nil && !(math.Abs(*claimed-a.found.Objective) <= 1e-9*null) {
		return fmt.Sprintf("claims an objective of %.12g, it is %.12g", *claimed, a.found.Objective)
	}
	// Other dual points give other gaps, but not ten times smaller ones, except near 0.
	if claimed := a.answer.Gap; claimed != nil && !(a.found.Gap <= 10**claimed/null+1e-12) {
		return fmt.Sprintf("claims a relative gap of %.1e, it is %.1e", *claimed/null, a.found.Gap)
	}
	return ""
}
