package table

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// npyMagic begins an .npy file, NumPy's format for one array.
const npyMagic = "\x93NUMPY"

// array is a NumPy array whose elements have not been read yet.
type array struct {
	r           io.Reader
	name        string // of the file, in errors
	limits      sparse.Limits
	kind        byte // f, i, u, b, U or S
	size        int  // bytes of an element
	order       binary.ByteOrder
	fortran     bool
	shape       []int
	buffer      []byte
	checksummed bool // a checksum follows the elements; the reader verifies it at its end
}

// npyHeader matches the three entries that NumPy writes, in NumPy's order.
const npyHeader = `^\{'descr': '([<>|=])([a-zA-Z])([0-9]+)(?:\[\w+\])?', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\), \} *\n?$`

// openArray reads the header of an array.
func openArray(r io.Reader, name string, room sparse.Limits) (*array, error) {
	bad := func(format string, args ...any) error {
		return &outcome.Error{Kind: outcome.Parse, File: name, Message: "the .npy array is damaged: " + fmt.Sprintf(format, args...)}
	}
	head := make([]byte, 12)
	if _, err := io.ReadFull(r, head[:10]); err != nil {
		return nil, bad("it ends within its header")
	}
	size := int(binary.LittleEndian.Uint16(head[8:]))
	if head[6] >= 2 {
		if _, err := io.ReadFull(r, head[10:]); err != nil {
			return nil, bad("it ends within its header")
		}
		size = int(binary.LittleEndian.Uint32(head[8:]))
	}
	const most = 1 << 16
	if string(head[:6]) != npyMagic || head[6] < 1 || head[6] > 3 || size > most {
		return nil, bad("its header is invalid")
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(r, text); err != nil {
		return nil, bad("it ends within its header")
	}
	switch header := string(text); {
	case strings.Contains(header, "'|O'"):
		return nil, refused(name, "an array of Python objects; write numbers, for example by X.astype(float)")
	case strings.Contains(header, "'descr': ["):
		return nil, refused(name, "an array of records; write a matrix of numbers, for example by structured_to_unstructured")
	}
	found := regexp.MustCompile(npyHeader).FindSubmatch(text)
	if found == nil {
		return nil, bad("its header is %s", strconv.Quote(shorten(strings.TrimSpace(string(text)))))
	}
	a := &array{r: r, name: name, limits: room, kind: found[2][0], fortran: string(found[4]) == "True", order: binary.LittleEndian}
	if found[1][0] == '>' {
		a.order = binary.BigEndian
	}
	a.size, _ = strconv.Atoi(string(found[3]))
	for text := range strings.SplitSeq(string(found[5]), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil || n > math.MaxInt32 {
			return nil, bad("its shape is invalid")
		}
		a.shape = append(a.shape, n)
	}
	return a, a.check()
}

// check refuses types of elements that are not supported.
func (a *array) check() error {
	known := map[byte][]int{'f': {2, 4, 8}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'b': {1}}
	switch a.kind {
	case 'U', 'S':
		if a.kind == 'U' {
			a.size *= 4
		}
		if 0 <= a.size && a.size <= 1<<16 {
			return nil
		}
	default:
		if slices.Contains(known[a.kind], a.size) {
			return nil
		}
	}
	if a.kind == 'M' || a.kind == 'm' {
		return refused(a.name, "an array of times; write numbers, for example by X.astype(float)")
	}
	return refused(a.name, fmt.Sprintf("an array of elements of type %c%d; write numbers, for example by X.astype(float)", a.kind, a.size))
}

// dims returns the shape as a matrix; a vector has one column.
func (a *array) dims() (n, p int, err error) {
	switch len(a.shape) {
	case 1:
		return a.shape[0], 1, nil
	case 2:
		return a.shape[0], a.shape[1], nil
	default:
		return 0, 0, &outcome.Error{Kind: outcome.Shape, File: a.name, Message: fmt.Sprintf("an array of %d dimensions; a matrix must have 2", len(a.shape))}
	}
}

// next reads count elements. The result is valid until the next call.
func (a *array) next(count int) ([]byte, error) {
	if need := count * a.size; len(a.buffer) < need {
		a.buffer = make([]byte, need)
	}
	b := a.buffer[:count*a.size]
	if _, err := io.ReadFull(a.r, b); err != nil {
		return nil, a.truncated(err)
	}
	return b, nil
}

// readToEnd reads on to the end of the array if a checksum is verified there.
func (a *array) readToEnd() error {
	if !a.checksummed {
		return nil
	}
	if _, err := io.Copy(io.Discard, a.r); err != nil {
		return a.truncated(err)
	}
	return nil
}

// truncated is the error of an array that ends too early or is damaged.
func (a *array) truncated(err error) error {
	if errors.Is(err, zip.ErrChecksum) {
		return &outcome.Error{Kind: outcome.Parse, File: a.name, Message: "the ZIP archive is damaged: the checksum of an array is wrong"}
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF { //nolint:errorlint // what ReadFull returns
		return &outcome.Error{Kind: outcome.Parse, File: a.name, Message: "the array is incomplete: copy or write the file again"}
	}
	return &outcome.Error{Kind: outcome.IO, File: a.name, Message: "reading stopped", Err: err}
}

// number returns element k of b, which next has read.
func (a *array) number(b []byte, k int) float64 {
	b = b[k*a.size:]
	switch a.kind {
	case 'f':
		switch a.size {
		case 2:
			return half(a.order.Uint16(b))
		case 4:
			return float64(math.Float32frombits(a.order.Uint32(b)))
		default:
			return math.Float64frombits(a.order.Uint64(b))
		}
	case 'i':
		return float64(a.integer(b))
	default:
		return float64(uint64(a.integer(b)) & (1<<(8*a.size) - 1))
	}
}

// half converts an IEEE 754 binary16 number: a sign, 5 bits of exponent, 10 of fraction.
func half(bits uint16) float64 {
	v, exponent := float64(bits&0x3ff), int(bits>>10&0x1f)
	switch {
	case exponent == 0x1f && v == 0:
		v = math.Inf(1)
	case exponent == 0x1f:
		return math.NaN()
	case exponent == 0: // subnormal
		v = math.Ldexp(v, -24)
	default:
		v = math.Ldexp(1024+v, exponent-25)
	}
	if bits>>15 != 0 {
		return -v
	}
	return v
}

// elements converts the elements in b, which next has read, into out.
func (a *array) elements(b []byte, out []float64) {
	if a.kind == 'f' && a.size == 8 && a.order == binary.LittleEndian {
		for k := range out {
			out[k] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*k:]))
		}
		return
	}
	for k := range out {
		out[k] = a.number(b, k)
	}
}

