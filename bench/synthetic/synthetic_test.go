package synthetic

import (
	"context"
	"errors"
	"flag"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

var long = flag.Bool("long", false, "generate every set, which takes half a minute")

func TestSplitMix(t *testing.T) {
	for k, want := range []uint64{0x599ed017fb08fc85, 0x2c73f08458540fa5, 0x883ebce5a3f27c77} {
		if got := at(1234567, k); got != want {
			t.Errorf("output %d is %x, want %x", k, got, want)
		}
	}
	if got := mix(101); got != 0xa7d485d747130317 {
		t.Errorf("mix(101) = %x", got)
	}
}

// published holds the numbers that two other programs, in Python and in Go, computed from the same description. Sums
// are exact; real numbers are accurate to 1e-11.
var published = map[string]struct {
	Sums
	nonempty, kept int // numbers of columns
	nnz, keptNNZ   int64
	shortest       int // the number of entries in the shortest row
	longest        int
	positive       int // the number of rows with label 1
	sum, frobenius float64
	alphaMax       float64
	keptUnitMax    float64 // αmax of the kept columns, scaled to norm 1
}{
	"syn_rcv1": {
		Sums{0xae2eee5d1be81c74, 0xbb15c0d6f75a9d54, 0xd81659848f397038},
		33956, 20021, 1493571, 1474615, 3, 297, 10505,
		134506.933579, 142.274382796, 0.014290691947, 0.00309690206819,
	},
	"syn_realsim": {
		Sums{0x2859e1b8202ec173, 0x60c8d5928c302a0c, 0x84ee3e1a5a91a374},
		20958, 20957, 3712252, 3712250, 3, 549, 22555,
		414801.219824, 268.903328354, 0.00666022514057, 0.000956779831177,
	},
	"syn_news20": {
		Sums{0xd00958ec49b1221d, 0x88b1b73f8f0d59df, 0xd24604428ca6480d},
		1124170, 567486, 9100263, 8296526, 32, 4874, 9947,
		355391.539944, 141.407213395, 0.00946848635262, 0.0024006180992,
	},
	"syn_rcv1mc": {
		Sums{0xf1ce0a3020afd657, 0xe33f2cd96ac8b5dc, 0xd76eede690b1eff7},
		29733, 16206, 1028625, 1010648, 3, 271, 0,
		100484.267024, 124.75576139, 0.011141256392, 0.0044101603702,
	},
	"syn_aloi": {
		Sums{0x398e6c6331ae4eba, 0xb5bce67959398866, 0x98e2cd74a264ad37},
		128, 128, 3927155, 3927155, 16, 58, 108,
		378817.331189, 328.633534503, 0.0338756150667, 0.00102957387188,
	},
}

func TestSetsAreTheOnesPublished(t *testing.T) {
	for _, s := range Sets() {
		t.Run(s.Name, func(t *testing.T) {
			if s.Name != "syn_rcv1mc" && !*long {
				t.Skip("go test ./bench/synthetic -long generates it")
			}
			want := published[s.Name]
			x, y, err := s.Generate(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if got := SumsOf(x, y); got != want.Sums {
				t.Errorf("sums %x, want %x", got, want.Sums)
			}
			n, p := x.Dims()
			if n != s.Rows || p != s.Columns || x.NNZ() != want.nnz || len(x.Order()) != want.nonempty {
				t.Errorf("%d × %d with %d nonzeros in %d columns, want %+v", n, p, x.NNZ(), len(x.Order()), want)
			}
			lengths, sum, squares := make([]int, n), 0.0, 0.0
			for j := range p {
				rows, values := x.Column(j)
				for k, i := range rows {
					lengths[i]++
					sum += values[k]
					squares += float64(values[k] * values[k])
				}
			}
			shortest, longest, positive := p, 0, 0
			for i, l := range lengths {
				shortest, longest = min(shortest, l), max(longest, l)
				if y[i] == 1 {
					positive++
				}
			}
			if want.positive == 0 {
				positive = 0
			}
			if shortest != want.shortest || longest != want.longest || positive != want.positive {
				t.Errorf("rows of %d to %d nonzeros, %d positive; want %+v", shortest, longest, positive, want)
			}
			near(t, "sum", sum, want.sum)
			near(t, "Frobenius norm", math.Sqrt(squares), want.frobenius)
			near(t, "α max", alphaMax(x, y, s), want.alphaMax)

			kept, _, err := sparse.Preparation{MinNNZ: 3, UnitColumns: true}.Apply(x)
			if err != nil {
				t.Fatal(err)
			}
			if _, p := kept.Dims(); p != want.kept || kept.NNZ() != want.keptNNZ {
				t.Errorf("%d columns with %d nonzeros kept, want %d with %d", p, kept.NNZ(), want.kept, want.keptNNZ)
			}
			near(t, "α max of unit columns", alphaMax(kept, y, s), want.keptUnitMax)
		})
	}
}

// alphaMax returns max |Xᵀt|/n, where t is y or, with classes, the indicator of the first class against all others.
func alphaMax(x *sparse.CSC, y []float64, s Set) float64 {
	n, p := x.Dims()
	largest := 0.0
	for j := range p {
		rows, values := x.Column(j)
		sum := 0.0
		for k, i := range rows {
			switch {
			case s.Classes == 2:
				sum += float64(values[k] * y[i])
			case y[i] == 1:
				sum += values[k]
			default:
				sum -= values[k]
			}
		}
		largest = max(largest, math.Abs(sum)/float64(n))
	}
	return largest
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 2e-11*math.Abs(want)) {
		t.Errorf("%s is %.15g, want %.12g", what, got, want)
	}
}

func TestGenerateEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, s := range Sets() {
		if _, _, err := s.Generate(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}

func TestNamedSaysWhatThereIs(t *testing.T) {
	if s, err := Named("syn_aloi"); err != nil || s.Columns != 128 {
		t.Errorf("%+v, %v", s, err)
	}
	var e *outcome.Error
	if _, err := Named("rcv1"); !errors.As(err, &e) || e.Kind != outcome.Usage {
		t.Errorf("%v", err)
	}
}

// TestCategoriesAreWhatTheyAreSaidToBe checks the documented properties of the data: each row has one of ten values of
// each category, numbers have the stated mean and spread, and the bits are the same on every machine.
func TestCategoriesAreWhatTheyAreSaidToBe(t *testing.T) {
	const n = 20000
	x, y, err := Categories(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	sum, met := uint64(0), make([]int, n)
	for j := range categorical * categories {
		rows, values := x.Column(j)
		for k, i := range rows {
			if met[i]++; values[k] != 1 || met[i] != j/categories+1 {
				t.Fatalf("column %d, row %d: %g, after %d", j, i, values[k], met[i]-1)
			}
			sum = mix(sum ^ uint64(i))
		}
		if first := j%categories == 0; first && math.Abs(float64(len(rows))/n-math.Sqrt(0.1)) > 0.02 {
			t.Errorf("column %d has %d entries", j, len(rows))
		}
	}
	_, numbers := x.Column(categorical * categories)
	var mean, square float64
	for _, v := range numbers {
		mean += float64(v / n)
		square += float64(v * v / n)
	}
	if spread := math.Sqrt(square - float64(mean*mean)); math.Abs(mean-40) > 0.4 || math.Abs(spread-12) > 0.4 {
		t.Errorf("mean %g, spread %g", mean, spread)
	}
	for _, v := range y {
		sum = mix(sum ^ math.Float64bits(v))
	}
	if sum != 0x5305ac51113a2f8a {
		t.Errorf("bits %#x", sum)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Categories(ctx, n); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestMeasurementsAreWhatTheyAreSaidToBe checks the documented properties of the data: means, spreads, the part that
// columns have in common, and the same bits on every machine.
func TestMeasurementsAreWhatTheyAreSaidToBe(t *testing.T) {
	const n = 20000
	x, y, err := Measurements(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	column := func(j int) []float64 { _, v := x.Column(j); return v }
	product := func(a, b []float64) (mean float64) {
		for i := range a {
			mean += float64(a[i]*b[i]) / n
		}
		return mean
	}
	ones := make([]float64, n)
	for i := range ones {
		ones[i] = 1
	}
	for _, want := range []struct {
		what      string
		got, want float64
	}{
		{"mean", product(column(0), ones), 0},
		{"variance", product(column(25), column(25)), 1},
		{"covariance of columns with something in common", product(column(0), column(11)), 0.36},
		{"covariance of others", product(column(0), column(25)), 0},
		{"share of ones", product(column(7), column(7)), 0.2},
		{"covariance with the target", product(column(4), y), 0.2*1.36 - 0.6*0.36},
	} {
		if math.Abs(want.got-want.want) > 0.03 {
			t.Errorf("%s: %g, want %g", want.what, want.got, want.want)
		}
	}
	var sum uint64
	for j := range measured {
		for _, v := range column(j) {
			sum = mix(sum ^ math.Float64bits(v))
		}
	}
	for _, v := range y {
		sum = mix(sum ^ math.Float64bits(v))
	}
	if sum != 0x6231ba0b8d6b2abe {
		t.Errorf("bits %#x", sum)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Measurements(ctx, n); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
