package table

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare/internal/input"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// recognition is what an input contains: svmlight or Matrix Market text, a mapped file, an archive of arrays, or
// the rows of a table.
type recognition struct {
	format   string
	svmlight bool
	labels   bool // svmlight text of labels alone, which may also be a table of one column
	market   bool
	mapped   bool
	text     *bufio.Reader // for svmlight and market
	archive  *archive
	rows     Rows // for all other inputs
}

// recognise finds out what an input contains from how it begins.
func recognise(in *input.Input, o Options) (recognition, error) {
	text := bufio.NewReaderSize(in, input.BufferSize)
	head, err := firstLine(text)
	if err != nil {
		return recognition{}, in.Failed(err)
	}
	switch {
	case bytes.HasPrefix(head, []byte(npyMagic)):
		a, err := openArray(text, in.Name, o.Limits)
		if err != nil {
			return recognition{}, err
		}
		r, err := newArrayRows(a)
		return recognition{format: "a NumPy array", rows: r}, err
	case bytes.HasPrefix(bytes.ToLower(head), bytes.ToLower([]byte(marketMagic))):
		return recognition{market: true, text: text}, nil
	case bytes.HasPrefix(head, []byte(sparse.MappedMagic)):
		return recognition{mapped: true}, nil
	case bytes.HasPrefix(head, []byte(zipMagic)):
		if in.File() == nil || in.Unpacks() {
			return recognition{}, refused(in.Name, "a ZIP archive, which cannot be read from a stream or from inside another file; give the file itself")
		}
		z, err := openArchive(in.File(), in.Name, o.Limits)
		return recognition{archive: z}, err
	}
	for _, f := range o.Formats {
		if beginsWith(head, f.Magic) {
			return f.recognise(in)
		}
	}
	if known := foreignFormat(head); known != "" {
		return recognition{}, refused(in.Name, known)
	}
	rest, marked := bytes.CutPrefix(head, []byte("\xef\xbb\xbf"))
	if marked { // UTF-8, as some editors write it
		_, _ = text.Discard(3)
	}
	if separator, length := declaredSeparator(rest); length > 0 {
		_, _ = text.Discard(length)
		return separatedRows(in, text, separator, 1, o)
	}
	length, before := leadingComments(rest)
	_, _ = text.Discard(length)
	switch form := textForm(rest[length:]); form {
	case svmlightText, labelsAlone:
		return recognition{format: "svmlight text", svmlight: true, labels: form == labelsAlone, text: text}, nil
	case 0:
		return recognition{}, refused(in.Name, "text that is neither svmlight, \"label index:value ...\", nor a table: cells with commas, semicolons, tabs or bars between, or as many numbers or words in quotes in each line with blanks between")
	case ' ':
		r, err := newBlankRows(in.Name, text, o.Header)
		return recognition{format: "a table with blanks between", rows: r}, err
	default:
		return separatedRows(in, text, form, before, o)
	}
}

// declaredSeparator returns the separator that a first line such as sep=; declares, as Excel writes it, and the length
// of that line; 0 where there is no such line.
func declaredSeparator(head []byte) (separator byte, length int) {
	line, _, whole := bytes.Cut(head, []byte{'\n'})
	text := strings.Trim(strings.TrimSuffix(string(line), "\r"), `"`)
	if name, sep, ok := strings.Cut(text, "="); whole && ok && strings.EqualFold(name, "sep") && len(sep) == 1 && strings.Contains(separators, sep) {
		return sep[0], len(line) + 1
	}
	return 0, 0
}

// separatedRows reads a text as a table with a separator between cells. before is the number of lines already read.
func separatedRows(in *input.Input, text *bufio.Reader, separator byte, before int, o Options) (recognition, error) {
	r, err := newCSVRows(in.Name, text, separator, before, o)
	if err != nil {
		return recognition{}, err
	}
	return recognition{format: r.format(), rows: r}, nil
}

// recognise opens a file of a further format.
func (f Format) recognise(in *input.Input) (recognition, error) {
	if in.File() == nil || in.Unpacks() {
		return recognition{}, refused(in.Name, f.Name+", which cannot be read from a stream or from inside another file; give the file itself")
	}
	info, err := in.File().Stat()
	if err != nil {
		return recognition{}, in.Failed(err)
	}
	rows, err := f.Open(in.File(), info.Size(), in.Name)
	return recognition{format: f.Name, rows: rows}, err
}

func refused(name, what string) error {
	return &outcome.Error{Kind: outcome.Parse, File: name, Message: "this is " + what}
}

