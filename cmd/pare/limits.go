package main

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// limitFlags bound what reading data takes, and all that the program does.
type limitFlags struct {
	MaxRows   int      `placeholder:"N" env:"PARE_MAX_ROWS" help:"Refuse data with more rows." group:"Data"`
	MaxBytes  byteSize `placeholder:"SIZE" env:"PARE_MAX_BYTES" help:"Refuse data that need more memory to read, such as 500M or 2G (default: most of the memory that is free)." group:"Data"`
	MaxMemory byteSize `placeholder:"SIZE" env:"PARE_MAX_MEMORY" help:"Stay within this much memory, such as 500M or 2G, including data but not mapped files: work on fewer folds or classes at once with smaller caches, which can change the last digits, or end with an error that says how much is expected to be needed." group:"Engine"`
}

func (f limitFlags) check() error {
	if f.MaxRows < 0 {
		return outcome.At(outcome.BadParameter, "max-rows", "cannot be negative, got %d", f.MaxRows)
	}
	return nil
}

// share of the memory that is left which reading may take: the problem is to be solved, too.
const share = 0.7

// limits is what reading may take.
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

// byteSize is a number of bytes, as 1000000, 1000K, 1M or 0.5G: powers of 1000.
type byteSize int64

// UnmarshalText reads one.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, unit := strings.ToUpper(strings.TrimSuffix(strings.ToUpper(string(text)), "B")), 1.0
	for suffix, size := range map[string]float64{"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12} {
		if cut, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = cut, size
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= unit; err != nil || !(v >= 1 && v < math.MaxInt64) {
		return fmt.Errorf("want a number of bytes such as 500M or 2G, got %q", text)
	}
	*b = byteSize(v)
	return nil
}

// opened is how much memory reading a file of ours takes, for each of its bytes.
const opened = 6

// loadModel loads a saved model, if there is room for it.
func loadModel(path string) (*pare.Predictor, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if left, known := memoryLeft(); known && opened*info.Size() > left {
			return nil, &outcome.Error{Kind: outcome.Limit, File: path, Message: fmt.Sprintf("a file of %d bytes takes more memory to read than the %d bytes that are left", info.Size(), left)}
		}
	}
	return pare.Load(path)
}
