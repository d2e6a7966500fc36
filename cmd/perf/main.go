// Command perf measures pare: its kernels, its solves, and other solvers for comparison.
//
//	perf cpu          the processor, its caches, the kernel sets it can run
//	perf kernels      every kernel, set and size against measured ceilings
//	perf roofline     the same as a chart
//	perf solve        where the time and the memory of a fit, a hypergradient or a selection go
//	perf peers        our solvers beside those installed, at equal certified gap
//	perf figures      plots of the paper, redone: CSV and SVG
//	perf goals        the goals of the project, measured: tables and CSV
//	perf page         renew the tables of docs/results.md from these files
//	perf data NAME    a seeded data set as svmlight text
//
// Results go to standard output, as text or with --json as one JSON object; progress goes to standard error.
// The exit status is 0, 1 for a failure, 2 for a faulty command line.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// The first signal ends the measurement, the second kills.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}