// firstLine returns what has been buffered so far: at least one line, or the whole text, or as much as the
// buffer holds.
func firstLine(r *bufio.Reader) ([]byte, error) {
	for n := 1; ; n = r.Buffered() + 1 {
		_, err := r.Peek(min(n, r.Size()))
		head, _ := r.Peek(r.Buffered())
		switch {
		case bytes.IndexByte(head, '\n') >= 0:
			return head, nil
		case len(head) == r.Size(): // up to the last cell that is whole
			if end := bytes.LastIndexAny(head, " \t,;"); end > 0 {
				head = head[:end]
			}
			return head, nil
		case errors.Is(err, io.EOF):
			return head, nil
		case err != nil:
			return nil, err
		}
	}
}

// beginsWith reports whether a file begins with the magic bytes of a format, rather than with a table whose
// first column has that name, such as PAR1.
func beginsWith(head []byte, mark string) bool {
	rest, ok := bytes.CutPrefix(head, []byte(mark))
	return ok && (len(rest) == 0 || strings.IndexByte(separators, rest[0]) < 0)
}

// jsonText, bracket and markup match the beginnings of JSON and markup. Column names such as [Ca], {x} and <18
// do not match as such, nor do cells such as [1] and [0, 1) with another cell on their line.
var (
	jsonText = regexp.MustCompile(`^(\[\s*([-\d\[{"\]]|$)|\{\s*(["}]|$))`)
	bracket  = regexp.MustCompile(`^\[[^][{}"\n]*[])][ \t]*\S`)
	markup   = regexp.MustCompile(`^<[A-Za-z!?]`)
)

// foreignFormat says what a file is that cannot be read here; "" if its beginning does not show that.
func foreignFormat(head []byte) string {
	for _, f := range []struct{ magic, name string }{
		{`{"pare_model":`, "a saved model, which pare predict MODEL FILE takes, not data"},
		{"PAR1", "a Parquet file, which this program cannot read"},
		{"ARROW1", "an Arrow file; write Parquet or CSV instead"},
		{"FEA1", "a Feather file; write Parquet or CSV instead"},
		{"\x89HDF", "an HDF5 file; write .npz, Parquet or CSV instead"},
		{"\xd0\xcf\x11\xe0", "an old Excel workbook; save it as CSV"},
		{"\xfd7zXZ", "xz data; decompress it, or compress with gzip or zstd"},
		{"\x04\x22\x4d\x18", "lz4 data; decompress it, or compress with gzip or zstd"},
		{"7z\xbc\xaf", "a 7z archive; decompress it"},
		{"\x80\x02", "a Python pickle; write .npz, Parquet or CSV instead"},
		{"\x80\x03", "a Python pickle; write .npz, Parquet or CSV instead"},
		{"\x80\x04", "a Python pickle; write .npz, Parquet or CSV instead"},
		{"\x80\x05", "a Python pickle; write .npz, Parquet or CSV instead"},
		{"version https://git-lfs", "a Git LFS pointer, not the file itself; fetch the file with git lfs pull"},
		{"RDX", "an R data file; write CSV or Parquet instead"},
		{"X\n\x00\x00", "an R data file; write CSV or Parquet instead"},
		{"MATLAB 5", "a Matlab file; write .npz or CSV instead"},
		{"SQLite format", "an SQLite database; export the table as CSV"},
		{"%PDF", "a PDF document"},
		{"\x89PNG", "a picture"},
		{"\x7fELF", "a program"},
		{"\xff\xfe", "UTF-16 text; save it as UTF-8"},
		{"\xfe\xff", "UTF-16 text; save it as UTF-8"},
	} {
		if beginsWith(head, f.magic) {
			return f.name
		}
	}
	const tarMagic, tarAt = "ustar", 257
	switch first := bytes.TrimLeft(head, " \t\r\n"); {
	case len(head) > tarAt && bytes.HasPrefix(head[tarAt:], []byte(tarMagic)):
		return "a tar archive; unpack it and give the file inside"
	case bytes.IndexByte(head, 0) >= 0:
		return "binary data of an unknown kind"
	case jsonText.Match(first) && !bracket.Match(first):
		return "JSON; write CSV or Parquet instead"
	case markup.Match(first):
		return "XML or HTML; write CSV instead"
	case bytes.IndexByte(head, '\n') < 0 && bytes.IndexByte(bytes.TrimRight(head, "\r"), '\r') >= 0:
		return "text whose lines end in carriage returns only; write line feeds instead"
	}
	return ""
}

// separators are the bytes that may separate cells.
const separators = ",;\t|"

// leadingComments returns the length and number of the leading lines that begin with #, where a table with a separator
// follows. If the last of them holds the column names, as NumPy writes them, it is not counted.
func leadingComments(head []byte) (length, lines int) {
	last := 0
	for length < len(head) && head[length] == '#' {
		end := bytes.IndexByte(head[length:], '\n')
		if end < 0 {
			return 0, 0
		}
		last, length = length, length+end+1
		lines++
	}
	below, form := sample(head[length:]), textForm(head[length:])
	switch {
	case lines == 0 || len(below) == 0 || strings.IndexByte(separators, form) < 0:
		return 0, 0
	case bytes.Count(head[last:length], []byte{form}) == strings.Count(below[0], string(form)):
		return last, lines - 1
	default:
		return length, lines
	}
}