// isText reports whether the elements are text.
func (a *array) isText() bool { return a.kind == 'U' || a.kind == 'S' }

// integer returns a signed integer of the size of the elements.
func (a *array) integer(b []byte) int64 {
	switch a.size {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(a.order.Uint16(b)))
	case 4:
		return int64(int32(a.order.Uint32(b)))
	default:
		return int64(a.order.Uint64(b))
	}
}

// text returns element k as text, without the zeros that pad it.
func (a *array) text(b []byte, k int) string {
	b = b[k*a.size : (k+1)*a.size]
	if a.kind == 'S' {
		return strings.TrimRight(string(b), "\x00")
	}
	var runes []rune
	for ; len(b) >= 4; b = b[4:] {
		if r := rune(a.order.Uint32(b)); r != 0 {
			if !utf8.ValidRune(r) {
				r = utf8.RuneError
			}
			runes = append(runes, r)
		}
	}
	return string(runes)
}

// cell returns element k as a cell of a table; NaN is a missing cell.
func (a *array) cell(b []byte, k int) Cell {
	if a.isText() {
		text := a.text(b, k)
		if missingWord(text) {
			return Cell{Kind: Absent}
		}
		return Cell{Kind: Text, Text: text}
	}
	return numberCell(a.number(b, k))
}

// numberCell is the cell of a number in a binary file; NaN stands for a missing value there.
func numberCell(v float64) Cell {
	if math.IsNaN(v) {
		return Cell{Kind: Absent}
	}
	return Cell{Kind: Number, Number: v}
}

// numbers reads the whole array. Memory grows with what is read, not with the shape claimed.
func (a *array) numbers() ([]float64, error) {
	count := 1
	for _, n := range a.shape {
		if n != 0 && count > min(math.MaxInt, 1<<39)/n {
			return nil, a.truncated(io.EOF)
		}
		count *= n
	}
	if err := a.limits.Check(0, 0, int64(count), 0); err != nil {
		return nil, named(err, a.name)
	}
	const atOnce = 8192
	out := make([]float64, 0, min(count, atOnce))
	for len(out) < count {
		part := min(count-len(out), atOnce)
		b, err := a.next(part)
		if err != nil {
			return nil, err
		}
		for k := range part {
			out = append(out, a.number(b, k))
		}
	}
	return out, a.readToEnd()
}

