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
