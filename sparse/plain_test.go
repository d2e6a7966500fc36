package sparse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// scannedBy reads a text, plain lines by the fast route and other lines by the general one, or all
// lines by the general one.
func scannedBy(t *testing.T, text string, opt ReadOptions, buffer int, plainly bool) (s *scanner, err error) {
	t.Helper()
	if s, err = newScanner(context.Background(), strings.NewReader(text), opt, make([]byte, buffer)); err != nil {
		t.Fatal(err)
	}
	if !plainly {
		s.retryAt = math.MaxInt
	}
	return s, s.scan()
}

// rowsOf returns the contents of a journal as text.
func rowsOf(g *journal) string {
	var b strings.Builder
	var label float64
	for columns, values := range g.all(&label) {
		fmt.Fprintf(&b, "%x:", math.Float64bits(label))
		for k, j := range columns {
			fmt.Fprintf(&b, " %d:%x", j, math.Float64bits(values[k]))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// oddLines are lines with rare or invalid contents.
var oddLines = []string{
	"", " ", "#", "# 1 2:3", " 1 2:3", "1", "1 ", "1 #", "1 # 2:3", "1 2:3 ", "1  2:3", "1 2:3  4:5", "1\t2:3", "1 2:3\t", "1 2:3\r", "1\r", "1 \r", "\r",
	"+1 2:+3", "-1 2:-.5", "1 2:5.", "1 2:1e3", "1 2:-0", "-0 2:0", "1 2:0.0 3:1", "1 2:1_0", "1 2:0x1", "1 2:nan", "1 2:1e999", "1 2:1e-999",
	"1 2:3#", "1 2:3 #4:5", "1#", "1 qid:7 2:3", "1 qid:7", "1 qid: 2:3", "1 qid:x 2:3", "1 2:3 qid:7", "1 qid:7 qid:7", "1 qid:7 #",
	"1 02:3", "1 0:3", "1 2:3 2:4", "1 3:1 2:1", "1 -2:3", "1 +2:3", "1 2.:3", "1 2.0:3", "1 .2:3", "1 1e1:3", "1 2:", "1 :3", "1 :", "1:2", "1:2 3:4", "2:3", "1 2:3:4", "1 2 3:4", "1 2:3 4",
	"1 999999999:1", "1 9999999999:1", "1 123456789012345678901234567890:1", "1 2:12345678901234567", "1 2:0.12345678901234567", "1 2:123456789.12345678901234567890",
	"1 2:1 #" + strings.Repeat("x", 70), "1 2:" + strings.Repeat("1", 70),
}

// TestLinesArePlain checks that the fast route and the general one give the same rows or the same
// error.
func TestLinesArePlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plainly, lines := 0, 0
	for draw := range int(oracle.Draws(4_000)) {
		var b strings.Builder
		for range 1 + r.IntN(12) {
			if draw%2 == 1 && r.IntN(8) == 0 {
				b.WriteString(oddLines[r.IntN(len(oddLines))])
			} else {
				b.WriteString(strconv.FormatFloat(r.NormFloat64(), 'g', 1+r.IntN(4), 64))
				for j := 0; r.IntN(6) > 0; {
					j += 1 + r.IntN(1<<r.IntN(20))
					value := r.NormFloat64() * math.Pow10(r.IntN(12)-4)
					if r.IntN(3) == 0 {
						value = float64(r.IntN(200) - 20)
					}
					fmt.Fprintf(&b, " %d:%s", j, strconv.FormatFloat(value, "ffge"[r.IntN(4)], r.IntN(20), 64))
				}
			}
			b.WriteByte('\n')
		}
		text := b.String()
		if r.IntN(4) == 0 {
			text = text[:r.IntN(len(text))]
		}
		opt := ReadOptions{ZeroBased: r.IntN(4) == 0}
		if r.IntN(8) == 0 {
			opt.MaxEntries = 1 + int64(r.IntN(40))
			opt.MaxLineBytes = 1 + int64(r.IntN(200))
			opt.Limits.Rows = 1 + r.IntN(12)
		}
		buffer := []int{SmallestBuffer, 3 * window, bufferSize}[r.IntN(3)]
		want, wrong := scannedBy(t, text, opt, buffer, false)
		got, err := scannedBy(t, text, opt, buffer, true)
		if fmt.Sprint(err) != fmt.Sprint(wrong) {
			t.Fatalf("%q, %+v: %v, line by line %v", text, opt, err, wrong)
		}
		if err != nil {
			continue
		}
		if a, b := rowsOf(&got.rows), rowsOf(&want.rows); a != b || got.rows.n != want.rows.n || got.rows.nnz != want.rows.nnz ||
			got.width != want.width || got.sawZero != want.sawZero || got.line != want.line {
			t.Fatalf("%q: %d rows, %d columns, line %d\n%sline by line %d, %d, line %d\n%s", text, got.rows.n, got.width, got.line, a, want.rows.n, want.width, want.line, b)
		}
		if draw%2 == 0 {
			plainly, lines = plainly+len(got.plain.labels), lines+got.rows.n
		}
	}
	if plainly < lines*9/10 {
		t.Errorf("of %d lines %d were taken apart at once", lines, plainly)
	}
}

// TestWhatIsPlain checks that common lines take the fast route, each by itself.
func TestWhatIsPlain(t *testing.T) {
	plainly := []string{
		"1", "1 ", "1 #", "1 # 2:3", "1 2:3 ", "1 2:3\r", "1\r", "1 \r", "+1 2:+3", "-1 2:-.5", "1 2:1e3", "-0 2:0", "1 2:3 #4:5", "1 qid:7 2:3", "1 qid:7", "1 qid:7 #",
		"1 2:5.", "1 2:-0", "1 2:0.0 3:1", "1 999999999:1", "1 2:12345678901234567", "1 2:123456789.12345678901234567890", "1 2:" + strings.Repeat("1", 70), "1 2:0.12345678901234567", "1 2:1 #" + strings.Repeat("x", 70),
	}
	for _, line := range oddLines {
		s, err := newScanner(context.Background(), strings.NewReader(""), ReadOptions{}, []byte(line+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		s.end, s.atEnd, s.columns = len(s.buf), true, MaxDim
		took, err := s.plainLines()
		if err != nil {
			t.Fatal(err)
		}
		if want := slices.Contains(plainly, line); took != want {
			t.Errorf("%q: taken %v, want %v", line, took, want)
		}
	}
}
