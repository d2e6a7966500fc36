package support

// block makes the preconditioner of a system exact on its longest columns. On text
// those have most in common, and sweeps leave to conjugate gradients mainly what they
// have in common: half of the iterations.
type block struct {
	columns  []int32
	position []int32   // of each in the list of the system
	l        []float64 // the factor of their system
	b        []float64
	count    []int32 // length → columns
}

const (
	blockSize  = 192
	blockShift = 1e-9 // of the diagonal, which makes dependent columns independent
	blockSaves = 0.4  // of the iterations
)

// longest takes in the longest columns of the system, the first ones of those that
// are of the same length.
func (b *block) longest(a *System) {
	b.count = resize(b.count, a.columns.m+1)
	clear(b.count)
	for i := range a.list {
		b.count[a.to[i]-a.from[i]]++
	}
	least, longer := a.columns.m, 0
	for least > 0 && longer+int(b.count[least]) < blockSize {
		longer += int(b.count[least])
		least--
	}
	ties := blockSize - longer
	b.columns, b.position = b.columns[:0], b.position[:0]
	for i, j := range a.list {
		length := int(a.to[i] - a.from[i])
		if length == least && ties > 0 {
			ties--
		} else if length <= least {
			continue
		}
		b.columns, b.position = append(b.columns, j), append(b.position, int32(i))
	}
}

// Factorise makes the preconditioner exact on the longest columns where that pays for
// itself in so many products with the system; so many systems share what the Gram
// matrix lacks.
func (a *System) Factorise(gram *Gram, products, systems float64) {
	b := &a.block
	if a.columns.dense || len(a.list) < 2*blockSize {
		return
	}
	b.longest(a)
	const size = float64(blockSize)
	missing, _ := gram.Missing(b.columns)
	cost := gram.BuildCost(b.columns)/systems + float64(FactorValue*size*size*size/6) + float64(2*products*DenseValue*size*size)
	if !gram.Fits(missing) || cost > float64(blockSaves*products*a.columns.ProductCost(a.list)) {
		b.columns = b.columns[:0]
		return
	}
	gram.Hold(b.columns)
	b.l, b.b = resize(b.l, blockSize*blockSize), resize(b.b, blockSize)
	gram.Submatrix(b.columns, a.ridge, b.l)
	for i := range b.b {
		b.l[i*blockSize+i] *= 1 + blockShift
	}
	if Cholesky(a.k, b.l, blockSize) < blockSize {
		b.columns = b.columns[:0]
	}
}

// Factorised reports whether the preconditioner is more than the diagonal.
func (a *System) Factorised() bool { return len(a.block.columns) > 0 }

// Precondition implements [Preconditioner].
func (a *System) Precondition(r, z []float64) {
	b := &a.block
	if len(b.columns) == 0 {
		return
	}
	for k, i := range b.position {
		b.b[k] = r[i]
	}
	CholeskySolve(a.k, b.l, blockSize, b.b)
	for k, i := range b.position {
		z[i] = b.b[k]
	}
}
