package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed-45b9a24c/pare/bench/peers"
)

// summaryRow compares pare with the best other program on one problem at one target.
type summaryRow struct {
	Row      string  `json:"row"`
	Target   float64 `json:"target"`
	Seconds  float64 `json:"seconds"`            // of pare, for the whole fit
	Prepared float64 `json:"prepared,omitempty"` // the solver alone
	Best     string  `json:"best,omitempty"`
	Ratio    float64 `json:"ratio,omitempty"` // of the best installed program, to pare's seconds
	Recorded string  `json:"recorded,omitempty"`
	// RecordedRatio is a recorded time, scaled to this machine, divided by ours.
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
	means, order, total := map[group]*mean{}, []group(nil), new(mean)
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
		if means[g] == nil {
			order, means[g] = append(order, g), new(mean)
		}
		means[g].add(ratio)
		total.add(ratio)
	}
	fmt.Fprintln(env.stdout)
	for _, g := range order {
		fmt.Fprintf(env.stdout, "%s, gap %.0e: %s\n", g.model, g.target, means[g])
	}
	if len(order) > 1 {
		fmt.Fprintf(env.stdout, "all of these: %s, below 1 on %d\n", total, total.below)
	}
	if known {
		fmt.Fprintf(env.stdout, "* not run here: seconds recorded on another machine, times %.3g, which is the median over %d rows of scikit-learn's seconds at tol 1e-6 here and there\n", factor, from)
	}
	return nil
}

// mean accumulates the geometric mean of the ratios of the best other program's time to ours.
type mean struct {
	log, least   float64
	count, below int
}

func (m *mean) add(ratio float64) {
	if m.count == 0 || ratio < m.least {
		m.least = ratio
	}
	if ratio < 1 {
		m.below++
	}
	m.log += math.Log(ratio)
	m.count++
}

func (m *mean) String() string {
	return fmt.Sprintf("the best of the others takes %.2f times as long as we do in geometric mean over %d rows, at least %.2f", math.Exp(m.log/float64(m.count)), m.count, m.least)
}

func times(ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", ratio)
}
