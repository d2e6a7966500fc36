package sparse

import (
	"math"
	"math/bits"
)

// Copies are columns found to equal one another, up to sign, on the rows of positive weight of a view, after
// scaling and centring. Text has many: words that occur in the same documents. With one strength for all
// columns, an inner problem has infinitely many solutions that differ in the coefficients of copies. The
// solution that shares the coefficient equally, with the signs of the copies, is unique and differentiable: it
// is the limit of the elastic net as its ridge vanishes.
//
// Only columns given to [Copies.Find] are compared, so that columns that no solver works on cost nothing. A nil
// *Copies has none.
type Copies struct {
	view           *View
	opposite       bool               // the negative of a column is a copy of it too
	representative map[int32]Signed   // redundant column → the column that stands for it
	groups         map[int32][]Signed // column that stands for others → these columns, itself first
	known          []uint64           // one bit per column: whether it is in representative or groups; most columns are in neither

	redundant []int32
	table     columnTable
}

// Signed is a column and the sign with which another copies it.
type Signed struct {
	Column int32
	Sign   float64 // ±1
}

// NewCopies returns an empty list of the copies among the columns of v. opposite says that the negative of a
// column is a copy of it too; with β ≥ 0 it is not.
func (v *View) NewCopies(opposite bool) *Copies {
	return &Copies{view: v, opposite: opposite, representative: map[int32]Signed{}, groups: map[int32][]Signed{}, known: make([]uint64, (v.p+63)/64)}
}

// Restart resets the list to what [View.NewCopies] returns.
func (c *Copies) Restart(opposite bool) {
	c.opposite = opposite
	clear(c.representative)
	clear(c.groups)
	clear(c.known)
	c.redundant = c.redundant[:0]
}

// involves reports whether column j copies another or stands for one.
func (c *Copies) involves(j int32) bool { return c != nil && c.known[j/64]>>(j%64)&1 != 0 }

// Redundant reports whether another column stands for column j.
func (c *Copies) Redundant(j int32) bool {
	if !c.involves(j) {
		return false
	}
	_, is := c.representative[j]
	return is
}

// Representative returns the column that stands for j and the sign with which j copies it:
// j itself where it copies none.
func (c *Copies) Representative(j int32) Signed {
	if c.involves(j) {
		if rep, is := c.representative[j]; is {
			return rep
		}
	}
	return Signed{j, 1}
}

// Of returns the copies of a column that stands for several, itself first; nil
// where it has none.
func (c *Copies) Of(j int32) []Signed {
	if !c.involves(j) {
		return nil
	}
	return c.groups[j]
}

// All returns the redundant columns, in no order. Read only.
func (c *Copies) All() []int32 {
	if c == nil {
		return nil
	}
	return c.redundant
}

// Find compares the columns of an ascending list with one another and returns, in that order, those that turn
// out to copy an earlier one: the first column of each kind stands for the rest. The result is read only and
// valid until the list changes. Columns without nonzeros on the rows of positive weight are not copies.
//
// Find hashes the first entries of each column, and compares all entries where hashes agree.
func (c *Copies) Find(columns []int32) []int32 {
	before := len(c.redundant)
	table := &c.table
	table.clear(len(columns))
	for _, j := range columns {
		h := c.view.hash(j)
		if h == 0 || c.Redundant(j) {
			continue
		}
		at := table.find(h)
		for ; table.column[at] != 0; at = table.next(at, h) {
			rep := table.column[at] - 1
			if sign := c.view.compare(rep, j); sign > 0 || sign < 0 && c.opposite {
				c.join(rep, j, sign)
				c.redundant = append(c.redundant, j)
				break
			}
		}
		if table.column[at] == 0 {
			table.key[at], table.column[at] = h, j+1
		}
	}
	return c.redundant[before:]
}

