package bilevel

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// Condensed holds a few rows in the place of the many rows of X and y. For every fold, or batch of a hold-out, it has about
// as many rows as there are independent columns, with the fold's sums, squares and products of columns and target.
// Squared losses and mean squared errors depend on nothing else, so solutions, values and gradients at all λ are those of
// the original rows. Let Z = [1 X y] on the rows of a fold, and ZᵀSZ = LLᵀ by Cholesky's method: the condensed rows are
// the columns of L, rotated so that the first column of Z becomes a column of ones again. With an intercept, a number near
// its mean is subtracted from each column and from the target, which changes only the intercept.
//
// The condensed rows of a fold lose directions along which columns differ by less than 1e-7 of their spread, and values of
// the criterion change by about 1e-15 of the null model's value.
type Condensed struct {
	X     *sparse.Dense
	Y     []float64
	folds Folds
	// batches has the batch of each row of a hold-out; nil: the folds are not a hold-out.
	batches Folds
	// weights has the weight of each row: the total weight of a fold, divided equally among its condensed rows.
	weights    []float64
	shift      []float64 // what is subtracted from the columns, and from y
	sourceRows int       // the number of rows of X
	direction  []float64 // the direction δ of a [Risk]

	// Norms are √Σw(x − shift)² of the columns and of y over all rows. Rounding times the norms of two columns, or of
	// a column and y, bounds the rounding error of their product.
	Norms    []float64
	Rounding float64

	Work float64 // the work of the sums over the rows of X
}

// Spec returns the spec of the problem on the condensed rows. The condensed rows of a [Risk] have equal weights, and
// its spec has none.
func (c *Condensed) Spec(spec Spec) Spec {
	if spec.Risk != nil {
		risk := *spec.Risk
		risk.condensed = c
		spec.Risk = &risk
		return spec
	}
	spec.Folds, spec.Weights, spec.batches = c.folds, c.weights, c.batches
	return spec
}

// Batches returns the batch of each condensed row of a hold-out; nil if there is no hold-out.
func (c *Condensed) Batches() Folds { return c.batches }

// Shifted returns the number to add to an intercept on condensed rows, for coefficients in units of X, so that it is an
// intercept on X.
func (c *Condensed) Shifted(support []int32, coef []float64) float64 {
	intercept := c.shift[len(c.shift)-1]
	for k, j := range support {
		intercept -= float64(coef[k] * c.shift[j])
	}
	return intercept
}

const (
	shiftRows        = 1 << 11  // the number of rows whose column means are the first shifts
	pieceRows        = 1 << 12  // the number of rows sorted by fold and summed at a time, while they are in a cache
	leastStretchRows = 1 << 16  // the smallest number of rows of a stretch, which one thread sums apart from the others
	mostStretches    = 16       // the largest number of stretches
	mostSumBytes     = 64 << 20 // the largest number of bytes of the sums of all stretches, if there are several
)

// stretchRows returns the number of rows of a stretch, for n rows and sums of size columns in each fold.
func stretchRows(n, folds, size int) int {
	most := max(1, min(mostStretches, mostSumBytes/(8*folds*(size+1)*(size+1))))
	rows := max(leastStretchRows, (n+most-1)/most)
	return (rows + pieceRows - 1) / pieceRows * pieceRows
}

// SumsBytes returns the size in memory of the sums that [Condense] makes, for n rows, X's columns and the number of folds.
func SumsBytes(n, columns, folds int) float64 {
	size := columns + 1
	rows := stretchRows(n, folds, size)
	return float64((n+rows-1)/rows*folds) * 8 * float64((size+1)*(size+1))
}

// Condense returns the condensed rows of a problem; without folds, all rows are condensed together. It returns nil where
// products overflow or underflow, where no row has weight, where unpenalised columns of the spec nearly depend on one
// another, since nothing would keep their coefficients from becoming large, and where such columns explain all but a
// negligible part of another column or of the target.
func Condense(k *kernels.Set, helpers *team.Team, x sparse.Matrix, y []float64, spec *Spec) (*Condensed, error) {
	n, _ := x.Dims()
	c := &condenser{k: k, spec: spec, n: n, foldOf: spec.Folds, batches: spec.inBatches(k), columns: columnsIn(x)}
	if c.batches != nil {
		c.foldOf = c.batches
	}
	c.folds = c.foldOf.Count(k) - TestOnly
	if spec.Risk != nil {
		c.columns = append(c.columns, column{values: normals(n, spec.Risk.Seed)})
	}
	c.columns = append(c.columns, column{values: y})
	c.size = len(c.columns)
	c.stretch = stretchRows(n, c.folds, c.size)
	c.stretches = make([][]foldSums, (n+c.stretch-1)/c.stretch)
	if c.chooseListed(); !c.sumRows(helpers) {
		c.spreadAll()
		c.sumRows(helpers)
	}
	out, err := c.condensed()
	if out != nil && err == nil && !out.separatesUnpenalised(k, spec, spec.Free) {
		return nil, nil
	}
	return out, err
}

