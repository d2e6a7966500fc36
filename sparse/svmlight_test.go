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

	"github.com/seed-45b9a24c/pare/internal/oracle"
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

// TestReaderAgreesWithReference checks that matrix, labels and errors are those of the slow
// reference parser, for any size of buffer and reads.
func TestReaderAgreesWithReference(t *testing.T) {
	rejected, files := 0, oracle.Draws(*files)
	for seed := range files {
		g := &textMaker{Rand: rand.New(rand.NewPCG(seed, 1)), base: 1}
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
	if share := float64(rejected) / float64(files); share < 0.1 || share > 0.9 {
		t.Errorf("%.0f %% of the files are rejected: the test is lopsided", 100*share)
	}
}

// TestForeignFiles checks that the error for a file in another format names that format.
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
		" 1:1 2:1":                     "expected a label",
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
		kind outcome.Kind // "" if it can be read
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

// TestFewEntriesInManyColumns checks that a matrix with far more columns than entries takes
// memory for its entries only, and that its columns are still found.
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
			return // a limit that the reference does not have
		}
		if err := checkAgainst(want, wantErr, m, y, err); err != nil {
			t.Error(err)
		}
		opt.Threads = 2
		m, y, err = sparse.ReadSVMLight(context.Background(), bytes.NewReader(text), opt)
		if err := checkAgainst(want, wantErr, m, y, err); err != nil {
			t.Error("in blocks:", err)
		}
	})
}
