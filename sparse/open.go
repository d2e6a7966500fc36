package sparse

import (
	"context"
	"os"

	"github.com/seed-45b9a24c/pare/internal/input"
)

// OpenSVMLight reads the file at path as [ReadSVMLight] does; "-" is standard input. Data that begin as gzip,
// bzip2 or zstd data are decompressed on the fly, on a goroutine of their own, whatever the file's name. Errors
// carry the path unless opt.Name says otherwise; an error of the file itself, or of its compression, is of kind
// IO.
func OpenSVMLight(ctx context.Context, path string, opt ReadOptions) (*CSC, []float64, error) {
	if path == "-" {
		if opt.Name == "" {
			opt.Name = "standard input"
		}
		in := input.From(ctx, os.Stdin, opt.Name)
		defer in.Close()
		return ReadSVMLight(ctx, in, opt)
	}
	if opt.Name == "" {
		opt.Name = path
	}
	in, err := input.Open(ctx, path, opt.Name)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	return ReadSVMLight(ctx, in, opt)
}
