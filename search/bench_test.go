package search_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed-45b9a24c/pare/search"
)

// BenchmarkScan measures a search over one λ of a parabola, whose evaluation takes almost no time. evaluations/op
// is the number of evaluations per search.
func BenchmarkScan(b *testing.B) {
	options := search.ScanOptions{Null: search.Evaluation{Value: 4}, Free: 1e9}
	measure(b, func() (*search.Result, error) { return search.Scan(context.Background(), valley{}, options) })
}

// BenchmarkTrustRegion measures a search over r λ's in the same way as [BenchmarkScan].
func BenchmarkTrustRegion(b *testing.B) {
	start, box := []float64{-4, -3}, search.Box{Lower: []float64{-9, -9}, Upper: []float64{0, 4}}
	for _, r := range []int{1, 2} {
		b.Run(fmt.Sprintf("r=%d", r), func(b *testing.B) {
			measure(b, func() (*search.Result, error) {
				return search.TrustRegion(context.Background(), valley{}, start[:r], search.Box{Lower: box.Lower[:r], Upper: box.Upper[:r]}, search.Options{})
			})
		})
	}
}

func measure(b *testing.B, run func() (*search.Result, error)) {
	b.Helper()
	b.ReportAllocs()
	var evaluations int
	for b.Loop() {
		result, err := run()
		if err != nil {
			b.Fatal(err)
		}
		evaluations += len(result.Evaluations)
	}
	b.ReportMetric(float64(evaluations)/float64(b.N), "evaluations/op")
}
