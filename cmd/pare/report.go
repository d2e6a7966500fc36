package main

import (
	"bytes"
	"cmp"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/report"
	"github.com/seed-45b9a24c/pare/search"
)

// reportFlags are the flags for an HTML page.
type reportFlags struct {
	Report   string `placeholder:"OUT" help:"Write an HTML page to this file, with the result in words and charts of the criterion, the path, the coefficients and the predictions of held-out rows." group:"Output"`
	byOutput bool   // named by --output
}

// page returns the flag that names the page's file, and the file.
func (f reportFlags) page() [2]string {
	if f.byOutput {
		return [2]string{"output", f.Report}
	}
	return [2]string{"report", f.Report}
}

func (f reportFlags) check() error {
	if f.Report == "" {
		return nil
	}
	flag := f.page()[0]
	if ext := filepath.Ext(f.Report); ext != ".html" && ext != ".htm" {
		return outcome.At(outcome.Usage, flag, "the page is HTML: give a name that ends in .html, not %q", f.Report)
	}
	return replaceable(flag, f.Report, "cannot write the page")
}

// reportCommand is select with a page.
type reportCommand struct {
	selectCommand
	Output string `short:"o" placeholder:"OUT" help:"The file to write (default: report.html)." group:"Output"`
}

func (c *reportCommand) run(ctx context.Context, env environment) (result, error) {
	if c.Report != "" && c.Output != "" {
		return nil, outcome.At(outcome.Usage, "output", "names the page, as --report does; give only one of them")
	}
	c.byOutput, c.called = c.Report == "", "report"
	c.Report = cmp.Or(c.Report, c.Output, "report.html")
	return c.selectCommand.run(ctx, env)
}

const (
	pathPoints    = 50   // points of the curve and of the path in a report
	classesPoints = 15   // the same if each class has a problem of its own
	deepest       = 1e-3 // fraction of αmax at which the path ends, unless the choice is below
	levelPoints   = 13   // points per strength on the grid of an elastic net
	wayDown       = 3.0  // distance in λ beyond the choice
)

// material is what a page shows besides the result in words.
type material struct {
	final *pare.Fitted
	best  *search.Evaluation
	visit []search.Evaluation
	oneSE *search.Evaluation
	least *search.Evaluation
	null  float64
}

// writeReport computes what a page shows, and writes the page. If ctx ends first, the page has what was
// computed.
func (c commonFlags) writeReport(ctx context.Context, env environment, file, command string, res result, d *dataset, m material) error {
	out := report.Result{
		Title: command + ", " + string(c.Model) + " " + c.intercept(), Data: d.String(), Version: version(),
		Command: strings.Join(env.args, " "), Model: c.Model, Loss: c.criterion(), Name: d.column, Scale: d.scale(),
		Target: d.y, Classes: d.classes, Final: m.final, Best: m.best, Visit: m.visit, OneSE: m.oneSE, Least: m.least, Null: m.null,
	}
	words := page{out: new(bytes.Buffer), width: mostWidth}
	res.text(&words)
	for _, fact := range words.facts {
		if fact.Label != "next" && fact.Label != "report" {
			fact.Text, _, _ = strings.Cut(fact.Text, "; by class:") // the page has a section for the classes
			out.Facts = append(out.Facts, fact)
		}
	}
	if m.final != nil && m.final.Status != outcome.Cancelled {
		if err := c.illustrate(ctx, env, d, &out); err != nil && ctx.Err() == nil {
			return err
		}
	}
	if ctx.Err() != nil {
		out.Notes = append(out.Notes, "Interrupted: charts that were not yet computed are missing.")
	}
	var text bytes.Buffer
	if err := report.Write(&text, out); err != nil {
		return err
	}
	if err := sealed.Replace(file, text.Bytes()); err != nil {
		return unsaved("report", &outcome.Error{Kind: outcome.IO, File: file, Flag: "report", Message: "cannot write the page", Err: err})
	}
	return nil
}

// illustrate computes the path, the curve, the level sets and the out-of-fold predictions.
func (c commonFlags) illustrate(ctx context.Context, env environment, d *dataset, out *report.Result) error {
	validation, err := c.validation(d)
	if err != nil {
		return err
	}
	config := c.config(d)
	config.Certify = false
	out.Weights = config.Weights
	env.progress.begin("the page: predictions out of fold")
	if out.Held, err = pare.OutOfFold(ctx, d.x, d.y, out.Final.LogLambda, validation, config); err != nil {
		if ctx.Err() != nil {
			return err
		}
		out.Notes = append(out.Notes, "Predictions out of fold are missing: "+err.Error()+".")
	}
	if c.many() {
		return nil
	}
	grid := c.along(out.Final)
	env.progress.begin("the page: solving along the path")
	config.Solved = env.progress.inner(out.Final.LogLambdaMax)
	for f, err := range pare.Path(ctx, d.x, d.y, grid, config) {
		if err != nil {
			return err
		}
		if f.Status != outcome.Cancelled {
			out.Path = append(out.Path, f)
		}
	}
	env.progress.begin("the page: validating along the path")
	for e, err := range pare.Validate(ctx, d.x, d.y, grid, validation, config) {
		if err != nil {
			return err
		}
		out.Curve = append(out.Curve, e)
	}
	if math.IsNaN(out.Null) && out.Curve[0].Support == 0 {
		out.Null = out.Curve[0].Value
	}
	if out.Best == nil {
		out.Best = at(out.Curve, out.Final.LogLambda)
	}
	if !c.on(pare.L1AndRidge) {
		return nil
	}
	env.progress.begin("the page: validating a grid of both strengths")
	for e, err := range pare.Validate(ctx, d.x, d.y, levelGrid(out.Final, out.Visit), validation, config) {
		if err != nil {
			return err
		}
		out.Level = append(out.Level, e)
	}
	return nil
}

