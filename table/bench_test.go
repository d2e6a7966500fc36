package table_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/seed-45b9a24c/pare/table"
)

// BenchmarkCSV reads a table of 2,000 rows and 100 columns, half of it zeros.
func BenchmarkCSV(b *testing.B) {
	var text bytes.Buffer
	for j := range 100 {
		fmt.Fprintf(&text, "x%d,", j)
	}
	text.WriteString("y\n")
	for i := range 2000 {
		for j := range 100 {
			if (i*7+j*13)%2 == 0 {
				text.WriteString("0.0,")
			} else {
				fmt.Fprintf(&text, "%.5f,", float64((i*31+j*17)%1000)/7)
			}
		}
		fmt.Fprintf(&text, "%d\n", i%5)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := table.Read(b.Context(), bytes.NewReader(text.Bytes()), table.Options{Target: "y"}); err != nil {
			b.Fatal(err)
		}
	}
}
