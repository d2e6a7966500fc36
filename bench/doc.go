// Package bench has benchmarks of whole operations: a pass over the data, a fit, a
// hypergradient, a selection. Benchmarks of single loops are in the packages of the kernels.
// Names are operation/kernel set/data, for benchstat -col.
//
//	go test ./bench -run '^$' -bench . -count 6 | benchstat -col /set -
//
// The data are the diabetes set embedded in pare and seeded random sets (package
// bench/synthetic): nothing is downloaded.
//
// Below it, bench/machine measures the limits of the machine, bench/loops compares single
// kernels with these limits, bench/peers compares other solvers with pare, bench/studies
// reproduces figures of the paper, bench/goals measures the goals of the project, and
// bench/chart draws charts. The command perf runs them.
package bench
