package studies

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/sparse"
)

func diabetes(t *testing.T) Data {
	t.Helper()
	d, err := Diabetes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.X = sparse.Compact(d.X.(*sparse.CSC))
	return d
}

// TestEverySearchAgreesWithTheCurve checks that no search finds an error below the minimum of
// the curve by more than the grid width explains, and that first-order searches reach that
// minimum.
func TestEverySearchAgreesWithTheCurve(t *testing.T) {
	all := &validation{visits: newVisits(1)}
	if err := all.add(t.Context(), diabetes(t), Options{}, sizes{40, 6, 1e-3}); err != nil {
		t.Fatal(err)
	}
	least := math.Inf(1)
	for _, row := range all.curve.Rows {
		least = min(least, row[2].(float64))
	}
	count, best := map[string]int{}, map[string]float64{}
	for _, row := range all.visits.table.Rows {
		name := row[1].(string)
		count[name]++
		best[name] = row[5].(float64)
		if row[2].(int) != count[name] || !(row[6].(float64) > 0) {
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
	for _, name := range []string{"secant", "gradient", "gradient-approx", "grid"} {
		if best[name] > least*(1+1e-3) {
			t.Errorf("%s ends at %g, the curve's minimum is %g", name, best[name], least)
		}
	}
	if len(all.summary.Rows) != 6 {
		t.Errorf("%v", all.summary.Rows)
	}
	draw(t, all.result())
}

// draw draws all charts of a result.
func draw(t *testing.T, r *Result) {
	t.Helper()
	for name, c := range r.Charts {
		if err := c.SVG(new(bytes.Buffer)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPathsBeginAtZeroAndAreContinuous(t *testing.T) {
	d := diabetes(t)
	r, err := Paths(t.Context(), d.Name, diabetesColumns, d.X, d.Y, pare.Lasso, pare.ElasticNet)
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

func TestRowsAndColumnsAreThose(t *testing.T) {
	d := diabetes(t)
	x, y := Rows(d.X, d.Y, func(i int) bool { return i%2 == 1 })
	some, err := Columns(x, []int{7, 2})
	if err != nil {
		t.Fatal(err)
	}
	if n, p := some.Dims(); n != 221 || p != 2 || len(y) != n || y[3] != d.Y[7] {
		t.Fatalf("%d × %d, %d labels", n, p, len(y))
	}
	_, want := d.X.Column(7)
	_, got := some.Column(0)
	if got[3] != want[7] {
		t.Errorf("entry %g, want %g", got[3], want[7])
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
