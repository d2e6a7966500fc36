package sparse

import (
	"bufio"
	"compress/bzip2"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-45b9a24c/pare/outcome"
)

// OpenSVMLight reads the file at path as [ReadSVMLight] does; "-" is standard
// input. A name that ends in .gz, .bz2 or .zst (in any case) is decompressed on
// the fly, beside the parser on a goroutine of its own. Errors carry the path
// unless opt.Name says otherwise; one of the file itself, or of its
// compression, is of kind IO.
func OpenSVMLight(ctx context.Context, path string, opt ReadOptions) (*CSC, []float64, error) {
	if path == "-" {
		if opt.Name == "" {
			opt.Name = "standard input"
		}
		return ReadSVMLight(ctx, os.Stdin, opt)
	}
	if opt.Name == "" {
		opt.Name = path
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, &outcome.Error{Kind: outcome.IO, Message: "cannot be opened", File: opt.Name, Err: err}
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, nil, &outcome.Error{Kind: outcome.IO, Message: "is a directory, not a file", File: opt.Name}
	}

	decompress := decompressor(path)
	if decompress == nil {
		return ReadSVMLight(ctx, file, opt)
	}
	text, plain := io.Pipe()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		in := bufio.NewReaderSize(file, bufferSize)
		_, err := in.Peek(1)
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // no compressed file is empty
		}
		if err == nil {
			err = decompress(plain, in)
		}
		plain.CloseWithError(err)
	}()
	m, y, err := ReadSVMLight(ctx, text, opt)
	// Either end of the goroutine, whichever it waits for, stops it.
	_ = text.Close()
	_ = file.Close()
	<-stopped
	return m, y, err
}

// decompressor returns what copies the text of a file so named, nil if that is
// the file itself.
func decompressor(path string) func(w io.Writer, r io.Reader) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".gz":
		return func(w io.Writer, r io.Reader) error {
			z, err := gzip.NewReader(r)
			if err != nil {
				return err
			}
			_, err = io.Copy(w, z)
			return err
		}
	case ".bz2":
		return func(w io.Writer, r io.Reader) error {
			_, err := io.Copy(w, bzip2.NewReader(r))
			return err
		}
	case ".zst":
		return func(w io.Writer, r io.Reader) error {
			z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
			if err != nil {
				return err
			}
			defer z.Close()
			_, err = io.Copy(w, z)
			return err
		}
	default:
		return nil
	}
}
