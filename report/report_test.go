package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/report"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// made returns a complete result for the given model.
func made(t *testing.T, model pare.Model) report.Result {
	t.Helper()
	x, y, err := embedded.Diabetes(t.Context(), sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range y {
		switch model {
		case pare.Logistic, pare.SVM:
			y[i] = math.Copysign(1, v-140)
		case pare.Multiclass:
			y[i] = math.Floor(min(v/100, 2))
		}
	}
	c := pare.Config{Model: model}
	s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{OneSE: true}, c)
	if err != nil {
		t.Fatal(err)
	}
	r := report.Result{
		Title: "pare select, " + string(model), Data: "the diabetes data & more <rows>", Version: "pare of a test", Command: "pare select 'a & b'",
		Facts: []report.Fact{{Label: "status", Text: string(s.Status)}}, Model: model, Loss: "CV error",
		Name:  func(j int) string { return fmt.Sprintf("<column> number %d of the table", j) },
		Scale: func(int) float64 { return 1.0 / 21 },
		Final: s.Final, Target: y, Visit: s.Evaluations, OneSE: s.OneSE, Null: s.NullValue,
	}
	for i, e := range s.Evaluations {
		if e.Value == s.Value {
			r.Best = &s.Evaluations[i]
		}
	}
	if r.Held, err = pare.OutOfFold(t.Context(), x, y, s.LogLambda, pare.Validation{InOrder: true}, c); err != nil {
		t.Fatal(err)
	}
	var grid, level [][]float64
	for k := range 20 {
		at := make([]float64, len(s.LogLambda))
		for i, l := range s.LogLambda {
			at[i] = l + 2 - float64(k)/5
		}
		grid = append(grid, at)
		for j := range 5 {
			if model == pare.ElasticNet && k < 5 {
				level = append(level, []float64{-1 - float64(k), -4 - float64(j)})
			}
		}
	}
	for f, err := range pare.Path(t.Context(), x, y, grid, c) {
		if err != nil {
			t.Fatal(err)
		}
		r.Path = append(r.Path, f)
	}
	validate := func(grid [][]float64) (out []search.Evaluation) {
		for e, err := range pare.Validate(t.Context(), x, y, grid, pare.Validation{InOrder: true}, c) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		}
		return out
	}
	r.Curve, r.Level = validate(grid), validate(level)
	return r
}

// charts lists the charts that belong to each model.
var charts = map[pare.Model][]string{
	pare.Lasso:      {"criterion-curve", "coefficient-path", "support-path", "coefficients-standardised", "coefficients-original", "predicted", "residual-histogram"},
	pare.ElasticNet: {"criterion-curve", "level-sets", "coefficient-path", "support-path", "coefficients-standardised", "coefficients-original", "predicted", "residual-histogram", "visits"},
	pare.Logistic:   {"criterion-curve", "coefficient-path", "support-path", "coefficients-standardised", "coefficients-original", "roc", "calibration"},
	pare.SVM:        {"criterion-curve", "support-path", "coefficients-standardised", "coefficients-original", "roc"},
	pare.Multiclass: {"criterion-curve", "coefficient-path-1", "coefficient-path-2", "coefficient-path-3", "support-path"},
}

// written returns the page of a result, after checking that it is a single file of well-formed markup that loads
// nothing from elsewhere.
func written(t *testing.T, r report.Result) string {
	t.Helper()
	var out bytes.Buffer
	if err := report.Write(&out, r); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if out.Len() > 1<<20 {
		t.Errorf("%d bytes", out.Len())
	}
	if found := regexp.MustCompile(`(?i)(https?:|//[a-z]|@import|url\((?:[^#]))[^"' ]*`).FindString(text); found != "" {
		t.Errorf("the page asks for %q", found)
	}
	for _, svg := range regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1) {
		for d := xml.NewDecoder(strings.NewReader(svg)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %.300s", err, svg)
			}
		}
	}
	if bad := regexp.MustCompile(`NaN|Inf|%!|<column>|<rows>`).FindString(text); bad != "" {
		t.Errorf("%q in the page", bad)
	}
	return text
}

