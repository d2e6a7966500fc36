package main

import (
	"bufio"
	"os"
	"path/filepath"

	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/outcome"
)

// destination is where predictions are written: standard output, or a draft that replaces a file once it is
// complete.
type destination struct {
	w     *bufio.Writer
	line  []byte
	flush bool          // after every line
	draft *sealed.Draft // nil: standard output
	path  string
}

// open prepares the output of predictions. Lines are flushed one by one if the rows come from standard input.
func (c *predictCommand) open(env environment) (*destination, error) {
	out := &destination{flush: c.File == "-", path: c.Output}
	to := env.stdout
	if c.Output != "" {
		if err := apart("output", c.Output, c.File, c.Saved, c.Offset); err != nil {
			return nil, err
		}
		if err := replaceable("output", c.Output, "cannot write the predictions"); err != nil {
			return nil, err
		}
		var err error
		if out.draft, err = sealed.NewDraft(c.Output); err != nil {
			return nil, unsaved("output", &outcome.Error{Kind: outcome.IO, File: c.Output, Message: "cannot write the predictions", Err: err})
		}
		to = out.draft
	}
	out.w = bufio.NewWriterSize(to, 64<<10)
	return out, nil
}

// outputs are the files that a command writes, as pairs of flag and name; the name is "" if the flag is not
// given.
type outputs [][2]string

// check refuses the same file for two outputs, since only the last would remain.
func (o outputs) check() error {
	for k, one := range o {
		for _, other := range o[:k] {
			if one[1] != "" && other[1] != "" && filepath.Clean(one[1]) == filepath.Clean(other[1]) {
				return outcome.At(outcome.Usage, one[0], "%s is also the file of --%s: give another name", one[1], other[0])
			}
		}
	}
	return nil
}

// apart refuses to overwrite a file that is read.
func apart(flag, out string, read ...string) error {
	to, err := os.Stat(out)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to lose
	}
	for _, path := range read {
		if from, err := os.Stat(path); err == nil && os.SameFile(from, to) {
			return outcome.At(outcome.Usage, flag, "%s is read, and would be overwritten: give another name", out)
		}
	}
	return nil
}

// write writes out.line.
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

// keep completes the output; a draft replaces its file.
func (out *destination) keep() error {
	err := out.w.Flush()
	if out.draft == nil {
		if err != nil {
			return writeError(err)
		}
		return nil
	}
	draft := out.draft
	out.draft = nil
	if err = draft.Keep(); err != nil {
		return &outcome.Error{Kind: outcome.IO, File: out.path, Message: "cannot write the predictions", Err: err}
	}
	return nil
}

// abandon discards a draft; what went to standard output stays.
func (out *destination) abandon() {
	if out.draft != nil {
		_ = out.draft.Abandon()
		return
	}
	_ = out.w.Flush()
}