// svmlightText and labelsAlone are forms of svmlight text; any other form is the byte that separates cells.
const (
	svmlightText byte = ':'
	labelsAlone  byte = '1'
)

// textForm says what the first lines of a text look like: svmlight text, a table (it returns the separator), or
// neither (0).
func textForm(head []byte) byte {
	lines := sample(head)
	if len(lines) == 0 {
		return svmlightText // nothing, or blank lines: a file without rows
	}
	labels, others := 0, 0
	for _, line := range lines {
		fields := strings.Fields(withoutComment(line))
		if len(fields) > 1 && isEntry(fields[1]) {
			return svmlightText
		}
		if _, err := parseNumber(strings.TrimSpace(withoutComment(line))); err == nil {
			labels++
		} else if len(fields) > 0 {
			others++
		}
	}
	switch {
	case others > 0:
	case labels > 0:
		return labelsAlone
	default:
		return svmlightText // comments
	}
	for _, separator := range []byte{'\t', ';', ',', '|'} {
		if n := strings.Count(lines[0], string(separator)); n > 0 && separates(lines, separator) {
			return separator
		}
	}
	most, form := 0, byte(0)
	for _, separator := range []byte{'\t', ',', ';'} {
		if n := strings.Count(lines[0], string(separator)); n > most {
			most, form = n, separator
		}
	}
	switch {
	case form != 0:
		return form
	case isBlankTable(lines):
		return ' '
	case oneColumn(lines):
		return ','
	default:
		return 0
	}
}

// sample returns the first nonblank lines: complete ones, and an incomplete one only if it is the first.
func sample(head []byte) []string {
	const most = 20
	var lines []string
	for len(head) > 0 && len(lines) < most {
		line, rest, whole := bytes.Cut(head, []byte{'\n'})
		head = rest
		if text := strings.TrimRight(string(line), "\r"); strings.TrimSpace(text) != "" && (whole || len(lines) == 0) {
			lines = append(lines, text)
		}
	}
	return lines
}

func withoutComment(line string) string {
	text, _, _ := strings.Cut(line, "#")
	return text
}

// isEntry reports whether a field looks like the index:value or qid after a label in svmlight text.
func isEntry(field string) bool {
	index, _, ok := strings.Cut(field, ":")
	if !ok || index == "" {
		return false
	}
	return index == "qid" || strings.Trim(index, "+-0123456789") == ""
}

// separates reports whether all lines have the same number of a separator, one at least, not counting what is
// in quotes.
func separates(lines []string, separator byte) bool {
	want := 0
	for k, line := range lines {
		n, quoted := 0, false
		for i := range len(line) {
			switch {
			case line[i] == '"':
				quoted = !quoted
			case line[i] == separator && !quoted:
				n++
			}
		}
		if k > 0 && n != want || n == 0 {
			return false
		}
		want = n
	}
	return true
}

// isBlankTable reports whether each line has the same number, two or more, of cells separated by blanks, all of
// them numbers, missing or quoted words. The first line may be names, of all cells below or of all but the
// first; below quoted names, cells may be any words.
func isBlankTable(lines []string) bool {
	first, _ := fields(lines[0])
	names, _ := namesOf(first)
	width := len(names)
	if len(lines) == 1 {
		return width > 1 && !slices.ContainsFunc(names, func(cell string) bool { return !isNumber(cell) })
	}
	words := !slices.ContainsFunc(names, func(cell string) bool { return unquoted(cell) == cell })
	for k, line := range lines[1:] {
		cells, _ := fields(line)
		if k == 0 && len(cells) == width+1 {
			width++
		}
		if width < 2 || len(cells) != width || !words && slices.ContainsFunc(cells, isBareWord) {
			return false
		}
	}
	return true
}

func isNumber(cell string) bool {
	_, err := parseNumber(cell)
	return err == nil
}

// isBareWord reports whether a cell is a word without quotes: neither a number, nor quoted, nor missing.
func isBareWord(cell string) bool {
	return !isNumber(cell) && !missingWord(cell) && unquoted(cell) == cell
}

// oneColumn reports whether lines are a name with one number or word per line below. A name of several words
// must be quoted, or have only numbers below.
func oneColumn(lines []string) bool {
	name := strings.TrimSpace(lines[0])
	words := len(strings.Fields(name)) == 1 || unquoted(name) != name
	for _, line := range lines[1:] {
		cell := strings.TrimSpace(line)
		if len(strings.Fields(cell)) != 1 && unquoted(cell) == cell || !words && isBareWord(cell) {
			return false
		}
	}
	return len(lines) > 1
}
