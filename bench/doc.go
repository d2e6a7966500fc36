// Package bench measures. Its benchmarks are whole operations, a pass over the
// data, a fit, a hypergradient, a selection; those of single loops stand beside
// the kernels. Names are operation/kernel set/data, for benchstat -col.
//
//	go test ./bench -run '^$' -bench . -count 6 | benchstat -col /set -
//
// The data are the diabetes set that pare carries and seeded ones (package
// bench/synthetic): nothing is downloaded.
//
// Below it, bench/machine measures the machine's ceilings, bench/loops single kernels
// beside them, bench/peers other people's solvers beside ours, bench/studies redoes
// figures of the paper, bench/goals measures what the project has set itself; bench/chart
// draws. Command perf runs them.
package bench
