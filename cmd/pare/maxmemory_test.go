package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

// TestMaxMemory checks that with --max-memory a choice evaluates fewer folds at once and stays within the limit, or
// says before any work how much memory it expects to need. A limit that is not reached must not change a bit of the
// result.
func TestMaxMemory(t *testing.T) {
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 3000, P: 400, Density: 0.5, Active: 30})
	var text strings.Builder
	for i := range q.Y {
		fmt.Fprintf(&text, "%.4f", q.Y[i])
		for j, v := range q.X[i] {
			if v != 0 {
				fmt.Fprintf(&text, " %d:%.4f", j+1, v)
			}
		}
		text.WriteString("\n")
	}
	file := writeFile(t, "data.svm", text.String())
	args := []string{"select", "--threads=1", file}
	want := decoded[selectResult](t, exitOK, args...)
	if got := decoded[selectResult](t, exitOK, append(args, "--max-memory=100G")...); got.Value != want.Value || got.LogLambda[0] != want.LogLambda[0] {
		t.Errorf("%v at %v under a limit of no effect, without it %v at %v", got.Value, got.LogLambda, want.Value, want.LogLambda)
	}
	got := decoded[selectResult](t, exitOK, append(args, "--max-memory=70M")...)
	if float64(got.Value) > 1.01*float64(want.Value) {
		t.Errorf("criterion %v under a limit, %v without", got.Value, want.Value)
	}
	text.Reset() // many rows, whose vectors alone exceed a limit that the program itself fits into
	for i := range 300_000 {
		fmt.Fprintf(&text, "%d %d:%d\n", i%7, i%10+1, i%5+1)
	}
	mapped := filepath.Join(t.TempDir(), "data.pare")
	decoded[convertResult](t, exitOK, "convert", writeFile(t, "rows.svm", text.String()), mapped)
	for _, c := range []struct{ limit, file, says string }{
		{"30M", mapped, "--max-memory: the call is expected to need"}, {"20M", file, "the limit is 20000000"}, {"17M", file, "memory"},
	} {
		for _, command := range []string{"select", "path"} {
			o := pareRun(t, command, "--max-memory="+c.limit, c.file)
			if o.code != exitUsage && o.code != exitFailed || !strings.Contains(o.stderr, "max-") || c.file == mapped && !strings.Contains(o.stderr, c.says) {
				t.Errorf("%s within %s: exit %d\n%s", command, c.limit, o.code, o.stderr)
			}
		}
	}
}

// TestMaxMemoryOfTheProgramItself checks that a limit below the memory of the program itself is refused with that
// reason before data are read.
func TestMaxMemoryOfTheProgramItself(t *testing.T) {
	for _, limit := range []string{"1", "50K", "16777216"} {
		o := pareRun(t, "select", "--max-memory="+limit, "--max-rows=1")
		if o.code != exitUsage || !strings.Contains(o.stderr, "--max-memory: the program needs 16777216 bytes before it reads anything, but the limit is ") {
			t.Errorf("%s: exit %d: %s", limit, o.code, o.stderr)
		}
	}
}

// TestMaxMemoryBelowTheProgramEndsNothing checks that a limit below the memory of the program itself does not end the
// work: the command refuses such a limit, however long its start takes.
func TestMaxMemoryBelowTheProgramEndsNothing(t *testing.T) {
	res, err := limitFlags{MaxMemory: 1}.within(t.Context(), func(ctx context.Context) (result, error) {
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond): // the memory in use is checked six times
		}
		return nil, ctx.Err()
	})
	if err != nil || res != nil {
		t.Error(res, err)
	}
}

// TestMaxMemoryEndsWork checks that work which takes more memory than expected ends with an error of kind limit.
func TestMaxMemoryEndsWork(t *testing.T) {
	limits := limitFlags{MaxMemory: byteSize(inUse() + 32<<20)}
	var held []byte
	_, err := limits.within(t.Context(), func(ctx context.Context) (result, error) {
		held = bytes.Repeat([]byte{1}, 128<<20)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Limit || e.Flag != "max-memory" {
		t.Errorf("%v after %d bytes", err, len(held))
	}
}

// TestWhichLimitEndsReading checks that the tighter of two limits ends reading, and that the error names it. If it is
// the limit of the whole program, the error explains that.
func TestWhichLimitEndsReading(t *testing.T) {
	text := "y,a\n" + strings.Repeat("1,2\n", 60_000)
	o := pareRun(t, "fit", "--ratio=0.5", "--target=y", "--max-memory=8G", "--max-bytes=1M", writeFile(t, "tall.csv", text))
	if o.code != exitFailed || !strings.Contains(o.stderr, "--max-bytes: reading") || !strings.HasSuffix(o.stderr, "the limit is 1000000\n") {
		t.Errorf("exit %d: %s", o.code, o.stderr)
	}
	_, err := limitFlags{MaxMemory: 8e9}.within(t.Context(), func(ctx context.Context) (result, error) {
		_, err := table.Read(ctx, strings.NewReader(text), table.Options{Name: "data", Target: "y", Limits: sparse.Limits{Bytes: 1e6}})
		return nil, err
	})
	e, ok := errors.AsType[*outcome.Error](err)
	if want := "the limit is 1000000: of the 8000000000 allowed, the program itself needs 16777216"; !ok || e.Flag != "max-memory" || !strings.HasSuffix(e.Message, want) {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestNumbersOfBytes checks that a number of bytes has at most one unit.
func TestNumbersOfBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"17": 17, "500K": 500e3, "1.5m": 1500e3, "2G": 2e9, "3TB": 3e12, "1KM": 0, "1MK": 0, "1GT": 0, "K": 0, "": 0, "0": 0, "-1": 0, "1e30": 0,
	} {
		for range 30 {
			var got byteSize
			if err := got.UnmarshalText([]byte(text)); int64(got) != want || (err != nil) != (want == 0) {
				t.Fatalf("%q: %d, %v", text, got, err)
			}
		}
	}
}
