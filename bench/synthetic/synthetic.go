package synthetic

import (
	"context"
	"math"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Set is a named data set with all parameters of its generation.
type Set struct {
	Name          string
	StandsFor     string // the real set whose dimensions it has
	Rows, Columns int    // n, and p before rare columns are dropped
	Classes       int    // labels are ±1 for two classes, 1 … Classes otherwise

	seed uint64
	text text // histograms if it has no topics
}

// Sets lists the sets.
func Sets() []Set {
	return []Set{
		{"syn_rcv1", "rcv1_train.binary", 20242, 47236, 2, 101, text{
			flat: 10, bend: 99, lengths: stories, scale: 75, share: 64, topics: 50, positive: 26, idf: true,
		}},
		{"syn_realsim", "real-sim", 72309, 20958, 2, 102, text{
			flat: 20, bend: 1000, lengths: posts, scale: 65, share: 128, topics: 50, positive: 15, idf: true,
		}},
		{"syn_news20", "news20.binary", 19996, 1355191, 2, 103, text{
			flat: 20, bend: 4000000, lengths: posts, scale: 276, share: 64, topics: 20, positive: 10,
		}},
		{"syn_rcv1mc", "rcv1 multiclass", 15564, 47236, 53, 104, text{
			flat: 10, bend: 107, lengths: stories, scale: 65, share: 64, topics: 53, idf: true, multi: true,
		}},
		{"syn_aloi", "aloi", 108000, 128, 1000, 105, text{}},
	}
}

// Named returns a set by name. The error is an [outcome.Error] of kind Usage.
func Named(name string) (Set, error) {
	var names []string
	for _, s := range Sets() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Set{}, outcome.Errorf(outcome.Usage, "no data set %q; there are %s", name, strings.Join(names, ", "))
}

// Generate returns the design matrix, including rare and empty columns, and the labels. It takes from half a
// second to ten seconds, and memory for twice the matrix. The error is that of ctx, if ctx has ended.
func (s Set) Generate(ctx context.Context) (*sparse.CSC, []float64, error) {
	generate := s.generateText
	if s.text.topics == 0 {
		generate = s.generateHistograms
	}
	t, err := generate(ctx)
	if err != nil {
		return nil, nil, err
	}
	x, err := t.compress(s.Columns)
	return x, t.y, err
}

// Sums identify a set to the last bit; they do not depend on the order of entries.
type Sums struct {
	Structure, Values, Labels uint64
}

// SumsOf returns the sums of a matrix and its labels, which are integers.
func SumsOf(x *sparse.CSC, y []float64) Sums {
	var s Sums
	_, p := x.Dims()
	for j := range p {
		rows, values := x.Column(j)
		for k, i := range rows {
			place := uint64(i)<<32 | uint64(j)
			s.Structure += mix(place)
			s.Values += mix(place ^ math.Float64bits(values[k]))
		}
	}
	for i, label := range y {
		s.Labels += mix(uint64(i)<<32 | uint64(uint32(int32(label))))
	}
	return s
}

// Scaled returns a set like this one with factor times the rows and columns, and so about factor times the
// nonzeros, for measuring growth.
func (s Set) Scaled(factor float64) Set {
	s.Rows, s.Columns = int(float64(s.Rows)*factor), int(float64(s.Columns)*factor)
	return s
}
