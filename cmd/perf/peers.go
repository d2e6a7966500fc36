package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare/bench/machine"
	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
)

type peersCommand struct {
	File string `arg:"" optional:"" help:"svmlight text to compare on, instead of the standing rows."`

	Rows    string    `placeholder:"WORDS" help:"Standing rows: suites (lasso, enet, wlasso, logreg, svm, check) or parts of names, separated by commas (default: all)."`
	Data    string    `default:"../shared/data" placeholder:"DIR" help:"Where the files of the standing rows are (default: ../shared/data). A row without its file is left out."`
	Model   string    `default:"lasso" enum:"lasso,enet,wlasso,logreg,svm" help:"For FILE: lasso, enet, wlasso, logreg or svm (default: lasso)."`
	Ratio   float64   `default:"0.01" placeholder:"R" help:"For FILE: α/αmax; for svm C itself (default: 0.01)."`
	Gap     []float64 `placeholder:"GAP,..." help:"Relative gaps to certify (default: 1e-6,1e-10; quick: 1e-6; svm: 1e-4)."`
	Quick   bool      `help:"Three rounds, at most 20 s a solve."`
	Only    string    `placeholder:"NAMES" help:"Only peers whose name contains one of the words."`
	Kernels string    `placeholder:"SET" help:"Our kernel set (default: the best)."`
	State   string    `placeholder:"FILE" help:"Keep results here, row by row; the same command goes on from it."`
	CSV     string    `name:"csv" placeholder:"FILE" help:"Write every contestant's figures here, too."`
	JSON    bool      `name:"json" help:"One JSON object."`
}

// peersHeading names the columns of that file.
func peersHeading() []string {
	return []string{"row", "gap", "contestant", "tol", "certified_gap", "support", "seconds", "least", "most", "times_ours", "ratio_least", "ratio_most", "note"}
}

// peersTable has a row for each contestant of each comparison that is installed.
func peersTable(all []peers.Comparison) studies.Table {
	t := studies.Table{Columns: peersHeading()}
	for _, c := range all {
		for _, e := range c.Outcomes {
			if e.Missing() {
				continue
			}
			if e.Absent != "" {
				t.Add(c.Row, c.Target, e.Name, "", "", "", "", "", "", "", "", "", e.Absent)
				continue
			}
			mid, least, most := c.Ratio(e)
			t.Add(c.Row, c.Target, e.Name, e.Tol, e.Gap, e.Support, e.Median(), slices.Min(e.Seconds), slices.Max(e.Seconds), mid, least, most, e.False)
		}
	}
	return t
}

func (c *peersCommand) options(env environment, m peers.Model) peers.Options {
	o := peers.Options{Kernels: c.Kernels, Progress: func(what string) { env.status("%s", what) }}
	if c.Quick {
		o.Rounds, o.Limit, o.Budget = 3, 20*time.Second, 10*time.Second
		if m != peers.SVM {
			o.Targets = []float64{1e-6}
		}
	}
	if c.Gap != nil {
		o.Targets = c.Gap
	}
	if c.Only != "" {
		o.Peers = []peers.Peer{}
		for _, p := range peers.Peers() {
			for word := range strings.SplitSeq(c.Only, ",") {
				if strings.Contains(p.Name, strings.TrimSpace(word)) {
					o.Peers = append(o.Peers, p)
					break
				}
			}
		}
	}
	return o
}

func (c *peersCommand) run(ctx context.Context, env environment) error {
	rows := peers.Choose(c.Rows)
	file := func(r peers.Row) (string, error) { return r.File(c.Data) }
	if c.File != "" {
		rows = []peers.Row{{Data: filepath.Base(c.File), Model: peers.Model(c.Model), Ratio: c.Ratio}}
		file = func(peers.Row) (string, error) { return c.File, nil }
	}
	m, began := machine.Describe(), time.Now()
	store, err := peers.OpenStore(c.State, fmt.Sprintf("%s, %s, %s, kernels %q, peers %q, gaps %v, quick %v", m.Revision, m.CPU, m.Active, c.Kernels, c.Only, c.Gap, c.Quick))
	if err != nil {
		return err
	}
	if !c.JSON {
		writeMachine(env, m)
		fmt.Fprintln(env.stdout)
	}
	for _, row := range rows {
		if store.Has(row.Name()) {
			continue
		}
		path, err := file(row)
		if errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(env.stderr, "perf: %s left out: there is no %s\n", row.Name(), path)
			continue
		}
		if err != nil {
			return err
		}
		env.status("%s: reading", row.Name())
		problem, err := row.Load(ctx, path)
		if err != nil {
			return err
		}
		compared, err := peers.Compare(ctx, row.Name(), problem, c.options(env, row.Model))
		env.status("")
		if err != nil {
			return err
		}
		if err := store.Add(compared); err != nil {
			return err
		}
		if !c.JSON {
			for _, comparison := range compared {
				if err := writeComparison(env, comparison); err != nil {
					return err
				}
			}
		}
	}
	chosen := map[string]bool{}
	for _, r := range rows {
		chosen[r.Name()] = true
	}
	var all []peers.Comparison
	for _, comparison := range store.Comparisons {
		if chosen[comparison.Row] {
			all = append(all, comparison)
		}
	}
	s := summarise(all)
	if c.CSV != "" {
		if err := writeCSV(c.CSV, peersTable(all)); err != nil {
			return err
		}
		command := "perf peers"
		if c.Rows != "" {
			command += fmt.Sprintf(" --rows %q", c.Rows)
		}
		if c.Quick {
			command += " --quick"
		}
		note := newRecord("peers", "other solvers at equal certified gap", command, began, m.Load, m)
		if err := note.write(strings.TrimSuffix(c.CSV, ".csv") + ".json"); err != nil {
			return err
		}
	}
	if c.JSON {
		return env.json(struct {
			Machine     machine.Machine    `json:"machine"`
			Comparisons []peers.Comparison `json:"comparisons"`
			Summary     []summaryRow       `json:"summary"`
		}{m, all, s})
	}
	return writeSummary(env, all, s)
}

