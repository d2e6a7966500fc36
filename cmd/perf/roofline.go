package main

import (
	"context"
	"os"

	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/bench/loops"
	"github.com/seed-45b9a24c/pare/bench/machine"
)

type rooflineCommand struct {
	measureFlags
	Output string `short:"o" default:"roofline.svg" placeholder:"FILE" help:"Where the chart goes; - is standard output (default: roofline.svg)."`
	JSON   bool   `name:"json" help:"What the chart shows, as one JSON object, instead of the chart."`
}

func (c *rooflineCommand) run(ctx context.Context, env environment) error {
	ceilings, results, err := c.measure(ctx, env, nil)
	if err != nil {
		return err
	}
	picture := roofline(ceilings, results)
	if c.JSON {
		return env.json(picture)
	}
	if c.Output == "-" {
		return picture.SVG(env.stdout)
	}
	file, err := os.Create(c.Output)
	if err != nil {
		return err
	}
	if err := picture.SVG(file); err != nil {
		return err
	}
	return file.Close()
}

// roofline draws rates against intensity, the operations per byte. A loop cannot exceed the bandwidth roof of
// the memory that holds its operands, nor the flat roof of arithmetic.
func roofline(c machine.Ceilings, results []loops.Result) chart.Chart {
	const least, most = 1.0 / 64, 4.0
	picture := chart.Chart{
		Title: "Roofline, one core", X: "operations per byte", Y: "GFLOP/s", LogX: true, LogY: true,
	}
	for i, l := range c.Levels {
		ridge := min(c.GFLOPs/l.Read, most)
		picture.Series = append(picture.Series, chart.Series{
			Name: l.Name + " read", Line: true, Dashed: true, Colour: i + 1,
			X: []float64{least, ridge, most}, Y: []float64{least * l.Read, min(ridge*l.Read, c.GFLOPs), min(c.GFLOPs, most*l.Read)},
		})
	}
	for i, l := range c.Levels {
		points := chart.Series{Name: "kernels from " + l.Name, Points: true, Colour: i + 1}
		for _, r := range results {
			if r.Level == l.Name && r.Flops > 0 && r.Set != "loop" && r.Set != "gonum" && r.Set != "purego" {
				points.X = append(points.X, float64(r.Flops)/float64(r.Bytes))
				points.Y = append(points.Y, r.GFLOPs)
			}
		}
		if len(points.X) > 0 {
			picture.Series = append(picture.Series, points)
		}
	}
	return picture
}
