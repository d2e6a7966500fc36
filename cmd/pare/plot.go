package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/report"
	"github.com/seed-45b9a24c/pare/search"
)

// plotFlags are the flags for the curve of the criterion.
type plotFlags struct {
	Plot drawing `placeholder:"OUT.svg" help:"Draw the criterion against the strength, in the text or, with --plot=OUT.svg or OUT.png, to a file (default: in the text on a terminal, if that costs nothing)." group:"Output"`
}

func (f plotFlags) check() error {
	if f.Plot.file == "" {
		return nil
	}
	if pictures[filepath.Ext(f.Plot.file)] == nil {
		return outcome.At(outcome.Usage, "plot", "the chart is SVG or PNG: give a name that ends in .svg or .png, not %q; --report writes a page with all charts", f.Plot.file)
	}
	return replaceable("plot", f.Plot.file, "cannot write the chart")
}

// pictures are the functions that write a chart, by the extension of the file's name.
var pictures = map[string]func(w io.Writer, r report.Result) error{".svg": report.WriteCurve, ".png": report.WriteCurvePNG}

// drawing is the value of --plot: given alone, or with a file after an equals sign.
type drawing struct {
	asked bool
	file  string
}

// IsBool implements [kong.BoolMapperValue]: the flag does not need a value.
func (d *drawing) IsBool() bool { return true }

// Decode implements [kong.MapperValue].
func (d *drawing) Decode(c *kong.DecodeContext) error { //nolint:unparam // the parser wants an error
	d.asked = true
	if c.Scan.Peek().Type == kong.FlagValueToken {
		d.file = fmt.Sprint(c.Scan.Pop().Value)
	}
	return nil
}

// onTerminal reports whether w is a terminal.
func onTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// curve is the criterion along the strengths, with the points to be marked.
type curve struct {
	points []search.Evaluation
	best   []float64
	oneSE  *search.Evaluation
	top    []float64 // ln αmax
	name   string    // of the criterion
}

const (
	plotHeight = 20 // lines
	fewest     = 5  // least number of points of a curve
)

// place returns the position of a λ on the axis: the decimal logarithm of the first strength, relative to αmax
// if there is one.
func (c *curve) place(logLambda []float64) float64 {
	l := logLambda[0]
	if c.shares() {
		l -= c.top[0]
	}
	return l / math.Ln10
}

// shares reports whether strengths have an αmax.
func (c *curve) shares() bool { return !math.IsNaN(c.top[0]) && !math.IsInf(c.top[0], 0) }

// drawn is a curve as characters in rows and columns, with the ranges of the axes.
type drawn struct {
	cells                    [][]rune
	left, right, most, least float64
}

// column and row return the cell of a position and of a value.
func (d *drawn) column(x float64) int {
	last := len(d.cells[0]) - 1
	return min(max(int(math.Round((x-d.left)/(d.right-d.left)*float64(last))), 0), last)
}

func (d *drawn) row(v float64) int {
	last := len(d.cells) - 1
	return min(max(int(math.Round((d.most-v)/(d.most-d.least)*float64(last))), 0), last)
}

// sorted returns the points with finite values, the strongest penalty first, as in a report.
func (c *curve) sorted() []search.Evaluation {
	points := slices.DeleteFunc(slices.Clone(c.points), func(e search.Evaluation) bool {
		return math.IsNaN(e.Value) || math.IsInf(e.Value, 0)
	})
	slices.SortStableFunc(points, func(a, b search.Evaluation) int {
		if c.shares() {
			a, b = b, a
		}
		return cmp.Compare(c.place(a.LogLambda), c.place(b.LogLambda))
	})
	return points
}

