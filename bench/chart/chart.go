// Package chart draws lines and points as SVG, on white paper so that the image
// can be read on dark pages and bright ones alike, in colours that stay apart for
// the colour-blind.
package chart

import (
	"bytes"
	"image/color"
	"io"
	"math"

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
	Low         bool // the legend at the bottom, at the top otherwise
	Levels      *Levels
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

// Okabe and Ito's palette, black first, and at last the paper's white.
var palette = []color.RGBA{
	{0, 0, 0, 255},
	{0, 114, 178, 255},
	{213, 94, 0, 255},
	{0, 158, 115, 255},
	{204, 121, 167, 255},
	{230, 159, 0, 255},
	{86, 180, 233, 255},
	{255, 255, 255, 255},
}

const white = 7

// SVG writes the chart, 16 by 11 cm.
func (c Chart) SVG(w io.Writer) error {
	const height = 11 * vg.Centimeter
	p, err := c.plot(1, height)
	if err != nil {
		return err
	}
	canvas := vgsvg.New(16*vg.Centimeter, height)
	p.Draw(draw.New(canvas))
	return write(canvas, w)
}

// write names fonts of the same widths for those who lack the first.
func write(canvas *vgsvg.Canvas, w io.Writer) error {
	var image bytes.Buffer
	if _, err := canvas.WriteTo(&image); err != nil {
		return err
	}
	_, err := w.Write(bytes.ReplaceAll(image.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")))
	return err
}

// plot makes the plot with letters of a relative size.
func (c Chart) plot(scale, height font.Length) (*plot.Plot, error) {
	p := plot.New()
	p.BackgroundColor = palette[white]
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	sans := func(s *text.Style, size font.Length) {
		s.Font.Typeface, s.Font.Variant, s.Font.Size = "Liberation", "Sans", scale*size
	}
	sans(&p.Title.TextStyle, 12)
	sans(&p.X.Label.TextStyle, 11)
	sans(&p.Y.Label.TextStyle, 11)
	sans(&p.X.Tick.Label, 9)
	sans(&p.Y.Tick.Label, 9)
	sans(&p.Legend.TextStyle, 9)
	p.Legend.Top, p.Legend.Left = !c.Low, !c.Right
	p.X.Tick.Marker, p.Y.Tick.Marker = steps{}, steps{}
	p.Add(grid())
	if c.Levels != nil {
		c.Levels.add(p)
	}
	shown, named := c.Levels != nil, 0
	for _, s := range c.Series {
		s = s.on(c.LogX, c.LogY)
		shown = shown || len(s.X) > 0
		if s.Name != "" && len(s.X) > 0 {
			named++
		}
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	if !shown { // not even a positive number, for a logarithm
		return p, nil
	}
	if c.LogX {
		logarithmic(&p.X)
	}
	if c.LogY {
		logarithmic(&p.Y)
	}
	if c.Levels == nil {
		const line, area = 1.2, 0.75 // height of a line of text; share of the height within the axes
		c.makeRoom(&p.Y, min(0.5, float64(font.Length(named)*line*p.Legend.TextStyle.Font.Size/(area*height))))
	}
	return p, nil
}

// makeRoom lengthens an axis by a share of its new length, so that the legend lies
// beside the data.
func (c Chart) makeRoom(a *plot.Axis, share float64) {
	low, high := a.Min, a.Max
	if c.LogY {
		low, high = math.Log(low), math.Log(high)
	}
	more := (high - low) * share / (1 - share)
	if c.Low {
		low -= more
	} else {
		high += more
	}
	if c.LogY {
		low, high = math.Exp(low), math.Exp(high)
	}
	a.Min, a.Max = low, high
}

// on leaves out what a logarithmic axis cannot show.
func (s Series) on(logX, logY bool) Series {
	var x, y []float64
	for i := range s.X {
		if logX && s.X[i] <= 0 || logY && s.Y[i] <= 0 {
			continue
		}
		x, y = append(x, s.X[i]), append(y, s.Y[i])
	}
	s.X, s.Y = x, y
	return s
}

func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = color.Gray{225}, color.Gray{225}
	return g
}

func (s Series) add(p *plot.Plot) error {
	if len(s.X) == 0 {
		return nil
	}
	points := make(plotter.XYs, len(s.X))
	for i := range points {
		points[i] = plotter.XY{X: s.X[i], Y: s.Y[i]}
	}
	colour := palette[s.Colour%white]
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
