package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/seed-45b9a24c/pare/bench/loops"
	"github.com/seed-45b9a24c/pare/bench/machine"
)

// measureFlags say how carefully loops are timed.
type measureFlags struct {
	Match string `placeholder:"TEXT" help:"Only operations whose name contains TEXT, such as Dot."`
	Count int    `default:"6" help:"Runs of each (default: 6, which benchstat needs)."`
	Quick bool   `help:"Three runs of 2 ms each."`
	Large bool   `help:"Vectors beyond the caches too."`
}

func (f measureFlags) measure(ctx context.Context, env environment) (machine.Ceilings, []loops.Result, error) {
	o := loops.Options{Match: f.Match, Runs: f.Count, Large: f.Large}
	if f.Quick {
		o.Runs, o.Each = 3, 2*time.Millisecond
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
	ceilings, results, err := c.measure(ctx, env)
	if err != nil {
		return err
	}
	switch {
	case c.JSON:
		return env.json(struct {
			Machine  machine.Machine  `json:"machine"`
			Ceilings machine.Ceilings `json:"ceilings"`
			Results  []loops.Result   `json:"results"`
		}{m, ceilings, results})
	case c.Bench:
		return loops.WriteGo(env.stdout, m, results)
	}
	writeMachine(env, m)
	fmt.Fprintln(env.stdout)
	writeCeilings(env, ceilings)
	return env.table(func(w io.Writer) {
		fmt.Fprintln(w, "operation\tsize\tset\tns/element\tbest\tGB/s\tGFLOP/s\tfrom\t% of ceiling\t")
		for i, r := range results {
			if i > 0 && (results[i-1].Operation != r.Operation || results[i-1].Size != r.Size) {
				fmt.Fprintln(w, "\t\t\t\t\t\t\t\t\t")
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.4f\t%.4f\t%.1f\t%.2f\t%s\t%.0f\t\n", r.Operation, r.Size, r.Set,
				r.PerElement, r.Fastest/float64(r.Elements), r.GBs, r.GFLOPs, r.Level, 100*r.Share)
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
