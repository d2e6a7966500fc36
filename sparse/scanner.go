package sparse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/seed-45b9a24c/pare/internal/decimal"
	"github.com/seed-45b9a24c/pare/outcome"
)

// scanner reads the rows of an svmlight text through a window that slides over it. Wherever a token starts, the
// window holds either the rest of the text or more than any token may need, so tokens are read without checking
// for the end of the buffer.
type scanner struct {
	ctx context.Context
	r   io.Reader
	opt ReadOptions

	buf      []byte
	pos, end int  // the window is buf[pos:end]
	atEnd    bool // the text ends at buf[end−1], a newline that was added there

	line   int   // 1-based
	offset int64 // buf[i] is byte offset + i of its line, from 0

	rows    journal
	held    int64 // rows.held when the limits were last checked
	plain   *plain
	retryAt int // plain does not try lines before buf[retryAt] again
	width   int // the number of columns named so far
	columns int // the largest number of columns allowed

	detectBase bool         // indices may count from 0: they do if one of them is 0
	sawZero    bool         // an index was 0
	onRow      func() error // called after each row, as soon as its line has been read; nil: rows are collected
}

const (
	bufferSize = 128 << 10
	maxIndex   = 20                               // digits of an index that are read
	window     = maxIndex + decimal.MaxLength + 8 // an entry, what ends it, and some spare bytes
)

