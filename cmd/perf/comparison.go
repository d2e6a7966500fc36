package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
)

// peersHeading returns the column names of the --csv file.
func peersHeading() []string {
	return []string{"row", "gap", "contestant", "tol", "certified_gap", "support", "seconds", "least", "most", "times_ours", "ratio_least", "ratio_most", "note"}
}

// missing returns the names of the contestants whose program was not installed for some comparison.
func missing(all []peers.Comparison) []string {
	var names []string
	for _, c := range all {
		for _, e := range c.Outcomes {
			if e.Missing() && !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	return names
}

// peersTable has a row for each installed contestant of each comparison.
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
			fmt.Fprintf(w, "%s\t%.0e\t%.1e\t%d\t%.4f\t%.4f\t%.4f\t%d\t%.2f\t%.2f\t%.2f\t  %s\n",
				e.Name, e.Tol, e.Gap, e.Support, e.Median(), slices.Min(e.Seconds), slices.Max(e.Seconds), len(e.Seconds), mid, least, most, e.False)
		}
	})
	fmt.Fprintln(env.stdout)
	return err
}
