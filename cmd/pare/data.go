package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
	"github.com/seed-45b9a24c/pare/table/parquet"
)

// dataFlags are the flags for the data and their preparation.
type dataFlags struct {
	File string `arg:"" optional:"" help:"svmlight text, CSV, TSV, .npy, .npz, Matrix Market or Parquet, text also compressed; - is standard input (\"pare help formats\"). Without it: the diabetes data that pare carries."`
	tableFlags
	limitFlags
	readers     int    // parts of a text that are parsed at once; 0: the number of processors
	Features    int    `placeholder:"P" help:"Number of columns of svmlight text, if the largest index in the file is not that of the last column." group:"Data"`
	MinNNZ      int    `name:"min-nnz" placeholder:"K" help:"Drop columns with fewer than K nonzeros." group:"Data"`
	UnitRows    bool   `help:"Scale rows to unit l2 norm." group:"Data"`
	UnitColumns bool   `help:"Scale columns to unit l2 norm, after the rows if those are scaled too." group:"Data"`
	Weights     string `name:"sample-weights" aliases:"weights" placeholder:"COLUMN|FILE" help:"One weight per row, 0 or more, for the fit and the criterion; a row of weight 2 counts as two rows." group:"Data"`
	Offset      string `placeholder:"COLUMN|FILE" help:"One number per row that is added to its score, in the fit and the criterion; with a logarithmic link it is the logarithm of the exposure (not multiclass, svm)." group:"Data"`
}

// tableFlags are the flags for the columns of a table.
type tableFlags struct {
	Target     string        `placeholder:"COLUMN|FILE" help:"The target: a column, by name or number (1 is the first, -1 the last), or a file with one value per row." group:"Data"`
	Columns    []string      `placeholder:"COLUMN" help:"The feature columns, by name or number (default: all that no other flag names)." group:"Data"`
	Drop       []string      `placeholder:"COLUMN" help:"Columns to leave out." group:"Data"`
	OneHot     bool          `help:"Make a column of zeros and ones for each category of a text column." group:"Data"`
	Categories []string      `placeholder:"COLUMN" help:"Columns of numbers to be treated as categories, with --one-hot." group:"Data"`
	Missing    table.Missing `placeholder:"mean|zero|drop-rows" help:"How to treat missing cells (default: they are an error)." group:"Data"`
	Decimal    bool          `name:"decimal-comma" help:"Numbers of CSV files have commas where others have points, and perhaps points between thousands." group:"Data"`
	Header     *bool         `negatable:"" help:"The first line has the names of the columns (default: if none of its cells is a number)." group:"Data"`
	ZeroBased  *bool         `negatable:"" help:"svmlight indices count from 0 (default: if one of them is 0)." group:"Data"`
}

func (f tableFlags) check() error {
	if len(f.Categories) > 0 && !f.OneHot {
		return outcome.At(outcome.Usage, "categories", "applies only with --one-hot, which makes columns of the categories")
	}
	if f.Missing == "" {
		return nil
	}
	return oneOf("missing", f.Missing, table.Mean, table.Zero, table.DropRows)
}

func (f dataFlags) check() error {
	if f.Features < 0 {
		return outcome.At(outcome.BadParameter, "features", "must not be negative, got %d", f.Features)
	}
	if f.MinNNZ < 0 {
		return outcome.At(outcome.BadParameter, "min-nnz", "must not be negative, got %d", f.MinNNZ)
	}
	if err := f.tableFlags.check(); err != nil {
		return err
	}
	if err := f.limitFlags.check(); err != nil {
		return err
	}
	if err := present("offset", f.Offset); err != nil {
		return err
	}
	return present("sample-weights", f.Weights)
}

// dataset is a prepared design matrix with its target.
type dataset struct {
	*table.Data                  // of the file, with X and Y before preparation
	name         string          // for messages
	x            sparse.Matrix   // the prepared matrix
	prepared     sparse.Prepared // how x was made from X
	y            []float64       // the target as the model takes it
	classes      []string        // names of the classes of y; nil: y has numbers
	weights      []float64       // nil: all 1
	classWeights []float64       // weights in the fit alone; nil: all 1
	balanced     bool            // classes have equal total weight, in the fit alone
	offset       []float64       // nil: 0
	factors      []float64       // penalty factors; nil: all 1
	lower        []float64       // bounds of coefficients; nil: none
	upper        []float64
	columnFacts
	nnz         int64
	room        int64 // memory for the work on the data, in bytes; 0: no limit
	loadSeconds float64
}

