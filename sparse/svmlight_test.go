package sparse_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

var (
	files = flag.Int("files", 3000, "random files for the differential test of the reader")
	long  = flag.Bool("long", false, "also run the long tests of time and memory")
)

func read(text string, opt sparse.ReadOptions) (*sparse.CSC, []float64, error) {
	return sparse.ReadSVMLight(context.Background(), strings.NewReader(text), opt)
}

// TestReaderAgreesWithReference is the differential test: same matrix, labels,
// and errors as the slow parser, whatever the size of buffer and reads.
func TestReaderAgreesWithReference(t *testing.T) {
	rejected := 0
	for seed := range *files {
		g := &textMaker{Rand: rand.New(rand.NewPCG(uint64(seed), 1)), base: 1}
		opt := sparse.ReadOptions{}
		if g.IntN(4) == 0 {
			g.base, opt.ZeroBased = 0, true
		}
		switch g.IntN(8) {
		case 0:
			opt.Features = 1 + g.IntN(40)
		case 1:
			opt.MaxFeatures = 1 + g.IntN(40)
		}
		g.p = []int{0, 2, 10, 1e6, 1e7}[g.IntN(5)]
		lines := g.IntN(12)
		if g.IntN(20) == 0 {
			lines = 300
		}
		text := g.file(lines)
		want, wantErr := referenceParse(text, opt)
		if wantErr != nil {
			rejected++
		}

		var r io.Reader = bytes.NewReader(text)
		switch g.IntN(4) {
		case 0:
			r = iotest.DataErrReader(r)
		case 1:
			r = &pieces{r, g.Rand, 1 + g.IntN(5000)}
		}
		m, y, err := sparse.ReadWithBuffer(context.Background(), r, opt, make([]byte, sparse.SmallestBuffer+g.IntN(300)))
		if err := checkAgainst(want, wantErr, m, y, err); err != nil {
			t.Fatalf("seed %d: %v\noptions %+v\n%.2000q", seed, err, opt, text)
		}
	}
	if share := float64(rejected) / float64(*files); share < 0.1 || share > 0.9 {
		t.Errorf("%.0f %% of the files are rejected: the test is lopsided", 100*share)
	}
}