// condenser holds the sums over the rows of each fold while [Condense] makes them.
type condenser struct {
	k               *kernels.Set
	spec            *Spec
	n               int          // the number of rows
	size            int          // the number of columns, with the direction of a [Risk] and the target
	foldOf, batches Folds        // the fold of each row, or its batch in a hold-out; batches is nil without one
	folds           int          // the number of folds, with one for TestOnly and one for AlwaysTrain
	columns         []column     // the columns of X, the direction of a [Risk], the target
	spread          []int        // the columns summed as dense ones,
	listed          []int        // and those whose entries are listed by rows
	cost            float64      // the work of the sums
	shift           []float64    // by column; 0 for listed columns
	centre          [][]float64  // by fold and column: what is subtracted from the entries before they are summed
	stretch         int          // the number of rows of a stretch
	stretches       [][]foldSums // by stretch and fold, TestOnly and AlwaysTrain first
	whole           []foldSums   // by fold: the sums over all stretches
	rankError       float64      // the largest error of a product of columns, relative to their norms, where columns depend on others
}

// column holds the non-zero entries of a column and their rows, or, where rows is nil, all entries.
type column struct {
	rows   []int32
	values []float64
}

// columnsIn returns the columns of a matrix.
func columnsIn(x sparse.Matrix) []column {
	_, p := x.Dims()
	columns := make([]column, p, p+2) // room for a direction and the target
	for j := range columns {
		columns[j].rows, columns[j].values = x.Column(j)
	}
	return columns
}

// piece returns the entries of the rows from … end − 1, zeros included. A sparse column is expanded into room.
func (c column) piece(from, end int, room []float64) []float64 {
	if c.rows == nil {
		return c.values[from:end]
	}
	out := room[:end-from]
	clear(out)
	k, _ := slices.BinarySearch(c.rows, int32(from))
	for ; k < len(c.rows) && int(c.rows[k]) < end; k++ {
		out[int(c.rows[k])-from] = c.values[k]
	}
	return out
}

// fold returns the index of the fold of row i: its id less TestOnly.
func (c *condenser) fold(i int) int {
	if c.foldOf == nil {
		return AlwaysTrain - TestOnly
	}
	return c.foldOf[i] - TestOnly
}

// sumRows sums over the rows of all folds. It returns false, with sums that are not to be used, if the mean of a listed
// column is far off in some fold.
func (c *condenser) sumRows(helpers *team.Team) bool {
	c.shift = make([]float64, c.size)
	if c.spec.Intercept {
		c.setShifts(min(c.n, shiftRows))
	}
	c.centre = slices.Repeat([][]float64{c.shift}, c.folds)
	c.sumStretches(helpers)
	if !c.spec.Intercept {
		return true
	}
	if slices.ContainsFunc(c.whole, c.listedFar) {
		return false
	}
	if c.recentre() {
		c.sumStretches(helpers)
	}
	return true
}

// foldSums holds the sums over some rows of a fold.
type foldSums struct {
	rows   int       // the number of rows
	sums   []float64 // the products of the columns and 1, the lower triangle
	first  []float64 // the first of the rows, neither shifted nor centred
	varies []bool    // by column: whether it varies on the rows
	sumBlocks
}

// setShifts sets the shifts of spread columns to their means over the first rows.
func (c *condenser) setShifts(rows int) {
	room := make([]float64, rows)
	for _, j := range c.spread {
		var sum, total float64
		for i, v := range c.columns[j].piece(0, rows, room) {
			w := c.spec.weight(i)
			sum += float64(w * v)
			total += w
		}
		if total > 0 {
			c.shift[j] = sum / total
		}
	}
}

