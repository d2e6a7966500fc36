package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
	"github.com/seed-45b9a24c/pare/table/parquet"
)

// contentsResult is what pare info prints for a table that cannot be read as a matrix without further flags.
type contentsResult struct {
	N        int             `json:"n"`
	Format   string          `json:"format"`
	Columns  []contentColumn `json:"columns"`
	Warnings []warning       `json:"warnings"` // what must change before a fit

	name string
	next string // a command that reads the file; "": there is none
}

// contentColumn is a column of the file.
type contentColumn struct {
	Name       string   `json:"name"`
	Kind       string   `json:"kind"` // numbers, text, times, mixed or empty
	Missing    int      `json:"missing"`
	Categories []string `json:"categories,omitempty"`
	More       bool     `json:"more_categories,omitempty"`
}

func (r *contentsResult) trusted() bool { return true }

// contents describes a table that could not be read because of its cells or column names. It returns nil if the
// cause is another.
func (c *infoCommand) contents(ctx context.Context, cause error) *contentsResult {
	e, ok := errors.AsType[*outcome.Error](cause)
	if !ok || c.File == "" || c.File == "-" || e.Kind != outcome.Parse && (e.Kind != outcome.Usage || e.Flag != "drop") {
		return nil
	}
	held, err := table.Describe(ctx, c.File, table.Options{
		Name: c.name(), Target: c.Target, Columns: c.Columns, Drop: c.Drop, Categories: c.Categories, DecimalComma: c.Decimal, Header: c.Header,
		Aside: []string{c.Groups, c.FoldIDs, c.Weights, c.Offset}, Formats: []table.Format{parquet.Format()},
	})
	if err != nil || held == nil {
		return nil
	}
	r := &contentsResult{N: held.Rows, Format: held.Format, name: c.name()}
	for _, column := range held.Columns {
		r.Columns = append(r.Columns, contentColumn{column.Name, kindOf(column), column.Missing, column.Categories, column.More})
	}
	if c.needs(held, r); len(r.Warnings) == 0 {
		return nil
	}
	return r
}

// kindOf returns one word for what a column holds.
func kindOf(c table.Content) string {
	switch {
	case c.Numbers > 0 && c.Texts > 0:
		return "mixed"
	case c.Numbers > 0:
		return "numbers"
	case c.Texts > 0:
		return "text"
	case c.Times > 0:
		return "times"
	default:
		return "empty"
	}
}

// needs lists what prevents a fit of the table, and what to do about it.
func (c *infoCommand) needs(held *table.Contents, r *contentsResult) {
	next := asked{c.commonFlags, &dataset{}}
	var texts, times, mixed, missing, leave, faults []string
	for k, column := range held.Columns {
		kind, name := kindOf(column), column.Name
		switch {
		case !column.Feature && !column.Target:
			continue
		case column.Again || kind == "empty" && column.Feature:
			leave = append(leave, strconv.Itoa(k+1))
			continue
		case column.Fault != "" && !slices.Contains(c.Categories, name):
			faults = append(faults, fmt.Sprintf("%s: %s", name, column.Fault))
		case kind == "mixed" && !slices.Contains(c.Categories, name):
			mixed = append(mixed, name)
		case kind == "text" && column.Feature:
			texts = append(texts, name)
		case kind == "times" && column.Feature && !slices.Contains(c.Categories, name):
			times = append(times, name)
			continue
		}
		if column.Missing > 0 {
			missing = append(missing, name)
			if column.Target {
				next.Missing = table.DropRows
			}
		}
	}
	need := func(code, what string, names []string, helps string) {
		if len(names) > 0 {
			r.Warnings = append(r.Warnings, warning{code, what + " " + some(names) + ": " + helps})
		}
	}
	need("columns_to_drop", "no values, or the name of another column, in column", leave, "--drop leaves them out, by these numbers")
	guess := "pare does not guess what is meant"
	if !c.Decimal && slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, "decimal comma") }) {
		guess += "; --decimal-comma reads all commas in numbers as decimal commas"
	}
	need("unreadable_cells", "cells to correct in the file:", faults, guess)
	if !c.OneHot {
		need("text_columns", "text in", texts, "--one-hot makes a column for each category, --drop leaves the columns out")
	}
	need("time_columns", "times in", times, "--drop leaves the columns out, --categories makes each time a category")
	need("mixed_columns", "numbers and text in", mixed, "--one-hot --categories treats all as text, --drop leaves the columns out")
	if c.Missing == "" {
		need("missing_cells", "missing cells in", missing, "--missing mean, zero or drop-rows says how to treat them; for missing targets use drop-rows")
	}
	if len(faults) > 0 {
		return
	}
	next.Drop = slices.Concat(c.Drop, leave, times)
	next.Categories = slices.Concat(c.Categories, mixed)
	next.OneHot = c.OneHot || len(texts)+len(mixed) > 0
	if len(missing) > 0 && next.Missing == "" {
		next.Missing = table.Mean
	}
	r.next = next.command("info")
}

// some joins names; of many, it gives the first.
func some(names []string) string {
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + count(len(names)-most) + " more"
	}
	return strings.Join(names, ", ")
}

// shortened shortens every text of a list.
func shortened(texts []string) []string {
	short := make([]string, len(texts))
	for k, text := range texts {
		short[k] = shorten(text)
	}
	return short
}

func (r *contentsResult) text(p *page) {
	p.line("pare info")
	p.line("%s: %s, %s; not yet data for a fit", r.name, plural(r.N, "row"), plural(len(r.Columns), "column"))
	p.line("")
	p.row("format", "%s", r.Format)
	p.line("")
	rows := make([][]string, 0, len(r.Columns))
	for k, column := range r.Columns {
		kind := column.Kind
		if column.Missing > 0 && kind != "empty" {
			kind += ", " + count(column.Missing) + " missing"
		}
		categories := ""
		if n := len(column.Categories); n > 0 {
			const most = 3
			categories = unless(!column.More, "more than ") + count(n) + unless(n != 1, " category: ") + unless(n == 1, " categories: ") + strings.Join(shortened(column.Categories[:min(n, most)]), ", ") + unless(n <= most && !column.More, ", ...")
		}
		rows = append(rows, []string{count(k + 1), shorten(column.Name), kind, categories})
	}
	p.table(2, []column{{head: "column"}, {head: "name", left: true}, {head: "cells", left: true}, {head: "", left: true}}, rows)
	p.line("")
	label := "before a fit"
	for _, w := range r.Warnings {
		p.row(label, "%s", w.Message)
		label = ""
	}
	p.next(r.next)
}
