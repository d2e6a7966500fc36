// Package chart draws lines and points as SVG, on white paper so that the image
// can be read on dark pages and bright ones alike, in colours that stay apart for
// the colour-blind.
package chart

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a plot of one or more series.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool
	Right       bool // the legend, which is on the left otherwise
	Series      []Series
}

// Series are points, connected by a line or not.
type Series struct {
	Name   string // "" keeps it out of the legend
	X, Y   []float64
	Points bool // marks at the points
	Line   bool
	Dashed bool
	Colour int // index into the palette; the same index gives the same colour
}

// Okabe and Ito's palette, black first.
var palette = []color.RGBA{
	{0, 0, 0, 255},
	{0, 114, 178, 255},
	{213, 94, 0, 255},
	{0, 158, 115, 255},
	{204, 121, 167, 255},
	{230, 159, 0, 255},
	{86, 180, 233, 255},
}

// SVG writes the chart, 16 by 11 cm.
func (c Chart) SVG(w io.Writer) error {
	p := plot.New()
	p.BackgroundColor = color.White
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	sans := func(s *text.Style, size font.Length) {
		s.Font.Typeface, s.Font.Variant, s.Font.Size = "Liberation", "Sans", size
	}
	sans(&p.Title.TextStyle, 12)
	sans(&p.X.Label.TextStyle, 11)
	sans(&p.Y.Label.TextStyle, 11)
	sans(&p.X.Tick.Label, 9)
	sans(&p.Y.Tick.Label, 9)
	sans(&p.Legend.TextStyle, 9)
	p.Legend.Top, p.Legend.Left = true, !c.Right
	if c.LogX {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	if c.LogY {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
	p.Add(grid())
	for _, s := range c.Series {
		if err := s.add(p); err != nil {
			return err
		}
	}
	canvas := vgsvg.New(16*vg.Centimeter, 11*vg.Centimeter)
	p.Draw(draw.New(canvas))
	_, err := canvas.WriteTo(w)
	return err
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = color.Gray{225}, color.Gray{225}
	return g
}

func (s Series) add(p *plot.Plot) error {
	points := make(plotter.XYs, len(s.X))
	for i := range points {
		points[i] = plotter.XY{X: s.X[i], Y: s.Y[i]}
	}
	colour := palette[s.Colour%len(palette)]
	var legend []plot.Thumbnailer
	if s.Line {
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color, line.Width = colour, vg.Points(1.3)
		if s.Dashed {
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		}
		p.Add(line)
		legend = append(legend, line)
	}
	if s.Points {
		marks, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		marks.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}}
		p.Add(marks)
		legend = append(legend, marks)
	}
	if s.Name != "" && len(legend) > 0 {
		p.Legend.Add(s.Name, legend...)
	}
	return nil
}