// TestVerdicts is the table of what is accepted and what is not, and where the
// error points. Every text is line 2 of its file.
func TestVerdicts(t *testing.T) {
	const accepted = outcome.Kind("")
	for _, c := range []struct {
		name, line string
		kind       outcome.Kind
		byt        int64
		says       string
	}{
		{"the usual", "+1 1:0.5 3:-2", accepted, 0, ""},
		{"label alone", "3", accepted, 0, ""},
		{"real label", "-1.5e-3 1:1", accepted, 0, ""},
		{"tabs", "1\t1:1\t\t2:1\t", accepted, 0, ""},
		{"carriage return", "1 1:1\r", accepted, 0, ""},
		{"qid", "1 qid:7 1:1", accepted, 0, ""},
		{"qid alone", "1 qid:7", accepted, 0, ""},
		{"long qid", "1 qid:99999999999999999999999 1:1", accepted, 0, ""},
		{"comment", "1 1:1 # 1:2 : nan \x00", accepted, 0, ""},
		{"comment at once", "1 1:1#x", accepted, 0, ""},
		{"comment after label", "1#x", accepted, 0, ""},
		{"comment after qid", "1 qid:1#x", accepted, 0, ""},
		{"plus in a value", "1 1:+5", accepted, 0, ""},
		{"no digit before the point", "1 1:.5", accepted, 0, ""},
		{"no digit after the point", "1 1:5.", accepted, 0, ""},
		{"leading zeros in a value", "1 1:007", accepted, 0, ""},
		{"capital exponent", "1 1:1E5", accepted, 0, ""},
		{"zero", "1 1:0 2:-0.0 3:0e999", accepted, 0, ""},
		{"largest float64", "1 1:1.7976931348623157e308", accepted, 0, ""},
		{"least subnormal", "1 1:5e-324", accepted, 0, ""},

		{"index 0", "1 0:1", outcome.Parse, 3, "index 0 where indices count from 1"},
		{"negative index", "1 -1:1", outcome.Parse, 3, `found "-1:1"`},
		{"signed index", "1 +5:1", outcome.Parse, 3, `found "+5:1"`},
		{"index 007", "1 007:1", outcome.Parse, 3, "leading zero"},
		{"index 00", "1 00:1", outcome.Parse, 3, "leading zero"},
		{"unsorted", "1 1:1 3:1 2:1", outcome.Parse, 11, "index 2 after index 3"},
		{"duplicate", "1 1:1 2:1 2:1", outcome.Parse, 11, "index 2 after index 2"},
		{"duplicate zero", "1 1:0 1:1", outcome.Parse, 7, "index 1 after index 1"},
		{"index beyond the default limit", "1 67108865:1", outcome.Limit, 3, "67108864 columns"},
		{"index 2^31-2", "1 2147483646:1", outcome.Limit, 3, "limit"},
		{"index 2^31", "1 2147483648:1", outcome.Limit, 3, "limit"},
		{"index 2^32+1", "1 4294967297:1", outcome.Limit, 3, "limit"},
		{"index 2^62", "1 4611686018427387904:1", outcome.Limit, 3, "limit"},
		{"index 2^63", "1 9223372036854775808:1", outcome.Limit, 3, "limit"},
		{"index 2^64+1", "1 18446744073709551617:1", outcome.Limit, 3, "limit"},
		{"index of 10000 digits", "1 1" + strings.Repeat("0", 9999) + ":1", outcome.Limit, 3, "limit"},
		{"index with a point", "1 1.0:1", outcome.Parse, 4, `want a colon after the index, found ".0:1"`},
		{"index with a letter", "1 x:1", outcome.Parse, 3, `want an index, found "x:1"`},
		{"hexadecimal index", "1 0x1:1", outcome.Parse, 3, "index 0"},

		{"nan", "1 1:nan", outcome.Parse, 5, `want a value, found "nan"`},
		{"NaN", "1 1:NaN", outcome.Parse, 5, ""},
		{"inf", "1 1:inf", outcome.Parse, 5, ""},
		{"-inf", "1 1:-inf", outcome.Parse, 5, ""},
		{"Infinity", "1 1:Infinity", outcome.Parse, 5, ""},
		{"hexadecimal", "1 1:0x1p-2", outcome.Parse, 5, `found "0x1p-2"`},
		{"underscore", "1 1:1_0", outcome.Parse, 5, `found "1_0"`},
		{"1e400", "1 1:1e400", outcome.Parse, 5, "outside the range of float64"},
		{"just beyond the largest", "1 1:1.7976931348623159e308", outcome.Parse, 5, "outside the range"},
		{"1e-400", "1 1:1e-400", outcome.Parse, 5, "outside the range of float64"},
		{"half the least subnormal", "1 1:2.4703282292062327e-324", outcome.Parse, 5, "outside the range"},
		{"exponent beyond int64", "1 1:1e99999999999999999999", outcome.Parse, 5, "outside the range"},
		{"decimal comma", "1 1:1,5", outcome.Parse, 5, `found "1,5"`},
		{"no value", "1 1:", outcome.Parse, 5, "want a value, found the end of the line"},
		{"no value, more follows", "1 1: 2:1", outcome.Parse, 5, "found a blank"},
		{"no value, comment", "1 1:#", outcome.Parse, 5, "found a comment"},
		{"no index", "1 :1", outcome.Parse, 3, `found ":1"`},
		{"no colon", "1 1 2:1", outcome.Parse, 4, "want a colon after the index, found a blank"},
		{"no colon at the end", "1 1", outcome.Parse, 4, "found the end of the line"},
		{"two colons", "1 1::1", outcome.Parse, 5, `found ":1"`},
		{"two values", "1 1:2:3", outcome.Parse, 5, `found "2:3"`},
		{"space before the colon", "1 1 :1", outcome.Parse, 4, ""},
		{"space after the colon", "1 1: 1", outcome.Parse, 5, ""},
		{"sign alone", "1 1:-", outcome.Parse, 5, ""},
		{"two signs", "1 1:+-1", outcome.Parse, 5, ""},
		{"point alone", "1 1:.", outcome.Parse, 5, ""},
		{"exponent without digits", "1 1:1e", outcome.Parse, 5, ""},
		{"exponent with a sign only", "1 1:1e+", outcome.Parse, 5, ""},
		{"exponent alone", "1 1:e5", outcome.Parse, 5, ""},
		{"two points", "1 1:1.2.3", outcome.Parse, 5, ""},
		{"letter after a value", "1 1:1f", outcome.Parse, 5, `found "1f"`},
		{"non-breaking space", "1\u00a01:1", outcome.Parse, 1, ""},
		{"vertical tab", "1 1:1\v2:1", outcome.Parse, 5, ""},
		{"Arabic digits", "1 1:\u0661", outcome.Parse, 5, ""},

		{"no label", "1:1 2:1", outcome.Parse, 1, `want a label, found "1:1"`},
		{"label a word", "spam 1:1", outcome.Parse, 1, `want a label, found "spam"`},
		{"label nan", "nan 1:1", outcome.Parse, 1, ""},
		{"label 1e400", "1e400 1:1", outcome.Parse, 1, "a label outside the range"},
		{"several labels", "1,2 1:1", outcome.Parse, 1, `found "1,2"`},
		{"qid without digits", "1 qid: 1:1", outcome.Parse, 3, "digits after qid:"},
		{"qid with a letter", "1 qid:a 1:1", outcome.Parse, 3, "digits after qid:"},
		{"qid later", "1 1:1 qid:1", outcome.Parse, 7, "want an index"},
		{"qid twice", "1 qid:1 qid:1", outcome.Parse, 9, "want an index"},
		{"q", "1 q", outcome.Parse, 3, "want an index"},
		{"carriage returns for lines", "1 1:1\r-1 1:1", outcome.Parse, 7, "want an index"},
		{"carriage returns for lines, labels", "1 1:1\r2 1:1", outcome.Parse, 8, "want a colon"},

		{"NUL", "1 1:1\x00", outcome.Parse, 5, `found "1\x00"`},
		{"NUL alone", "\x00", outcome.Parse, 1, `found "\x00"`},
		{"NUL in the label", "1\x00 1:1", outcome.Parse, 1, ""},
		{"NUL in the index", "1 1\x00:1", outcome.Parse, 4, ""},
		{"byte order mark", "\ufeff1 1:1", outcome.Parse, 1, ""},
		{"UTF-16", "1\x00 \x001\x00", outcome.Parse, 1, ""},

		{"long number", "1 1:1" + strings.Repeat("0", 4096), outcome.Limit, 5, "more than 4096 bytes"},
		{"long fraction", "1 1:0." + strings.Repeat("3", 4095), outcome.Limit, 5, "more than 4096 bytes"},
		{"longer than any buffer", "1 1:" + strings.Repeat("3", 200_000), outcome.Limit, 5, "more than 4096 bytes"},
		{"long exponent", "1 1:1e" + strings.Repeat("0", 5000) + "1", outcome.Limit, 5, "more than 4096 bytes"},
		{"long label", strings.Repeat("3", 5000), outcome.Limit, 1, "a label of more than 4096 bytes"},
		{"longest number", "1 1:0." + strings.Repeat("3", 4094), accepted, 0, ""},
		{"longest qid", "1 qid:" + strings.Repeat("3", 4092), accepted, 0, ""},
		{"long qid, longer than allowed", "1 qid:" + strings.Repeat("3", 4093), outcome.Limit, 3, "a qid of more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, end := range []string{"\n", "", "\n1 1:1\n", "\r\n" + strings.Repeat("1 1:1\n", 20_000)} {
				m, y, err := read("-1 2:1\n"+c.line+end, sparse.ReadOptions{Name: "some.svm"})
				if c.kind == accepted {
					if err != nil {
						t.Fatalf("rejected: %v", err)
					}
					continue
				}
				var e *outcome.Error
				if !errors.As(err, &e) {
					t.Fatalf("error is %v, want a typed one", err)
				}
				if e.Kind != c.kind || e.Line != 2 || e.Byte != c.byt || e.File != "some.svm" {
					t.Errorf("%s at %s line %d, byte %d; want %s at line 2, byte %d (%v)", e.Kind, e.File, e.Line, e.Byte, c.kind, c.byt, e)
				}
				if !strings.Contains(e.Error(), c.says) {
					t.Errorf("message %q does not say %q", e, c.says)
				}
				if len(e.Error()) > 200 {
					t.Errorf("message of %d bytes", len(e.Error()))
				}
				if m != nil || y != nil {
					t.Error("a partial matrix escaped")
				}
			}
		})
	}
}

