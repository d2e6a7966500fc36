package studies

import (
	"bytes"
	"compress/gzip"
	"math"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/sparse"
)

func diabetes(t *testing.T) (*sparse.CSC, []float64) {
	t.Helper()
	text, err := gzip.NewReader(embedded.Diabetes())
	if err != nil {
		t.Fatal(err)
	}
	x, y, err := sparse.ReadSVMLight(t.Context(), text, sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return x, y
}

// No search may find an error below the curve's, but for the grid's width, and
// first-order searches must reach its minimum.
func TestEverySearchAgreesWithTheCurve(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred cross-validations")
	}
	x, y := diabetes(t)
	r, err := Validation(t.Context(), sparse.Compact(x), y, ValidationOptions{Name: "diabetes", Points: 40, Baseline: 6})
	if err != nil {
		t.Fatal(err)
	}
	least := math.Inf(1)
	for _, row := range r.Tables["validation-curve"].Rows {
		least = min(least, row[2].(float64))
	}
	count, best := map[string]int{}, map[string]float64{}
	for _, row := range r.Tables["validation-visits"].Rows {
		name := row[0].(string)
		count[name]++
		best[name] = row[5].(float64)
		if row[1].(int) != count[name] || !(row[6].(float64) > 0) {
			t.Errorf("%v", row)
		}
	}
	if count["grid"] != 40 || count["random"] != 6 || count["tpe"] != 6 {
		t.Errorf("%v", count)
	}
	for name, value := range best {
		if value < least*(1-1e-3) {
			t.Errorf("%s finds %g, the curve's minimum is %g", name, value, least)
		}
	}
	for _, name := range []string{"secant", "gradient", "grid"} {
		if best[name] > least*(1+1e-3) {
			t.Errorf("%s ends at %g, the curve's minimum is %g", name, best[name], least)
		}
	}
	for name, c := range r.Charts {
		if err := c.SVG(new(bytes.Buffer)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPathsBeginAtZeroAndAreContinuous(t *testing.T) {
	x, y := diabetes(t)
	r, err := Paths(t.Context(), "diabetes", sparse.Compact(x), y, pare.Lasso, pare.ElasticNet)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"path-lasso-diabetes", "path-enet-diabetes"} {
		rows := r.Tables[name].Rows
		if len(rows) != 200 || len(rows[0]) != 12 {
			t.Fatalf("%s: %d rows", name, len(rows))
		}
		largest, step := 0.0, 0.0
		for i, row := range rows {
			for j := 2; j < len(row); j++ {
				b := row[j].(float64)
				largest = max(largest, math.Abs(b))
				if i == 0 && b != 0 {
					t.Errorf("%s: coefficient %d begins at %g", name, j-1, b)
				}
				if i > 0 {
					step = max(step, math.Abs(b-rows[i-1][j].(float64)))
				}
			}
		}
		if !(largest > 0 && step < 0.2*largest) {
			t.Errorf("%s: jumps by %g of %g", name, step, largest)
		}
	}
}

func TestFirstColumns(t *testing.T) {
	x, _ := diabetes(t)
	first, err := First(x, 3)
	if err != nil {
		t.Fatal(err)
	}
	if n, p := first.Dims(); n != 442 || p != 3 || first.NNZ() != 3*442 {
		t.Errorf("%d × %d, %d", n, p, first.NNZ())
	}
}

func TestTablesAreCSV(t *testing.T) {
	var out bytes.Buffer
	if err := (Table{[]string{"a", "b", "c"}, [][]any{{"x, y", 1, 0.1}}}).CSV(&out); err != nil || out.String() != "a,b,c\n\"x, y\",1,0.1\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
	if strings.Contains(out.String(), "\r") {
		t.Error("carriage returns")
	}
}
