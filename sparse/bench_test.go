package sparse_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/seed-45b9a24c/pare/sparse"
)

// benchmarkTexts returns texts by name: two synthetic ones, and two real ones if ../shared/data
// is present.
func benchmarkTexts(b *testing.B) map[string][]byte {
	r := rand.New(rand.NewPCG(1, 1))
	var words, full bytes.Buffer
	for range 5000 {
		words.WriteString("+1")
		var indices []int
		for range 80 {
			indices = append(indices, 1+r.IntN(1+r.IntN(20_000)))
		}
		slices.Sort(indices)
		for _, j := range slices.Compact(indices) {
			fmt.Fprintf(&words, " %d:%.4g", j, r.Float64())
		}
		words.WriteByte('\n')
	}
	for range 500 {
		full.WriteString("-1")
		for j := range 100 {
			fmt.Fprintf(&full, " %d:%v", j+1, r.NormFloat64())
		}
		full.WriteByte('\n')
	}
	texts := map[string][]byte{"words": words.Bytes(), "full17digits": full.Bytes()}
	for _, name := range []string{"imdb", "mnist"} {
		file, err := os.Open(filepath.Join("..", "..", "shared", "data", name+".svm.gz"))
		if err != nil {
			continue
		}
		defer file.Close()
		z, err := gzip.NewReader(file)
		if err != nil {
			b.Fatal(err)
		}
		if texts[name], err = io.ReadAll(z); err != nil {
			b.Fatal(err)
		}
	}
	return texts
}

// BenchmarkRead reports bytes of text per second, and nanoseconds per nonzero.
func BenchmarkRead(b *testing.B) {
	for name, text := range benchmarkTexts(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			nnz := int64(0)
			for b.Loop() {
				m, _, err := sparse.ReadSVMLight(context.Background(), bytes.NewReader(text), sparse.ReadOptions{})
				if err != nil {
					b.Fatal(err)
				}
				nnz = m.NNZ()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(nnz), "ns/nonzero")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	m, y, err := sparse.ReadSVMLight(context.Background(), bytes.NewReader(benchmarkTexts(b)["words"]), sparse.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	for b.Loop() {
		text.Reset()
		if err := sparse.WriteSVMLight(&text, m, y); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(text.Len()))
}
