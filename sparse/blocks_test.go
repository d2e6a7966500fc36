package sparse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-45b9a24c/pare/sparse"
)

// TestBlocksBesideOneAnother checks that a text read in concurrent blocks gives the matrix, or
// the error and its position, of a sequential read.
func TestBlocksBesideOneAnother(t *testing.T) {
	var text strings.Builder
	for i := range 100_000 { // more entries than one thread sorts alone
		fmt.Fprintf(&text, "%d %d:%.17g %d:%d.5\n", i%2, 2+i%5, float64(i)/7, 10+i%7919, i%300)
	}
	rows := text.String()
	for name, one := range map[string]struct {
		text string
		opt  sparse.ReadOptions
		bad  bool
	}{
		"rows":                  {text: rows},
		"no newline at the end": {text: strings.TrimSuffix(rows, "\n")},
		"comments and qids":     {text: "# what it is\n" + strings.Replace(rows, "0 2:", "0 qid:7 2:", 3000) + "#"},
		"a column far away":     {text: rows + "1 60000000:1\n" + rows},
		"CRLF":                  {text: strings.ReplaceAll(rows, "\n", "\r\n")},
		"an index of 0 late":    {text: rows + "1 0:1\n" + rows},
		"a fault late":          {text: rows + "1 2:1 2:1\n" + rows, bad: true},
		"no number late":        {text: rows + rows + "1 2:x", bad: true},
		"a fault soon":          {text: "1 2:1\nx", bad: true},
		"no newline soon":       {text: "1 2:1\n0 3:4"},
		"a long line":           {text: rows + "1 1:1" + strings.Repeat(" ", 5<<20) + "\n" + rows},
		"a fault behind it":     {text: rows + "1 1:1" + strings.Repeat(" ", 5<<20) + "\nx\n" + rows, bad: true},
		"entries":               {text: rows, opt: sparse.ReadOptions{MaxEntries: 60_000}, bad: true},
		"columns":               {text: rows, opt: sparse.ReadOptions{Features: 7919}, bad: true},
		"rows at most":          {text: rows, opt: sparse.ReadOptions{Limits: sparse.Limits{Rows: 30_000}}, bad: true},
		"just as many rows":     {text: rows, opt: sparse.ReadOptions{Limits: sparse.Limits{Rows: 100_000}}},
		"bytes":                 {text: rows, opt: sparse.ReadOptions{Limits: sparse.Limits{Bytes: 3 << 20}}, bad: true},
	} {
		opt := one.opt
		opt.Name = "text"
		want, y, zero, failed := sparse.DetectSVMLight(t.Context(), strings.NewReader(one.text), opt)
		if (failed != nil) != one.bad {
			t.Fatalf("%s: %v", name, failed)
		}
		opt.Threads = 3
		for arriving, r := range map[string]func() (*sparse.CSC, []float64, bool, error){
			"at once": func() (*sparse.CSC, []float64, bool, error) {
				return sparse.DetectSVMLight(t.Context(), strings.NewReader(one.text), opt)
			},
			"in halves": func() (*sparse.CSC, []float64, bool, error) {
				return sparse.DetectSVMLight(t.Context(), iotest.HalfReader(strings.NewReader(one.text)), opt)
			},
		} {
			x, labels, zeroBased, err := r()
			switch {
			case name == "bytes" && err != nil: // chunks differ in size, and so does the line of the error
			case fmt.Sprint(err) != fmt.Sprint(failed):
				t.Errorf("%s, %s: %v, from front to back %v", name, arriving, err, failed)
			case err == nil && (zeroBased != zero || !slices.Equal(labels, y) || !sameStorage(x, want)):
				t.Errorf("%s, %s: other data", name, arriving)
			}
		}
	}
}

func sameStorage(a, b *sparse.CSC) bool {
	order, colPtr, rows, values := a.Storage()
	order2, colPtr2, rows2, values2 := b.Storage()
	return slices.Equal(order, order2) && slices.Equal(colPtr, colPtr2) && slices.Equal(rows, rows2) && slices.Equal(values, values2)
}
