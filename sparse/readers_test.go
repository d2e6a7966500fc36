package sparse_test

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestFailingReaders checks that a reader's error is returned with its cause and position, and
// that reading ends with an error if a reader returns nothing for ever.
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

// TestErrorsDoNotDependOnReads checks that a text gives the same error whatever the sizes of
// the reads.
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

// TestThreadsBeyondMemory checks that an extreme number of threads is reduced to a useful one.
func TestThreadsBeyondMemory(t *testing.T) {
	for _, threads := range []int{math.MinInt, math.MaxInt} {
		if x, _, err := sparse.ReadSVMLight(t.Context(), strings.NewReader("1 1:1\n"), sparse.ReadOptions{Threads: threads}); err != nil || x.NNZ() != 1 {
			t.Errorf("%d threads: %v", threads, err)
		}
	}
}