func TestPageHasWhatBelongsToTheModel(t *testing.T) {
	for model, want := range charts {
		text := written(t, made(t, model))
		var got []string
		for _, m := range regexp.MustCompile(`<figure id="([^"]*)"`).FindAllStringSubmatch(text, -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%s has %v, want %v", model, got, want)
		}
		for _, part := range []string{"The result in words", "The folds", "The search, step by step", "How to repeat it", "pare select &#39;a &amp; b&#39;"} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q", model, part)
			}
		}
	}
}

// TestPageOfLittle checks that missing parts of a result are left out of the page and cause no error.
func TestPageOfLittle(t *testing.T) {
	full := made(t, pare.Lasso)
	for name, less := range map[string]func(r *report.Result){
		"no path":  func(r *report.Result) { r.Path = nil },
		"no curve": func(r *report.Result) { r.Curve = nil },
		"no held":  func(r *report.Result) { r.Held = nil },
		"no best":  func(r *report.Result) { r.Best, r.OneSE, r.Visit = nil, nil, nil },
		"no final": func(r *report.Result) { r.Final = nil },
		"no null":  func(r *report.Result) { r.Null = math.NaN() },
		"nothing": func(r *report.Result) {
			*r = report.Result{Title: "nothing", Data: "none", Null: math.NaN()}
		},
	} {
		r := full
		less(&r)
		t.Run(name, func(t *testing.T) { written(t, r) })
	}
}

// TestPointsOnTheCurveAreMarked checks that the curve of an elastic net, on which the ridge strength stays that of the
// choice, has a ring for the points that the search visited there and none for others, and that their numbers are those of
// the table of evaluations.
func TestPointsOnTheCurveAreMarked(t *testing.T) {
	r := made(t, pare.ElasticNet)
	at := func(l1, ridge float64) search.Evaluation {
		e := *r.Best
		e.LogLambda = []float64{l1 - 1, ridge - 3}
		return e
	}
	best, beside := at(0, 0), at(1, 1)
	r.Best, r.Level = &best, nil // no level sets, which have all points
	r.Visit, r.OneSE = []search.Evaluation{at(2, 2), at(1, 0), beside, at(0, -1), at(-1, 0)}, &beside
	text := written(t, r)
	for i := range r.Visit {
		if on := strings.Contains(text, fmt.Sprintf("visited as number %d: ", i+1)); on != (i == 1 || i == 4) {
			t.Errorf("evaluation %d is on the curve: %t", i+1, on)
		}
	}
	if strings.Contains(text, "one-standard-error choice: ") {
		t.Error("a choice beside the curve is drawn on it")
	}
}

// TestPageOfARidgeAlone checks that the path of an elastic net whose ℓ1 strength is 0 is one over ridge strengths.
func TestPageOfARidgeAlone(t *testing.T) {
	r := made(t, pare.ElasticNet)
	ridge := func(f *pare.Fitted, strength float64) *pare.Fitted {
		own := *f
		own.LogLambda = []float64{math.Inf(-1), strength}
		return &own
	}
	r.Path = slices.Clone(r.Path)
	for i, f := range r.Path {
		r.Path[i] = ridge(f, -float64(i)/5)
	}
	r.Final = ridge(r.Final, -2)
	best := *r.Best
	best.LogLambda = r.Final.LogLambda
	r.Best, r.Curve, r.Level, r.Visit, r.OneSE = &best, []search.Evaluation{best}, nil, nil, nil
	if text := written(t, r); !strings.Contains(text, "columns at λ -0.2") {
		t.Error("no points of the path at ridge strengths")
	}
}

