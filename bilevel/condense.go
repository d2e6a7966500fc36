package bilevel

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// Condensed has few rows in the place of many: for every fold, or batch of a hold-out, as many as it has independent columns, with
// its sums, squares and products of columns and target. Squared losses, and mean squared errors, depend on
// no more than these, so that solutions, values and gradients of all λ are those of the rows
// themselves: with Z = [1 X y] of the rows of a fold, ZᵀSZ = LLᵀ by Cholesky's method, L's columns are the
// rows, turned so that the first column is 1 in all of them. Where there is an intercept, columns and target are less
// a number each, which is near their means and changes the intercept alone.
//
// The rows of a fold lose directions along which columns differ by less than 1e-7 of their spread, and values of
// the criterion move by some 1e-15 of that of the null model.
type Condensed struct {
	X     *sparse.Dense
	Y     []float64
	folds Folds
	// batches are of the rows of a hold-out; nil: there is none.
	batches Folds
	// weights share out those of the rows of a fold.
	weights []float64
	shift   []float64 // of the columns, and of y
	rows    int       // of X
	along   []float64 // the direction of a [Risk]

	// Norms are √Σw(x − shift)² of the columns and of y over all rows. Rounding times two of them is more than
	// what rounding has moved a product of columns, or of one and y, by.
	Norms    []float64
	Rounding float64

	Work float64 // of the sums
}

// Spec returns the spec of the problem on the condensed rows. Those of a [Risk] have one weight, and need none.
func (c *Condensed) Spec(spec Spec) Spec {
	if spec.Risk != nil {
		risk := *spec.Risk
		risk.rows = c
		spec.Risk = &risk
		return spec
	}
	spec.Folds, spec.Weights, spec.batches = c.folds, c.weights, c.batches
	return spec
}

// Batches returns the batch of each row of a hold-out.
func (c *Condensed) Batches() Folds { return c.batches }

// Shifted returns what is to be added to an intercept on condensed rows.
func (c *Condensed) Shifted(support []int32, coef []float64) float64 {
	intercept := c.shift[len(c.shift)-1]
	for k, j := range support {
		intercept -= float64(coef[k] * c.shift[j])
	}
	return intercept
}

const (
	condensedFirst   = 1 << 11  // rows by whose means columns are shifted
	condensedPiece   = 1 << 12  // rows that are dealt out to their folds and summed at a time, while they are in a cache
	condensedStretch = 1 << 16  // rows whose sums are taken apart from others, by one thread, at least;
	condensedMost    = 16       // so many stretches of them, at most,
	condensedRoom    = 64 << 20 // in so many bytes, if there is more than one
)

// stretch returns how many rows have their sums taken apart from others, where so many folds have sums of so many columns.
func stretch(n, folds, size int) int {
	most := max(1, min(condensedMost, condensedRoom/(8*folds*(size+1)*(size+1))))
	rows := max(condensedStretch, (n+most-1)/most)
	return (rows + condensedPiece - 1) / condensedPiece * condensedPiece
}

// SumsBytes is how much memory the sums of the products of so many columns take in so many folds.
func SumsBytes(n, columns, folds int) float64 {
	size := columns + 1
	rows := stretch(n, folds, size)
	return float64((n+rows-1)/rows*folds) * 8 * float64((size+1)*(size+1))
}

// Condense returns the condensed rows of a problem, of all rows as one where there are no folds; nil where numbers
// leave no room for products, no row has weight, or columns that the spec has free nearly depend on one another, which
// nothing would keep from large coefficients, or leave next to nothing of other columns or the target.
func Condense(k *kernels.Set, helpers *team.Team, x sparse.Matrix, y []float64, spec *Spec) (*Condensed, error) {
	n, _ := x.Dims()
	c := &condensing{k: k, spec: spec, n: n, of: spec.Folds, batches: spec.inBatches(k), columns: columnsIn(x)}
	if c.batches != nil {
		c.of = c.batches
	}
	c.folds = c.of.Count(k) - TestOnly
	if spec.Risk != nil {
		c.columns = append(c.columns, column{values: normals(n, spec.Risk.Seed)})
	}
	c.columns = append(c.columns, column{values: y})
	c.size = len(c.columns)
	c.stretch = stretch(n, c.folds, c.size)
	c.stretches = make([][]portion, (n+c.stretch-1)/c.stretch)
	if c.divide(); !c.summed(helpers) {
		c.spreadAll()
		c.summed(helpers)
	}
	out, err := c.condensed()
	if out != nil && err == nil && !out.tellsApart(k, spec, spec.Free) {
		return nil, nil
	}
	return out, err
}

