//go:build linux || darwin

package kernels_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/guard"
	"github.com/seed-45b9a24c/pare/kernels"
)

// TestCellsStayInside checks that Marks and Numbers read and write no byte outside their
// operands.
func TestCellsStayInside(t *testing.T) {
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for _, edge := range []guard.Edge{guard.Start, guard.End} {
			for _, width := range []int{0, 1, 3, 8, 16, 17} {
				text, ends := cells(slices.Repeat([]string{strings.Repeat("7", width)}, 70))
				text = flush(edge, guard.Slice[byte](t, len(text), edge), text)
				at := flush(edge, guard.Slice[int32](t, len(text), edge), make([]int32, len(text)))
				if n := k.Marks(text, ',', '\n', ',', at); !slices.Equal(at[:n], ends[1:]) {
					t.Errorf("cells of %d bytes end at %v, want %v", width, at[:n], ends[1:])
				}
				text = text[:len(text)-1]
				text = flush(edge, guard.Slice[byte](t, len(text), edge), text)
				ends = flush(edge, guard.Slice[int32](t, len(ends), edge), ends)
				out := flush(edge, guard.Slice[float64](t, len(ends)-1, edge), make([]float64, len(ends)-1))
				k.Numbers(text, ends, out)
			}
		}
	})
}