func writeComparison(env environment, c peers.Comparison) error {
	fmt.Fprintf(env.stdout, "%s: %d × %d, %d nonzeros; certified gap ≤ %.0e of the null model's objective; load %s\n",
		c.Row, c.N, c.P, c.NNZ, c.Target, c.Load)
	err := env.table(func(w io.Writer) {
		fmt.Fprintln(w, "\ttol\tgap\tsupport\tmedian s\tmin\tmax\truns\ttimes ours\tmin\tmax\t")
		for _, e := range c.Outcomes {
			if e.Absent != "" {
				fmt.Fprintf(w, "%s\t\t\t\t\t\t\t\t\t\t\t  %s\n", e.Name, e.Absent)
				continue
			}
			mid, least, most := c.Ratio(e)
			low, high := e.Seconds[0], e.Seconds[0]
			for _, s := range e.Seconds {
				low, high = min(low, s), max(high, s)
			}
			fmt.Fprintf(w, "%s\t%.0e\t%.1e\t%d\t%.4f\t%.4f\t%.4f\t%d\t%.2f\t%.2f\t%.2f\t  %s\n",
				e.Name, e.Tol, e.Gap, e.Support, e.Median(), low, high, len(e.Seconds), mid, least, most, e.False)
		}
	})
	fmt.Fprintln(env.stdout)
	return err
}

// summaryRow sets us against the best of the others at one problem and target.
type summaryRow struct {
	Row      string  `json:"row"`
	Target   float64 `json:"target"`
	Seconds  float64 `json:"seconds"`            // ours, the whole fit
	Prepared float64 `json:"prepared,omitempty"` // the solver alone
	Best     string  `json:"best,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"` // of the best one installed
	Recorded string  `json:"recorded,omitempty"`
	// RecordedRatio is a recorded time, scaled to this machine, over ours.
	RecordedRatio float64 `json:"recorded_ratio,omitempty"`
}

func summarise(all []peers.Comparison) []summaryRow {
	factor, _, known := peers.Factor(all)
	rows := make([]summaryRow, 0, len(all))
	for _, c := range all {
		s := summaryRow{Row: c.Row, Target: c.Target}
		for _, e := range c.Outcomes {
			switch {
			case e.Absent != "":
			case e.Name == peers.Ours:
				s.Seconds = e.Median()
			case e.Name == peers.Prepared:
				s.Prepared = e.Median()
			}
		}
		if name, ratio, ok := c.Best(); ok {
			s.Best, s.Ratio = name, ratio
		}
		for _, r := range peers.Records() {
			if ratio := r.Seconds * factor / s.Seconds; known && s.Seconds > 0 && r.Row == c.Row && r.Gap <= c.Target &&
				(s.Recorded == "" || ratio < s.RecordedRatio) {
				s.Recorded, s.RecordedRatio = r.Name, ratio
			}
		}
		rows = append(rows, s)
	}
	return rows
}

func writeSummary(env environment, all []peers.Comparison, rows []summaryRow) error {
	if len(rows) == 0 {
		fmt.Fprintln(env.stdout, "no row was compared")
		return nil
	}
	factor, from, known := peers.Factor(all)
	err := env.table(func(w io.Writer) {
		fmt.Fprintln(w, "row\tgap\tours, s\tprepared\tbest installed\ttimes ours\tbest recorded *\ttimes ours\t")
		for _, r := range rows {
			fmt.Fprintf(w, "%s\t%.0e\t%.4f\t%.4f\t%s\t%s\t%s\t%s\t\n", r.Row, r.Target, r.Seconds, r.Prepared, r.Best, times(r.Ratio), r.Recorded, times(r.RecordedRatio))
		}
	})
	if err != nil {
		return err
	}
	type group struct {
		model  string
		target float64
	}
	logs, counts, least := map[group]float64{}, map[group]int{}, map[group]float64{}
	var order []group
	for _, r := range rows {
		ratio := r.Ratio
		if r.RecordedRatio > 0 && (ratio == 0 || r.RecordedRatio < ratio) {
			ratio = r.RecordedRatio
		}
		if ratio == 0 {
			continue
		}
		model, _, _ := strings.Cut(r.Row, " ")
		g := group{model, r.Target}
		if counts[g] == 0 {
			order, least[g] = append(order, g), ratio
		}
		logs[g] += math.Log(ratio)
		counts[g]++
		least[g] = min(least[g], ratio)
	}
	fmt.Fprintln(env.stdout)
	for _, g := range order {
		fmt.Fprintf(env.stdout, "%s, gap %.0e: the best of the others takes %.2f times as long as we do in geometric mean over %d rows, at least %.2f\n",
			g.model, g.target, math.Exp(logs[g]/float64(counts[g])), counts[g], least[g])
	}
	if known {
		fmt.Fprintf(env.stdout, "* not run here: seconds recorded on another machine, times %.3g, which is the median over %d rows of scikit-learn's seconds at tol 1e-6 here and there\n", factor, from)
	}
	return nil
}

func times(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ratio)
}
