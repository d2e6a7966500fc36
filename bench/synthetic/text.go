package synthetic

import (
	"context"
	"math"
	"slices"
	"sort"
)

// text has the parameters of a text-like set. A row is a document of tokens. A token is a word drawn by rank
// with weight 1/((rank+flat)(rank+bend)), and numbered by one of three numberings of the vocabulary: that of
// the document's topic (1 token in 8), of its group (2 in 8), or of all documents (5 in 8).
type text struct {
	flat, bend   uint64
	lengths      [17]uint64 // row lengths in tokens: the quantiles at 0, 1/16, … 1
	scale, share uint64     // lengths are multiplied by scale/share
	topics       int
	positive     int  // number of topics with label +1; the others have −1
	idf          bool // values are tf-idf; counts otherwise
	multi        bool // the label is the topic, counted from 1
}

// Lengths of newsgroup posts and of newswire stories.
var (
	posts   = [17]uint64{8, 24, 29, 34, 39, 44, 50, 56, 63, 70, 79, 89, 102, 119, 147, 205, 1400}
	stories = [17]uint64{4, 22, 28, 34, 40, 46, 53, 59, 66, 74, 82, 91, 101, 115, 135, 169, 420}
)

// stride spreads the words over the columns, so that frequent words are scattered.
const stride = 1000003

// document is what a row's seed determines, except the words.
type document struct {
	state  uint64
	tokens int
	topic  int
	group  int
	label  float64
}

// generator holds what is common to all rows.
type generator struct {
	text
	columns    uint64
	cumulative []uint64 // cumulative weights of the words, by rank
	offsets    []uint64 // offsets of the numberings: topics, then groups
	quantiles  [17]uint64
	topicSums  []uint64
	base       uint64
}

func newGenerator(s Set) *generator {
	g := &generator{text: s.text, columns: uint64(s.Columns), base: mix(s.seed)}
	g.cumulative = make([]uint64, s.Columns)
	total := uint64(0)
	for r := range g.cumulative {
		total += (1 << 62) / ((uint64(r) + g.flat) * (uint64(r) + g.bend))
		g.cumulative[r] = total
	}
	for t := range g.topics + 4 {
		g.offsets = append(g.offsets, below(at(g.base^0x5555555555555555, t), g.columns))
	}
	for k, l := range g.lengths {
		g.quantiles[k] = l * g.scale / g.share
	}
	sum := uint64(0)
	for t := range g.topics {
		sum += (1 << 40) / uint64(t+2)
		g.topicSums = append(g.topicSums, sum)
	}
	return g
}

func (g *generator) document(i int) document {
	d := document{state: at(g.base, i)}
	x := at(d.state, 0)
	k, f := x>>60, x>>28&0xFFFFFFFF
	d.tokens = int(g.quantiles[k] + (g.quantiles[k+1]-g.quantiles[k])*f>>32)

	x = at(d.state, 1)
	if g.multi {
		d.topic = above(g.topicSums, below(x, g.topicSums[g.topics-1]))
		d.group, d.label = d.topic%4, float64(d.topic+1)
		return d
	}
	d.topic, d.label = int(below(x, uint64(g.topics))), 1
	if d.topic >= g.positive {
		d.group, d.label = 1, -1
	}
	if at(d.state, 2)>>59 == 0 { // one label in 32 is wrong
		d.label = -d.label
	}
	return d
}

// above returns the first index whose cumulative sum exceeds x.
func above(sums []uint64, x uint64) int {
	return sort.Search(len(sums), func(i int) bool { return sums[i] > x })
}

// words appends the columns of the document's tokens, sorted, with repetitions.
func (g *generator) words(d document, columns []int32) []int32 {
	total := g.cumulative[len(g.cumulative)-1]
	for m := range d.tokens {
		offset := uint64(0)
		switch at(d.state, 3+2*m) >> 61 {
		case 0:
			offset = g.offsets[d.topic]
		case 1, 2:
			offset = g.offsets[g.topics+d.group]
		}
		rank := above(g.cumulative, below(at(d.state, 4+2*m), total))
		columns = append(columns, int32((stride*uint64(rank)+offset)%g.columns))
	}
	slices.Sort(columns)
	return columns
}

// generateText generates the rows of a text-like set.
func (s Set) generateText(ctx context.Context) (*table, error) {
	g := newGenerator(s)
	t := newTable(s.Rows)
	frequency := make([]int, s.Columns) // rows that have the column
	var words []int32
	for i := range s.Rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d := g.document(i)
		t.y[i] = d.label
		words = g.words(d, words[:0])
		for from := 0; from < len(words); {
			to := from + 1
			for to < len(words) && words[to] == words[from] {
				to++
			}
			t.add(words[from], float64(to-from))
			frequency[words[from]]++
			from = to
		}
		t.endRow()
	}
	n := float64(s.Rows)
	for i := range s.Rows {
		columns, values := t.row(i)
		if g.idf {
			for k, c := range values {
				values[k] = (1 + log2(c)) * log2(n/float64(frequency[columns[k]]))
			}
		}
		normalise(values)
	}
	return t, nil
}

// normalise divides a row by its l2 norm.
func normalise(values []float64) {
	sum := 0.0
	for _, v := range values {
		sum += float64(v * v)
	}
	norm := math.Sqrt(sum)
	for k := range values {
		values[k] /= norm
	}
}
