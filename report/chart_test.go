package report

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/search"
)

// TestTicksAreFewAndToldApart checks that different ticks have different labels, and that there are
// few ticks even if a range is only rounding error.
func TestTicksAreFewAndToldApart(t *testing.T) {
	for _, r := range [][2]float64{
		{0, 1},
		{10000, 10010},
		{3068.71, 3068.79},
		{1.7e9, 1.7e9 + 900},
		{-20.0001, -20},
		{1e17, 1e17 + 32},
		{3000, math.Nextafter(3000, 4000)},
		{-1e300, 1e300},
		{5, 5},
		{0, 1e-310},
		{math.NaN(), 1},
		{0, math.Inf(1)},
	} {
		seen := map[string]bool{}
		marks := ticks(r[0], r[1])
		for _, m := range marks {
			if seen[m.label] {
				t.Errorf("%v: two ticks are called %s", r, m.label)
			}
			seen[m.label] = true
		}
		if len(marks) > 2*mostTicks {
			t.Errorf("%v: %d ticks", r, len(marks))
		}
	}
}

// TestChartsOfNumbersThatAreNotFinite checks that criteria and predictions that overflow are left out
// of charts, and that all other points are drawn.
func TestChartsOfNumbersThatAreNotFinite(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	r := Result{
		Model: pare.Lasso, Loss: "CV error", Null: inf, Target: []float64{1, 2, 3},
		Final: &pare.Fitted{LogLambda: []float64{-1}, LogLambdaMax: []float64{0}, Link: loss.Log},
		Held:  &pare.HeldOut{Scores: [][]float64{{0}, {1}, {4000}}},
	}
	for i, v := range []float64{2, 1, inf, nan, 1e308, 3} {
		r.Curve = append(r.Curve, search.Evaluation{LogLambda: []float64{-float64(i)}, Value: v, StandardError: 0.1, FoldValues: []float64{v, v}})
	}
	r.Best, r.Visit = &r.Curve[1], append(slices.Clone(r.Curve[:4]), search.Evaluation{})
	write := func(name string, write func(w *strings.Builder) error) string {
		var out strings.Builder
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if bad := regexp.MustCompile(`[a-z0-9]+="[^"]*(NaN|Inf|[0-9]{9})[^"]*"`).FindString(out.String()); bad != "" && !strings.HasPrefix(bad, "data-tip") && !strings.HasPrefix(bad, "tip") {
			t.Errorf("%s: %s", name, bad)
		}
		return out.String()
	}
	page := write("page", func(w *strings.Builder) error { return Write(w, r) })
	for _, want := range []string{"1 of 3 predictions are beyond all numbers", `id="predicted"`, `id="criterion-curve"`, `id="visits"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	write("curve", func(w *strings.Builder) error { return WriteCurve(w, r) })
	write("picture", func(w *strings.Builder) error { return WriteCurvePNG(w, r) })
}

// TestPicturesNameWhatTheyShow checks that the legend of a curve names exactly what the picture
// contains.
func TestPicturesNameWhatTheyShow(t *testing.T) {
	r := Result{Model: pare.Lasso, Loss: "SURE", Null: math.NaN(), Final: &pare.Fitted{LogLambda: []float64{-1}, LogLambdaMax: []float64{0}}}
	for i := range 3 {
		r.Curve = append(r.Curve, search.Evaluation{LogLambda: []float64{-float64(i)}, Value: float64(i)})
	}
	r.Best = &r.Curve[0]
	says := func(want string) {
		t.Helper()
		var out strings.Builder
		if err := WriteCurve(&out, r); err != nil {
			t.Fatal(err)
		}
		if got := r.marked("line: the choice"); got != want || !strings.Contains(out.String(), want) {
			t.Errorf("it says %q, not %q", got, want)
		}
		if band := strings.Contains(out.String(), `class="band"`); band != strings.Contains(want, "band") {
			t.Errorf("a band is drawn: %t, where it says %q", band, want)
		}
		if !strings.Contains(out.String(), `role="img" aria-label="The criterion against the strength of the penalty"`) {
			t.Error("the picture says nothing to readers of the screen")
		}
	}
	says("line: the choice")
	r.Curve[1].StandardError = 0.3 // a hold-out has a standard error
	r.Visit = r.Curve
	says("band: standard error; rings: visited; line: the choice")
	r.OneSE = &r.Curve[2]
	says("band: standard error; rings: visited; line: the choice; dashes: one-SE choice")
	r.Least = &r.Curve[1]
	says("band: standard error; rings: visited; line: the choice; dashes: minimum")
}
