//go:build unix

package table_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
)

var _ = flag.Bool("long", false, "more and larger cases: minutes")

// texts returns tables and matrices of about the given number of bytes, each large in another
// way.
func texts(size int) map[string][]byte {
	lines := func(head, line string) []byte {
		return append([]byte(head), bytes.Repeat([]byte(line), size/len(line))...)
	}
	numbered := func(head, line string) []byte {
		b := bytes.NewBufferString(head)
		for k := 1; b.Len() < size; k++ {
			fmt.Fprintf(b, line, k)
		}
		return b.Bytes()
	}
	sized := func(line string, head func(entries int) string) []byte {
		n := size / (len(line) + 4)
		b := bytes.NewBufferString("%%MatrixMarket matrix " + head(n))
		for k := range n {
			fmt.Fprintf(b, line, k+1)
		}
		return b.Bytes()
	}
	values := size / len("0.25\n")
	return map[string][]byte{
		"CSV, rows":                lines("a,b,y\n", "1,-0.25,3e5\n"),
		"CSV, quotes now and then": lines("a,\"y\"\n1,2\n", "3,4\n5,\"6\"\n"),
		"CSV, one row":             append(lines("1", ",1"), '\n'),
		"CSV, empty lines":         lines("a,y\n1,2\n", "\n"),
		"CSV, long numbers":        lines("a,y\n", "0."+strings.Repeat("3", 4000)+",1\n"),
		"CSV, texts":               numbered("a,y\n", "word%d,1\n"),
		"CSV, one text":            append(lines("a,y\n", "x"), ",1\n"...),
		"CSV, quotes":              lines("a,y\n", "\"1\",2\n"),
		"CSV, quotes in quotes":    lines("a,y\n", "\"x\"\"\n\",2\n"),
		"CSV, one text in quotes":  append(lines("a,y\n\"", "x,\n"), "\",1\n"...),
		"CSV, missing values":      lines("a,b,y\n1,1,1\n", ",1,2\n"),
		"CSV, blanks":              lines("1 2\n", "  1   2  \n"),
		"mtx, one column": sized("%d 1 0.5\n", func(n int) string {
			return fmt.Sprintf("coordinate real general\n%d 1 %d\n", n, n)
		}),
		"mtx, one row": sized("1 %d 0.5\n", func(n int) string {
			return fmt.Sprintf("coordinate real general\n1 %d %d\n", n, n)
		}),
		"mtx, one entry again and again": sized("1 1 0.5%d\n", func(n int) string {
			return fmt.Sprintf("coordinate real general\n1 1 %d\n", n)
		}),
		"mtx, symmetric, words apart": sized("%d \t  1  .5\n", func(n int) string {
			return fmt.Sprintf("coordinate real symmetric\n%d %d %d\n", n, n, n)
		}),
		"mtx, remarks": append(lines("%%MatrixMarket matrix coordinate real general\n", "% it says\n"), "1 1 1\n1 1 1\n"...),
		"mtx, array":   lines(fmt.Sprintf("%%%%MatrixMarket matrix array real general\n%d 1\n", values), "0.25\n"),
	}
}

// used returns the processor time of reading a text.
func used(t *testing.T, text []byte) time.Duration {
	t.Helper()
	runtime.GC()
	var before, after syscall.Rusage
	o := table.Options{Name: "data", Target: "y", Missing: table.Zero, OneHot: true, Threads: 1}
	switch {
	case bytes.HasPrefix(text, []byte("%%")):
		o = table.Options{Name: "data", NoTarget: true, Threads: 1}
	case text[0] == '1': // no header
		o.Target = "1"
	}
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &before)
	d, failed := table.Read(t.Context(), bytes.NewReader(text), o)
	if again := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil || again != nil {
		t.Fatal(err, again)
	}
	if failed != nil && outcome.KindOf(failed) != outcome.Limit || failed == nil && d.X.NNZ() == 0 {
		t.Fatalf("%.60q…: %v", text, failed)
	}
	return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
}

// TestTimeIsLinear checks that reading takes processor time in proportion to the text. The least
// of several rounds counts, and more rounds are run while it is too large. For four times the
// text, quadratic time would be 16 times as much; the limit is 8. The long form has ten times the
// text, and allows 2.3 times the time for twice the text.
func TestTimeIsLinear(t *testing.T) {
	if testing.Short() || oracle.Few() {
		t.Skip("short: it reads ten megabytes many times")
	}
	size, times, limit := 128<<10, 4, 8.0
	if oracle.Long() {
		size, times, limit = 5<<20, 2, 2.3
	}
	small, large := texts(size), texts(times*size)
	for name := range small {
		a, b, ratio := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64), math.Inf(1)
		for round := 0; round < 2 || ratio > limit && round < 40; round++ {
			a, b = min(a, used(t, small[name])), min(b, used(t, large[name]))
			ratio = float64(b) / float64(max(a, 1))
		}
		t.Logf("%-32s %8v, %d times as much %8v: %.2f", name, a, times, b, ratio)
		if ratio > limit {
			t.Errorf("%s: %d times the text takes %.2f times as long", name, times, ratio)
		}
	}
}

// TestOneRowOfAGibibyte checks that a row of a gibibyte is refused, whatever it contains.
func TestOneRowOfAGibibyte(t *testing.T) {
	if !oracle.Long() {
		t.Skip("-long not given")
	}
	for head, text := range map[string]string{
		"a,y\nx": "x", "a,y\n": " ", "a,y\n\"": "x", "a,y\n\"\n": "x\n", "a,y\n\"\"\"": "\"\"",
		"%%MatrixMarket matrix coordinate real general\n1 1 1\n": "1",
		"%%MatrixMarket matrix coordinate real general\n%":       "1",
	} {
		_, err := table.Read(t.Context(), io.MultiReader(strings.NewReader(head), io.LimitReader(endless(text), 1<<30)), table.Options{Name: "data", Target: "y", OneHot: true})
		t.Logf("%q: %v", head, err)
		if kind := outcome.KindOf(err); kind != outcome.Limit && kind != outcome.Parse {
			t.Errorf("%q: %v", head, err)
		}
	}
}

// endless is a text that is repeated for ever.
type endless string

func (e endless) Read(b []byte) (int, error) {
	return copy(b, strings.Repeat(string(e), len(b)/len(e)+1)), nil
}