// sumStretches sums over the rows of all folds, in parallel.
func (c *condenser) sumStretches(helpers *team.Team) {
	helpers.Do(helpers.Few(c.cost), c)
	helpers.Rest()
	c.whole = c.whole[:0]
	for b := range c.folds {
		c.whole = append(c.whole, c.addUp(b))
	}
}

// farOff is the largest allowed ratio of the square of a column's mean to its variance. The variance is a difference of
// sums, in which rounding would show beyond that.
const farOff = 1 << 10

// recentre sets the centre of each fold in which the mean of a column is far off to the means of its columns, and reports
// whether there is such a fold. If so, the shifts become the means over all rows.
func (c *condenser) recentre() (far bool) {
	all := make([]float64, c.size+1)
	for b, m := range c.whole {
		if m.rows == 0 {
			continue
		}
		last := m.sums[c.size*(c.size+1):]
		c.k.Axpy(1, last, all)
		off, centre := false, slices.Clone(c.shift)
		for _, j := range c.spread {
			if !m.varies[j] {
				centre[j] = m.first[j]
				continue
			}
			centre[j] += last[j] / last[c.size]
			off = off || m.meanFarOff(c.size, j)
		}
		if off {
			c.centre[b], far = centre, true
		}
	}
	if far {
		c.shift = slices.Clone(c.shift)
		c.k.Axpy(1/all[c.size], all[:c.size], c.shift)
	}
	return far
}

// meanFarOff reports whether the mean of column j, which must vary, is far from 0 compared with its spread; see farOff.
func (b *foldSums) meanFarOff(size, j int) bool {
	last := b.sums[size*(size+1):]
	square := float64(last[j] * last[j] / last[size])
	return square > farOff*(b.sums[j*(size+1)+j]-square)
}

// Part implements [team.Task]: it sums over one stretch of every of.
func (c *condenser) Part(part, of int) {
	d := c.newSortedPiece()
	pace := c.k.Pace()
	for s := part; s < len(c.stretches); s += of {
		c.stretches[s] = make([]foldSums, c.folds)
		end := min(c.n, (s+1)*c.stretch)
		for from := s * c.stretch; from < end; from += pieceRows {
			to := min(end, from+pieceRows)
			d.addRows(c.stretches[s], from, to)
			pace.Did((to - from) * c.size)
		}
		for b := range c.stretches[s] {
			c.stretches[s][b].assemble(c)
		}
	}
}

// sortedPiece holds the rows of a piece, sorted by fold.
type sortedPiece struct {
	*condenser
	begin, next []int       // by fold: its first row, and the next place for a row, in the sorted order
	order       []int32     // the rows in the sorted order, by their position in the piece
	columns     [][]float64 // the spread columns less the centre of the fold, in the sorted order
	buffer      []float64   // for one column, in the order of X
	ones        []float64
	weights     []float64     // in the sorted order
	outer       support.Outer // sums the products of the rows of one fold
	lists       lists         // the listed columns
}

func (c *condenser) newSortedPiece() *sortedPiece {
	rows, spread := min(c.n, pieceRows), len(c.spread)
	room := make([]float64, (spread+3)*rows)
	d := &sortedPiece{
		condenser: c, begin: make([]int, c.folds+1), next: make([]int, c.folds), order: make([]int32, rows),
		columns: make([][]float64, spread), ones: room[spread*rows:][:rows], weights: room[(spread+1)*rows:][:rows],
		buffer: room[(spread+2)*rows:],
	}
	for k := range d.columns {
		d.columns[k] = room[k*rows:][:rows]
	}
	c.k.Fill(d.ones, 1)
	d.outer.Begin(spread + 1)
	return d
}

// addRows adds the rows first … end − 1 to the sums of their folds.
func (d *sortedPiece) addRows(to []foldSums, first, end int) {
	clear(d.begin)
	for i := first; i < end; i++ {
		if d.spec.weight(i) > 0 {
			d.begin[d.fold(i)+1]++
		}
	}
	for b := range to {
		d.begin[b+1] += d.begin[b]
		to[b].init(d.condenser)
	}
	copy(d.next, d.begin)
	for i := first; i < end; i++ {
		if w := d.spec.weight(i); w > 0 {
			at := &d.next[d.fold(i)]
			d.order[*at], d.weights[*at] = int32(i-first), w
			*at++
		}
	}
	for k, j := range d.spread {
		values, out := d.condenser.columns[j].piece(first, end, d.buffer), d.columns[k]
		for b := range to {
			from, next := d.begin[b], d.begin[b+1]
			if from == next {
				continue
			}
			rows, centre := d.order[from:next], d.centre[b][j]
			to[b].updateVaries(j, values, rows)
			for t, i := range rows {
				out[from+t] = values[i] - centre
			}
		}
	}
	d.list(first, end)
	for b := range to {
		if from, next := d.begin[b], d.begin[b+1]; from < next {
			to[b].add(d, from, next)
		}
	}
}

