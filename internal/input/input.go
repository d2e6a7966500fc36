// Package input opens the input that a user names: a file or a stream, decompressed where its first bytes say
// that it is gzip, bzip2 or zstd, whatever its name.
package input

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"context"
	"io"
	"os"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/seed-45b9a24c/pare/outcome"
)

// BufferSize is the number of bytes read at once.
const BufferSize = 64 << 10

// Input is a file or a stream. Reading it gives its text, decompressed on a goroutine of its own. Once the
// context has ended, reading returns the context's cause, even while the source blocks.
type Input struct {
	Name string // in errors
	ctx  context.Context
	raw  *bufio.Reader
	file *os.File // nil: a stream
	text io.Reader

	mu     sync.Mutex
	closed bool
	pipe   *io.PipeReader // the decompressed text
	done   chan struct{}  // closed when decompression has ended
}

// Open opens the file at path. The error is an [outcome.Error] of kind IO.
func Open(ctx context.Context, path, name string) (*Input, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, Message: "cannot be opened", File: name, Err: err}
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close()
		return nil, &outcome.Error{Kind: outcome.IO, Message: "is a directory, not a file", File: name}
	}
	in := From(ctx, file, name)
	in.file = file
	return in, nil
}

// From returns the input of a stream.
func From(ctx context.Context, r io.Reader, name string) *Input {
	return &Input{Name: name, ctx: ctx, raw: bufio.NewReaderSize(&cancellable{ctx: ctx, r: r}, BufferSize)}
}

// Context returns the context that ends reading.
func (in *Input) Context() context.Context { return in.ctx }

// File returns the file, for formats that are not read from front to back; nil for a stream.
func (in *Input) File() *os.File { return in.file }

// Unpacks reports whether the input is decompressed, once reading has begun.
func (in *Input) Unpacks() bool { return in.pipe != nil }

// Failed returns the error of a source that failed.
func (in *Input) Failed(err error) error {
	return &outcome.Error{Kind: outcome.IO, Message: "reading stopped", File: in.Name, Err: err}
}

// Read implements [io.Reader].
func (in *Input) Read(b []byte) (int, error) {
	if in.text == nil {
		in.start()
	}
	return in.text.Read(b)
}

// Close closes the file and ends the goroutine. A stream stays open: a cancelled read of it may still be in
// progress.
func (in *Input) Close() {
	in.mu.Lock()
	in.closed = true
	pipe, done := in.pipe, in.done
	in.mu.Unlock()
	if pipe != nil {
		_ = pipe.Close()
	}
	if in.file != nil {
		_ = in.file.Close()
		if done != nil {
			<-done
		}
	}
}

// start checks the first bytes and begins to decompress if they are those of a compressed file.
func (in *Input) start() {
	head, _ := in.raw.Peek(longestMagic) // reading reports the error again
	decompress := decompressor(head)
	in.mu.Lock()
	defer in.mu.Unlock()
	if decompress == nil || in.closed {
		in.text = in.raw
		return
	}
	text, plain := io.Pipe()
	done := make(chan struct{})
	in.text, in.pipe, in.done = text, text, done
	go func() {
		defer close(done)
		plain.CloseWithError(decompress(plain, in.raw))
	}()
}

// The first bytes of compressed files.
const longestMagic = 4

var (
	gzipMagic = []byte{0x1f, 0x8b}
	bzipMagic = []byte("BZh")
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// decompressor returns a function that copies the text of a compressed file with this beginning; nil if the
// file is not compressed.
func decompressor(head []byte) func(w io.Writer, r io.Reader) error {
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		return func(w io.Writer, r io.Reader) error {
			z, err := gzip.NewReader(r)
			if err != nil {
				return err
			}
			_, err = io.Copy(w, z)
			return err
		}
	case bytes.HasPrefix(head, bzipMagic):
		return func(w io.Writer, r io.Reader) error {
			_, err := io.Copy(w, bzip2.NewReader(r))
			return err
		}
	case bytes.HasPrefix(head, zstdMagic):
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

// Cancellable returns a reader whose calls return when the context ends, even while r blocks. r must not be
// used after that.
func Cancellable(ctx context.Context, r io.Reader) io.Reader { return &cancellable{ctx: ctx, r: r} }

// cancellable is a reader whose calls return when the context ends. Its source must not be used after that:
// an abandoned call may still be waiting.
type cancellable struct {
	ctx context.Context
	r   io.Reader
	own []byte // the buffer of the source, so that an abandoned call does not write to the caller's
}

func (c *cancellable) Read(b []byte) (int, error) {
	if c.ctx.Done() == nil {
		return c.r.Read(b)
	}
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	if len(c.own) < len(b) {
		c.own = make([]byte, len(b))
	}
	own := c.own[:len(b)]
	go func() {
		n, err := c.r.Read(own)
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		copy(b, own[:got.n])
		return got.n, got.err
	case <-c.ctx.Done():
		return 0, context.Cause(c.ctx)
	}
}