// TestForeignFiles: files that are no svmlight text say what they are.
func TestForeignFiles(t *testing.T) {
	for text, says := range map[string]string{
		"\xef\xbb\xbf1 1:1\n":          "a byte order mark",
		"\xff\xfe1\x00 \x00":           "UTF-16",
		"\xfe\xff\x001\x00 ":           "UTF-16",
		"\x1f\x8b\x08\x00\x00\x00":     "gzip data",
		"BZh91AY&SY":                   "bzip2 data",
		"\x28\xb5\x2f\xfd\x04\x00":     "zstd data",
		"%%MatrixMarket matrix\n":      "%%MatrixMarket",
		"a,b,c\n1,2,3\n":               "a,b,c",
		"{\"json\": true}":             "json",
		"\ufeff":                       "a byte order mark",
		" 1:1 2:1":                     "want a label",
		"\x00\x00\x00\x00\x00\x00\x00": `\x00`,
	} {
		_, _, err := read(text, sparse.ReadOptions{})
		if outcome.KindOf(err) != outcome.Parse || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want a parse error that says %q", text, err, says)
		}
	}
}

func TestTextsWithoutRows(t *testing.T) {
	for _, text := range []string{"", "\n", "\r\n", "\n\n\n", "   ", "#", "# comment", "#\n#\n", " \t\r\n #x"} {
		m, y, err := read(text, sparse.ReadOptions{Features: 3})
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if n, p := m.Dims(); n != 0 || p != 3 || m.NNZ() != 0 || len(y) != 0 {
			t.Errorf("%q: %d × %d with %d nonzeros", text, n, p, m.NNZ())
		}
		if m, _, _ := read(text, sparse.ReadOptions{}); len(m.Order()) != 0 {
			t.Errorf("%q: columns %v", text, m.Order())
		}
	}
}

