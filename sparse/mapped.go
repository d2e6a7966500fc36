package sparse

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/outcome"
)

// A mapped file is a header and sections, each of which begins at a multiple of 64 bytes, all in little-endian
// order:
//
//	order    int32    the nonempty columns, by length, then index; empty for a dense matrix
//	colPtr   int64    where the entries of each column begin, and the end; empty for a dense matrix
//	target   float64  n values, or none
//	rows     int32    row indices of the entries; empty for a dense matrix
//	values   float64  values of the entries; all n·p, by columns, for a dense matrix
//	about    bytes    what the writer keeps with the matrix
//
// The header has the dimensions, the positions of the sections, two checksums of everything after it and one of
// itself. Of the two, the SHA-256 identifies the contents, and [crc] is quick to verify; files of version 1
// have only the SHA-256.
const (
	// MappedMagic begins a mapped file.
	MappedMagic = "PAREMAP1"

	mappedVersion = 2

	mappedHeader = 512
	mappedAlign  = 64
	sectionCount = 6
)

const (
	mappedOrder = iota
	mappedColPtr
	mappedTarget
	mappedRows
	mappedValues
	mappedAbout
)

// mappedHead is the layout of the header.
type mappedHead struct {
	Magic    [8]byte
	Version  uint32
	Dense    uint32
	N, P     uint64
	NNZ      uint64
	Nonempty uint64
	HasY     uint64
	Section  [sectionCount]struct{ At, Bytes uint64 }
	Body     [sha256.Size]byte // of everything after the header
	CRC      uint32            // of the same bytes; 0 in version 1
}

// WriteMapped writes a matrix, its target (nil: none) and about, which is any bytes to be kept with them, to a
// file for [Map], replacing an old file. Whatever happens, the file is the old one or the new one. The error is
// an [*outcome.Error]: Shape for a target of another length, or IO.
func WriteMapped(path string, x Matrix, y []float64, about []byte) error {
	n, _ := x.Dims()
	if y != nil && len(y) != n {
		return outcome.Errorf(outcome.Shape, "%d targets for %d rows", len(y), n)
	}
	parts := mappedParts(x, y, about)
	head := newMappedHead(x, y, parts)
	sum, quick := sha256.New(), new(crc)
	if err := writeParts(io.MultiWriter(sum, quick), parts); err != nil {
		return err
	}
	copy(head.Body[:], sum.Sum(nil))
	head.CRC = quick.sum()
	sealed.Sweep(path)
	err := sealed.ReplaceWith(path, func(w io.Writer) error {
		if _, err := w.Write(head.encode()); err != nil {
			return err
		}
		return writeParts(w, parts)
	})
	if err != nil {
		return &outcome.Error{Kind: outcome.IO, File: path, Message: "cannot be written", Err: err}
	}
	return nil
}

// mappedParts returns the sections as byte slices that share the memory of the matrix and its target.
func mappedParts(x Matrix, y []float64, about []byte) [sectionCount][]byte {
	var parts [sectionCount][]byte
	if m, ok := x.(*CSC); ok {
		parts[mappedOrder], parts[mappedColPtr], parts[mappedRows] = bytesOf(m.order), bytesOf(m.colPtr), bytesOf(m.rows)
	}
	_, values := x.Arrays()
	parts[mappedTarget], parts[mappedValues], parts[mappedAbout] = bytesOf(y), bytesOf(values), about
	return parts
}

func newMappedHead(x Matrix, y []float64, parts [sectionCount][]byte) *mappedHead {
	n, p := x.Dims()
	head := &mappedHead{Version: mappedVersion, N: uint64(n), P: uint64(p), NNZ: uint64(x.NNZ()), Nonempty: uint64(len(x.Order()))}
	copy(head.Magic[:], MappedMagic)
	if _, ok := x.(*Dense); ok {
		head.Dense, head.Nonempty = 1, 0
	}
	if y != nil {
		head.HasY = 1
	}
	at := uint64(mappedHeader)
	for k, part := range parts {
		head.Section[k].At, head.Section[k].Bytes = at, uint64(len(part))
		at = aligned(at + uint64(len(part)))
	}
	return head
}

func aligned(at uint64) uint64 { return (at + mappedAlign - 1) / mappedAlign * mappedAlign }

