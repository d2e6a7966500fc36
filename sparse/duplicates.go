package sparse

import (
	"math"
	"math/bits"
)

// Copies are columns found to equal one another, up to sign, on the rows of
// positive weight of a view, after scaling and centring. Text has many: words that occur in the same
// documents. With one strength for all columns, an inner problem has infinitely many solutions
// on them; the one that shares the coefficient equally, with the signs of the copies, is unique
// and differentiable: it is the limit of the elastic net as its ridge vanishes.
//
// Only columns given to [Copies.Find] are compared, so that columns that no solver works on cost
// nothing. A nil *Copies has none.
type Copies struct {
	view           *View
	opposite       bool               // a column that equals another's negative copies it too
	representative map[int32]Signed   // redundant column → the one that stands for it
	groups         map[int32][]Signed // a column that stands for others → them, itself first
	known          []uint64           // a bit a column: it is in one of the two, which most are not

	redundant []int32
	table     columnTable
}

// Signed is a column and the sign with which another copies it.
type Signed struct {
	Column int32
	Sign   float64 // ±1
}

// NewCopies returns an empty list of the copies among the columns of v. Opposite says
// that the negative of a column is a copy of it too; with β ≥ 0 it is not.
func (v *View) NewCopies(opposite bool) *Copies {
	return &Copies{view: v, opposite: opposite, representative: map[int32]Signed{}, groups: map[int32][]Signed{}, known: make([]uint64, (v.p+63)/64)}
}

// Restart makes the list one that [View.NewCopies] returns.
func (c *Copies) Restart(opposite bool) {
	c.opposite = opposite
	clear(c.representative)
	clear(c.groups)
	clear(c.known)
	c.redundant = c.redundant[:0]
}

// knows reports whether column j copies another or stands for one.
func (c *Copies) knows(j int32) bool { return c != nil && c.known[j/64]>>(j%64)&1 != 0 }

// Redundant reports whether another column stands for column j.
func (c *Copies) Redundant(j int32) bool {
	if !c.knows(j) {
		return false
	}
	_, is := c.representative[j]
	return is
}

// Representative returns the column that stands for j and the sign with which j copies it:
// j itself where it copies none.
func (c *Copies) Representative(j int32) Signed {
	if c.knows(j) {
		if rep, is := c.representative[j]; is {
			return rep
		}
	}
	return Signed{j, 1}
}

// Of returns the copies of a column that stands for several, itself first; nil
// where it has none.
func (c *Copies) Of(j int32) []Signed {
	if !c.knows(j) {
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

// Find compares the columns of an ascending list with one another, and returns, in that
// order, those for which another of them turns out to stand: the first of each kind.
// Read only, valid until the list changes. Columns without entries on the rows of positive weight are no one's copies.
//
// The first entries are hashed, and where hashes agree, all are compared.
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

// join makes j, and what it stands for, copies of rep.
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

// columnTable is an open table from keys to columns, half empty at least.
type columnTable struct {
	key    []uint64
	column []int32 // plus one; 0: free
}

// clear makes the table empty, with room for so many columns.
func (t *columnTable) clear(columns int) {
	size := 1 << bits.Len(uint(2*columns))
	if cap(t.key) < size {
		t.key, t.column = make([]uint64, size), make([]int32, size)
	}
	t.key, t.column = t.key[:size], t.column[:size]
	clear(t.column)
}

// find returns the first place of a key, or the free place where it belongs.
func (t *columnTable) find(key uint64) int {
	z := key * 0x9e3779b97f4a7c15
	return t.seek(int(z>>32)&(len(t.key)-1), key)
}

// next returns the place of the key after one that held it, or a free one.
func (t *columnTable) next(at int, key uint64) int { return t.seek((at+1)&(len(t.key)-1), key) }

func (t *columnTable) seek(at int, key uint64) int {
	for t.column[at] != 0 && t.key[at] != key {
		at = (at + 1) & (len(t.key) - 1)
	}
	return at
}

// hashed is how many entries tell columns apart.
const hashed = 64

// hash mixes row and value of the first entries on rows of positive weight; 0 where there is
// none. It is blind to the sign of the column.
func (v *View) hash(j int32) uint64 {
	rows, values := v.x.Column(int(j))
	var sum uint64
	var lead float64 // what is divided by
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
			lead = v.lead(x)
		}
		z := math.Float64bits(x/lead) ^ uint64(i)*0x9e3779b97f4a7c15
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		sum += z ^ z>>31
		if seen++; seen == hashed {
			break
		}
	}
	return sum
}

// lead returns what the entries of a column with the first entry x are divided by to
// be compared: its sign, or itself where multiples of a column may be copies of it once they are scaled.
func (v *View) lead(x float64) float64 {
	if v.scale != nil {
		return x
	}
	return math.Copysign(1, x)
}

// sameNorm is how far the norms of copies may be apart, relatively: rounding.
const sameNorm = 1e-12

// compare returns ±1 where column b of the view is that multiple of column a on the rows of
// positive weight, else 0.
func (v *View) compare(a, b int32) float64 {
	if v.scale != nil && !(math.Abs(v.Norm(int(a))-v.Norm(int(b))) <= float64(sameNorm*v.Norm(int(a)))) {
		return 0 // a multiple of another size
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
			leadX, leadY = v.lead(x), v.lead(y)
			sign = math.Copysign(1, x) * math.Copysign(1, y)
		}
		if y/leadY != x/leadX {
			return 0
		}
	}
}
