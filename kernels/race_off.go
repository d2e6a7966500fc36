//go:build !race

package kernels

// The race detector cannot see into assembly. Under the tag race these functions
// report to it what a kernel reads and writes; here they do nothing.

func raceRead[T any](x []T)                                                                      {}
func raceWrite[T any](x []T)                                                                     {}
func raceGather[T any](rows []int32, y []T)                                                      {}
func raceLanes(rows []int32, y []float64, first int)                                             {}
func raceSpans(from, to []int64, rows []int32, values, y, out []float64)                         {}
func raceDense(from []int64, values []float64, n int)                                            {}
func raceAddLanes(from, to []int64, rows []int32, values, y []float64, first int, out []float64) {}
func raceScatterSpans(a []float64, from, to []int64, rows []int32, values, y []float64)          {}
func raceScatterLanes(rows []int32, y []float64)                                                 {}
func raceScatter(rows []int32, y []float64)                                                      {}
func raceReadRows(x []float64, stride, rows, width int)                                          {}
func raceWriteRows(x []float64, stride, rows, width int)                                         {}

// spoil does nothing here. Under the race detector it overwrites undefined numbers, so that tests notice if they are read.
func spoil[T any](x []T) {}