// encode returns the header, with its checksum at the end.
func (h *mappedHead) encode() []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, h) // fixed size, into memory
	out := make([]byte, mappedHeader)
	copy(out, b.Bytes())
	sum := sha256.Sum256(out[:mappedHeader-sha256.Size])
	copy(out[mappedHeader-sha256.Size:], sum[:])
	return out
}

// writeParts writes the sections, each padded to where the next begins.
func writeParts(w io.Writer, parts [sectionCount][]byte) error {
	var zeros [mappedAlign]byte
	for _, part := range parts {
		if _, err := w.Write(part); err != nil {
			return err
		}
		if _, err := w.Write(zeros[:aligned(uint64(len(part)))-uint64(len(part))]); err != nil {
			return err
		}
	}
	return nil
}

// bytesOf returns the memory of the values as bytes. On little-endian processors these are the bytes of the
// file.
func bytesOf[T int32 | int64 | float64](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}

// numbersOf is the inverse of bytesOf; b must be aligned.
func numbersOf[T int32 | int64 | float64](b []byte) []T {
	var one T
	if len(b) == 0 {
		return []T{}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/int(unsafe.Sizeof(one)))
}

// littleEndian reports whether the processor stores numbers as the file does.
func littleEndian() bool {
	one := [2]byte{1, 0}
	return binary.NativeEndian.Uint16(one[:]) == 1
}

// MapOptions says what [Map] verifies.
type MapOptions struct {
	// Trust skips the passes over the file that find damage: the checksum, and the check of every entry for
	// what no matrix may have (rows out of order or out of range, values that are not finite). Use it only for
	// files that [WriteMapped] wrote and nobody else could change: assembly relies on every index.
	Trust bool

	// Verify recomputes the SHA-256 of the whole file, too.
	Verify bool

	// Threads is the number of threads that check the file; 0 means the number of processors.
	Threads int
}

// Mapped is a matrix in a file that is mapped into memory: the system reads a page when it is first used, and
// may drop it when memory is short. The file must not be truncated while it is mapped: reading beyond its end
// kills the process.
type Mapped struct {
	x     Matrix
	y     []float64
	about []byte
	sum   [sha256.Size]byte
	unmap func() error
}

// Map maps a file that [WriteMapped] wrote. With zero options it verifies the checksums of the header and of
// the rest, and checks every entry as the constructors of matrices do. The error is an [*outcome.Error]: IO, or
// Parse for a file that is damaged or of another version.
func Map(path string, o MapOptions) (*Mapped, error) {
	if !littleEndian() {
		return nil, &outcome.Error{Kind: outcome.IO, File: path, Message: "mapped files are for little-endian processors"}
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, File: path, Message: "cannot be opened", Err: err}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, File: path, Message: "cannot be opened", Err: err}
	}
	bad := func(what string) (*Mapped, error) {
		return nil, &outcome.Error{Kind: outcome.Parse, File: path, Message: "the mapped file is damaged: " + what}
	}
	raw := make([]byte, mappedHeader)
	if _, err := io.ReadFull(file, raw); err != nil {
		return bad("it ends within its header")
	}
	head, what := decodeMapped(raw, info.Size())
	if what != "" {
		return bad(what)
	}
	data, unmap, err := mapFile(file, info.Size())
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, File: path, Message: "cannot be mapped into memory", Err: err}
	}
	m := &Mapped{sum: head.Body, unmap: unmap}
	if !head.verify(data[mappedHeader:], o) {
		what = "its checksum is wrong"
	} else {
		what = m.load(head, data, o)
	}
	if what != "" {
		_ = unmap()
		return bad(what)
	}
	return m, nil
}

// verify compares what follows the header with the checksums in it.
func (h *mappedHead) verify(body []byte, o MapOptions) bool {
	if (o.Verify || h.Version == 1 && !o.Trust) && sha256.Sum256(body) != h.Body {
		return false
	}
	return o.Trust || h.Version == 1 || crcOf(body, o.Threads) == h.CRC
}

// crc is a checksum that several threads can compute together: the CRC-32C of the CRC-32Cs of consecutive
// pieces of crcPiece bytes.
type crc struct {
	partial      uint32 // CRC of the piece begun
	partialBytes int    // bytes of that piece
	sums         []byte // CRCs of the pieces before it
}