// along returns λ from strong to weak, through the choice. All strengths move together, except for an elastic
// net: there only the first nonzero strength moves.
func (c commonFlags) along(f *pare.Fitted) [][]float64 {
	points, moving := pathPoints, f.LogLambda
	top := f.LogLambdaMax
	begin := 0
	if c.on(pare.L1AndRidge) {
		if math.IsInf(f.LogLambda[0], -1) {
			begin = 1
		}
		moving, top = moving[begin:begin+1], top[begin:begin+1]
	}
	if f.PerClass != nil {
		points = classesPoints
	}
	from, to := wayDown, -wayDown
	if c.stated.traits.Samples { // for a small C the penalty is strong
		from, to = -wayDown, wayDown
	} else if !slices.ContainsFunc(top, func(l float64) bool { return math.IsInf(l, 0) || math.IsNaN(l) }) {
		from = 0
		for i, l := range moving {
			from = max(from, top[i]-l)
		}
		to = min(to/2, from+math.Log(deepest))
	}
	grid := make([][]float64, 0, points+1)
	passed := false
	for k := range points {
		shift := from + (to-from)*float64(k)/float64(points-1)
		if !passed && shift*from <= 0 {
			grid, passed = append(grid, slices.Clone(f.LogLambda)), true // the choice itself
			if shift == 0 {
				continue
			}
		}
		point := slices.Clone(f.LogLambda)
		for i := range moving {
			point[begin+i] += shift
		}
		grid = append(grid, point)
	}
	return grid
}

// levelGrid covers the points visited and their surroundings.
func levelGrid(f *pare.Fitted, visits []search.Evaluation) [][]float64 {
	lo, hi := make([]float64, 2), make([]float64, 2)
	for i, top := range f.LogLambdaMax {
		lo[i], hi[i] = top-wayDown, top-wayDown
	}
	for _, e := range append(slices.Clip(visits), search.Evaluation{LogLambda: f.LogLambda}) {
		for i, l := range e.LogLambda {
			if !math.IsInf(l, 0) { // a strength of 0
				lo[i], hi[i] = min(lo[i], l), max(hi[i], l)
			}
		}
	}
	var axes [2][]float64
	for i := range axes {
		from := min(hi[i]+2, f.LogLambdaMax[i])
		to := max(lo[i]-1, f.LogLambdaMax[i]+math.Log(1e-7)) // below this a strength has no effect
		for k := range levelPoints {
			axes[i] = append(axes[i], from+(to-from)*float64(k)/float64(levelPoints-1))
		}
	}
	grid := make([][]float64, 0, levelPoints*levelPoints)
	for j, b := range axes[1] {
		for i := range axes[0] {
			if j%2 == 1 { // back and forth, so that each point starts from a neighbour
				i = levelPoints - 1 - i
			}
			grid = append(grid, []float64{axes[0][i], b})
		}
	}
	return grid
}

// at returns the evaluation at a λ, nil if there is none.
func at(curve []search.Evaluation, logLambda []float64) *search.Evaluation {
	for i, e := range curve {
		if slices.Equal(e.LogLambda, logLambda) {
			return &curve[i]
		}
	}
	return nil
}

// column returns the name of column j of x.
func (d *dataset) column(j int) string {
	name := d.label(d.prepared.Kept[j])
	if d.Names == nil {
		return "column " + name
	}
	return name
}

// scale returns a function for the standard deviation of column j of x, which is computed when first needed.
func (d *dataset) scale() func(j int) float64 {
	n, p := d.x.Dims()
	made := make([]float64, p)
	return func(j int) float64 {
		if made[j] > 0 {
			return made[j]
		}
		_, values := d.x.Column(j)
		var sum, square float64
		for _, v := range values {
			sum += v
		}
		mean := sum / float64(n)
		for _, v := range values {
			square += float64((v - mean) * (v - mean))
		}
		square += float64(float64(n-len(values)) * float64(mean*mean))
		made[j] = math.Sqrt(square / float64(n))
		return made[j]
	}
}

// reported prints where the page is.
func (f reportFlags) reported(p *page) {
	if f.Report == "" {
		return
	}
	size := ""
	if info, err := os.Stat(f.Report); err == nil {
		size = ", " + bytesize(info.Size())
	}
	p.row("report", "%s%s", f.Report, size)
}
