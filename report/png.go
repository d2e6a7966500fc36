package report

import (
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// The colours of the picture, which can be distinguished by the colour-blind and in grey.
var (
	inkOfCurve  = color.RGBA{0, 114, 178, 255}
	inkOfChoice = color.RGBA{213, 94, 0, 255}
	inkOfDashes = color.RGBA{0, 0, 0, 255}
	inkOfBand   = color.RGBA{205, 226, 238, 255}
	inkOfGrid   = color.RGBA{230, 230, 230, 255}
)

// WriteCurvePNG writes the picture of [WriteCurve] as PNG, on white paper. It needs the same fields
// of the result, and the error is that of w.
func WriteCurvePNG(w io.Writer, r Result) error {
	p := r.picture()
	canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(18*vg.Centimeter, 10*vg.Centimeter), vgimg.UseDPI(150))}
	const margin = 10 // points; the label at the end of the axis extends beyond it on the right
	p.Draw(draw.Crop(draw.New(canvas), margin, -2*margin, margin, -margin))
	_, err := canvas.WriteTo(w)
	return err
}

// across returns the horizontal position of a λ in the picture: strong penalties are on the left.
func (r *Result) across(logLambda []float64) float64 {
	if r.shares() {
		return -r.place(logLambda)
	}
	return r.place(logLambda)
}

func (r *Result) picture() *plot.Plot {
	p := plot.New()
	for style, size := range map[*text.Style]font.Length{&p.Title.TextStyle: 9, &p.X.Label.TextStyle: 10, &p.Y.Label.TextStyle: 10, &p.X.Tick.Label: 9, &p.Y.Tick.Label: 9} {
		style.Font.Typeface, style.Font.Variant, style.Font.Size = "Liberation", "Sans", size
	}
	p.X.Label.Text, p.Y.Label.Text = r.strength(), r.Loss
	p.Title.Text = r.marked("orange: the choice")
	points, seen := len(r.Curve), r.visited()
	visited := make(plotter.XYs, 0, len(seen))
	curve, above, below := make(plotter.XYs, 0, points), make(plotter.XYs, 0, 2*points), make(plotter.XYs, 0, points)
	places := make([]float64, 0, points)
	for _, e := range r.Curve {
		places = append(places, r.place(e.LogLambda))
		if !finite(e.Value) {
			continue
		}
		at, se := r.across(e.LogLambda), standardError(e)
		curve = append(curve, plotter.XY{X: at, Y: e.Value})
		above, below = append(above, plotter.XY{X: at, Y: e.Value + se}), append(below, plotter.XY{X: at, Y: e.Value - se})
	}
	for _, e := range seen {
		if !finite(e.Value) {
			continue
		}
		visited = append(visited, plotter.XY{X: r.across(e.LogLambda), Y: e.Value})
		places = append(places, r.place(e.LogLambda))
	}
	_, marks := r.strengths(places)
	p.X.Tick.Marker, p.Y.Tick.Marker = r.marks(marks), plot.TickerFunc(func(lo, hi float64) []plot.Tick { return ticked(ticks(lo, hi), 1) })
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = inkOfGrid, inkOfGrid
	slices.Reverse(below)
	band := &plotter.Polygon{XYs: []plotter.XYs{append(above, below...)}, Color: inkOfBand}
	p.Add(band, grid, &plotter.Line{XYs: curve, LineStyle: draw.LineStyle{Color: inkOfCurve, Width: vg.Points(1.5)}})
	p.Add(&plotter.Scatter{XYs: visited, GlyphStyle: draw.GlyphStyle{Color: inkOfCurve, Radius: vg.Points(3), Shape: draw.RingGlyph{}}})
	if e, _ := r.dashed(); e != nil {
		p.Add(r.upright(p, e.LogLambda, inkOfDashes, true))
	}
	p.Add(r.upright(p, r.Best.LogLambda, inkOfChoice, false))
	p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: r.across(r.Best.LogLambda), Y: r.Best.Value}}, GlyphStyle: draw.GlyphStyle{Color: inkOfChoice, Radius: vg.Points(4), Shape: draw.CircleGlyph{}}})
	return p
}

// upright returns a vertical line through the whole picture.
func (r *Result) upright(p *plot.Plot, logLambda []float64, ink color.Color, dashed bool) *plotter.Line {
	at := r.across(logLambda)
	line := &plotter.Line{XYs: plotter.XYs{{X: at, Y: p.Y.Min}, {X: at, Y: p.Y.Max}}, LineStyle: draw.LineStyle{Color: ink, Width: vg.Points(1)}}
	if dashed {
		line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
	}
	return line
}

// marks returns the ticks of the axis of strengths.
func (r *Result) marks(list []tick) plot.Ticker {
	sign := 1.0
	if r.shares() {
		sign = -1
	}
	return plot.TickerFunc(func(_, _ float64) []plot.Tick { return ticked(list, sign) })
}

func ticked(list []tick, sign float64) []plot.Tick {
	out := make([]plot.Tick, 0, len(list))
	for _, t := range list {
		if !math.IsInf(t.at, 0) {
			out = append(out, plot.Tick{Value: sign * t.at, Label: t.label})
		}
	}
	return out
}