func TestReadOptions(t *testing.T) {
	for _, c := range []struct {
		name string
		text string
		opt  sparse.ReadOptions
		kind outcome.Kind // "" where it is read
		p    int
		line int
		byt  int64
	}{
		{"largest index", "1 2:1 7:1\n1 3:1", sparse.ReadOptions{}, "", 7, 0, 0},
		{"a zero names its column", "1 2:1 9:0", sparse.ReadOptions{}, "", 9, 0, 0},
		{"zero-based", "1 0:1 7:1", sparse.ReadOptions{ZeroBased: true}, "", 8, 0, 0},
		{"stated", "1 2:1", sparse.ReadOptions{Features: 5}, "", 5, 0, 0},
		{"stated, reached", "1 5:1", sparse.ReadOptions{Features: 5}, "", 5, 0, 0},
		{"stated, exceeded", "1 1:1\n1 2:1 6:1", sparse.ReadOptions{Features: 5}, outcome.Shape, 0, 2, 7},
		{"stated, exceeded by far", "1 99999999999999:1", sparse.ReadOptions{Features: 5}, outcome.Shape, 0, 1, 3},
		{"stated, exceeded zero-based", "1 5:1", sparse.ReadOptions{Features: 5, ZeroBased: true}, outcome.Shape, 0, 1, 3},
		{"stated beyond the default limit", "1 67108865:1", sparse.ReadOptions{Features: sparse.MaxDim}, "", sparse.MaxDim, 0, 0},
		{"stated beyond 2^31-2", "", sparse.ReadOptions{Features: sparse.MaxDim + 1}, outcome.Limit, 0, 0, 0},
		{"stated beyond the limit", "", sparse.ReadOptions{Features: 9, MaxFeatures: 8}, outcome.Limit, 0, 0, 0},
		{"limit raised", "1 2147483646:1", sparse.ReadOptions{MaxFeatures: math.MaxInt}, "", sparse.MaxDim, 0, 0},
		{"limit raised, still 2^31-2", "1 2147483647:1", sparse.ReadOptions{MaxFeatures: math.MaxInt}, outcome.Limit, 0, 1, 3},
		{"limit raised, zero-based", "1 2147483645:1", sparse.ReadOptions{MaxFeatures: math.MaxInt, ZeroBased: true}, "", sparse.MaxDim, 0, 0},
		{"default limit reached", "1 67108864:1", sparse.ReadOptions{}, "", sparse.DefaultMaxFeatures, 0, 0},
		{"features limit", "1 8:1\n1 9:1", sparse.ReadOptions{MaxFeatures: 8}, outcome.Limit, 0, 2, 3},
		{"entries", "1 1:1 2:0 3:1\n1 1:1", sparse.ReadOptions{MaxEntries: 3}, "", 3, 0, 0},
		{"entries limit", "1 1:1 2:0 3:1\n1 1:1 2:1", sparse.ReadOptions{MaxEntries: 3}, outcome.Limit, 0, 2, 7},
		{"line", "1 1:1\n1 1:1\r\n", sparse.ReadOptions{MaxLineBytes: 6}, "", 1, 0, 0},
		{"line limit", "1 1:1\n1 1:11\r\n", sparse.ReadOptions{MaxLineBytes: 6}, outcome.Limit, 0, 2, 7},
		{"line limit, comment", "#2345\n#23456\n", sparse.ReadOptions{MaxLineBytes: 5}, outcome.Limit, 0, 2, 6},
		{"line limit, blanks", "1\n      \n", sparse.ReadOptions{MaxLineBytes: 5}, outcome.Limit, 0, 2, 6},
		{"line limit, last line", "1 1:123", sparse.ReadOptions{MaxLineBytes: 6}, outcome.Limit, 0, 1, 7},
		{"line limit before what is wrong later", "1 1:1 2:1 x", sparse.ReadOptions{MaxLineBytes: 6}, outcome.Limit, 0, 1, 7},
		{"wrong before the line limit", "x 1:1 2:1 x", sparse.ReadOptions{MaxLineBytes: 6}, outcome.Parse, 0, 1, 1},
		{"negative features", "", sparse.ReadOptions{Features: -1}, outcome.BadParameter, 0, 0, 0},
		{"negative features limit", "", sparse.ReadOptions{MaxFeatures: -1}, outcome.BadParameter, 0, 0, 0},
		{"negative entries", "", sparse.ReadOptions{MaxEntries: -1}, outcome.BadParameter, 0, 0, 0},
		{"negative line", "", sparse.ReadOptions{MaxLineBytes: -1}, outcome.BadParameter, 0, 0, 0},
	} {
		m, _, err := read(c.text, c.opt)
		if c.kind == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			} else if _, p := m.Dims(); p != c.p {
				t.Errorf("%s: %d columns, want %d", c.name, p, c.p)
			}
			continue
		}
		var e *outcome.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Line != c.line || e.Byte != c.byt {
			t.Errorf("%s: error %v, want %s at line %d, byte %d", c.name, err, c.kind, c.line, c.byt)
		}
	}
}

