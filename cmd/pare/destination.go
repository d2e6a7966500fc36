package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-45b9a24c/pare/outcome"
)

// destination is where lines go: standard output, or a file that takes its name once it is
// whole.
type destination struct {
	w     *bufio.Writer
	line  []byte
	flush bool     // after every line
	file  *os.File // nil: standard output
	path  string
}

// open begins to write predictions: one by one where their rows come from a pipe.
func (c *predictCommand) open(env environment) (*destination, error) {
	out := &destination{flush: c.File == "-", path: c.Output}
	to := env.stdout
	if c.Output != "" {
		if err := replaceable("output", c.Output, "cannot write the predictions"); err != nil {
			return nil, err
		}
		var err error
		if out.file, err = os.CreateTemp(filepath.Dir(c.Output), filepath.Base(c.Output)+".tmp*"); err != nil {
			return nil, unsaved("output", &outcome.Error{Kind: outcome.IO, File: c.Output, Message: "cannot write the predictions", Err: err})
		}
		to = out.file
	}
	out.w = bufio.NewWriterSize(to, 64<<10)
	return out, nil
}

// write writes the line.
func (out *destination) write() error {
	_, err := out.w.Write(out.line)
	if err == nil && out.flush {
		err = out.w.Flush()
	}
	if err != nil {
		return writeError(err)
	}
	return nil
}

// keep ends the writing.
func (out *destination) keep() error {
	err := out.w.Flush()
	if out.file == nil {
		if err != nil {
			return writeError(err)
		}
		return nil
	}
	file := out.file
	out.file = nil
	err = errors.Join(err, file.Chmod(0o644), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), out.path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return &outcome.Error{Kind: outcome.IO, File: out.path, Message: "cannot write the predictions", Err: err}
	}
	return nil
}

// abandon leaves nothing behind of a file that has not been kept; what was printed stays.
func (out *destination) abandon() {
	if out.file != nil {
		_ = out.file.Close()
		_ = os.Remove(out.file.Name())
		return
	}
	_ = out.w.Flush()
}
