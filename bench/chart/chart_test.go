package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestSVGIsXMLWithItsWords(t *testing.T) {
	c := Chart{
		Title: "A title", X: "alpha", Y: "error", LogX: true, LogY: true,
		Series: []Series{
			{Name: "grid", X: []float64{1, 10, 100}, Y: []float64{3, 2, 5}, Line: true, Points: true},
			{Name: "bound", X: []float64{1, 100}, Y: []float64{2, 2}, Line: true, Dashed: true, Colour: 9},
		},
	}
	var out bytes.Buffer
	if err := c.SVG(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"A title", "alpha", "error", "grid", "bound"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	decoder := xml.NewDecoder(&out)
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWhatCannotBeDrawnIsAnError(t *testing.T) {
	if err := (Chart{Series: []Series{{X: []float64{1}, Y: []float64{math.NaN()}, Line: true}}}).SVG(io.Discard); err == nil {
		t.Error("a point that is not a number was drawn")
	}
}

// TestNothingPositiveOnALogarithmicAxis checks that points which a logarithmic axis cannot show
// are left out, even if none remains.
func TestNothingPositiveOnALogarithmicAxis(t *testing.T) {
	empty := Chart{Title: "nothing", LogY: true, Series: []Series{{Name: "zero", X: []float64{1, 2}, Y: []float64{0, 0}, Line: true}}}
	var out bytes.Buffer
	if err := (Panels{{empty, {LogX: true, LogY: true, Series: []Series{{X: []float64{0, 1, 10}, Y: []float64{1, 2, 0}, Points: true}}}}, {empty}}).SVG(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "nothing") {
		t.Error("the title is missing")
	}
}

func TestNoPanelsAreAnError(t *testing.T) {
	if err := (Panels{{}, {}}).SVG(io.Discard); err == nil {
		t.Error("nothing was drawn")
	}
}

func TestLevelsAreDrawn(t *testing.T) {
	l := Levels{X: []float64{1, 10, 100}, Y: []float64{1, 10}, At: [][]float64{{1, 2, 3}, {2, 5, 9}}}
	var with, without bytes.Buffer
	c := Chart{LogX: true, LogY: true, Series: []Series{{X: []float64{1, 100}, Y: []float64{1, 10}, Points: true}}}
	if err := c.SVG(&without); err != nil {
		t.Fatal(err)
	}
	c.Levels = &l
	if err := c.SVG(&with); err != nil {
		t.Fatal(err)
	}
	if strings.Count(with.String(), "<path") <= strings.Count(without.String(), "<path") {
		t.Error("no level set")
	}
}

func TestTicksOfFewAndManyDecades(t *testing.T) {
	labels := func(low, high float64) (all []string) {
		for _, tick := range (powers{}).Ticks(low, high) {
			if tick.Label != "" {
				all = append(all, tick.Label)
			}
		}
		return all
	}
	if got := strings.Join(labels(20, 1000), " "); got != "20 50 100 200 500 1000" {
		t.Errorf("%s", got)
	}
	if got := labels(1e-13, 1); len(got) < 3 || len(got) > 7 {
		t.Errorf("%q", got)
	}
}

func TestTicksOfALinearAxis(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		want      string
	}{{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"}, {3, 207, "50 100 150 200"}, {0.249, 0.2512, "0.2490 0.2495 0.2500 0.2505 0.2510"}, {-2, 2, "-2 -1 0 1 2"}} {
		var all []string
		for _, tick := range (steps{}).Ticks(test.low, test.high) {
			all = append(all, tick.Label)
		}
		if got := strings.Join(all, " "); got != test.want {
			t.Errorf("%g to %g: %s, want %s", test.low, test.high, got, test.want)
		}
	}
}

// TestTextsHaveTheirLength checks that every text states its length, so that it does not run
// into a line if another font is used, and that names beside lines do not overlap.
func TestTextsHaveTheirLength(t *testing.T) {
	lines := make([]Series, 9)
	for i := range lines {
		lines[i] = Series{X: []float64{0.001, 1}, Y: []float64{1 + float64(i)/1000, float64(i)}, Line: true, Colour: i, Beside: "column " + string(rune('a'+i))}
	}
	var out bytes.Buffer
	if err := (Chart{Title: "A & b", X: "x", Y: "y", LogX: true, Series: append(lines, Series{Name: "named", X: []float64{1}, Y: []float64{2}, Points: true})}).SVG(&out); err != nil {
		t.Fatal(err)
	}
	type element struct {
		Y      float64 `xml:"y,attr"`
		Length float64 `xml:"textLength,attr"`
		Text   string  `xml:",chardata"`
	}
	var at []float64
	for decoder := xml.NewDecoder(&out); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local != "text" {
			continue
		}
		var e element
		if err := decoder.DecodeElement(&e, &start); err != nil {
			t.Fatal(err)
		}
		if most := 9 * float64(len(e.Text)); e.Text != "" && !(e.Length > 2 && e.Length < most) {
			t.Errorf("%q is %g long", e.Text, e.Length)
		}
		if strings.HasPrefix(e.Text, "column ") {
			at = append(at, e.Y)
		}
	}
	for i, y := range at {
		for _, other := range at[:i] {
			if math.Abs(y-other) < 8 {
				t.Errorf("names at %g and %g", y, other)
			}
		}
	}
	if len(at) != len(lines) {
		t.Errorf("%d names beside %d lines", len(at), len(lines))
	}
}
