package sparse

import (
	"context"
	"errors"
	"io"
	"iter"
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
)

// The limits of a reader whose options do not say otherwise.
const (
	DefaultMaxFeatures  = 1 << 26 // columns: half a GiB for one vector of coefficients
	DefaultMaxEntries   = 1 << 31 // nonzeros
	DefaultMaxLineBytes = 1 << 29 // bytes from one newline to the next
)

// ReadOptions says how to read an svmlight text. The zero value reads
// one-based indices and takes the number of columns from the largest.
type ReadOptions struct {
	// Features is the number of columns p, where trailing columns may be
	// empty; a larger index is then an error. 0: the largest index in the file.
	Features int

	// ZeroBased says that indices count from 0; by default they count from 1.
	ZeroBased bool

	// MaxFeatures is the largest p accepted. A few bytes of text can name any
	// column, and every vector of coefficients has length p. 0: Features where
	// it is given, else [DefaultMaxFeatures].
	MaxFeatures int

	// MaxEntries is the largest number of nonzeros accepted, at most 2³²−1.
	// 0: [DefaultMaxEntries].
	MaxEntries int64

	// MaxLineBytes is the length of the longest line accepted. Lines are not held in memory: the limit rejects
	// nonsense, it does not bound memory. 0: [DefaultMaxLineBytes].
	MaxLineBytes int64

	// Limits bounds rows and memory.
	Limits Limits

	// Name is the name of the input in errors.
	Name string

	// Threads is the number of parts of the text that are read at once, if more than 1; reading then takes
	// memory for several of them. Neither the result nor an error depends on it.
	Threads int
}

func (o *ReadOptions) complete() error {
	switch {
	case o.Features < 0:
		return outcome.At(outcome.BadParameter, "features", "must not be negative, got %d", o.Features)
	case o.MaxFeatures < 0:
		return outcome.At(outcome.BadParameter, "max-features", "must not be negative, got %d", o.MaxFeatures)
	case o.MaxEntries < 0:
		return outcome.At(outcome.BadParameter, "max-entries", "must not be negative, got %d", o.MaxEntries)
	case o.MaxLineBytes < 0:
		return outcome.At(outcome.BadParameter, "max-line-bytes", "must not be negative, got %d", o.MaxLineBytes)
	}
	if err := o.Limits.Check(0, 0, 0, 0); err != nil {
		return err
	}
	if o.MaxFeatures == 0 {
		o.MaxFeatures = DefaultMaxFeatures
		if o.Features > 0 {
			o.MaxFeatures = o.Features
		}
	}
	o.MaxFeatures = min(o.MaxFeatures, MaxDim)
	if o.Features > o.MaxFeatures {
		return outcome.At(outcome.Limit, "features", "%d columns are beyond the limit of %d", o.Features, o.MaxFeatures)
	}
	if o.MaxEntries == 0 {
		o.MaxEntries = DefaultMaxEntries
	}
	o.MaxEntries = min(o.MaxEntries, math.MaxUint32)
	if o.MaxLineBytes == 0 {
		o.MaxLineBytes = DefaultMaxLineBytes
	}
	return nil
}

// ReadSVMLight reads a design matrix and its target from svmlight (LIBSVM)
// text, one sample per line:
//
//	line   = [label [qid:digits] {index:value}] [# comment]
//	number = [+|-] (digits [. [digits]] | . digits) [(e|E) [+|-] digits]
//	index  = 0 | a digit from 1 to 9 and further digits
//
// where label and value are numbers. Tokens are separated by spaces and tabs;
// lines end in LF or CRLF, the last one perhaps in neither. Blank lines and
// lines of comment are skipped, and so is a qid after the label. Indices
// increase strictly within a line and count from 1 unless opt.ZeroBased.
// Numbers become the nearest float64; a value of zero names its column but
// stores nothing. An empty text is a matrix without rows.
//
// Nothing else is accepted, so that no damaged file is read as a different
// one. These in particular are errors of kind Parse: index 0 in a one-based
// file; a sign or a leading zero in an index; indices that repeat or decrease;
// nan, inf, hexadecimal or underscored numbers and decimal commas; a magnitude
// outside float64 (1e400, and 1e-400 too, which would silently become 0); a
// missing label, index or value; a second colon, or a space beside one; NUL
// bytes, byte order marks and UTF-16. An index beyond 2³¹−2 or
// opt.MaxFeatures, a number of more than 4096 bytes, and whatever exceeds the
// limits in opt are of kind Limit; an index beyond opt.Features is of kind
// Shape; a failing reader and the end of ctx are of kind IO, with the cause
// inside. All are [*outcome.Error] with the line and the byte within it; with
// an error there is no matrix.
//
// Time is linear in the text. Memory, the result included, stays below 6 bytes
// per byte of text and 8 MiB: neither lines nor the text are held. The end of
// ctx is noticed within milliseconds even while r.Read blocks; r must not be
// used after that, since that call may still be waiting.
func ReadSVMLight(ctx context.Context, r io.Reader, opt ReadOptions) (*CSC, []float64, error) {
	return readSVMLight(ctx, r, opt, make([]byte, bufferSize))
}