// condensing are the sums over the rows of folds.
type condensing struct {
	k           *kernels.Set
	spec        *Spec
	n           int         // rows
	size        int         // of columns, with the direction of a [Risk], and the target
	of, batches Folds       // what rows are in: folds, or batches in their place, where there are some
	folds       int         // and those of no fold
	columns     []column    // and the target
	spread      []int       // those whose entries are summed as those of dense columns are,
	listed      []int       // and those whose entries are listed by rows
	cost        float64     // the work of the sums
	shift       []float64   // 0 of those
	centre      [][]float64 // by fold: what columns are less where they are summed
	stretch     int         // rows
	stretches   [][]portion // of so many rows: by fold, those of no fold first
	whole       []portion   // the folds
	lost        float64     // of products of columns, relative to their norms, where some depend on others
}

// column has the entries that are not 0 and their rows, or, where rows is nil, all entries.
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

// piece returns the entries of some rows, in room where they have to be spread.
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

// fold returns the number of a row's fold.
func (c *condensing) fold(i int) int {
	if c.of == nil {
		return AlwaysTrain - TestOnly
	}
	return c.of[i] - TestOnly
}

// summed sums over the rows of the folds, and reports whether no fold has listed columns far from 0.
func (c *condensing) summed(helpers *team.Team) bool {
	c.shift = make([]float64, c.size)
	if c.spec.Intercept {
		c.place(min(c.n, condensedFirst))
	}
	c.centre = slices.Repeat([][]float64{c.shift}, c.folds)
	c.sum(helpers)
	if !c.spec.Intercept {
		return true
	}
	if slices.ContainsFunc(c.whole, c.listedFar) {
		return false
	}
	if c.recentre() {
		c.sum(helpers)
	}
	return true
}

// portion is what some rows of a fold come to.
type portion struct {
	rows  int
	sums  []float64 // of products of the columns and 1, the lower triangle
	first []float64 // of its rows, as it is in X
	vary  []bool    // columns
	blocks
}

