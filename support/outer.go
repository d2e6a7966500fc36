package support

import "github.com/seed-45b9a24c/pare/kernels"

// Outer sums outer products of dense vectors, Σ d_k·v_k·v_kᵀ, in tiles of 8 × 8 entries.
// Its buffers serve all calls; the zero value is ready. Not safe for concurrent use.
type Outer struct {
	size   int
	x      [kernels.Lanes][]float64
	across []float64 // a line for each entry of the vectors: d_k times the entry, by k
	panels []float64 // the vectors, eight entries of each side by side
	sum    []float64 // the sums, in whole tiles
}

const (
	outerTerms  = 128 // vectors at a time
	outerStride = outerTerms + kernels.Lanes
)

// OuterCost returns the cost of [Outer.Sum].
func OuterCost(count, size int) float64 {
	whole := float64((size + kernels.Lanes - 1) / kernels.Lanes * kernels.Lanes)
	return float64(float64(count) * (float64(0.5*tileValue*whole*whole) + float64(2*GatherValue*whole)))
}

// Sum sets the lower triangle of the size × size matrix a, row by row, to the sum over
// count vectors of length size. An entry is the sum of its products in the order of k.
func (o *Outer) Sum(set *kernels.Set, count, size int, vector func(k int) (d float64, v []float64), a []float64) {
	o.Begin(size)
	for from := 0; from < count; from += outerTerms {
		terms := min(outerTerms, count-from)
		for t := range terms {
			d, v := vector(from + t)
			for i, entry := range v[:size] {
				o.across[i*outerStride+t] = d * entry
				o.panels[i/kernels.Lanes*kernels.Lanes*outerTerms+kernels.Lanes*t+i%kernels.Lanes] = entry
			}
		}
		o.add(set, terms)
	}
	o.end(a)
}

// SumColumns is [Outer.Sum], with the same bits, for vectors that are the rows of a matrix given by its columns.
// d has one factor for each row.
func (o *Outer) SumColumns(set *kernels.Set, d []float64, size int, column func(j int) []float64, a []float64) {
	o.Begin(size)
	o.AddColumns(set, d, column)
	o.end(a)
}

// AddColumns adds to the sums since [Outer.Begin], as [Outer.SumColumns] does.
func (o *Outer) AddColumns(set *kernels.Set, d []float64, column func(j int) []float64) {
	const lanes = kernels.Lanes
	size := o.size
	for from := 0; from < len(d); from += outerTerms {
		terms := min(outerTerms, len(d)-from)
		for first := 0; first < size; first += lanes {
			for i := range o.x {
				o.x[i] = column(min(first+i, size-1))[from:][:terms]
			}
			interleave(&o.x, o.panels[first*outerTerms:])
			for i := range min(lanes, size-first) {
				set.Product(o.across[(first+i)*outerStride:][:terms], d[from:][:terms], o.x[i])
			}
		}
		o.add(set, terms)
	}
}

// Begin makes room for vectors of length size, and sets the sums to 0.
func (o *Outer) Begin(size int) {
	o.size = size
	whole := panels(size) * kernels.Lanes
	o.across = resize(o.across, whole*outerStride)
	o.panels = resize(o.panels, whole*outerTerms)
	o.sum = resize(o.sum, whole*whole)
	clear(o.across[size*outerStride:]) // of entries beyond the vectors
	clear(o.panels)
	clear(o.sum)
}

// add adds the products of the vectors at hand.
func (o *Outer) add(set *kernels.Set, terms int) {
	const lanes = kernels.Lanes
	tiles := panels(o.size)
	for b := range tiles {
		for i := range o.x {
			o.x[i] = o.across[(b*lanes+i)*outerStride:][:terms]
		}
		for c := range b + 1 {
			set.AddTile(&o.x, o.panels[c*lanes*outerTerms:][:lanes*terms], tiles*lanes, o.sum[b*lanes*tiles*lanes+c*lanes:])
		}
	}
}

// end copies the sums to the lower triangle of a, row by row.
func (o *Outer) end(a []float64) {
	whole := panels(o.size) * kernels.Lanes
	for i := range o.size {
		copy(a[i*o.size:][:i+1], o.sum[i*whole:])
	}
}

// Flush adds the sums to the lower triangle of a, row by row, and sets them to 0.
func (o *Outer) Flush(set *kernels.Set, a []float64) {
	whole := panels(o.size) * kernels.Lanes
	for i := range o.size {
		row := o.sum[i*whole:][:i+1]
		set.Axpy(1, row, a[i*o.size:][:i+1])
		clear(o.sum[i*whole:][:whole])
	}
}