// TestFewEntriesInManyColumns: a matrix with far more columns than entries
// costs what its entries cost, and its columns are found all the same.
func TestFewEntriesInManyColumns(t *testing.T) {
	m, _, err := read("1 5:1 2147483646:2\n-1 1000000:3 2147483646:4\n", sparse.ReadOptions{Features: sparse.MaxDim})
	if err != nil {
		t.Fatal(err)
	}
	if err := checkInvariants(m); err != nil {
		t.Error(err)
	}
	if m.Bytes() > 200 {
		t.Errorf("%d bytes for 4 nonzeros", m.Bytes())
	}
	for j, want := range map[int]string{
		4: "[0] [1]", 999_999: "[1] [3]", 2147483645: "[0 1] [2 4]",
		0: "[] []", 5: "[] []", 999_998: "[] []", 2147483644: "[] []",
	} {
		rows, values := m.Column(j)
		if got := fmt.Sprint(rows, values); got != want || rows == nil {
			t.Errorf("column %d is %s, want %s", j, got, want)
		}
	}
	for _, j := range []int{-1, sparse.MaxDim, sparse.MaxDim + 1, math.MaxInt} {
		if !panics(func() { m.Column(j) }) {
			t.Errorf("column %d exists", j)
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// TestFailingReaders: a reader's error arrives with its cause and place, and
// readers that return nothing for ever are given up.
func TestFailingReaders(t *testing.T) {
	broken := errors.New("broken")
	for _, text := range []string{"", "1 1:1\n1 1:", "1 1:1\n" + strings.Repeat("1 1:1 2:2\n", 20_000)} {
		r := io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken))
		m, y, err := sparse.ReadSVMLight(context.Background(), r, sparse.ReadOptions{Name: "f"})
		var e *outcome.Error
		if !errors.As(err, &e) || e.Kind != outcome.IO || e.File != "f" || e.Line < 1 || !errors.Is(err, broken) || m != nil || y != nil {
			t.Errorf("after %d bytes: %v", len(text), err)
		}
	}
	_, _, err := sparse.ReadSVMLight(context.Background(), silent{}, sparse.ReadOptions{})
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a silent reader gives %v", err)
	}
}