// draw draws the curve in the given number of rows and columns; nil if it has no extent.
func (c *curve) draw(rows, columns int) *drawn {
	points := c.sorted()
	if len(points) < 2 {
		return nil
	}
	d := &drawn{left: c.place(points[0].LogLambda), right: c.place(points[len(points)-1].LogLambda), most: math.Inf(-1), least: math.Inf(1)}
	for _, e := range points {
		d.most, d.least = max(d.most, e.Value), min(d.least, e.Value)
	}
	if d.most == d.least || d.left == d.right {
		return nil
	}
	for range rows {
		d.cells = append(d.cells, []rune(strings.Repeat(" ", columns)))
	}
	if c.oneSE != nil {
		for _, row := range d.cells {
			row[d.column(c.place(c.oneSE.LogLambda))] = ':'
		}
	}
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		from, to := d.column(c.place(a.LogLambda)), d.column(c.place(b.LogLambda))
		for x := from; x < to; x++ {
			share := float64(x-from) / float64(to-from)
			d.cells[d.row(a.Value+float64(share*(b.Value-a.Value)))][x] = '.'
		}
	}
	best := points[0]
	for _, e := range points {
		d.cells[d.row(e.Value)][d.column(c.place(e.LogLambda))] = 'o'
		if math.Abs(c.place(e.LogLambda)-c.place(c.best)) < math.Abs(c.place(best.LogLambda)-c.place(c.best)) {
			best = e
		}
	}
	d.cells[d.row(best.Value)][d.column(c.place(best.LogLambda))] = '*'
	return d
}

// plot prints a curve.
func (p *page) plot(c *curve) {
	const gutter = 11 // width of the numbers on the left
	rows := plotHeight - 4
	d := c.draw(rows, p.width-gutter-1)
	if d == nil {
		return
	}
	p.line("%*s", gutter-1, c.name)
	for i, text := range d.cells {
		value := ""
		if i%5 == 0 {
			value = fmt.Sprintf("%.5g", d.most-(d.most-d.least)*float64(i)/float64(rows-1))
		}
		p.line("%*s |%s", gutter-2, value, string(text))
	}
	p.ruler(gutter, d, c.shares())
	legend := "o evaluated   * the choice"
	if c.oneSE != nil {
		legend += "   : one-SE choice"
	}
	p.line("%*s%s", gutter, "", legend)
	p.line("")
}

// ruler draws the axis of the strengths, with as many powers of ten as fit.
func (p *page) ruler(gutter int, d *drawn, shares bool) {
	columns := len(d.cells[0])
	axis, marks := []rune(strings.Repeat("-", columns)), []rune(strings.Repeat(" ", columns))
	lo, hi := min(d.left, d.right), max(d.left, d.right)
	step := math.Max(1, math.Ceil((hi-lo)/6))
	for k := math.Ceil(lo - 1e-9); k <= hi+1e-9; k += step {
		at, text := d.column(k), fmt.Sprintf("%.4g", math.Pow(10, k))
		axis[at] = '+'
		copy(marks[min(max(at-len(text)/2, 0), columns-len(text)):], []rune(text))
	}
	name := "C"
	if shares {
		name = "α/αmax"
	}
	p.line("%*s %s", gutter-1, "", string(axis))
	p.line("%s%s", pad("  "+name, gutter), string(marks))
}

// validated evaluates the criterion along the strengths through a solution.
func (c commonFlags) validated(ctx context.Context, env environment, d *dataset, f *pare.Fitted) ([]search.Evaluation, error) {
	validation, err := c.validation(d)
	if err != nil {
		return nil, err
	}
	config := c.config(d)
	env.progress.begin("the curve: validating along the strengths")
	config.Solved = env.progress.inner(f.LogLambdaMax)
	var points []search.Evaluation
	for e, err := range pare.Validate(ctx, d.x, d.y, c.along(f), validation, config) {
		if err != nil && ctx.Err() == nil {
			return nil, d.blame(err)
		}
		if err == nil {
			points = append(points, e)
		}
	}
	return points, nil
}

// writePlot writes the curve to the file of --plot.
func (f plotFlags) writePlot(r report.Result) error {
	if f.Plot.file == "" {
		return nil
	}
	var out bytes.Buffer
	if err := pictures[filepath.Ext(f.Plot.file)](&out, r); err != nil {
		return err
	}
	if err := sealed.Replace(f.Plot.file, out.Bytes()); err != nil {
		return unsaved("plot", &outcome.Error{Kind: outcome.IO, File: f.Plot.file, Flag: "plot", Message: "cannot write the chart", Err: err})
	}
	return nil
}