// readSVMLight is ReadSVMLight with a buffer of more than window bytes.
func readSVMLight(ctx context.Context, r io.Reader, opt ReadOptions, buf []byte) (*CSC, []float64, error) {
	s, err := newScanner(ctx, r, opt, buf)
	if err != nil {
		return nil, nil, err
	}
	if err := s.all(); err != nil {
		return nil, nil, err
	}
	return s.matrix(0)
}

func newScanner(ctx context.Context, r io.Reader, opt ReadOptions, buf []byte) (*scanner, error) {
	if err := opt.complete(); err != nil {
		return nil, err
	}
	set, err := kernels.Active()
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.BadParameter, Flag: "kernels", Message: "cannot use this set of kernels", Err: err}
	}
	s := &scanner{ctx: ctx, r: r, opt: opt, buf: buf, line: 1, columns: opt.MaxFeatures, plain: &plain{kernels: set}}
	if opt.Features > 0 {
		s.columns = opt.Features
	}
	return s, nil
}

// all reads the whole text.
func (s *scanner) all() error {
	if s.opt.Threads > 1 {
		return s.scanConcurrently()
	}
	return s.scan()
}

// matrix returns what was read, leaving out the first columns, whose number is given.
func (s *scanner) matrix(before int) (*CSC, []float64, error) {
	p := s.opt.Features
	if p == 0 {
		p = max(0, s.width-before)
	}
	s.rows.skipColumns = int32(before)
	if err := s.opt.Limits.Check(s.rows.n, p, s.rows.nnz, s.rows.held); err != nil {
		return nil, nil, s.addName(err)
	}
	m, y, err := s.rows.matrix(s.ctx, p, s.opt.Threads)
	if err != nil {
		return nil, nil, s.failed(err)
	}
	return m, y, nil
}

// DetectSVMLight reads as [ReadSVMLight] does, and finds out whether indices count from 0,
// whatever opt.ZeroBased says: they do where one of them is 0. A file that counts from 0
// and never names its first column reads as one that counts from 1, without that column,
// which is empty.
func DetectSVMLight(ctx context.Context, r io.Reader, opt ReadOptions) (x *CSC, y []float64, zeroBased bool, err error) {
	opt.ZeroBased = false
	s, err := newScanner(ctx, r, opt, make([]byte, bufferSize))
	if err != nil {
		return nil, nil, false, err
	}
	s.detectBase = true
	s.columns++ // columns 0 to p: the first or the last of them is left out once the base is known
	if err := s.all(); err != nil {
		return nil, nil, false, err
	}
	before := 1
	if s.sawZero {
		before = 0
		if s.width == s.columns {
			e := outcome.At(outcome.Shape, "features", "index %d is beyond the %d columns allowed, in a file whose indices count from 0", s.width-1, s.columns-1)
			e.File = opt.Name
			return nil, nil, true, e
		}
	}
	x, y, err = s.matrix(before)
	return x, y, s.sawZero, err
}

// SVMLightRow is a row of an svmlight text.
type SVMLightRow struct {
	Line    int // from 1
	Label   float64
	Columns []int32 // from 0, ascending
	Values  []float64
}

// SVMLightRows reads an svmlight text row by row, in constant memory, and yields each row as soon as its line
// has been read; a row is valid until the next. Text and errors are those of [ReadSVMLight]; an error is
// yielded last.
func SVMLightRows(ctx context.Context, r io.Reader, opt ReadOptions) iter.Seq2[SVMLightRow, error] {
	return func(yield func(SVMLightRow, error) bool) {
		s, err := newScanner(ctx, r, opt, make([]byte, bufferSize))
		if err == nil {
			var row SVMLightRow
			s.onRow = func() error {
				row.Line = s.line
				for columns, values := range s.rows.all(&row.Label) {
					row.Columns, row.Values = columns, values
				}
				s.rows.reset()
				if !yield(row, nil) {
					return errStopped
				}
				return nil
			}
			err = s.scan()
		}
		if err != nil && !errors.Is(err, errStopped) {
			yield(SVMLightRow{}, err)
		}
	}
}

// errStopped says that the caller has stopped the iteration.
var errStopped = errors.New("stopped")
