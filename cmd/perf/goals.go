package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/bench/goals"
	"github.com/seed-45b9a24c/pare/bench/studies"
)

type goalsCommand struct{ runFlags }

func (c *goalsCommand) run(ctx context.Context, env environment) error {
	return c.runFlags.run(ctx, env, "goals", goals.All(), func(s studies.Study, r *studies.Result) error {
		fmt.Fprintf(env.stdout, "%s: %s\n", s.Name, s.About)
		for _, name := range slices.Sorted(maps.Keys(r.Tables)) {
			if err := env.left(func(w io.Writer) { writeRows(w, r.Tables[name]) }); err != nil {
				return err
			}
		}
		fmt.Fprintln(env.stdout)
		return nil
	})
}

// writeRows prints a table with four digits.
func writeRows(w io.Writer, t studies.Table) {
	fmt.Fprintln(w, strings.Join(t.Columns, "\t"))
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for i, v := range row {
			cells[i] = studies.Text(v)
			if f, ok := v.(float64); ok {
				cells[i] = strconv.FormatFloat(f, 'g', 4, 64)
			}
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
}
