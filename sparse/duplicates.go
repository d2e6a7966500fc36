package sparse

import (
	"math"
	"math/bits"
)

// Copies are the columns that equal one another, up to sign, on the rows of
// positive weight of a view and after centring. Real text has many: words that
// occur in the same documents. A problem with one strength for all columns has
// infinitely many solutions on them; the one that shares a coefficient equally,
// with the signs of the copies, is the limit of the elastic net as its ridge
// vanishes, unique, and differentiable.
type Copies struct {
	home   []Signed   // p: of a redundant column its representative, else of sign 0; nil: none is
	group  []int32    // p: of a representative its group plus one, else 0
	groups [][]Signed // the representative itself first
}

// Signed is a column and the sign with which another copies it.
type Signed struct {
	Column int32
	Sign   float64 // ±1
}

// Redundant reports whether column j copies a column of smaller index.
func (c *Copies) Redundant(j int32) bool { return c.home != nil && c.home[j].Sign != 0 }

// Home returns the column that stands for j, the copy of smallest index, and the
// sign with which j copies it: j itself where it copies none.
func (c *Copies) Home(j int32) Signed {
	if c.Redundant(j) {
		return c.home[j]
	}
	return Signed{j, 1}
}

// Of returns the copies of a column that stands for several, itself first; nil
// where it has none.
func (c *Copies) Of(j int32) []Signed {
	if c.home == nil || c.group[j] == 0 {
		return nil
	}
	return c.groups[c.group[j]-1]
}

// Count returns the number of redundant columns.
func (c *Copies) Count() (count int) {
	for _, group := range c.groups {
		count += len(group) - 1
	}
	return count
}

// Copies finds the copies among the columns, at the first call. Columns without
// entries on the rows of positive weight are no one's copies.
//
// Copies have the same norm, to the last bit. Where a column shares its norm with
// another, its entries are hashed, and where hashes agree, compared.
func (v *View) Copies() *Copies {
	v.copiesOnce.Do(func() { v.copies = v.findCopies(true) })
	return v.copies
}

// EqualCopies is [View.Copies] without regard to columns that equal another's
// negative, which β ≥ 0 tells apart.
func (v *View) EqualCopies() *Copies {
	v.equalOnce.Do(func() { v.equal = v.findCopies(false) })
	return v.equal
}

func (v *View) findCopies(negatives bool) *Copies {
	c := &Copies{}
	columns := v.sharingNorms()
	table := newColumnTable(len(columns))
	for _, j := range columns {
		h := v.hash(j)
		at := table.find(h)
		for ; table.column[at] != 0; at = table.next(at, h) {
			home := table.column[at] - 1
			sign := v.compare(home, j)
			if (sign > 0 || negatives) && c.add(home, j, sign, v.p) {
				break
			}
		}
		if table.column[at] == 0 {
			table.key[at], table.column[at] = h, j+1
		}
	}
	return c
}

// sharingNorms returns the columns, ascending, whose norm is another's too.
func (v *View) sharingNorms() []int32 {
	all := v.x.Order()
	shared := make([]bool, v.p)
	table := newColumnTable(len(all))
	count := 0
	for _, j := range all {
		if v.norms[j] == 0 {
			continue
		}
		key := math.Float64bits(v.norms[j])
		at := table.find(key)
		if first := table.column[at] - 1; first < 0 {
			table.key[at], table.column[at] = key, j+1
			continue
		} else if !shared[first] {
			shared[first] = true
			count++
		}
		shared[j] = true
		count++
	}
	columns := make([]int32, 0, count)
	for j, is := range shared {
		if is {
			columns = append(columns, int32(j))
		}
	}
	return columns
}

// columnTable is an open table from keys to columns, half empty at least.
type columnTable struct {
	key    []uint64
	column []int32 // plus one; 0: free
}

func newColumnTable(columns int) *columnTable {
	size := 1 << bits.Len(uint(2*columns))
	return &columnTable{make([]uint64, size), make([]int32, size)}
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

// add makes j a copy of home with the given sign, unless that is 0.
func (c *Copies) add(home, j int32, sign float64, p int) bool {
	if sign == 0 {
		return false
	}
	if c.home == nil {
		c.home, c.group = make([]Signed, p), make([]int32, p)
	}
	if c.group[home] == 0 {
		c.groups = append(c.groups, []Signed{{home, 1}})
		c.group[home] = int32(len(c.groups))
	}
	group := &c.groups[c.group[home]-1]
	*group = append(*group, Signed{j, sign})
	c.home[j] = Signed{home, sign}
	return true
}

// hash mixes row and value of every entry on rows of positive weight. It is blind
// to the sign of the column, and to the order of the entries.
func (v *View) hash(j int32) uint64 {
	rows, values := v.x.Column(int(j))
	var sum uint64
	var lead float64 // what is divided by
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
	}
	return sum
}

// lead returns what the entries of a column with the first entry x are divided by to
// be compared: its sign, or itself where multiples of a column are copies of it too.
func (v *View) lead(x float64) float64 {
	if v.scale != nil {
		return x
	}
	return math.Copysign(1, x)
}

// compare returns ±1 where column b is that multiple of column a on the rows of
// positive weight, or in a standardised view any multiple of that sign, else 0.
func (v *View) compare(a, b int32) float64 {
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
