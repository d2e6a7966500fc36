package input

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// Block is a piece of a text, made of whole lines, and the result of parsing it.
type Block[T any] struct {
	Text []byte // ends in a newline, which is added to the last line of a text if it has none
	Got  T

	ready    chan struct{}
	panicked any
}

// Blocks cuts a text into blocks and parses them in parallel; they are returned in the order of the text. The
// text is read on the goroutine of the caller.
type Blocks[T any] struct {
	// Parse parses text into *into, which holds the result of an earlier block: its memory may be reused.
	Parse func(text []byte, into *T)

	// Line, if set, is called with the beginning of a line that is longer than a block, each time that more
	// of the line has been read. An error of Line ends the blocks.
	Line func(begun []byte) error

	r       io.Reader
	size    int
	rest    []byte // the text read after the last block
	ended   error  // io.EOF at the end of the text; otherwise the error of the reader or of Line
	refused bool   // ended is the error of Line
	threads int
	jobs    chan *Block[T]
	workers sync.WaitGroup
	pending []*Block[T]
	free    []*Block[T]
}

// BlockSize is the number of bytes of a text that are parsed at once.
const BlockSize = 256 << 10

// NewBlocks returns the blocks of a text, of about size bytes each. Until [Blocks.Beside] is called, a block
// is read and parsed when it is asked for, and reading waits for no more than a line.
func NewBlocks[T any](r io.Reader, size int, parse func(text []byte, into *T)) *Blocks[T] {
	return &Blocks[T]{r: r, size: size, Parse: parse, threads: 1}
}

// mostThreads bounds the number of threads for a text.
const mostThreads = 1024

// Beside sets the number of blocks that are parsed at a time. [Blocks.Close] has to be called after that.
func (b *Blocks[T]) Beside(threads int) { b.threads = min(threads, mostThreads) }

// Next returns the next block; done, if not nil, is an earlier block that is not used any more. The error is
// [io.EOF] after the last block, or that of the reader or of Line.
func (b *Blocks[T]) Next(done *Block[T]) (*Block[T], error) {
	if done != nil {
		b.free = append(b.free, done)
	}
	for len(b.pending) < max(1, 2*b.threads) && b.ended == nil {
		b.read()
		if b.threads < 2 {
			break
		}
	}
	if len(b.pending) == 0 {
		return nil, b.ended
	}
	next := b.pending[0]
	b.pending = b.pending[1:]
	<-next.ready
	if next.panicked != nil {
		panic(next.panicked)
	}
	return next, nil
}

// Rest returns the text that Next has not returned, unchanged.
func (b *Blocks[T]) Rest() io.Reader {
	parts := make([]io.Reader, 0, len(b.pending)+2)
	for _, p := range b.pending {
		<-p.ready
		parts = append(parts, bytes.NewReader(p.Text))
	}
	b.pending = nil
	parts = append(parts, bytes.NewReader(b.rest))
	if b.ended == nil || b.refused {
		parts = append(parts, b.r)
	} else if !errors.Is(b.ended, io.EOF) {
		parts = append(parts, failing{b.ended})
	}
	return io.MultiReader(parts...)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Close ends the goroutines that parse.
func (b *Blocks[T]) Close() {
	if b.jobs != nil {
		close(b.jobs)
		b.workers.Wait()
		b.jobs = nil
	}
}

// read reads the next block, if there is one, and parses it or has it parsed.
func (b *Blocks[T]) read() {
	next := &Block[T]{}
	if n := len(b.free); n > 0 {
		next, b.free = b.free[n-1], b.free[:n-1]
	}
	if next.Text = b.fill(next.Text[:0]); len(next.Text) == 0 {
		return
	}
	next.ready = make(chan struct{})
	b.pending = append(b.pending, next)
	if b.threads < 2 {
		next.parse(b.Parse)
		return
	}
	if b.jobs == nil {
		b.jobs = make(chan *Block[T], 2*b.threads)
		for range b.threads {
			b.workers.Go(func() {
				for job := range b.jobs {
					job.parse(b.Parse)
				}
			})
		}
	}
	b.jobs <- next
}

func (p *Block[T]) parse(parse func(text []byte, into *T)) {
	defer close(p.ready)
	defer func() { p.panicked = recover() }()
	parse(p.Text, &p.Got)
}

// fill reads until there is a whole line, or the text ends; an incomplete line is kept for the next block.
func (b *Blocks[T]) fill(text []byte) []byte {
	if cap(text) < b.size {
		text = make([]byte, 0, b.size)
	}
	text = append(text, b.rest...)
	b.rest = b.rest[:0]
	for idle := 0; b.ended == nil; idle++ {
		if cap(text)-len(text) < b.size/2 && len(text) > 0 {
			if b.Line != nil {
				if b.ended = b.Line(text); b.ended != nil {
					b.rest, b.refused = text, true
					return nil
				}
			}
			text = append(make([]byte, 0, 2*cap(text)), text...)
		}
		from := len(text)
		n, err := b.r.Read(text[from : cap(text)-1])
		text = text[:from+n]
		if n > 0 {
			idle = 0
		}
		switch end := from + bytes.LastIndexByte(text[from:], '\n') + 1; {
		case errors.Is(err, io.EOF):
			b.ended = io.EOF
			if len(text) > 0 && text[len(text)-1] != '\n' {
				text = append(text, '\n')
			}
		case err != nil:
			b.ended = err
			return nil
		case end > from:
			b.rest = append(b.rest, text[end:]...)
			return text[:end]
		case idle == 100:
			b.ended = io.ErrNoProgress
			return nil
		}
	}
	return text
}