// TestROCCountsPairs checks that the area under the curve is the fraction of pairs in which the positive row has the
// higher score, with ties counted half, and that the table counts the correct predictions.
func TestROCCountsPairs(t *testing.T) {
	draw := random.SplitMix64(5)
	r := report.Result{Model: pare.Logistic, Held: &pare.HeldOut{}, Null: math.NaN()}
	var right int
	for range 300 {
		target := math.Copysign(1, draw.Normal())
		score := math.Round(4*(draw.Normal()+target/2)) / 4
		r.Target, r.Held.Scores, r.Held.Fold = append(r.Target, target), append(r.Held.Scores, []float64{score}), append(r.Held.Fold, 0)
		if (score > 0) == (target > 0) {
			right++
		}
	}
	var pairs, wins float64
	for i, a := range r.Target {
		for j, b := range r.Target {
			if a > 0 && b < 0 {
				pairs++
				switch d := r.Held.Scores[i][0] - r.Held.Scores[j][0]; {
				case d > 0:
					wins++
				case d == 0:
					wins += 0.5
				}
			}
		}
	}
	text := written(t, r)
	for _, want := range []string{fmt.Sprintf("the area under it is %.3f", wins/pairs), fmt.Sprintf("%d of 300 rows are right", right)} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// measure is a script inserted into a page to check in a browser how it was rendered.
const measure = `<script>
addEventListener("load", () => {
  const found = [];
  const box = e => e.getBoundingClientRect();
  for (const figure of document.querySelectorAll("figure")) {
    const svg = figure.querySelector("svg"), frame = box(svg), texts = [...svg.querySelectorAll("text")].filter(e => getComputedStyle(e).display != "none" && e.textContent);
    if (frame.width < 250 || frame.height < 150) found.push(figure.id + " is " + frame.width + " by " + frame.height);
    if (![...svg.querySelectorAll("path, circle, rect")].some(e => e.closest("g") && box(e).width + box(e).height > 3)) found.push(figure.id + " is empty");
    for (const [i, a] of texts.entries()) {
      const p = box(a);
      if (p.left < frame.left - 2 || p.right > frame.right + 2 || p.top < frame.top - 2 || p.bottom > frame.bottom + 2) found.push(figure.id + ": " + a.textContent + " is cut off");
      for (const b of texts.slice(i + 1)) {
        const q = box(b);
        if (Math.min(p.right, q.right) - Math.max(p.left, q.left) > 2 && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 4) found.push(figure.id + ": " + a.textContent + " is over " + b.textContent);
      }
    }
  }
  if (document.documentElement.scrollWidth > document.documentElement.clientWidth + 1) found.push("the page is " + document.documentElement.scrollWidth + " wide on a screen of " + document.documentElement.clientWidth);
  const first = document.querySelector("[data-tip]");
  first?.dispatchEvent(new PointerEvent("pointermove", {bubbles: true}));
  if (first && document.getElementById("tip").hidden) found.push("no tip is shown");
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const paper = getComputedStyle(document.body).backgroundColor;
  if (dark != (paper != "rgb(255, 255, 255)")) found.push("paper of " + paper + ", dark: " + dark);
  const out = document.createElement("pre");
  out.id = "measured";
  out.textContent = (dark ? "dark " : "light ") + document.querySelectorAll("figure > svg").length + " charts\n" + found.join("\n");
  document.body.append(out);
});
</script></body>`

// TestPageInABrowser checks a page in a real browser, wide and narrow, light and dark: every chart is drawn, no text is
// cut off or overlaps another, nothing is wider than the screen, and the script runs. PARE_BROWSER names the browser;
// .ci/run report installs one. If PARE_ARTEFACTS is set, pictures are kept there.
func TestPageInABrowser(t *testing.T) {
	browser := os.Getenv("PARE_BROWSER")
	if browser == "" {
		t.Skip("PARE_BROWSER names no browser")
	}
	dir := t.TempDir()
	for model, want := range charts {
		text := written(t, made(t, model))
		plain := filepath.Join(dir, string(model)+".html")
		measured := filepath.Join(dir, string(model)+"-measured.html")
		for path, content := range map[string]string{plain: text, measured: strings.Replace(text, "</body>", measure, 1)} {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, screen := range []struct{ name, size, scheme, shade string }{
			{"wide", "1280,1000", "1", "light"}, {"phone", "390,800", "1", "light"}, {"dark", "1280,1000", "0", "dark"},
		} {
			flags := []string{"--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr", "--user-data-dir=" + filepath.Join(dir, "profile"), "--window-size=" + screen.size, "--blink-settings=preferredColorScheme=" + screen.scheme}
			dom, log := browse(t, browser, append(flags, "--dump-dom", "file://"+measured)...)
			_, after, found := strings.Cut(dom, `<pre id="measured">`)
			report, _, _ := strings.Cut(after, "</pre>")
			head, faults, _ := strings.Cut(report, "\n")
			if !found || head != fmt.Sprintf("%s %d charts", screen.shade, len(want)) || faults != "" {
				t.Errorf("%s, %s: %q, want %d charts\n%s", model, screen.name, head, len(want), faults)
			}
			for line := range strings.Lines(log) {
				if strings.Contains(line, "CONSOLE") {
					t.Errorf("%s, %s: %s", model, screen.name, line)
				}
			}
			if kept := os.Getenv("PARE_ARTEFACTS"); kept != "" {
				browse(t, browser, append(flags, "--window-size="+strings.Split(screen.size, ",")[0]+",3000", fmt.Sprintf("--screenshot=%s/report-%s-%s.png", kept, model, screen.name), "file://"+plain)...)
				browse(t, browser, append(flags, fmt.Sprintf("--print-to-pdf=%s/report-%s.pdf", kept, model), "file://"+plain)...)
			}
		}
	}
}

// browse runs the browser and returns what it prints.
func browse(t *testing.T, browser string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, log bytes.Buffer
	command := exec.CommandContext(t.Context(), browser, args...)
	command.Stdout, command.Stderr = &out, &log
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	return out.String(), log.String()
}

// TestPageCountsWeights checks that a page with rows of weights 0, 1 and 2 is that of the same rows left out, once and
// twice.
func TestPageCountsWeights(t *testing.T) {
	for _, model := range []pare.Model{pare.Lasso, pare.Logistic, pare.Multiclass} {
		draw := random.SplitMix64(7)
		weighted := report.Result{Model: model, Held: &pare.HeldOut{}, Null: math.NaN(), Best: &search.Evaluation{FoldValues: []float64{1, 2}}}
		again := weighted
		again.Held = &pare.HeldOut{}
		if model == pare.Multiclass {
			weighted.Held.Classes, again.Held.Classes = []float64{-1, 1}, []float64{-1, 1}
		}
		for i := range 600 {
			target := draw.Normal()
			scores := []float64{draw.Normal() + target}
			if model != pare.Lasso {
				target = math.Copysign(1, target)
			}
			if model == pare.Multiclass {
				scores = append(scores, draw.Normal())
			}
			weight := i * i % 3 * (i % 5 % 3) // 0, 1, 2
			weighted.Weights = append(weighted.Weights, float64(weight))
			add := func(r *report.Result) {
				r.Target, r.Held.Scores, r.Held.Fold = append(r.Target, target), append(r.Held.Scores, scores), append(r.Held.Fold, i%2)
			}
			for add(&weighted); weight > 0; weight-- {
				add(&again)
			}
		}
		figures := regexp.MustCompile(`Of the variance[^<]*|the area under it[^<]*|Confusion[^<]*|\d+ rows from [^<]*`)
		got, want := figures.FindAllString(written(t, weighted), -1), figures.FindAllString(written(t, again), -1)
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", model, got, want)
		}
	}
}

// TestCalibrationCountsWeights checks that the tenths of a calibration, which are formed by rows, weight their rows: if
// positives have three times the weight, a fraction of 1/2 becomes 3/4.
func TestCalibrationCountsWeights(t *testing.T) {
	r := report.Result{Model: pare.Logistic, Held: &pare.HeldOut{Fold: make([]int, 200)}, Null: math.NaN()}
	for i := range 200 {
		target := float64(2*(i%2) - 1)
		r.Target, r.Weights = append(r.Target, target), append(r.Weights, 2+target)
		r.Held.Scores = append(r.Held.Scores, []float64{float64(i/20) - 5})
	}
	if n := strings.Count(written(t, r), "observed 0.750"); n != 10 {
		t.Errorf("%d of ten tenths", n)
	}
}

// TestPageSaysWhichRowsItShows checks that a scatter plot of many rows says which of them it shows.
func TestPageSaysWhichRowsItShows(t *testing.T) {
	for n, want := range map[int]string{1500: "out of fold: all 1500 rows.", 3001: "out of fold: 1001 of 3001 rows, one in 3."} {
		r := report.Result{Model: pare.Lasso, Held: &pare.HeldOut{Fold: make([]int, n)}, Null: math.NaN()}
		for i := range n {
			r.Target, r.Held.Scores = append(r.Target, float64(i)), append(r.Held.Scores, []float64{float64(i % 7)})
		}
		if text := written(t, r); !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}
