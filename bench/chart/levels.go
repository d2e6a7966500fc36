package chart

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Levels are level sets of a function on a grid: At[i][j] is its value at X[j], Y[i], both ascending. Contour
// lines are drawn at quantiles of the values.
type Levels struct {
	X, Y []float64
	At   [][]float64
}

// surface implements package plotter's grid interface.
type surface struct{ Levels }

func (s surface) Dims() (columns, rows int) { return len(s.Levels.X), len(s.Levels.Y) }
func (s surface) X(column int) float64      { return s.Levels.X[column] }
func (s surface) Y(row int) float64         { return s.Levels.Y[row] }
func (s surface) Z(column, row int) float64 { return s.At[row][column] }
func (l *Levels) values() (sorted []float64) {
	return slices.Sorted(slices.Values(slices.Concat(l.At...)))
}

// add draws twelve contour lines, denser where the function is low, since the neighbourhood of the minimum
// matters most.
func (l *Levels) add(p *plot.Plot) {
	const lines = 12
	sorted := l.values()
	heights := make([]float64, 0, lines)
	for k := range lines {
		share := (float64(k) + 1) / (lines + 1)
		heights = append(heights, sorted[int(float64(len(sorted)-1)*math.Pow(share, 1.5))])
	}
	contour := plotter.NewContour(surface{*l}, slices.Compact(heights), nil)
	contour.LineStyles = []draw.LineStyle{{Color: color.Gray{120}, Width: vg.Points(0.7)}}
	p.Add(contour)
}