// init allocates what the first rows need.
func (b *foldSums) init(c *condenser) {
	if b.first == nil {
		b.first, b.varies = make([]float64, c.size), make([]bool, c.size)
	}
}

// updateVaries updates whether column j varies, by its values on further rows.
func (b *foldSums) updateVaries(j int, values []float64, rows []int32) {
	if b.rows == 0 {
		b.first[j] = values[rows[0]]
	}
	first := b.first[j]
	b.varies[j] = b.varies[j] || slices.ContainsFunc(rows, func(i int32) bool { return values[i] != first })
}

// add adds the rows from … to − 1 in the order of the sorted piece.
func (b *foldSums) add(d *sortedPiece, from, to int) {
	b.addListed(d, from, to)
	b.rows += to - from
	d.outer.AddColumns(d.k, d.weights[from:to], func(k int) []float64 {
		if k == len(d.columns) {
			return d.ones[from:to]
		}
		return d.columns[k][from:to]
	})
	d.outer.Flush(d.k, b.ofSpread)
}

// addUp adds up the sums of a fold over all stretches.
func (c *condenser) addUp(fold int) (all foldSums) {
	for _, portions := range c.stretches {
		b := &portions[fold]
		switch {
		case b.rows == 0:
			continue
		case all.rows == 0:
			all = *b
			continue
		}
		all.rows += b.rows
		for j, v := range b.first {
			all.varies[j] = all.varies[j] || b.varies[j] || v != all.first[j]
		}
		c.k.Axpy(1, b.sums, all.sums)
	}
	return all
}

// rounding bounds the rounding error of products of columns, relative to their norms: of shifting, of summing in pieces, of
// adding these up and centring, and of the factorisation and the reflection; Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, (3.5) and theorem 10.3.
func (c *condenser) rounding() float64 {
	sums := pieceRows + (c.n+pieceRows-1)/pieceRows + len(c.stretches)
	if len(c.listed) > 0 {
		sums += pieceRows // the terms that flush adds up at a time
	}
	return float64(float64(4*sums+20*(c.size+8))*0x1p-53) + c.rankError
}

// condensed returns the condensed rows of all folds, nil where they cannot be made.
func (c *condenser) condensed() (*Condensed, error) {
	out := &Condensed{Work: c.cost, shift: c.shift, Norms: make([]float64, c.size)}
	var blocks [][][]float64 // for each fold with rows: its condensed rows, by columns
	for b, m := range c.whole {
		if m.rows == 0 {
			continue
		}
		rows, weight := c.condensedRows(b)
		if rows == nil {
			return nil, nil
		}
		for range rows[0] {
			out.folds, out.weights = append(out.folds, b+TestOnly), append(out.weights, weight)
		}
		for j := range out.Norms {
			out.Norms[j] += m.sums[j*(c.size+1)+j]
		}
		blocks = append(blocks, rows)
	}
	total := len(out.folds)
	if total == 0 {
		return nil, nil
	}
	if c.batches != nil {
		out.batches = slices.Clone(out.folds)
		for i, batch := range out.batches {
			out.folds[i] = min(batch, 0)
		}
	}
	for j, square := range out.Norms {
		out.Norms[j] = math.Sqrt(square)
	}
	out.Rounding = c.rounding()
	columns := func(from, end int) []float64 {
		values := make([]float64, 0, (end-from)*total)
		for j := from; j < end; j++ {
			for _, rows := range blocks {
				values = append(values, rows[j]...)
			}
		}
		return values
	}
	p := c.size - 1
	out.Y = columns(p, c.size)
	if c.spec.Risk != nil {
		p--
		out.direction = columns(p, p+1)
		for t := range out.direction {
			out.direction[t] += c.shift[p]
		}
	}
	out.sourceRows = c.n
	var err error
	out.X, err = sparse.NewDense(total, p, columns(0, p))
	return out, err
}
