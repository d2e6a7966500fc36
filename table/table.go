package table

import (
	"context"
	"io"
	"os"
	"runtime"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/input"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Options says what the columns of a file are. The zero value takes every column as a numeric feature, and
// needs a file that carries its target. An option that does not apply to the format of a file is an error.
//
// A column is named as in the header, or by its number: from 1, or from −1 for the last.
type Options struct {
	// Name is the name of the input in errors.
	Name string

	// Target is a column, or else the path of a file with one value per row. It is "" where the file carries
	// its target, as svmlight text does. An empty file is svmlight text without rows, and has no column to
	// name.
	Target string

	// NoTarget accepts a file without a target.
	NoTarget bool

	// OneFile opens no other file: Target is a column, never a path. Set it where the names come from untrusted
	// users.
	OneFile bool

	// Columns lists the columns that are features; nil means all columns except Target, Drop and Aside.
	Columns []string

	// Drop lists columns to leave out.
	Drop []string

	// Aside lists columns that are not features, such as weights or groups, and are returned in [Data].Aside.
	// Names that are not columns of the file are ignored, and so is "".
	Aside []string

	// Header says whether the first line of a text has the names of the columns; nil means that it has if none
	// of its cells is a number.
	Header *bool

	// DecimalComma says that numbers in CSV and similar text have decimal commas, and perhaps points between
	// thousands.
	DecimalComma bool

	// OneHot makes a column of zeros and ones for each category of a text column. Without it, text columns are
	// refused.
	OneHot bool

	// Categories lists columns whose cells are categories even if they look like numbers.
	Categories []string

	// Missing says what replaces missing cells; "" refuses them.
	Missing Missing

	// ZeroBased says whether svmlight indices count from 0; nil means that they do if one of them is 0.
	ZeroBased *bool

	// Formats are further formats, recognised by the first bytes of a file.
	Formats []Format

	// Trust is as in [sparse.MapOptions], for files that [Data.Keep] wrote.
	Trust bool

	// Features, MaxFeatures and MaxEntries are as in [sparse.ReadOptions].
	Features    int
	MaxFeatures int
	MaxEntries  int64

	// Limits bounds rows and memory.
	Limits sparse.Limits

	// Threads is the number of parts of a text that are parsed at once; 0 means the number of processors.
	// Results do not depend on it.
	Threads int
}

func (o *Options) threads() int {
	if o.Threads > 0 {
		return o.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// Format is a format whose files are not read from front to back. It is defined outside this package because of
// its dependencies; see package table/parquet.
type Format struct {
	Name  string // in words
	Magic string // first bytes of its files
	Open  func(file io.ReaderAt, size int64, name string) (Rows, error)
}

// Missing says what becomes of cells that are empty, or that hold one of the usual words for a missing value:
// NA, N/A,
// #N/A, <NA>, n/a, NaN, nan, -nan, NULL, null, None and ?.
type Missing string

// The treatments of missing cells. A missing target is always an error.
const (
	Refuse   Missing = ""          // an error that says where
	Mean     Missing = "mean"      // the mean of the column's other rows; for a category, its share of them
	Zero     Missing = "zero"      // 0; for categories, none of them
	DropRows Missing = "drop-rows" // the whole row is left out
)

// Data has the contents of a file.
type Data struct {
	Format string // in words: "CSV with a header"
	X      sparse.Matrix
	Y      []float64 // nil: the file has no target

	// Labels are the distinct values of a text target, ascending, and Y has their indices. nil for a numeric
	// target.
	Labels []string

	// Names are the names of the columns of X; nil if the file has none.
	Names []string

	// Features are the columns of X that Options.Columns and Options.Drop leave, ascending, for
	// [sparse.Preparation] to take from X. nil means all columns: so for a table, whose X has only these.
	Features []int32

	// Aside has those columns of [Options].Aside that the file has, by name.
	Aside map[string]Column

	// Rows is the number of rows of the file. Kept lists the rows that are in X; nil means all.
	Rows int
	Kept []int32

	// Schema reads further files as this one was read.
	Schema *Schema

	// Notes say what was done without being asked for, and what was probably not intended.
	Notes []Note

	mapped *sparse.Mapped // nil: in memory
}

// Column is a column of [Options].Aside: Texts if they are not nil, else Numbers.
type Column struct {
	Numbers []float64
	Texts   []string // nil: numbers
}

// Note is a remark on a file. Code is stable and meant for programs.
type Note struct{ Code, Message string }

// Open reads the file at path; "-" is standard input. Errors are [outcome.Error], with file, line, row, column
// or flag where they are known; with an error there is no data. Open takes the memory of the matrix and,
// besides, of its rows in a compact form.
func Open(ctx context.Context, path string, o Options) (*Data, error) {
	in, err := open(ctx, path, os.Stdin, &o)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return read(in, o)
}

// Read is [Open] for a stream. Formats that are not read from front to back are refused.
func Read(ctx context.Context, r io.Reader, o Options) (*Data, error) {
	if r == nil {
		return nil, outcome.Errorf(outcome.Usage, "the reader is nil")
	}
	in := input.From(ctx, r, o.Name)
	defer in.Close()
	return read(in, o)
}

// open opens a file or a stream, and sets o.Name if it is empty.
func open(ctx context.Context, path string, stdin io.Reader, o *Options) (*input.Input, error) {
	if path == "-" {
		if o.Name == "" {
			o.Name = "standard input"
		}
		return input.From(ctx, stdin, o.Name), nil
	}
	if o.Name == "" {
		o.Name = path
	}
	return input.Open(ctx, path, o.Name)
}

// check refuses invalid options.
func (o *Options) check() error {
	if known := []Missing{Mean, Zero, DropRows}; o.Missing != Refuse && !slices.Contains(known, o.Missing) {
		return outcome.At(outcome.Usage, "missing", "unknown treatment %q of missing cells; use one of %v", o.Missing, known)
	}
	return o.Limits.Check(0, 0, 0, 0)
}

// optionError is the error of options that do not apply to the format of the input. Text without a row has no
// format, so for text that looks like svmlight it first reads on to see whether there is a row.
func (src recognition) optionError(in *input.Input, o Options, own bool) error {
	err := src.checkOptions(o, own)
	if err == nil || !src.svmlight {
		return err
	}
	switch row, failed := anyRow(src.text); {
	case failed != nil:
		return in.Failed(failed)
	case row:
		return err
	default:
		return nil
	}
}

// checkOptions refuses options that do not apply to files of this format. own says that the target may have a file
// of its own; otherwise it must be a column.
func (src recognition) checkOptions(o Options, own bool) error {
	what := src.format
	switch {
	case src.mapped:
		what = "a mapped file"
	case src.market:
		what = "Matrix Market"
	case src.archive != nil && src.archive.isSparse():
		what = "a SciPy sparse matrix"
	case src.archive != nil:
		what = "a NumPy archive"
	}
	_, blanks := src.rows.(*blankRows)
	_, cells := src.rows.(*csvRows)
	isTable := src.rows != nil || src.archive != nil && !src.archive.isSparse()
	for _, option := range []struct {
		name, of     string
		given, suits bool
	}{
		{"target", "tables", o.Target != "", isTable || own && !src.svmlight},
		{"one-hot", "tables", o.OneHot, isTable},
		{"categories", "tables", len(o.Categories) > 0, isTable},
		{"missing", "tables", o.Missing != Refuse, isTable},
		{"header", "tables of text", o.Header != nil, blanks || cells},
		{"decimal-comma", "tables of text with commas, semicolons or tabs between cells", o.DecimalComma, cells},
		{"features", "svmlight text", o.Features != 0, src.svmlight},
		{"zero-based", "svmlight text", o.ZeroBased != nil, src.svmlight},
	} {
		if option.given && !option.suits {
			return outcome.At(outcome.Usage, option.name, "applies only to %s; %s is %s", option.of, o.Name, what)
		}
	}
	return nil
}

// read reads an input of any format.
func read(in *input.Input, o Options) (*Data, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	src, err := recognise(in, o)
	if err != nil {
		return nil, err
	}
	if err := src.optionError(in, o, true); err != nil {
		return nil, err
	}
	switch {
	case src.svmlight:
		return readSVMLight(in.Context(), src.text, o)
	case src.mapped:
		return openMapped(in, o)
	case src.market:
		x, format, err := readMarket(in.Context(), src.text, o)
		return newMatrixData(in.Context(), x, format, o, err)
	case src.archive != nil && src.archive.isSparse():
		x, format, err := src.archive.readSparse(in.Context())
		return newMatrixData(in.Context(), x, format, o, err)
	case src.archive != nil:
		return src.archive.readDense(in.Context(), o)
	}
	return collect(in.Context(), src.rows, src.format, o)
}
