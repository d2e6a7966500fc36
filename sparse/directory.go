package sparse

import "slices"

// directory finds columns in a list of a few of the p columns. The p columns are cut into blocks of equal
// width, no more blocks than columns are listed, so that a block holds about one listed column and a search is
// short.
type directory struct {
	columns []int32 // listed, increasing
	width   uint    // a block is 1<<width columns
	blocks  []int32 // columns[blocks[b]:blocks[b+1]] are in block b
}

func newDirectory(p int, columns []int32) *directory {
	d := &directory{columns: columns}
	for p>>d.width > len(columns) {
		d.width++
	}
	d.blocks = make([]int32, p>>d.width+2)
	for _, j := range columns {
		d.blocks[j>>d.width+1]++
	}
	for b := range len(d.blocks) - 1 {
		d.blocks[b+1] += d.blocks[b]
	}
	return d
}

// find returns the index of column j in the list, −1 if it is not listed.
func (d *directory) find(j int) int {
	b := j >> d.width
	first := d.blocks[b]
	k, found := slices.BinarySearch(d.columns[first:d.blocks[b+1]], int32(j))
	if !found {
		return -1
	}
	return int(first) + k
}