// join makes j, and the columns that j stands for, copies of rep.
func (c *Copies) join(rep, j int32, sign float64) {
	for _, k := range [...]int32{rep, j} {
		c.known[k/64] |= 1 << (k % 64)
	}
	if c.groups[rep] == nil {
		c.groups[rep] = []Signed{{rep, 1}}
	}
	members := c.groups[j]
	if members == nil {
		members = []Signed{{j, 1}}
	}
	delete(c.groups, j)
	for _, m := range members {
		c.representative[m.Column] = Signed{rep, sign * m.Sign}
		c.groups[rep] = append(c.groups[rep], Signed{m.Column, sign * m.Sign})
	}
}

// columnTable is a hash table with open addressing, from keys to columns; at least half of it is empty.
type columnTable struct {
	key    []uint64
	column []int32 // column + 1; 0: free
}

// clear empties the table and makes room for the given number of columns.
func (t *columnTable) clear(columns int) {
	size := 1 << bits.Len(uint(2*columns))
	if cap(t.key) < size {
		t.key, t.column = make([]uint64, size), make([]int32, size)
	}
	t.key, t.column = t.key[:size], t.column[:size]
	clear(t.column)
}

// find returns the slot of the first column of a key, or the free slot where it belongs.
func (t *columnTable) find(key uint64) int {
	z := key * 0x9e3779b97f4a7c15
	return t.probe(int(z>>32)&(len(t.key)-1), key)
}

// next returns the next slot of a key after slot at, or a free slot.
func (t *columnTable) next(at int, key uint64) int { return t.probe((at+1)&(len(t.key)-1), key) }

func (t *columnTable) probe(at int, key uint64) int {
	for t.column[at] != 0 && t.key[at] != key {
		at = (at + 1) & (len(t.key) - 1)
	}
	return at
}

// hashedEntries is the number of entries of a column that are hashed.
const hashedEntries = 64

// hash hashes the rows and values of the first entries on rows of positive weight; it is 0 where there are
// none. It does not depend on the sign of the column.
func (v *View) hash(j int32) uint64 {
	rows, values := v.x.Column(int(j))
	var sum uint64
	var lead float64 // the divisor of the entries
	seen := 0
	for k, x := range values {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		if x == 0 || (v.weights != nil && v.weights[i] == 0) {
			continue
		}
		if lead == 0 {
			lead = v.leadDivisor(x)
		}
		z := math.Float64bits(x/lead) ^ uint64(i)*0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		sum += z ^ z>>31
		if seen++; seen == hashedEntries {
			break
		}
	}
	return sum
}

// leadDivisor returns the divisor that makes the entries of columns comparable, where x is the first of them: the sign
// of x, or x itself if columns are scaled, since multiples of a column may then be copies of it.
func (v *View) leadDivisor(x float64) float64 {
	if v.scale != nil {
		return x
	}
	return math.Copysign(1, x)
}

// normTol is the relative difference that rounding may cause between the norms of copies.
const normTol = 1e-12

// compare returns the sign with which column b of the view copies column a on the rows of positive weight, 0 if
// it does not.
func (v *View) compare(a, b int32) float64 {
	if v.scale != nil && !(math.Abs(v.Norm(int(a))-v.Norm(int(b))) <= float64(normTol*v.Norm(int(a)))) {
		return 0 // a multiple with another norm
	}
	next := func(j int32) func() (int, float64) {
		rows, values := v.x.Column(int(j))
		k := 0
		return func() (int, float64) {
			for ; k < len(values); k++ {
				i := k
				if rows != nil {
					i = int(rows[k])
				}
				if values[k] != 0 && (v.weights == nil || v.weights[i] != 0) {
					k++
					return i, values[k-1]
				}
			}
			return v.n, 0
		}
	}
	nextA, nextB := next(a), next(b)
	var leadX, leadY, sign float64
	for {
		i, x := nextA()
		k, y := nextB()
		switch {
		case i != k:
			return 0
		case i == v.n:
			return sign
		case sign == 0:
			leadX, leadY = v.leadDivisor(x), v.leadDivisor(y)
			sign = math.Copysign(1, x) * math.Copysign(1, y)
		}
		if y/leadY != x/leadX {
			return 0
		}
	}
}