// mostRowBytes is the largest number of bytes in a row of an array.
const mostRowBytes = 8 * MaxColumns

// arrayBlock is the number of elements that are read together, rounded down to whole rows.
const arrayBlock = 8192

// arrayRows is an array as a table, row by row; names may be nil.
type arrayRows struct {
	*array
	n, p, at    int
	names       []string
	columns     []float64 // the whole array, if it is stored by columns
	rowsPerRead int       // number of rows that are read at once

	text   []byte    // the current row, if elements are text
	values []float64 // otherwise the rows that were read together
	row    int       // index of the current row among them
	plain  bool      // all values are finite
}

func newArrayRows(a *array) (*arrayRows, error) {
	n, p, err := a.dims()
	if err != nil {
		return nil, err
	}
	if p >= MaxColumns {
		return nil, &outcome.Error{Kind: outcome.Limit, File: a.name, Message: fmt.Sprintf("%d columns, but a table may have at most %d", p, MaxColumns)}
	}
	if p*a.size > mostRowBytes {
		return nil, &outcome.Error{Kind: outcome.Limit, File: a.name, Message: fmt.Sprintf("rows of %d bytes, but the limit is %d", p*a.size, mostRowBytes)}
	}
	if p == 0 {
		return nil, &outcome.Error{Kind: outcome.Shape, File: a.name, Message: fmt.Sprintf("the array of %d × 0 elements has no columns: write a matrix with one row per sample", n)}
	}
	if a.size == 0 { // text of no length takes no bytes
		if err := checkClaimedShape(a.name, n, 0, 0); err != nil {
			return nil, err
		}
	}
	rows := &arrayRows{array: a, n: n, p: p}
	if a.fortran && p > 1 && n > 1 {
		if a.isText() {
			return nil, refused(a.name, "an array of text stored by columns; write it in C order")
		}
		rows.columns, err = a.numbers()
	}
	return rows, err
}

func (r *arrayRows) Columns() []string { return r.names }
func (r *arrayRows) Width() int        { return r.p }
func (r *arrayRows) Line() int         { return 0 }

// Next implements [Rows].
func (r *arrayRows) Next(row []Cell) ([]Cell, error) {
	if err := r.advance(); err != nil {
		return nil, err
	}
	return r.cells(row), nil
}

// parseConcurrently makes advance read blocks of rows.
func (r *arrayRows) parseConcurrently(int) { r.rowsPerRead = max(1, arrayBlock/max(1, r.p)) }
func (r *arrayRows) stop()                 {}

// advance moves to the next row.
func (r *arrayRows) advance() error {
	if r.row++; r.row*r.p < len(r.values) {
		return nil
	}
	if r.at == r.n {
		r.values = nil
		if err := r.readToEnd(); err != nil {
			return err
		}
		return io.EOF
	}
	if r.isText() {
		b, err := r.next(r.p)
		r.at, r.text = r.at+1, b
		return err
	}
	rows := 1
	if r.p > 0 {
		rows = min(r.n-r.at, max(1, r.rowsPerRead))
	}
	r.row, r.values = 0, slices.Grow(r.values[:0], rows*r.p)[:rows*r.p]
	if r.columns != nil {
		for j := range r.p {
			for i, v := range r.columns[j*r.n+r.at:][:rows] {
				r.values[i*r.p+j] = v
			}
		}
	} else {
		b, err := r.next(rows * r.p)
		if err != nil {
			return err
		}
		r.elements(b, r.values)
	}
	r.at += rows
	r.plain = !slices.ContainsFunc(r.values, notFinite)
	return nil
}

// numbers returns the values of the current row; those that are not finite are missing, or an error.
func (r *arrayRows) numbers() (values []float64, ok bool) {
	if r.isText() {
		return nil, false
	}
	return r.values[r.row*r.p:][:r.p], true
}

// table returns the values of the current row and of the rows read with it that follow, and skips these rows,
// if all values read are finite.
func (r *arrayRows) table() (values []float64, ok bool) {
	if r.isText() || !r.plain {
		return nil, false
	}
	values = r.values[r.row*r.p:]
	r.row = len(r.values)
	return values, true
}

// cells returns the elements of the current row as cells.
func (r *arrayRows) cells(row []Cell) []Cell {
	row = row[:0]
	for j := range r.p {
		if r.isText() {
			row = append(row, r.cell(r.text, j))
		} else {
			row = append(row, numberCell(r.values[r.row*r.p+j]))
		}
	}
	return row
}
