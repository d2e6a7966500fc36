package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/seed-45b9a24c/pare/search"
)

// progress writes a line per step to a terminal; elsewhere it is silent.
type progress struct {
	w     io.Writer // nil: silent
	lines int
}

func newProgress(stderr io.Writer, quiet bool) *progress {
	if file, ok := stderr.(*os.File); ok && !quiet && term.IsTerminal(int(file.Fd())) {
		return &progress{w: stderr}
	}
	return &progress{}
}

// announceCancel says, until the function it returns is called, that the first
// interrupt has been heard.
func (p *progress) announceCancel(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, func() {
		if p.w != nil {
			fmt.Fprintln(p.w, "\nstopping; once more kills")
		}
	})
}

// evaluation reports one evaluation of the criterion; top is ln αmax.
func (p *progress) evaluation(e search.Evaluation, top []float64) {
	if p.w == nil {
		return
	}
	if p.lines == 0 {
		share := "α/αmax"
		if math.IsNaN(top[0]) {
			share = "C"
		}
		fmt.Fprintf(p.w, "%5s  %-19s %-19s %14s %11s %8s %9s\n", "", "λ", share, "value", "|gradient|", "support", "seconds")
	}
	p.lines++
	slope := "-"
	if e.Gradient != nil {
		slope = fmt.Sprintf("%.3g", norm(e.Gradient))
	}
	fmt.Fprintf(p.w, "%5d  %-19s %-19s %14.8g %11s %8d %9.3f\n", p.lines, spread(e.LogLambda, "%.5f", "%.3f"), spread(ratios(e.LogLambda, top), "%.3g", "%.2g"), e.Value, slope, e.Support, e.Seconds)
}

// spread formats numbers in the width of a column: where they are many, as what they
// range over, in brief.
func spread(values []float64, format, brief string) string {
	if len(values) <= 2 {
		return list(values, format)
	}
	low, high := slices.Min(values), slices.Max(values)
	if low == high {
		return fmt.Sprintf(format, low) + " each"
	}
	return fmt.Sprintf(brief+" to "+brief, low, high)
}

// list formats numbers separated by commas.
func list(values []float64, format string) string {
	fields := make([]string, len(values))
	for i, v := range values {
		fields[i] = fmt.Sprintf(format, v)
	}
	return strings.Join(fields, ",")
}
