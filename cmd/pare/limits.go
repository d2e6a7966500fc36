package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

// limitFlags are the flags that bound the memory for reading data, and for the whole program.
type limitFlags struct {
	MaxRows   int      `placeholder:"N" env:"PARE_MAX_ROWS" help:"Refuse data with more rows." group:"Data"`
	MaxBytes  byteSize `placeholder:"SIZE" env:"PARE_MAX_BYTES" help:"Refuse data that need more memory to read, such as 500M or 2G (default: most of the memory that is free)." group:"Data"`
	MaxMemory byteSize `placeholder:"SIZE" env:"PARE_MAX_MEMORY" help:"Stay within this much memory, such as 500M or 2G, including data but not mapped files: work on fewer folds or classes at once with smaller caches, which can change the last digits, or end with an error that says how much is expected to be needed." group:"Engine"`
}

func (f limitFlags) check() error {
	if f.MaxRows < 0 {
		return outcome.At(outcome.BadParameter, "max-rows", "must not be negative, got %d", f.MaxRows)
	}
	if 0 < f.MaxMemory && f.MaxMemory <= baseline {
		return outcome.At(outcome.Limit, "max-memory", "the program needs %d bytes before it reads anything, but the limit is %d: raise the limit", baseline, f.MaxMemory)
	}
	return nil
}

// share is the fraction of the free memory that reading may take; solving the problem needs the rest.
const share = 0.7

// limits returns the limits for reading.
func (f limitFlags) limits() sparse.Limits {
	r := sparse.Limits{Rows: f.MaxRows, Bytes: int64(f.MaxBytes)}
	if left, known := memoryLeft(); known && r.Bytes == 0 {
		r.Bytes = max(1, int64(share*float64(left)))
	}
	if most := int64(f.MaxMemory) - baseline; f.MaxMemory > 0 && (r.Bytes == 0 || most < r.Bytes) {
		r.Bytes = max(1, most)
	}
	return r
}

// vectors is the least number of float64 values per row that the work on the data takes.
const vectors = 8

// workable returns an error of kind Limit if the data have left no memory for any work on them.
func workable(d *table.Data) error {
	rows, _ := d.X.Dims()
	least := int64(8 * vectors * rows)
	if left, known := memoryLeft(); !known || least <= left {
		return nil
	}
	debug.FreeOSMemory() // memory that reading no longer uses counts as free, too
	free := []metrics.Sample{{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(free)
	left, _ := memoryLeft()
	if left += int64(free[0].Value.Uint64() + free[1].Value.Uint64()); least > left {
		return outcome.Errorf(outcome.Limit, "the data leave %d bytes of memory, but any work on %d rows needs %d: free or add memory", left, rows, least)
	}
	return nil
}

// byteSize is a number of bytes, such as 1000000, 1000K, 1M or 0.5G; units are powers of 1000.
type byteSize int64

// UnmarshalText parses a size.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, unit := strings.ToUpper(strings.TrimSuffix(strings.ToUpper(string(text)), "B")), 1.0
	for k, suffix := range []string{"K", "M", "G", "T"} {
		if cut, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = cut, math.Pow10(3*(k+1))
			break // only one unit
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= unit; err != nil || !(v >= 1 && v < math.MaxInt64) {
		return fmt.Errorf("expected a number of bytes such as 500M or 2G, got %q", text)
	}
	*b = byteSize(v)
	return nil
}

// opened is the memory that reading a model or checkpoint file takes, in bytes per byte of the file.
const opened = 6

// fits returns an error of kind Limit if memory does not suffice to read a model or checkpoint file.
func fits(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil //nolint:nilerr // who opens it says so
	}
	if left, known := memoryLeft(); known && opened*info.Size() > left {
		return &outcome.Error{Kind: outcome.Limit, File: path, Message: fmt.Sprintf("reading a file of %d bytes needs more memory than the %d bytes that are left", info.Size(), left)}
	}
	return nil
}

// loadModel loads a saved model, if memory suffices for it.
func loadModel(path string) (*pare.Predictor, error) {
	if err := fits(path); err != nil {
		return nil, err
	}
	return pare.Load(path)
}

// collectInTime sets the garbage collector's memory limit from the free memory, so that it works harder before
// memory runs out, unless GOMEMLIMIT sets a limit.
func collectInTime() {
	if left, known := memoryLeft(); known && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(inUse() + int64(share*float64(left)))
	}
}
