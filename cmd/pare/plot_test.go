package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/search"
)

// TestPlot checks that the curve fits into 80 by 20 characters and marks the choice at the
// least value of the criterion.
func TestPlot(t *testing.T) {
	for _, line := range []string{"select --plot", "path --plot --points=9", "select --plot --model=enet", "select --plot --model=ridge", "select --plot --model=svm " + relabelled(t, above(140))} {
		o := pareRun(t, strings.Fields(line)...)
		if o.code != exitOK {
			t.Fatalf("pare %s: exit %d\n%s", line, o.code, o.stderr)
		}
		_, after, _ := strings.Cut(o.stdout, "\n\n")
		plot, _, _ := strings.Cut(after, "\n\n")
		lines := strings.Split(plot, "\n")
		if len(lines) != plotHeight {
			t.Errorf("pare %s: %d lines", line, len(lines))
		}
		lowest, chosen := -1, -1
		for i, text := range lines[:len(lines)-1] {
			if utf8.RuneCountInString(text) > usualWidth {
				t.Errorf("pare %s: wider than a screen: %s", line, text)
			}
			if strings.ContainsAny(text, "o*") && strings.Contains(text, "|") {
				lowest = i
			}
			if strings.Contains(text, "*") {
				chosen = i
			}
		}
		if chosen < 0 || chosen != lowest {
			t.Errorf("pare %s: the choice is on line %d, the lowest point on %d\n%s", line, chosen, lowest, plot)
		}
	}
	if o := pareRun(t, "path", "--points=9"); strings.Contains(o.stdout, "|") {
		t.Errorf("a curve that was not asked for, where there is no terminal:\n%s", o.stdout)
	}
	if o := pareRun(t, "select", "--plot", "--model=wlasso"); o.code != exitUsage || !strings.Contains(o.stderr, "no curve") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// TestPlotToAFile checks that the curve is written to the argument of --plot if that ends in
// .svg, and that any other argument is data.
func TestPlotToAFile(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "curve.svg")
	for _, args := range [][]string{{"select", "--plot", picture}, {"path", "--points=5", "--plot=" + picture}} {
		o := pareRun(t, args...)
		if o.code != exitOK || strings.Contains(o.stdout, "|") {
			t.Fatalf("%v: exit %d\n%s%s", args, o.code, o.stdout, o.stderr)
		}
		text := read(t, picture)
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %.200s", err, text)
			}
		}
		if !strings.HasPrefix(text, "<svg xmlns=") || !strings.Contains(text, "CV error") || strings.Contains(text, "NaN") {
			t.Errorf("%v: %.300s", args, text)
		}
		if strings.Contains(text, "var(") {
			t.Errorf("%v: a colour that only browsers know", args)
		}
	}
	raster := filepath.Join(t.TempDir(), "curve.png")
	for _, args := range [][]string{{"select", "--plot", raster}, {"path", "--points=5", "--plot=" + raster}} {
		if o := pareRun(t, args...); o.code != exitOK {
			t.Fatalf("%v: exit %d\n%s", args, o.code, o.stderr)
		}
		drawn, err := png.Decode(strings.NewReader(read(t, raster)))
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		counts := map[color.Color]int{} // counts pixels in the colours of the criterion and the choice, without the background
		for x := range drawn.Bounds().Dx() {
			for y := range drawn.Bounds().Dy() {
				counts[color.RGBAModel.Convert(drawn.At(x, y))]++
			}
		}
		if counts[color.RGBA{0, 114, 178, 255}] < 1000 || counts[color.RGBA{213, 94, 0, 255}] < 500 || counts[color.RGBA{255, 255, 255, 255}] < 100_000 {
			t.Errorf("%v: %d points of the curve, %d of the choice", args, counts[color.RGBA{0, 114, 178, 255}], counts[color.RGBA{213, 94, 0, 255}])
		}
	}
	if o := pareRun(t, "path", "--points=1", "--plot", picture); o.code != exitUsage || !strings.Contains(o.stderr, "--points: a curve needs at least 2") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if o := pareRun(t, "select", "--plot", "curve.pdf"); o.code != exitUsage || !strings.Contains(o.stderr, "SVG") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
	if o := pareRun(t, "select", "--plot", "no-such-data"); o.code != exitFailed || !strings.Contains(o.stderr, "no-such-data") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// TestPlotOfTheNullModel checks that the choice is drawn even if it is the null model, which
// the search has not evaluated.
func TestPlotOfTheNullModel(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("a,b,y\n")
	noise := random.SplitMix64(2)
	for range 30 {
		fmt.Fprintf(&rows, "%g,%g,%g\n", noise.Normal(), noise.Normal(), noise.Normal())
	}
	data, picture := writeFile(t, "noise.csv", rows.String()), filepath.Join(t.TempDir(), "curve.svg")
	if o := pareRun(t, "select", "--target=y", "--plot="+picture, data); o.code != exitOK || !strings.Contains(o.stdout, "null_model") {
		t.Fatalf("exit %d\n%s%s", o.code, o.stdout, o.stderr)
	}
	if text := read(t, picture); !strings.Contains(text, "the choice: ") {
		t.Errorf("%.300s", text)
	}
}

// TestPlotOfLittle checks that a curve without extent is not drawn, and that points that are
// not finite are left out.
func TestPlotOfLittle(t *testing.T) {
	at := func(l, v float64) search.Evaluation { return search.Evaluation{LogLambda: []float64{l}, Value: v} }
	for name, points := range map[string][]search.Evaluation{
		"nothing": nil, "a point": {at(0, 1)}, "level": {at(0, 1), at(-1, 1)}, "upright": {at(0, 1), at(0, 2)}, "no numbers": {at(0, math.NaN()), at(-1, math.Inf(1))},
	} {
		if d := (&curve{points: points, best: []float64{0}, top: []float64{0}}).draw(16, 60); d != nil {
			t.Errorf("%s is drawn: %v", name, d)
		}
	}
	if d := (&curve{points: []search.Evaluation{at(0, 1), at(-1, math.NaN()), at(-2, 2)}, best: []float64{0}, top: []float64{math.NaN()}}).draw(16, 60); d == nil {
		t.Error("two points and none are not drawn")
	}
}