type silent struct{}

func (silent) Read([]byte) (int, error) { return 0, nil }

// TestErrorsDoNotDependOnReads: the same error from the same text, however it
// arrives.
func TestErrorsDoNotDependOnReads(t *testing.T) {
	tail := strings.Repeat("x", 9000)
	for _, text := range []string{
		strings.Repeat("1 1:1 2:2\n", 700) + "1 1:2:3" + tail,
		"1 " + strings.Repeat(" ", 70_000) + "z",
		"1 1:" + strings.Repeat("9", 4096) + "e" + tail,
		"1 1:" + strings.Repeat("9", 4095) + "e" + tail,
		"1 1:" + strings.Repeat("9", 4094) + "e" + tail,
		"1 1:1e" + strings.Repeat("9", 4094) + tail,
		"1 qid:" + strings.Repeat("9", 4092) + tail,
		"#" + strings.Repeat("c", 70_000) + "\n?",
	} {
		_, _, want := read(text, sparse.ReadOptions{})
		if want == nil {
			t.Fatalf("%.20q is accepted", text)
		}
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 2))
			in := &pieces{strings.NewReader(text), r, 1 + r.IntN(3000)}
			_, _, err := sparse.ReadWithBuffer(context.Background(), in, sparse.ReadOptions{}, make([]byte, sparse.SmallestBuffer+r.IntN(100)))
			if err == nil || err.Error() != want.Error() {
				t.Errorf("%.20q: %v in pieces, %v at once", text, err, want)
			}
		}
	}
}

func FuzzReadSVMLight(f *testing.F) {
	for _, text := range []string{
		"", "1 1:1\n", "-1 qid:3 1:.5 3:2e1 # x\r\n\n+1 2:0\n", "1 2147483646:1\n1 9:9", "1 1:1 1:1", "1 1:nan", "1 1:1e400",
		"1\x00", "\xef\xbb\xbf1 1:1", "0 0:1", "1 007:1", "1e-320 1:4.9e-324 3:123456789012345678901234567890e-20",
		"1 1:1 2:2\r2 1:1", "#", "1 :", "1 1:1 4294967297:1",
	} {
		f.Add([]byte(text), uint16(0), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, features uint16, zeroBased bool) {
		if len(text) > 1<<16 {
			return
		}
		opt := sparse.ReadOptions{Features: int(features), ZeroBased: zeroBased}
		want, wantErr := referenceParse(text, opt)
		m, y, err := sparse.ReadWithBuffer(context.Background(), bytes.NewReader(text), opt, make([]byte, sparse.SmallestBuffer))
		if e := (*outcome.Error)(nil); errors.As(err, &e) && strings.Contains(e.Message, "a qid of more") {
			return // a limit that the reference does not know
		}
		if err := checkAgainst(want, wantErr, m, y, err); err != nil {
			t.Error(err)
		}
	})
}
