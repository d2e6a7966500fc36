package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/seed-45b9a24c/pare/bench/loops"
	"github.com/seed-45b9a24c/pare/bench/machine"
)

// measureFlags are the flags for the precision of timings.
type measureFlags struct {
	Match string `placeholder:"TEXT" help:"Only operations whose name contains TEXT, such as Dot."`
	Count int    `help:"Runs of each (default: 6, which benchstat needs; 3 with --quick)."`
	Quick bool   `help:"Runs of 2 ms instead of 10."`
	Large bool   `help:"Vectors beyond the caches too."`
}

func (f measureFlags) measure(ctx context.Context, env environment, compiled *loops.Compiled) (machine.Ceilings, []loops.Result, error) {
	o := loops.Options{Match: f.Match, Runs: f.Count, Large: f.Large, Compiled: compiled}
	if f.Quick {
		o.Runs, o.Each = cmp.Or(f.Count, 3), 2*time.Millisecond
	}
	o.Progress = func(what string, done, all int) { env.status("%d/%d %s", done, all, what) }
	env.status("measuring ceilings")
	ceilings := machine.MeasureCeilings()
	results, err := loops.Measure(ctx, ceilings, o)
	env.status("")
	return ceilings, results, err
}

type kernelsCommand struct {
	measureFlags
	Bench bool `help:"Go benchmark format, for benchstat -col /set."`
	JSON  bool `name:"json" help:"One JSON object."`
}

func (c *kernelsCommand) run(ctx context.Context, env environment) error {
	m := machine.Describe()
	compiled := loops.Compile(ctx)
	defer compiled.Close()
	ceilings, results, err := c.measure(ctx, env, compiled)
	if err != nil {
		return err
	}
	goals := loops.Goals(results)
	switch {
	case c.JSON:
		return env.json(struct {
			Machine  machine.Machine  `json:"machine"`
			Ceilings machine.Ceilings `json:"ceilings"`
			Compiled string           `json:"compiled"`
			Results  []loops.Result   `json:"results"`
			Goals    []loops.Goal     `json:"goals"`
		}{m, ceilings, compiled.Version, results, goals})
	case c.Bench:
		return loops.WriteGo(env.stdout, m, results)
	}
	writeMachine(env, m)
	fmt.Fprintln(env.stdout)
	writeCeilings(env, ceilings)
	fmt.Fprintf(env.stdout, "gcc -O3 -march=native -ffast-math, and OpenBLAS: %s\n\n", compiled.Version)
	if err := env.table(func(w io.Writer) {
		fmt.Fprintln(w, "operation\tsize\tset\tns/element\tbest\tGB/s\tGFLOP/s\tfrom\t% of ceiling\t")
		for i, r := range results {
			if i > 0 && (results[i-1].Operation != r.Operation || results[i-1].Size != r.Size) {
				fmt.Fprintln(w, "\t\t\t\t\t\t\t\t\t")
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.4f\t%.4f\t%.1f\t%.2f\t%s\t%.0f\t\n", r.Operation, r.Size, r.Set,
				r.PerElement, r.Fastest/float64(r.Elements), r.GBs, r.GFLOPs, r.Level, 100*r.Share)
		}
	}); err != nil {
		return err
	}
	return writeGoals(env, goals)
}

func writeGoals(env environment, goals []loops.Goal) error {
	fmt.Fprintln(env.stdout)
	return env.table(func(w io.Writer) {
		fmt.Fprintln(w, "goal\toperation\tsize\tset\tagainst\tat least\treached\t\t")
		for _, g := range goals {
			reached, verdict := fmt.Sprintf("%.2f", g.Reached), "missed"
			switch {
			case g.Reached == 0:
				reached, verdict = "", "not measured: absent here"
			case g.Met():
				verdict = "met"
			}
			against := g.Against
			if against == "" {
				against = g.Set
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t%s\t\n", g.Name, g.What, g.Size, g.Set, against, g.AtLeast, reached, verdict)
		}
	})
}

func writeCeilings(env environment, c machine.Ceilings) {
	fmt.Fprintf(env.stdout, "ceilings of one core (%s): %.1f GFLOP/s", c.Instructions, c.GFLOPs)
	for _, l := range c.Levels {
		fmt.Fprintf(env.stdout, "; %s read %.1f, triad %.1f GB/s", l.Name, l.Read, l.Triad)
	}
	fmt.Fprint(env.stdout, "\n\n")
}
