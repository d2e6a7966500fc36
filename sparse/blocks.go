package sparse

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/seed-45b9a24c/pare/internal/input"
)

// longLine is the length of the longest line that is held in memory to be read concurrently with others.
const longLine = 4 << 20

var errLongLine = errors.New("a line is too long to be held in memory")

// parsedBlock is the result of reading a block of lines.
type parsedBlock struct {
	rows    journal
	width   int
	sawZero bool
	lines   int
	bad     bool // a line has an error, or exceeds a limit
	plain   plain
}

// parse reads the lines of a text with a scanner of its own, independent of the lines before.
func (b *parsedBlock) parse(s *scanner, text []byte) {
	part := scanner{ctx: context.Background(), opt: s.opt, buf: text, end: len(text), atEnd: true, columns: s.columns, detectBase: s.detectBase}
	part.opt.Limits = Limits{}
	b.plain.kernels = s.plain.kernels
	part.plain = &b.plain
	b.bad = part.scan() != nil
	part.rows.trim()
	b.rows, b.width, b.sawZero, b.lines = part.rows, part.width, part.sawZero, part.line
}

// scanConcurrently is scan with several blocks of lines read concurrently. From the first block that has an error or
// exceeds a limit, scan takes over: it says what is wrong and where.
func (s *scanner) scanConcurrently() error {
	blocks := input.NewBlocks(input.Cancellable(s.ctx, s.r), input.BlockSize, func(text []byte, into *parsedBlock) { into.parse(s, text) })
	blocks.Line = func(begun []byte) error {
		if len(begun) > longLine {
			return errLongLine
		}
		return nil
	}
	blocks.Beside(s.opt.Threads)
	defer blocks.Close()
	var block *input.Block[parsedBlock]
	for {
		var err error
		block, err = blocks.Next(block)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLongLine):
			s.r = blocks.Rest()
			return s.scan()
		case err != nil:
			return s.failed(err)
		}
		if err := context.Cause(s.ctx); err != nil {
			return s.failed(err)
		}
		if !s.acceptBlock(&block.Got) {
			s.r = io.MultiReader(bytes.NewReader(bytes.Clone(block.Text)), blocks.Rest())
			return s.scan()
		}
	}
}

// acceptBlock adds the rows of a block if it has no error and stays within the limits, and reports whether it did.
func (s *scanner) acceptBlock(b *parsedBlock) bool {
	n, nnz, width, held := s.rows.n+b.rows.n, s.rows.nnz+b.rows.nnz, max(s.width, b.width), s.rows.held+b.rows.held
	if b.bad || n > MaxDim || nnz > s.opt.MaxEntries || s.opt.Limits.Check(n, width, nnz, held) != nil {
		return false
	}
	s.rows.join(&b.rows)
	s.width, s.sawZero, s.line = width, s.sawZero || b.sawZero, s.line+b.lines
	return true
}

// trim shrinks the last chunk to its records.
func (g *journal) trim() {
	if len(g.chunks) == 0 {
		return
	}
	g.held += int64(g.used + recordReach - len(g.last))
	g.last = append(make([]byte, 0, g.used+recordReach), g.last[:g.used]...)
	g.chunks[len(g.chunks)-1] = g.last
}

// join appends the rows of another journal; both journals are trimmed.
func (g *journal) join(b *journal) {
	if len(b.chunks) == 0 {
		return
	}
	g.chunks = append(g.chunks, b.chunks...)
	g.last, g.used, g.slabs = b.last, b.used, append(g.slabs, b.slabs...)
	g.n, g.nnz, g.held = g.n+b.n, g.nnz+b.nnz, g.held+b.held
}