const crcPiece = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write implements [io.Writer].
func (c *crc) Write(b []byte) (int, error) {
	written := len(b)
	for len(b) > 0 {
		n := min(len(b), crcPiece-c.partialBytes)
		c.partial, c.partialBytes, b = crc32.Update(c.partial, castagnoli, b[:n]), c.partialBytes+n, b[n:]
		if c.partialBytes == crcPiece {
			c.end()
		}
	}
	return written, nil
}

func (c *crc) end() {
	c.sums = binary.LittleEndian.AppendUint32(c.sums, c.partial)
	c.partial, c.partialBytes = 0, 0
}

// sum returns the checksum of all that has been written.
func (c *crc) sum() uint32 {
	if c.partialBytes > 0 {
		c.end()
	}
	return crc32.Checksum(c.sums, castagnoli)
}

// crcOf returns the same checksum of a whole body, computed by several threads.
func crcOf(body []byte, threads int) uint32 {
	pieces := (len(body) + crcPiece - 1) / crcPiece
	sums := make([]byte, 4*pieces)
	inParts(pieces, threads, func(k int) {
		piece := body[k*crcPiece : min((k+1)*crcPiece, len(body))]
		binary.LittleEndian.PutUint32(sums[4*k:], crc32.Checksum(piece, castagnoli))
	})
	return crc32.Checksum(sums, castagnoli)
}

