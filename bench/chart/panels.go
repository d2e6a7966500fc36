package chart

import (
	"errors"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Drawing is anything that can be written as an SVG image.
type Drawing interface{ SVG(w io.Writer) error }

// Panels are charts in rows, as wide as the widest row, each about 9 by 6.5 cm.
type Panels [][]Chart

// SVG writes the panels as one image. Rows may differ in length.
func (all Panels) SVG(w io.Writer) error {
	const height = 6.5 * vg.Centimeter
	columns := 0
	for _, row := range all {
		columns = max(columns, len(row))
	}
	if columns == 0 {
		return errors.New("there is nothing to draw")
	}
	plots := make([][]*plot.Plot, len(all))
	for i, row := range all {
		plots[i] = make([]*plot.Plot, columns)
		for j, c := range row {
			p, err := c.plot(0.8, height)
			if err != nil {
				return err
			}
			plots[i][j] = p
		}
	}
	canvas := vgsvg.New(vg.Length(columns)*9*vg.Centimeter, vg.Length(len(all))*height)
	paper := draw.New(canvas)
	paper.SetColor(palette[white])
	paper.Fill(paper.Path())
	tiles := draw.Tiles{
		Rows: len(all), Cols: columns, PadX: 4 * vg.Millimeter, PadY: 4 * vg.Millimeter,
		PadTop: 2 * vg.Millimeter, PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter,
	}
	areas := plot.Align(plots, tiles, paper)
	for i, row := range plots {
		for j, p := range row {
			if p != nil {
				p.Draw(areas[i][j])
			}
		}
	}
	return write(canvas, w)
}
