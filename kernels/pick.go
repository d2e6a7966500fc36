package kernels

// newPick makes Pick from a loop over at most a block.
//
//go:noinline
func newPick(loop func(number, rows []int32, values []float64, index []int32, out []float64) int, s *Set) func(number, rows []int32, values []float64, index []int32, out []float64) int {
	return func(number, rows []int32, values []float64, index []int32, out []float64) (kept int) {
		if len(values) != len(rows) || len(index) < len(rows) || len(out) < len(rows) {
			panic("kernels: Pick: rows and values must have one length, and room in index and out")
		}
		if overlap(values, out[:len(rows)]) {
			panic("kernels: Pick: values and out overlap")
		}
		raceGather(rows, number)
		raceRead(rows)
		raceRead(values)
		raceWrite(index[:len(rows)])
		raceWrite(out[:len(rows)])
		for len(rows) > 0 {
			n := min(len(rows), Block)
			kept += loop(number, rows[:n], values[:n], index[kept:], out[kept:])
			rows, values = rows[n:], values[n:]
			s.between(len(rows))
		}
		return kept
	}
}

// pickGo has no branch, since the CPU could not predict which rows have a number.
func pickGo(number, rows []int32, values []float64, index []int32, out []float64) (kept int) {
	values = values[:len(rows)]
	for at, i := range rows {
		k := number[i]
		index[kept], out[kept] = k, values[at]
		kept += int(^uint32(k) >> 31)
	}
	return kept
}