// place shifts columns to their means over the first rows.
func (c *condensing) place(rows int) {
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

// sum sums over the rows of the folds.
func (c *condensing) sum(helpers *team.Team) {
	helpers.Do(helpers.Few(c.cost), c)
	helpers.Rest()
	c.whole = c.whole[:0]
	for b := range c.folds {
		c.whole = append(c.whole, c.together(b))
	}
}

// farOff is how many times the variance of a column the square of its mean may be. Rounding would be seen in the difference of the
// two beyond.
const farOff = 1 << 10

// recentre centres the columns of folds where a mean is far off by their means, and reports whether there is such a
// fold. Columns are then shifted by their means over all rows.
func (c *condensing) recentre() (far bool) {
	all := make([]float64, c.size+1)
	for b, m := range c.whole {
		if m.rows == 0 {
			continue
		}
		last := m.sums[c.size*(c.size+1):]
		c.k.Axpy(1, last, all)
		off, centre := false, slices.Clone(c.shift)
		for _, j := range c.spread {
			if !m.vary[j] {
				centre[j] = m.first[j]
				continue
			}
			centre[j] += last[j] / last[c.size]
			off = off || m.far(c.size, j)
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

// far reports whether the mean of a column that varies is far off.
func (b *portion) far(size, j int) bool {
	last := b.sums[size*(size+1):]
	square := float64(last[j] * last[j] / last[size])
	return square > farOff*(b.sums[j*(size+1)+j]-square)
}

// Part sums over every so many stretches of rows.
func (c *condensing) Part(part, of int) {
	d := c.newDealer()
	pace := c.k.Pace()
	for s := part; s < len(c.stretches); s += of {
		c.stretches[s] = make([]portion, c.folds)
		end := min(c.n, (s+1)*c.stretch)
		for from := s * c.stretch; from < end; from += condensedPiece {
			to := min(end, from+condensedPiece)
			d.deal(c.stretches[s], from, to)
			pace.Did((to - from) * c.size)
		}
		for b := range c.stretches[s] {
			c.stretches[s][b].assemble(c)
		}
	}
}

// dealer has the rows of a piece, those of one fold after the other.
type dealer struct {
	*condensing
	begin, next []int // by fold
	order       []int32
	columns     [][]float64 // that are spread, less what they are shifted by
	room        []float64   // for one, in the order of X
	ones        []float64
	weights     []float64
	outer       support.Outer // of those of one fold
	lists       lists         // of the other columns
}

func (c *condensing) newDealer() *dealer {
	rows, spread := min(c.n, condensedPiece), len(c.spread)
	room := make([]float64, (spread+3)*rows)
	d := &dealer{
		condensing: c, begin: make([]int, c.folds+1), next: make([]int, c.folds), order: make([]int32, rows),
		columns: make([][]float64, spread), ones: room[spread*rows:][:rows], weights: room[(spread+1)*rows:][:rows],
		room: room[(spread+2)*rows:],
	}
	for k := range d.columns {
		d.columns[k] = room[k*rows:][:rows]
	}
	c.k.Fill(d.ones, 1)
	d.outer.Begin(spread + 1)
	return d
}

// deal adds the rows of a piece to their folds.
func (d *dealer) deal(to []portion, first, end int) {
	clear(d.begin)
	for i := first; i < end; i++ {
		if d.spec.weight(i) > 0 {
			d.begin[d.fold(i)+1]++
		}
	}
	for b := range to {
		d.begin[b+1] += d.begin[b]
		to[b].begin(d.condensing)
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
		values, out := d.condensing.columns[j].piece(first, end, d.room), d.columns[k]
		for b := range to {
			from, next := d.begin[b], d.begin[b+1]
			if from == next {
				continue
			}
			rows, centre := d.order[from:next], d.centre[b][j]
			to[b].see(j, values, rows)
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

// begin makes room for the first rows.
func (b *portion) begin(c *condensing) {
	if b.first == nil {
		b.first, b.vary = make([]float64, c.size), make([]bool, c.size)
	}
}

// see finds out whether column j varies.
func (b *portion) see(j int, values []float64, rows []int32) {
	if b.rows == 0 {
		b.first[j] = values[rows[0]]
	}
	first := b.first[j]
	b.vary[j] = b.vary[j] || slices.ContainsFunc(rows, func(i int32) bool { return values[i] != first })
}

// add adds rows that have been dealt.
func (b *portion) add(d *dealer, from, to int) {
	b.meet(d, from, to)
	b.rows += to - from
	d.outer.AddColumns(d.k, d.weights[from:to], func(k int) []float64 {
		if k == len(d.columns) {
			return d.ones[from:to]
		}
		return d.columns[k][from:to]
	})
	d.outer.Flush(d.k, b.ofSpread)
}

// together puts the portions of a fold together.
func (c *condensing) together(fold int) (all portion) {
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
			all.vary[j] = all.vary[j] || b.vary[j] || v != all.first[j]
		}
		c.k.Axpy(1, b.sums, all.sums)
	}
	return all
}

// rounding bounds what rounding does to products of columns, in units of their norms: as they are shifted, summed
// in a row, added up and centred, and as they are factorised and turned; Higham, Accuracy and Stability of Numerical
// Algorithms, 2002, (3.5) and theorem 10.3.
func (c *condensing) rounding() float64 {
	sums := condensedPiece + (c.n+condensedPiece-1)/condensedPiece + len(c.stretches)
	if len(c.listed) > 0 {
		sums += condensedPiece // terms that are added up at a time
	}
	return float64(float64(4*sums+20*(c.size+8))*0x1p-53) + c.lost
}

// condensed makes the rows of the folds.
func (c *condensing) condensed() (*Condensed, error) {
	out := &Condensed{Work: c.cost, shift: c.shift, Norms: make([]float64, c.size)}
	var blocks [][][]float64 // of the folds with rows: their rows, by columns
	for b, m := range c.whole {
		if m.rows == 0 {
			continue
		}
		rows, weight := c.rows(b)
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
		out.along = columns(p, p+1)
		for t := range out.along {
			out.along[t] += c.shift[p]
		}
	}
	out.rows = c.n
	var err error
	out.X, err = sparse.NewDense(total, p, columns(0, p))
	return out, err
}
