package main

import (
	"context"

	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/table"
	"github.com/seed-45b9a24c/pare/table/parquet"
)

// reading are the flags of pare that describe the contents of a file.
type reading struct {
	Target   string        `placeholder:"COLUMN" help:"The target in FILE: a column, by name or number, or a file with a value for each row."`
	OneHot   bool          `help:"Make a column of each category of a column of words."`
	Missing  table.Missing `placeholder:"HOW" help:"What replaces missing cells: mean, zero or drop-rows."`
	Features int           `placeholder:"P" help:"Number of columns, where the largest index is not the last."`
}

// open reads a file; "" is the diabetes data.
func (r *reading) open(ctx context.Context, name string) (*table.Data, error) {
	o := table.Options{
		Target: r.Target, OneHot: r.OneHot, Missing: r.Missing, Features: r.Features, Formats: []table.Format{parquet.Format()},
	}
	if name == "" {
		o.Name = "the diabetes data"
		return table.Read(ctx, embedded.DiabetesFile(), o)
	}
	return table.Open(ctx, name, o)
}
