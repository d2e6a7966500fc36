package chart

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg/vgsvg"
)

// words matches the texts of an image: attributes, font size and content.
var words = regexp.MustCompile(`(?s)<text ([^>]*font-size:([0-9.]+)px[^>]*)>(.*?)</text>`)

// write writes the image. It names fonts of similar widths for readers without our font, and states the length
// of each text, so that the layout also fits in another font.
func write(canvas *vgsvg.Canvas, w io.Writer) error {
	var image bytes.Buffer
	if _, err := canvas.WriteTo(&image); err != nil {
		return err
	}
	_, err := w.Write(measured(image.Bytes()))
	return err
}

// measured adds to every text its length in the font of the layout.
func measured(image []byte) []byte {
	image = bytes.ReplaceAll(image, []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	return words.ReplaceAllFunc(image, func(text []byte) []byte {
		parts := words.FindSubmatch(text)
		size, err := strconv.ParseFloat(string(parts[2]), 64)
		if err != nil || len(parts[3]) == 0 || bytes.Contains(parts[1], []byte("textLength")) {
			return text
		}
		face := font.DefaultCache.Lookup(font.Font{Typeface: "Liberation", Variant: "Sans"}, font.Length(size))
		length := face.Width(html.UnescapeString(string(parts[3])))
		return fmt.Appendf(nil, `<text %s textLength="%.5g" lengthAdjust="spacingAndGlyphs">%s</text>`, parts[1], float64(length), parts[3])
	})
}
