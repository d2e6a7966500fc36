// Package chart draws lines and points as SVG, on white paper so that the image can be read on dark and bright
// pages, in colours that colour-blind readers can distinguish.
package chart

import (
	"cmp"
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
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a plot of one or more series.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool
	Right       bool // the legend is on the right; otherwise on the left
	Low         bool // the legend is at the bottom; otherwise at the top
	Levels      *Levels
	Series      []Series
}

// Series are points, connected by a line or not.
type Series struct {
	Name   string // "": not in the legend
	Beside string // a name written beside the end of the line with the least X
	X, Y   []float64
	Points bool // marks at the points
	Line   bool
	Dashed bool
	Colour int // index into the palette
}

// The palette of Okabe and Ito, black first, and white, the colour of the paper, last.
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

// Shapes and dashes that go with the colours, so that charts can be read without colours.
var (
	shapes = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.CircleGlyph{}, draw.BoxGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.PyramidGlyph{}, draw.PlusGlyph{},
	}
	dashes = [][]vg.Length{nil, nil, {9, 3}, {5, 3}, {9, 3, 2, 3}, {2, 3}, {9, 3, 2, 3, 2, 3}}
)

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

// plot makes the plot, with the font size scaled.
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
	if !shown { // there is nothing to show, for example no positive number on a logarithmic axis
		return p, nil
	}
	if c.LogX {
		logarithmic(&p.X)
	}
	if c.LogY {
		logarithmic(&p.Y)
	}
	if err := c.nameLines(p, height, float64(scale)); err != nil {
		return nil, err
	}
	const line, area = 1.2, 0.75 // height of a line of text; fraction of the height inside the axes
	c.makeRoom(&p.Y, min(0.5, float64(font.Length(named)*line*p.Legend.TextStyle.Font.Size/(area*height))))
	return p, nil
}

// nameLines writes names beside the ends of lines, without overlaps.
func (c Chart) nameLines(p *plot.Plot, height font.Length, scale float64) error {
	var named []Series
	for _, s := range c.Series {
		if s = s.on(c.LogX, c.LogY); s.Beside != "" && len(s.X) > 0 {
			named = append(named, s)
		}
	}
	if len(named) == 0 {
		return nil
	}
	slices.SortStableFunc(named, func(a, b Series) int { return cmp.Compare(a.end(), b.end()) })
	apart := (p.Y.Max - p.Y.Min) * scale * 10 / (0.75 * float64(height)) // height of ten points
	labels := plotter.XYLabels{}
	at := math.Inf(-1)
	for _, s := range named {
		at = max(s.end(), at+apart)
		labels.XYs = append(labels.XYs, plotter.XY{X: p.X.Min, Y: at})
		labels.Labels = append(labels.Labels, s.Beside)
	}
	if c.LogX {
		p.X.Min *= math.Pow(p.X.Min/p.X.Max, 0.1) // space for the names on the left
	} else {
		p.X.Min -= 0.1 * (p.X.Max - p.X.Min)
	}
	names, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	for i := range names.TextStyle {
		style := &names.TextStyle[i]
		style.Font.Typeface, style.Font.Variant, style.Font.Size = "Liberation", "Sans", font.Length(scale)*9
		style.XAlign, style.YAlign = text.XRight, text.YCenter
		style.Color = palette[named[i].Colour%white]
	}
	names.Offset.X = -vg.Points(4)
	p.Add(names)
	return nil
}

// end returns the value at the least x.
func (s Series) end() float64 {
	at := 0
	for i, x := range s.X {
		if x < s.X[at] {
			at = i
		}
	}
	return s.Y[at]
}

// makeRoom extends an axis by a fraction of its new length, so that the legend does not cover the data.
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

// on returns the points that logarithmic axes can show.
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
		switch {
		case s.Dashed:
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
		case !s.Points: // otherwise the marks distinguish the lines
			line.Dashes = dashes[s.Colour%white]
		}
		p.Add(line)
		legend = append(legend, line)
	}
	if s.Points {
		marks, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		marks.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: vg.Points(2.8), Shape: shapes[s.Colour%white]}
		p.Add(marks)
		legend = append(legend, marks)
	}
	if s.Name != "" && len(legend) > 0 {
		p.Legend.Add(s.Name, legend...)
	}
	return nil
}
