package sparse_test

import (
	"context"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestReadingLimits checks that the memory held while reading is bounded from the first chunk
// on, for texts and for rows that are built, and that the error says where reading stopped.
func TestReadingLimits(t *testing.T) {
	text := strings.Repeat("1 1:0.5 3:1e-300\n", 100_000)
	for bytes, fits := range map[int64]bool{1: false, 1 << 20: false, 7 << 20: false, 20 << 20: true, 0: true} {
		room := sparse.Limits{Bytes: bytes}
		_, _, err := sparse.ReadSVMLight(context.Background(), strings.NewReader(text), sparse.ReadOptions{Name: "text", Limits: room})
		e, _ := err.(*outcome.Error) //nolint:errorlint // not wrapped
		if (err == nil) != fits || err != nil && (e.Kind != outcome.Limit || e.Flag != "max-bytes" || e.Line == 0 || e.File != "text") {
			t.Errorf("text in %d bytes: %v", bytes, err)
		}
		b, built := sparse.Builder{Limits: room}, error(nil)
		for range 100_000 {
			if built = b.Row([]int32{0, 2}, []float64{0.5, 1e-300}); built != nil {
				break
			}
		}
		if (built == nil) != fits || built != nil && outcome.KindOf(built) != outcome.Limit {
			t.Errorf("rows in %d bytes: %v", bytes, built)
		}
	}
	for _, rows := range []int{99_999, 100_000} {
		_, _, err := sparse.ReadSVMLight(context.Background(), strings.NewReader(text), sparse.ReadOptions{Limits: sparse.Limits{Rows: rows}})
		b, built := sparse.Builder{Limits: sparse.Limits{Rows: rows}}, error(nil)
		for range 100_000 {
			if built == nil {
				built = b.Row(nil, nil)
			}
		}
		if fits := rows == 100_000; (err == nil) != fits || (built == nil) != fits {
			t.Errorf("%d rows at most: %v, %v", rows, err, built)
		}
	}
	for _, room := range []sparse.Limits{{Rows: -1}, {Bytes: -1}} {
		b := sparse.Builder{Limits: room}
		if err := b.Row(nil, []float64{1}); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("a builder with %+v: %v", room, err)
		}
		if err := b.Block([]float64{1}, 1, []int{0}); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("a builder with %+v: %v", room, err)
		}
		if _, _, err := sparse.ReadSVMLight(context.Background(), strings.NewReader(text), sparse.ReadOptions{Limits: room}); outcome.KindOf(err) != outcome.BadParameter {
			t.Errorf("%+v: %v", room, err)
		}
	}
}
