package table

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestMarketByBlocksAndByLines checks that coordinates read in blocks, and the lines of errors,
// are those of reading line by line, for any number of threads.
func TestMarketByBlocksAndByLines(t *testing.T) {
	const n, p, entries = 5000, 300, 60_000
	lines := make([]string, entries)
	for k := range lines {
		lines[k] = fmt.Sprintf("%d %d %.17g", 1+k*7919%n, 1+k*104729%p, float64(k%1000)/7)
	}
	size := fmt.Sprintf("%d %d %d", n, p, entries)
	body := func(replace map[int]string) string {
		all := slices.Clone(lines)
		for k, line := range replace {
			all[k] = line
		}
		return strings.Join(all, "\n") + "\n"
	}
	for name, one := range map[string]struct {
		text string
		line int
	}{
		"plain":                {text: body(nil)},
		"blanks":               {text: body(map[int]string{50_000: "  7   9  0.5  \r"})},
		"an empty line":        {text: body(map[int]string{40_000: lines[40_000] + "\n"})},
		"comments behind":      {text: body(nil) + "% the end\n\n"},
		"no newline at end":    {text: strings.TrimSuffix(body(nil), "\n")},
		"a row too many":       {text: body(map[int]string{55_000: "5001 1 1"}), line: 55_004},
		"a column of 0":        {text: body(map[int]string{55_000: "1 0 1"}), line: 55_004},
		"no number":            {text: body(map[int]string{30_000: "1 1 x"}), line: 30_004},
		"beyond float64":       {text: body(map[int]string{30_000: "1 1 1e999"}), line: 30_004},
		"two words":            {text: body(map[int]string{30_000: "1 1"}), line: 30_004},
		"an entry too many":    {text: body(nil) + "1 1 1\n", line: 60_004},
		"an entry too few":     {text: strings.TrimSuffix(body(nil), lines[entries-1]+"\n"), line: 60_002},
		"an index of 20 bytes": {text: body(map[int]string{30_000: "10000000000000000000 1 1"}), line: 30_004},
	} {
		text := "%%MatrixMarket matrix coordinate real general\n%\n" + size + "\n" + one.text
		byLines := strings.Replace(text, size, size+"\n", 1) // a block that begins with an empty line is read line by line
		var want *sparse.CSC
		for k, read := range []struct {
			text    string
			threads int
		}{{byLines, 1}, {text, 1}, {text, 3}} {
			x, _, err := readMarket(t.Context(), strings.NewReader(read.text), Options{Name: "text", Threads: read.threads})
			wanted := one.line
			if k == 0 && wanted > 0 {
				wanted++
			}
			if e, ok := errors.AsType[*outcome.Error](err); ok != (one.line > 0) || ok && e.Line != wanted {
				t.Errorf("%s, %d threads: %v, want line %d", name, read.threads, err, wanted)
				continue
			}
			if err == nil && want == nil {
				want = x
			}
			if err == nil && !same(x, want) {
				t.Errorf("%s, %d threads: another matrix", name, read.threads)
			}
		}
	}
}

func same(a, b *sparse.CSC) bool {
	_, p := a.Dims()
	for j := range p {
		rows, values := a.Column(j)
		other, numbers := b.Column(j)
		if !slices.Equal(rows, other) || !slices.Equal(values, numbers) {
			return false
		}
	}
	return a.NNZ() == b.NNZ()
}
