package main

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// dataFlags name the data and its preparation.
type dataFlags struct {
	File        string `arg:"" optional:"" help:"svmlight text, also as .gz, .bz2 or .zst; - is standard input. Without it: the diabetes data that pare carries."`
	Features    int    `placeholder:"P" help:"Number of columns, where the largest index in the file is not the last." group:"Data"`
	MinNNZ      int    `name:"min-nnz" placeholder:"K" help:"Drop columns with fewer than K nonzeros." group:"Data"`
	UnitRows    bool   `help:"Scale rows to unit l2 norm." group:"Data"`
	UnitColumns bool   `help:"Scale columns to unit l2 norm, after the rows." group:"Data"`
	Weights     string `name:"sample-weights" aliases:"weights" placeholder:"FILE" help:"One weight a row, 0 or more, in the fit and in the criterion; a row of weight 2 counts as two." group:"Data"`
}

func (f dataFlags) check() error {
	if f.Features < 0 {
		return outcome.At(outcome.BadParameter, "features", "cannot be negative, got %d", f.Features)
	}
	if f.MinNNZ < 0 {
		return outcome.At(outcome.BadParameter, "min-nnz", "cannot be negative, got %d", f.MinNNZ)
	}
	return present("sample-weights", f.Weights)
}

// dataset is a prepared design matrix with its target.
type dataset struct {
	name        string // for messages
	x           sparse.Matrix
	prepared    sparse.Prepared // how x came from the file
	y           []float64
	weights     []float64 // nil: all 1
	nnz         int64
	loadSeconds float64
}

// load reads the data and prepares it.
func (f dataFlags) load(ctx context.Context, env environment) (*dataset, error) {
	began := time.Now()
	d := &dataset{name: f.name()}
	env.progress.begin("reading %s", d.name)
	raw, y, err := f.read(ctx, env.stdin, sparse.ReadOptions{Features: f.Features, Name: d.name})
	if err != nil {
		return nil, err
	}
	prepared, done, err := sparse.Preparation{MinNNZ: f.MinNNZ, UnitRows: f.UnitRows, UnitColumns: f.UnitColumns}.Apply(raw)
	if err != nil {
		return nil, err
	}
	d.prepared, d.x, d.y, d.nnz = done, sparse.Compact(prepared), y, prepared.NNZ()
	if f.Weights != "" {
		if d.weights, err = perRow("sample-weights", f.Weights, parseWeight, len(y)); err != nil {
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

func (f dataFlags) read(ctx context.Context, stdin io.Reader, opt sparse.ReadOptions) (*sparse.CSC, []float64, error) {
	switch f.File {
	case "":
		return embedded.Diabetes(ctx, opt)
	case "-":
		return sparse.ReadSVMLight(ctx, stdin, opt)
	default:
		return sparse.OpenSVMLight(ctx, f.File, opt)
	}
}

// fingerprint tells data apart: a checksum of every entry and target.
func (d *dataset) fingerprint() string {
	sum := sha256.New()
	write := func(values ...float64) {
		var b [8]byte
		for _, v := range values {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(v))
			sum.Write(b[:])
		}
	}
	n, p := d.x.Dims()
	write(float64(n), float64(p))
	write(d.y...)
	write(d.weights...)
	for j := range p {
		rows, values := d.x.Column(j)
		write(values...)
		for _, i := range rows {
			write(float64(i))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// columns translates columns of x to the file's numbering, from 0.
func (d *dataset) columns(of []int32) []int32 {
	out := make([]int32, len(of))
	for i, j := range of {
		out[i] = d.prepared.Kept[j]
	}
	return out
}

// blame names the data in an error that concerns neither a flag nor another file.
func (d *dataset) blame(err error) error {
	var e *outcome.Error
	if errors.As(err, &e) && e.File == "" && e.Flag == "" {
		named := *e
		named.File = d.name
		return &named
	}
	return err
}

// String describes the data in a line.
func (d *dataset) String() string {
	n, p := d.x.Dims()
	s := fmt.Sprintf("%s: %s, %s, %s", d.name, plural(n, "row"), plural(p, "column"), plural(int(d.nnz), "nonzero"))
	if p != d.prepared.Columns {
		s += fmt.Sprintf(" (%s columns in the file)", count(d.prepared.Columns))
	}
	return s
}