// scan reads the whole text into s.rows.
func (s *scanner) scan() error {
	for {
		if err := s.blanks(); err != nil {
			return err
		}
		var err error
		switch s.buf[s.pos] {
		case '\n':
			if err = s.newline(); err == nil && s.pos == s.end && s.atEnd {
				return nil
			}
		case '#':
			err = s.comment()
		default:
			if err = s.samples(); err == nil && s.pos == s.end && s.atEnd {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

// base is what indices count from; 0 as long as that is undecided.
func (s *scanner) base() int {
	if s.opt.ZeroBased || s.detectBase {
		return 0
	}
	return 1
}

// samples reads a run of plain lines, or one line that is not plain.
func (s *scanner) samples() error {
	if plain, err := s.plainLines(); plain || err != nil {
		return err
	}
	if err := s.row(); err != nil || s.onRow == nil {
		return err
	}
	return s.onRow()
}

// row reads one sample, up to the end of its line or a comment.
func (s *scanner) row() error {
	if s.rows.n == MaxDim {
		return s.fail(outcome.Limit, s.pos, "more than %d rows", MaxDim)
	}
	if s.rows.n == s.opt.Limits.Rows && s.rows.n > 0 && s.onRow == nil || s.rows.held != s.held {
		if err := s.checkLimits(1); err != nil {
			return err
		}
	}
	label, err := s.number("a label")
	if err != nil {
		return err
	}
	s.rows.row(label)

	base := s.base()
	at := rowState{-1, -1}
	for first := true; ; first = false {
		if err := s.blanks(); err != nil {
			return err
		}
		switch c := s.buf[s.pos]; {
		case c == '\n' || c == '#':
			s.width = max(s.width, at.named+1)
			return nil
		case c == 'q' && first && at.named < 0:
			err = s.queryID()
		default:
			err = s.entry(base, &at)
		}
		if err != nil {
			return err
		}
	}
}

// checkLimits returns an error if more rows would exceed the limits. It is called when the journal has a new chunk,
// and when the number of rows is at its limit.
func (s *scanner) checkLimits(more int) error {
	s.held = s.rows.held
	return s.addName(s.opt.Limits.Check(s.rows.n+more, s.width, s.rows.nnz, s.held))
}

// addName adds the name of the input and the line to an error.
func (s *scanner) addName(err error) error {
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		e.File, e.Line, e.Byte = s.opt.Name, s.line, 1
	}
	return err
}

// rowState is how far a row has been read: the last column that was named, and the last that has a nonzero. −1:
// none.
type rowState struct{ named, stored int }

// entry reads an index:value, whose column must come after the last one named.
func (s *scanner) entry(base int, at *rowState) error {
	start := s.pos
	j, err := s.index(base)
	if err != nil {
		return err
	}
	if j <= at.named {
		return s.fail(outcome.Parse, start, "index %d follows index %d: indices must increase within a line", j+base, at.named+base)
	}
	at.named = j
	s.sawZero = s.sawZero || j+base == 0
	value, err := s.number("a value")
	if err != nil {
		return err
	}
	if value == 0 {
		return nil
	}
	if s.rows.nnz == s.opt.MaxEntries {
		return s.fail(outcome.Limit, start, "more than %d nonzeros", s.opt.MaxEntries)
	}
	s.rows.entry(j-at.stored, value)
	at.stored = j
	if s.rows.held != s.held {
		return s.checkLimits(0)
	}
	return nil
}

// index reads an index and its colon and returns the column, counted from 0.
func (s *scanner) index(base int) (int, error) {
	b := s.buf[s.pos:s.end]
	i, index := 0, int64(0)
	for ; i < len(b) && i < maxIndex; i++ {
		d := b[i] - '0'
		if d > 9 {
			break
		}
		index = min(index*10+int64(d), math.MaxInt32)
	}
	j := int(index) - base
	switch {
	case i == 0:
		return 0, s.unexpected(s.pos, "an index")
	case b[0] == '0' && i > 1:
		return 0, s.fail(outcome.Parse, s.pos, "an index with a leading zero")
	case j < 0:
		return 0, s.fromZero()
	case j >= s.columns && s.opt.Features > 0:
		return 0, s.beyondColumns(outcome.Shape, "the index is beyond the %d columns given")
	case j >= s.columns:
		return 0, s.beyondColumns(outcome.Limit, "the index is beyond the limit of %d columns")
	case b[i] != ':':
		return 0, s.unexpected(s.pos+i, "a colon after the index")
	}
	s.pos += i + 1
	return j, nil
}

// number reads a number that is a whole token, or the end of one.
func (s *scanner) number(what string) (float64, error) {
	b := s.buf[s.pos:s.end]
	b = b[:min(len(b), decimal.MaxLength+1)]
	v, length, f := decimal.Parse(b)
	if f != decimal.None || length > decimal.MaxLength || !ends(b[length]) {
		return 0, s.badNumber(what, length, f)
	}
	s.pos += length
	return v, nil
}

func (s *scanner) badNumber(what string, length int, f decimal.Fault) error {
	switch {
	case length > decimal.MaxLength:
		return s.fail(outcome.Limit, s.pos, "%s of more than %d bytes", what, decimal.MaxLength)
	case f == decimal.OutOfRange:
		return s.fail(outcome.Parse, s.pos, "%s is outside the range of float64: %s", what, s.excerpt(s.pos))
	default:
		return s.unexpected(s.pos, what)
	}
}

// queryID skips qid:digits.
func (s *scanner) queryID() error {
	b := s.buf[s.pos:s.end]
	digits, ok := bytes.CutPrefix(b[:min(len(b), decimal.MaxLength+1)], []byte("qid:"))
	if !ok {
		return s.unexpected(s.pos, "an index")
	}
	i := 0
	for i < len(digits) && digits[i]-'0' <= 9 {
		i++
	}
	switch {
	case i == len(digits):
		return s.fail(outcome.Limit, s.pos, "a qid of more than %d bytes", decimal.MaxLength)
	case i == 0 || !ends(digits[i]):
		return s.unexpected(s.pos, "digits after qid:")
	}
	s.pos += len("qid:") + i
	return nil
}

// blank reports whether c separates tokens. A carriage return does, so that CRLF ends a line. Alone it does not
// end a line: text that ends its lines so does not parse.
func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// ends reports whether c ends a token.
func ends(c byte) bool { return blank(c) || c == '\n' || c == '#' }

// blanks moves to the next byte that is not blank, and makes sure that a window follows it.
func (s *scanner) blanks() error {
	for {
		for s.pos < s.end && blank(s.buf[s.pos]) {
			s.pos++
		}
		if s.atEnd || s.end-s.pos >= window || s.hasWholeLine() {
			return nil
		}
		if err := s.slide(window); err != nil {
			return err
		}
	}
}

// hasWholeLine reports, where rows are read one by one, whether the buffer holds the rest of the line. Then no
// more need be read: no token extends beyond the line.
func (s *scanner) hasWholeLine() bool {
	return s.onRow != nil && bytes.IndexByte(s.buf[s.pos:s.end], '\n') >= 0
}

// comment moves to the end of the line.
func (s *scanner) comment() error {
	for {
		if i := bytes.IndexByte(s.buf[s.pos:s.end], '\n'); i >= 0 {
			s.pos += i
			return nil
		}
		s.pos = s.end
		if err := s.slide(window); err != nil {
			return err
		}
	}
}

// newline moves to the next line.
func (s *scanner) newline() error {
	if err := s.checkLine(s.pos); err != nil {
		return err
	}
	s.pos++
	s.line++
	s.offset = -int64(s.pos)
	return nil
}

// checkLine returns an error if buf[at] is beyond the longest line allowed.
func (s *scanner) checkLine(at int) error {
	if s.offset+int64(at) <= s.opt.MaxLineBytes {
		return nil
	}
	return s.located(outcome.Limit, s.opt.MaxLineBytes, fmt.Sprintf("a line of more than %d bytes", s.opt.MaxLineBytes))
}

// slide drops what lies before the window, and reads until the window has size bytes or the text ends.
func (s *scanner) slide(size int) error {
	if err := s.checkLine(s.pos); err != nil {
		return err
	}
	s.offset += int64(s.pos)
	s.retryAt = max(0, s.retryAt-s.pos)
	s.end = copy(s.buf, s.buf[s.pos:s.end])
	s.pos = 0
	for idle := 0; s.end < size && !s.atEnd && !s.hasWholeLine(); idle++ {
		n, err := s.read(s.buf[s.end : len(s.buf)-1])
		if n > 0 {
			s.end += n
			idle = 0
		}
		switch {
		case err == io.EOF: //nolint:errorlint // a wrapped EOF is an error, not the end
			s.buf[s.end] = '\n'
			s.end++
			s.atEnd = true
		case err != nil:
			return s.failed(err)
		case idle == 100:
			return s.failed(io.ErrNoProgress)
		}
	}
	return nil
}

// read is s.r.Read, but returns when the context ends, even if s.r.Read blocks.
func (s *scanner) read(b []byte) (int, error) {
	if s.ctx.Done() == nil {
		return s.r.Read(b)
	}
	if err := context.Cause(s.ctx); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := s.r.Read(b)
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		return got.n, got.err
	case <-s.ctx.Done():
		return 0, context.Cause(s.ctx)
	}
}

// fail returns an error at buf[at].
func (s *scanner) fail(kind outcome.Kind, at int, format string, args ...any) error {
	if err := s.checkLine(at); err != nil {
		return err
	}
	return s.located(kind, s.offset+int64(at), fmt.Sprintf(format, args...))
}

// fromZero returns the error of an index 0 at the position, where indices count from 1.
func (s *scanner) fromZero() error {
	if err := s.checkLine(s.pos); err != nil {
		return err
	}
	e := s.located(outcome.Parse, s.offset+int64(s.pos), "the index is 0, but indices count from 1")
	e.Flag = "zero-based"
	return e
}

// beyondColumns returns the error of an index, at the position, that exceeds the number of columns.
func (s *scanner) beyondColumns(kind outcome.Kind, format string) error {
	if err := s.checkLine(s.pos); err != nil {
		return err
	}
	columns := s.columns
	if s.detectBase {
		columns-- // room for an index that may count from 1
	}
	e := s.located(kind, s.offset+int64(s.pos), fmt.Sprintf(format, columns))
	e.Flag = "features"
	return e
}

func (s *scanner) located(kind outcome.Kind, offset int64, message string) *outcome.Error {
	return &outcome.Error{Kind: kind, Message: message, File: s.opt.Name, Line: s.line, Byte: offset + 1}
}

// failed returns the error of a reader that failed, or of a context that ended.
func (s *scanner) failed(err error) error {
	return &outcome.Error{
		Kind: outcome.IO, Message: "reading stopped", Err: err,
		File: s.opt.Name, Line: s.line, Byte: s.offset + int64(s.pos) + 1,
	}
}

// unexpected returns the error of finding something other than what at buf[at].
func (s *scanner) unexpected(at int, what string) error {
	found := s.excerpt(at)
	if s.line == 1 && s.offset+int64(at) == 0 {
		for _, m := range []struct{ magic, name string }{
			{"\xef\xbb\xbf", "a byte order mark"},
			{"\xff\xfe", "UTF-16 text"},
			{"\xfe\xff", "UTF-16 text"},
			{"\x1f\x8b", "gzip data"},
			{"BZh", "bzip2 data"},
			{"\x28\xb5\x2f\xfd", "zstd data"},
		} {
			if strings.HasPrefix(string(s.buf[at:min(at+4, s.end)]), m.magic) {
				found = m.name
			}
		}
	}
	return s.fail(outcome.Parse, at, "expected %s, found %s", what, found)
}

// excerpt quotes the token at buf[at], or its first bytes.
func (s *scanner) excerpt(at int) string {
	const most = 24
	b := s.buf[at:min(at+most, s.end)]
	for i, c := range b {
		if ends(c) {
			b = b[:i]
			break
		}
	}
	switch {
	case len(b) > 0:
		return fmt.Sprintf("%q", b)
	case s.buf[at] == '\n' || s.buf[at] == '\r':
		return "the end of the line"
	case s.buf[at] == '#':
		return "a comment"
	default:
		return "a blank"
	}
}
