package studies

import (
	"errors"
	"io/fs"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/sparse"
)

// signs turns a regression target into two classes: above or below the median.
func signs(d Data) Data {
	y := make([]float64, len(d.Y))
	for i, v := range d.Y {
		y[i] = math.Copysign(1, v-140)
	}
	d.Y = y
	return d
}

// TestSlopesAreSpectralRadii checks Theorem 3.2: after the support is identified, each epoch multiplies
// the error of the Jacobian by the spectral radius.
func TestSlopesAreSpectralRadii(t *testing.T) {
	x, y, err := gaussian(60, 90)
	if err != nil {
		t.Fatal(err)
	}
	for m, share := range map[pare.Model]float64{pare.Lasso: 0.05, pare.Logistic: 0.2, pare.SVM: 0.02} {
		t.Run(string(m), func(t *testing.T) {
			c := &convergences{model: m, epochs: 5000}
			d := Data{"gaussian", x, y}
			if m != pare.Lasso {
				d.Y = make([]float64, len(y))
				for i, v := range y {
					d.Y[i] = math.Copysign(1, v)
				}
			}
			if err := c.add(t.Context(), d, share); err != nil {
				t.Fatal(err)
			}
			row := c.rates.Rows[0]
			radius, measured, last := row[7].(float64), row[8].(float64), c.curves.Rows[len(c.curves.Rows)-1]
			if !(radius > 0.05 && radius < 1) || !(math.Abs(measured-radius) < 0.05*(1-radius)+0.01) {
				t.Errorf("slope %g, spectral radius %g: %v", measured, radius, row)
			}
			if begin := c.curves.Rows[0]; !(last[3].(float64) < 1e-9*begin[3].(float64)) {
				t.Errorf("the Jacobian stays %v from the exact one", last[3])
			}
			if err := c.panels.SVG(discard{}); err != nil {
				t.Error(err)
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// TestEveryHypergradientEndsAtTheExactOne checks that all three ways to compute the hypergradient
// converge to the same number, including for the β of plain descent, and that their errors fall on
// the way. Errors may be mere rounding from the start, as for the pare solver, which follows the
// solution path when there are few columns.
func TestEveryHypergradientEndsAtTheExactOne(t *testing.T) {
	d := diabetes(t)
	for m, test := range map[pare.Model]struct {
		d     Data
		share float64
		c     criterion.Criterion
	}{
		pare.Lasso: {d, 0.05, criterion.MeanSquaredError{}},
		pare.SVM:   {signs(d), 10, criterion.Of(loss.SmoothedHinge{})},
	} {
		var table Table
		lines, err := hypergradientErrors(t.Context(), &table, test.d, m, test.share, test.c, 4096)
		if err != nil {
			t.Fatal(err)
		}
		scale := math.Abs(table.Rows[len(table.Rows)-1][5].(float64))
		for _, s := range lines {
			first, last := s.Y[0], s.Y[len(s.Y)-1]
			if rounding := 1e-14 * scale; !(last <= 1e-7*scale && (last < first || first <= rounding)) {
				t.Errorf("%s, %s: from %g to %g of %g", m, s.Name, first, last, scale)
			}
		}
	}
}

// TestBackwardCostsDoNotGrowWithTheHyperparameters checks that a backward epoch visits a bounded number
// of entries per nonzero for any number of λ's. The table of the paper has p times as many for PCD.
func TestBackwardCostsDoNotGrowWithTheHyperparameters(t *testing.T) {
	for _, p := range []int{100, 400} {
		x, y, err := gaussian(50, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []iterdiff.Method{iterdiff.BackwardPCD, iterdiff.BackwardPGD} {
			one, err := EpochCost(t.Context(), x, y, false, method, 10)
			if err != nil {
				t.Fatal(err)
			}
			many, err := EpochCost(t.Context(), x, y, true, method, 10)
			if err != nil {
				t.Fatal(err)
			}
			if !(one.Entries < 6 && many.Entries < 6) {
				t.Errorf("%s, %d columns: %g and %g entries per nonzero and epoch", method, p, one.Entries, many.Entries)
			}
		}
		if c, err := EpochCost(t.Context(), x, y, false, -1, 0); err != nil || !(c.Seconds > 0) || c.Epochs == 0 {
			t.Errorf("implicit: %+v, %v", c, err)
		}
	}
}

func TestExponent(t *testing.T) {
	if got := exponent([]float64{1, 2, 4}, []float64{3, 12, 48}); math.Abs(got-2) > 1e-12 {
		t.Errorf("%g", got)
	}
}

// TestMethodsAgreeWhateverTheyTake checks that the methods compared in figure 4 compute the same
// gradient.
func TestMethodsAgreeWhateverTheyTake(t *testing.T) {
	d := diabetes(t)
	for _, m := range []pare.Model{pare.Lasso, pare.WeightedLasso} {
		var want []float64
		l, err := strengths(d.X, d.Y, m, 0.1, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range differentiations {
			h, err := pare.Gradient(t.Context(), d.X, d.Y, l, pare.Validation{InOrder: true}, pare.Config{Model: m, NoIntercept: true, Tol: 1e-12, Method: method})
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = h.Gradient
			}
			for j, g := range h.Gradient {
				if math.Abs(g-want[j]) > 1e-6*(1+math.Abs(want[j])) {
					t.Errorf("%s, %s: gradient[%d] = %g, want %g", m, method, j, g, want[j])
				}
			}
		}
	}
}

func TestTheElasticNetsSearchesFindTheValley(t *testing.T) {
	all := &elasticNets{visits: newVisits(2)}
	if err := all.add(t.Context(), diabetes(t), Options{Quick: true}, sizes{10, 6, 1e-3}, 8); err != nil {
		t.Fatal(err)
	}
	least := math.Inf(1)
	for _, row := range all.levels.Rows {
		least = min(least, row[3].(float64))
	}
	for _, row := range all.summary.Rows {
		best := row[3].(float64)
		if name := row[1].(string); best < least*(1-0.01) || (name == "trust-region" || name == "gradient") && best > least*(1+1e-3) {
			t.Errorf("%s ends at %g, the least of the level sets is %g", name, best, least)
		}
	}
	if err := all.panels.SVG(discard{}); err != nil {
		t.Error(err)
	}
}

func TestClassesAreLearnt(t *testing.T) {
	// With three well separated classes every accuracy should be near 1.
	n := 120
	values, y := make([]float64, 3*n), make([]float64, n)
	for i := range n {
		y[i] = float64(i % 3)
		for j := range 3 {
			values[j*n+i] = 0.3 * math.Sin(float64(7*i+j))
		}
		values[i%3*n+i] += 2
	}
	x, err := sparse.NewDense(n, 3, values)
	if err != nil {
		t.Fatal(err)
	}
	all := &multiclasses{panels: make(chart.Panels, 3)}
	if err := all.add(t.Context(), Data{"three", x, y}, Options{Quick: true}); err != nil {
		t.Fatal(err)
	}
	for _, row := range all.summary.Rows {
		if row[5].(float64) < 0.9 || row[6].(float64) < 0.9 || !(row[4].(float64) < math.Log(3)) {
			t.Errorf("%v", row)
		}
	}
	if err := all.panels.SVG(discard{}); err != nil {
		t.Error(err)
	}
}

func TestRareClassesAreInEveryThird(t *testing.T) {
	y := []float64{1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3}
	folds, err := thirds(y)
	if err != nil {
		t.Fatal(err)
	}
	for class, rows := range map[float64]int{1: 1, 2: 1, 3: 2} {
		count := map[int]int{}
		for i, v := range y {
			if v == class {
				count[folds[i]]++
			}
		}
		if len(count) != 3 || count[0] != rows || count[-2] != rows {
			t.Errorf("class %g: %v", class, count)
		}
	}
}

func TestDataAreFoundOrNot(t *testing.T) {
	o := Library{Dir: t.TempDir()}
	if _, err := o.Load(t.Context(), "gina"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if d, err := o.Load(t.Context(), "diabetes"); err != nil || d.Name != "diabetes" {
		t.Errorf("%v, %v", d.Name, err)
	}
}

func TestSomeOfManyEndWithTheLast(t *testing.T) {
	for _, n := range []int{0, 1, 10, 999, 1000, 1001, 20000} {
		all := some(n, 1000)
		if len(all) > 1000 || n > 0 && all[len(all)-1] != n-1 || n <= 1000 && len(all) != n {
			t.Errorf("%d of %d, %v", len(all), n, all[max(0, len(all)-1):])
		}
	}
}