// load reads the data and prepares them for the model.
func (f commonFlags) load(ctx context.Context, env environment) (*dataset, error) {
	f.readers = f.Threads
	d, err := f.dataFlags.load(ctx, env, false, f.Groups, f.FoldIDs)
	if err != nil {
		return nil, err
	}
	if _, left := d.x.Dims(); left == 0 && f.MinNNZ > 0 && d.prepared.Columns > 0 {
		return nil, outcome.At(outcome.BadParameter, "min-nnz", "leaves out all of %s: none has %s", plural(d.prepared.Columns, "column"), plural(f.MinNNZ, "nonzero"))
	}
	d.y, d.classes, err = pare.Config{Model: f.Model, Loss: f.stated.loss}.Target(d.Y, d.Labels)
	if err != nil && d.Labels == nil {
		d.y, err = d.Y, nil // reported with its row later, after other errors of the problem
	}
	if err == nil {
		err = f.weighClasses(d)
	}
	if err == nil {
		err = f.differ(d)
	}
	if err == nil {
		d.room, err = f.room(d)
	}
	return d, err
}

// load reads the data and prepares them. noTarget accepts a file without a target; aside lists columns that are
// not features.
func (f dataFlags) load(ctx context.Context, env environment, noTarget bool, aside ...string) (*dataset, error) {
	began := time.Now()
	d := &dataset{name: f.name()}
	env.progress.begin("reading %s", d.name)
	o := table.Options{
		Name: d.name, Target: f.Target, NoTarget: noTarget, Columns: f.Columns, Drop: f.Drop, OneHot: f.OneHot, Categories: f.Categories,
		Missing: f.Missing, DecimalComma: f.Decimal, Header: f.Header, ZeroBased: f.ZeroBased, Features: f.Features, Limits: f.limits(), Threads: f.readers, Formats: []table.Format{parquet.Format()}, Aside: append(aside, f.Weights, f.Offset),
	}
	var err error
	if d.Data, err = f.read(ctx, env.stdin, o); err == nil {
		err = workable(d.Data)
	}
	if err != nil {
		return nil, err
	}
	d.x, d.prepared, err = sparse.Preparation{Columns: d.Features, MinNNZ: f.MinNNZ, UnitRows: f.UnitRows, UnitColumns: f.UnitColumns}.Prepare(d.X)
	if err != nil {
		return nil, err
	}
	d.nnz = sparse.Nonzeros(d.x)
	d.y = d.Y
	if f.Weights != "" {
		if d.weights, err = perRow(d, "sample-weights", f.Weights, parseWeight); err != nil {
			return nil, err
		}
	}
	if f.Offset != "" {
		if d.offset, err = perRow(d, "offset", f.Offset, parseOffset); err != nil {
			return nil, err
		}
	}
	d.loadSeconds = time.Since(began).Seconds()
	return d, nil
}

func (f dataFlags) name() string {
	switch f.File {
	case "":
		return "the diabetes data"
	case "-":
		return "standard input"
	default:
		return f.File
	}
}

func (f dataFlags) read(ctx context.Context, stdin io.Reader, o table.Options) (*table.Data, error) {
	switch f.File {
	case "":
		d, err := table.Read(ctx, embedded.DiabetesFile(), o)
		if e, ok := errors.AsType[*outcome.Error](err); ok && e.Kind == outcome.Usage {
			err = advised{err, "Give the file to read; - is standard input."}
		}
		return d, err
	case "-":
		return table.Read(ctx, stdin, o)
	default:
		return table.Open(ctx, f.File, o)
	}
}

