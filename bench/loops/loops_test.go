package loops

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/bench/machine"
)

// ceilings are the limits of an imaginary machine.
var ceilings = machine.Ceilings{GFLOPs: 10, Levels: []machine.Level{
	{Name: "L1", Holds: 32 << 10, Read: 100, Triad: 80}, {Name: "memory", Read: 10, Triad: 8},
}}

func TestEveryImplementationOfAnOperationIsTimed(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	results, err := Measure(context.Background(), ceilings, Options{Match: "Dot", Runs: 2, Each: time.Microsecond})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range results {
		seen[r.Operation+"/"+r.Set+"/"+r.Size] = true
		if !(r.Nanoseconds > 0 && r.Fastest <= r.Nanoseconds && r.PerElement > 0 && r.GBs > 0 && r.Share > 0) {
			t.Errorf("%+v", r)
		}
	}
	for _, want := range []string{
		"Dot/gonum/n=1024", "Dot/loop/n=1024", "Dot/purego/n=1024", "DotIndexed/loop/n=2000,nnz=12",
		"DotColumns/purego/n=2000,nnz=3", "DotLanes/purego/n=20242,nnz=74",
	} {
		if !seen[want] {
			t.Errorf("%s is missing", want)
		}
	}
	for name := range seen {
		if strings.HasPrefix(name, "Axpy") {
			t.Errorf("%s was not asked for", name)
		}
	}
}

func TestSharesAreOfTheLowerCeiling(t *testing.T) {
	r := Result{runs: []float64{3, 1, 2}}
	op := operation{elements: 10, bytes: 100, flops: 1, footprint: 1 << 10}
	if got := r.finish(op, ceilings); got.Nanoseconds != 2 || math.Abs(got.Share-0.5) > 1e-15 || got.Level != "L1" {
		t.Errorf("100 bytes at 100 GB/s take 1 ns of 2: %+v", got)
	}
	op.writes, op.footprint = true, 1<<20
	if got := r.finish(op, ceilings); math.Abs(got.Share-6.25) > 1e-15 || got.Level != "memory" {
		t.Errorf("100 bytes at 8 GB/s take 12.5 ns: %+v", got)
	}
	op.bytes, op.flops = 0, 10
	if got := r.finish(op, ceilings); math.Abs(got.Share-0.5) > 1e-15 {
		t.Errorf("10 operations at 10 GFLOP/s take 1 ns of 2: %+v", got)
	}
}

func TestGoFormat(t *testing.T) {
	r := Result{Operation: "Dot", Set: "avx2", Size: "n=8", Elements: 8, Bytes: 128, Flops: 16, runs: []float64{4, 8}}
	var out bytes.Buffer
	if err := WriteGo(&out, machine.Machine{OS: "linux", Arch: "amd64"}, []Result{r}); err != nil {
		t.Fatal(err)
	}
	want := "BenchmarkDot/set=avx2/n=8 1 4 ns/op 0.5 ns/element 32 GB/s 4 GFLOP/s\nBenchmarkDot/set=avx2/n=8 1 8 ns/op 1 ns/element 16 GB/s 2 GFLOP/s\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("got\n%s", out.String())
	}
}

func TestMeasureEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, ceilings, Options{}); err == nil {
		t.Error("no error")
	}
}

func TestMeasureRefusesWhatMeasuresNothing(t *testing.T) {
	for want, o := range map[string]Options{"-1 runs": {Runs: -1}, `"Nope"`: {Match: "Nope"}} {
		if results, err := Measure(t.Context(), machine.Ceilings{}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v", results, err)
		}
	}
}