// inParts calls do for every part, on the given number of threads; 0 means the number of processors.
func inParts(parts, threads int, do func(k int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(parts, team.Count(threads)) {
		all.Go(func() {
			for k := next.Add(1) - 1; k < int64(parts); k = next.Add(1) - 1 {
				do(int(k))
			}
		})
	}
	all.Wait()
}

// decodeMapped decodes the header of a file of size bytes, or says what is wrong with it.
func decodeMapped(raw []byte, size int64) (*mappedHead, string) {
	sum := sha256.Sum256(raw[:mappedHeader-sha256.Size])
	head := new(mappedHead)
	if err := binary.Read(bytes.NewReader(raw), binary.LittleEndian, head); err != nil || string(head.Magic[:]) != MappedMagic {
		return nil, "it does not begin as a mapped file"
	}
	if head.Version < 1 || head.Version > mappedVersion {
		return nil, "its version is not supported"
	}
	if !bytes.Equal(sum[:], raw[mappedHeader-sha256.Size:]) {
		return nil, "the checksum of its header is wrong"
	}
	if head.N > MaxDim || head.P > MaxDim || head.Nonempty > head.P || head.NNZ > math.MaxInt64/16 || head.Dense > 1 {
		return nil, "its dimensions are invalid"
	}
	want := [sectionCount]uint64{4 * head.Nonempty, 8 * (head.Nonempty + 1), 8 * head.N * head.HasY, 4 * head.NNZ, 8 * head.NNZ, head.Section[mappedAbout].Bytes}
	if head.Dense == 1 {
		want[mappedOrder], want[mappedColPtr], want[mappedRows] = 0, 0, 0
		if head.NNZ != head.N*head.P {
			return nil, "its dimensions are invalid"
		}
	}
	at := uint64(mappedHeader)
	for k, section := range head.Section {
		if section.At != at || section.Bytes != want[k] || section.Bytes > uint64(size) {
			return nil, "its sections are invalid"
		}
		at = aligned(at + section.Bytes)
	}
	if at != uint64(size) {
		return nil, "its length does not match its sections"
	}
	return head, ""
}

// load makes the matrix and the target from the memory of the file, or says what is wrong with them.
func (m *Mapped) load(head *mappedHead, data []byte, o MapOptions) string {
	check := !o.Trust
	part := func(k int) []byte {
		s := head.Section[k]
		return data[s.At : s.At+s.Bytes : s.At+s.Bytes]
	}
	m.about = part(mappedAbout)
	if head.HasY == 1 {
		m.y = numbersOf[float64](part(mappedTarget))
	}
	if check && !allFinite(m.y) {
		return "a target is not finite"
	}
	n, p := int(head.N), int(head.P)
	values := numbersOf[float64](part(mappedValues))
	if head.Dense == 1 {
		if check && !allFinite(values) {
			return "a value is not finite"
		}
		d := &Dense{n: n, p: p, order: make([]int32, p), values: values}
		for j := range d.order {
			d.order[j] = int32(j)
		}
		m.x = d
		return ""
	}
	c := &CSC{n: n, p: p, order: numbersOf[int32](part(mappedOrder)), colPtr: numbersOf[int64](part(mappedColPtr)), rows: numbersOf[int32](part(mappedRows)), values: values}
	if what := c.buildIndex(); what != "" {
		return what
	}
	if check {
		if what := c.checkEntries(o.Threads); what != "" {
			return what
		}
	}
	m.x = c
	return ""
}

func allFinite(values []float64) bool {
	for _, v := range values {
		if !finite(v) {
			return false
		}
	}
	return true
}

// buildIndex checks the order and the pointers of the columns and makes the table that finds columns. It returns
// what is wrong, if anything is.
func (m *CSC) buildIndex() string {
	if m.colPtr[0] != 0 || m.colPtr[len(m.order)] != int64(len(m.rows)) {
		return "its column pointers are invalid"
	}
	previous := int64(0)
	for s, j := range m.order {
		length := m.colPtr[s+1] - m.colPtr[s]
		switch {
		case length < 1 || length > int64(m.n) || m.colPtr[s+1] > int64(len(m.rows)):
			return "its column pointers are invalid"
		case length < previous || s > 0 && length == previous && j <= m.order[s-1] || j < 0 || int(j) >= m.p:
			return "the order of its columns is invalid"
		}
		previous = length
	}
	if tabulated(m.p, int64(len(m.rows))) {
		m.slots = make([]int32, m.p)
		for j := range m.slots {
			m.slots[j] = -1
		}
		for s, j := range m.order {
			if m.slots[j] >= 0 {
				return "a column occurs twice"
			}
			m.slots[j] = int32(s)
		}
		return ""
	}
	columns := append([]int32{}, m.order...)
	sortIndices(columns)
	for k := 1; k < len(columns); k++ {
		if columns[k] == columns[k-1] {
			return "a column occurs twice"
		}
	}
	m.directory, m.slots = newDirectory(m.p, columns), make([]int32, len(columns))
	for s, j := range m.order {
		m.slots[m.directory.find(int(j))] = int32(s)
	}
	return ""
}

// checkEntries checks every entry. It returns what is wrong, if anything is.
func (m *CSC) checkEntries(threads int) string {
	starts := []int{0} // slots at which parts of about checkedAtOnce entries begin
	for s := range m.order {
		if m.colPtr[s+1]-m.colPtr[starts[len(starts)-1]] >= checkedAtOnce || s == len(m.order)-1 {
			starts = append(starts, s+1)
		}
	}
	found := make([]string, len(starts)-1)
	inParts(len(found), threads, func(k int) { found[k] = m.checkColumns(starts[k], starts[k+1]) })
	return cmp.Or(found...)
}

const checkedAtOnce = 1 << 17

// checkColumns checks the entries in slots from:to.
func (m *CSC) checkColumns(from, to int) string {
	for s := from; s < to; s++ {
		previous := int32(-1)
		for k := m.colPtr[s]; k < m.colPtr[s+1]; k++ {
			i, v := m.rows[k], m.values[k]
			if i <= previous || int(i) >= m.n {
				return "its row indices are out of order or out of range"
			}
			if v == 0 || !finite(v) {
				return "a value is 0 or not finite"
			}
			previous = i
		}
	}
	return ""
}

// Matrix returns the matrix, whose entries lie in the file: it may be used until [Mapped.Close].
func (m *Mapped) Matrix() Matrix { return m.x }

// Target returns the target; nil where the file has none. Read only, until [Mapped.Close].
func (m *Mapped) Target() []float64 { return m.y }

// About returns what the writer kept with the matrix. Read only, until [Mapped.Close].
func (m *Mapped) About() []byte { return m.about }

// Hash returns the SHA-256 of the file's sections, as its writer computed it.
func (m *Mapped) Hash() [sha256.Size]byte { return m.sum }

// Close unmaps the file. Nothing reached through m may be used after that.
func (m *Mapped) Close() error {
	unmap := m.unmap
	m.unmap = func() error { return nil } // a second Close does nothing
	return unmap()
}