// fingerprint identifies the data by a checksum of every entry and of the target.
func (d *dataset) fingerprint() string {
	sum := sha256.New()
	var buffer bytes.Buffer
	write := func(values ...float64) {
		for _, v := range values {
			buffer.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
		sum.Write(buffer.Bytes())
		buffer.Reset()
	}
	n, p := d.x.Dims()
	write(float64(n), float64(p))
	write(d.y...)
	write(d.weights...)
	write(d.offset...)
	for j := range p {
		rows, values := d.x.Column(j)
		write(values...)
		for _, i := range rows {
			write(float64(i))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// columns translates columns of x into the numbering of the file, from 0.
func (d *dataset) columns(of []int32) []int32 {
	out := make([]int32, len(of))
	for i, j := range of {
		out[i] = d.prepared.Kept[j]
	}
	return out
}

// label returns the name of a column, given by its number in the file, from 0.
func (d *dataset) label(j int32) string {
	if d.Names == nil {
		return strconv.Itoa(int(j) + 1)
	}
	return d.Names[j]
}

// listing returns the heading of a list of columns with their coefficients.
func (d *dataset) listing() string {
	if d.Names == nil {
		return "column of the file (from 1) and coefficient"
	}
	return "column and coefficient"
}

// numbering explains the column numbers, where columns have no names.
func (d *dataset) numbering() string {
	if d.Names == nil {
		return ", by column of the file (from 1)"
	}
	return ""
}

// labels returns the names of columns; nil where they have none.
func (d *dataset) labels(of []int32) []string {
	if d.Names == nil {
		return nil
	}
	names := make([]string, len(of))
	for i, j := range of {
		names[i] = d.Names[j]
	}
	return names
}

// class returns the name of a class, which may be a number.
func (d *dataset) class(k int) string { return d.classes[k] }

// blame adds the name of the data to an error that concerns neither a flag nor another file, and the column's
// name if the error concerns a column that has a name.
func (d *dataset) blame(err error) error {
	var e *outcome.Error
	if errors.As(err, &e) && e.File == "" && e.Flag == "" {
		named := *e
		named.File = d.name
		if e.HasColumn && d.Names != nil && e.Column < len(d.prepared.Kept) {
			named.Message = fmt.Sprintf("%q: %s", d.Names[d.prepared.Kept[e.Column]], e.Message)
		}
		if e.HasClass && d.nameClass(&named) == 1 && e.Kind == outcome.SingleClass {
			return advised{&named, "A class with a single row cannot be in the training rows of every fold: leave that row out."}
		}
		return &named
	}
	return err
}

// nameClass replaces the number of the class in an error, which is how the library refers to it, by the class's
// name. It returns the number of rows in that class.
func (d *dataset) nameClass(e *outcome.Error) (rows int) {
	for _, y := range d.y {
		if y == e.Class {
			rows++
		}
	}
	name := strconv.FormatFloat(e.Class, 'g', -1, 64)
	if d.classes != nil {
		k, _ := slices.BinarySearch(slices.Compact(slices.Sorted(slices.Values(d.y))), e.Class)
		name = d.class(k)
	}
	e.HasClass, e.Part = false, "class "+name
	return rows
}

// String describes the data in one line.
func (d *dataset) String() string {
	n, p := d.x.Dims()
	s := fmt.Sprintf("%s: %s, %s, %s", d.name, plural(n, "row"), plural(p, "column"), plural(int(d.nnz), "nonzero"))
	if p != d.prepared.Columns {
		s += fmt.Sprintf(" (%s columns in the file)", count(d.prepared.Columns))
	}
	if len(d.Kept) > 0 || n < d.Rows {
		s += fmt.Sprintf("; %s with missing cells left out", plural(d.Rows-n, "row"))
	}
	return s
}

// distinguishes reports whether the two classes of a binary model have names other than −1 and 1.
func (d *dataset) distinguishes(m pare.Model) bool {
	return !m.Traits().Classes && d.classes != nil && !slices.Equal(d.classes, []string{"-1", "1"})
}

// repeat adds these flags as they were given.
func (f tableFlags) repeat(add func(set bool, flag string)) {
	add(f.Target != "", "--target="+quote(f.Target))
	add(f.Columns != nil, "--columns="+quote(strings.Join(f.Columns, ",")))
	add(f.Drop != nil, "--drop="+quote(strings.Join(f.Drop, ",")))
	add(f.OneHot, "--one-hot")
	add(f.Categories != nil, "--categories="+quote(strings.Join(f.Categories, ",")))
	add(f.Missing != "", "--missing="+string(f.Missing))
	add(f.Decimal, "--decimal-comma")
	add(f.Header != nil, "--header="+strconv.FormatBool(given(f.Header, false)))
	add(f.ZeroBased != nil, "--zero-based="+strconv.FormatBool(given(f.ZeroBased, false)))
}
