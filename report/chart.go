package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The size of charts, in the units of their view box; the page scales them.
const (
	width, height              = 620.0, 380.0
	left, right, top, bottom   = 78.0, 18.0, 30.0, 56.0
	labelled                   = 178.0 // right margin of charts whose lines have names beside them
	leader                     = 14.0  // length of the stroke from the end of a line to its name
	apart                      = 17.0  // vertical distance of two names
	numbersApart               = 26.0  // horizontal distance of two numbers of two digits, in the font size of a phone
	mostTicks                  = 6
	nameClass, softClass       = "name", "soft"
	anchorEnd, anchorMid, some = "end", "mid", "some"
)

// scale maps numbers to positions on an axis.
type scale struct{ lo, hi, from, to float64 }

func (s scale) at(v float64) float64 {
	if s.hi == s.lo {
		return (s.from + s.to) / 2
	}
	const far = 1e5 // beyond this no program draws anything
	return min(max(s.from+(v-s.lo)/(s.hi-s.lo)*(s.to-s.from), -far), far)
}

// finite reports whether a number has a position on an axis.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// chart builds an SVG. What is drawn in its plane is clipped to the plane; frame is the rest.
type chart struct {
	x, y         scale
	plane, frame strings.Builder
	name, words  string
	margin       float64 // the right margin
}

// newChart returns a chart with bounds x and y; words describe it to screen readers.
func newChart(name, words string, x, y [2]float64, margin float64) *chart {
	return &chart{
		x: scale{x[0], x[1], left, width - margin}, y: scale{y[0], y[1], height - bottom, top},
		name: name, words: words, margin: margin,
	}
}

// tick is a labelled mark on an axis.
type tick struct {
	at    float64
	label string
}

// ticks returns ticks at round numbers in a range.
func ticks(lo, hi float64) []tick {
	reach := max(math.Abs(lo), math.Abs(hi))
	if !(hi-lo > 1e-12*reach) { // the range is rounding error
		return []tick{{lo, number(lo)}}
	}
	step := math.Pow(10, math.Floor(math.Log10((hi-lo)/mostTicks)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (hi-lo)/(m*step) <= mostTicks {
			step *= m
			break
		}
	}
	digits := max(fewDigits, 1+int(math.Floor(math.Log10(reach))-math.Floor(math.Log10(step)))) // enough to distinguish ticks
	var out []tick
	for k := math.Ceil(lo / step); k*step <= hi+1e-9*step; k++ {
		v := k * step
		if math.Abs(v) < 1e-9*step {
			v = 0
		}
		out = append(out, tick{v, numberOf(v, digits)})
	}
	return out
}

// powers returns ticks at the powers of ten in a range of decimal logarithms, and at three
// times each of them if they are few.
func powers(lo, hi float64) []tick {
	var out []tick
	step := math.Max(1, math.Ceil((hi-lo)/mostTicks))
	for k := math.Ceil(lo - 1e-9); k <= hi+1e-9; k += step {
		out = append(out, tick{k, number(math.Pow(10, k))})
		if half := k + math.Log10(3); hi-lo < 2.5 && half <= hi {
			out = append(out, tick{half, number(3 * math.Pow(10, k))})
		}
	}
	return out
}

// number formats a number in few characters.
func number(v float64) string { return numberOf(v, fewDigits) }

const fewDigits = 4

// numberOf formats a number with the given number of significant digits.
func numberOf(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'g', digits, 64)
	if i := strings.IndexByte(s, 'e'); i >= 0 {
		exponent := strings.TrimLeft(strings.TrimLeft(s[i+1:], "+-"), "0")
		if s[i+1] == '-' {
			exponent = "-" + exponent
		}
		return s[:i] + "e" + exponent
	}
	return strings.Replace(s, "-", "−", 1)
}

// axes draws both axes with their ticks and titles.
func (c *chart) axes(xs []tick, xTitle string, ys []tick, yTitle string) {
	for i, t := range xs {
		at := c.x.at(t.at)
		fmt.Fprintf(&c.frame, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, at, top, at, height-bottom)
		class := anchorMid
		if i%2 == 1 {
			class += " " + some
		}
		c.text(&c.frame, at, height-bottom+19, class, t.label)
	}
	for _, t := range ys {
		at := c.y.at(t.at)
		fmt.Fprintf(&c.frame, `<line class="grid" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, left, at, width-c.margin, at)
		c.text(&c.frame, left-7, at+4.5, anchorEnd, t.label)
	}
	fmt.Fprintf(&c.frame, `<path class="axis" d="M%.1f %.1fV%.1fH%.1f"/>`, left, top, height-bottom, width-c.margin)
	c.text(&c.frame, (left+width-c.margin)/2, height-10, anchorMid+" soft", xTitle)
	c.text(&c.frame, 6, 16, softClass, yTitle)
}

func (c *chart) text(to *strings.Builder, x, y float64, class, s string) {
	fmt.Fprintf(to, `<text x="%.1f" y="%.1f" class="%s">%s</text>`, x, y, class, html.EscapeString(s))
}

// line draws a line through points; values that are not finite interrupt it.
func (c *chart) line(class, tip string, xs, ys []float64) {
	var d strings.Builder
	move := true
	for i := range xs {
		if !finite(ys[i]) {
			move = true
			continue
		}
		command := "L"
		if move {
			command, move = "M", false
		}
		fmt.Fprintf(&d, "%s%.1f %.1f", command, c.x.at(xs[i]), c.y.at(ys[i]))
	}
	if d.Len() > 0 {
		fmt.Fprintf(&c.plane, `<path class="%s"%s d="%s"/>`, class, tipped(tip), d.String())
	}
}

// band fills the area between two lines; values that are not finite interrupt it.
func (c *chart) band(xs, lo, hi []float64) {
	for len(xs) > 0 {
		n := 0
		for n < len(xs) && finite(lo[n]) && finite(hi[n]) {
			n++
		}
		if n > 0 {
			c.strip(xs[:n], lo[:n], hi[:n])
		}
		n = min(n+1, len(xs))
		xs, lo, hi = xs[n:], lo[n:], hi[n:]
	}
}

// strip draws an uninterrupted piece of a band.
func (c *chart) strip(xs, lo, hi []float64) {
	var d strings.Builder
	for i := range xs {
		fmt.Fprintf(&d, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], c.x.at(xs[i]), c.y.at(hi[i]))
	}
	for i, x := range slices.Backward(xs) {
		fmt.Fprintf(&d, "L%.1f %.1f", c.x.at(x), c.y.at(lo[i]))
	}
	fmt.Fprintf(&c.plane, `<path class="band" d="%sZ"/>`, d.String())
}

// across and down draw a horizontal and a vertical line through the whole plane.
func (c *chart) across(class string, y float64) {
	c.line(class, "", []float64{c.x.lo, c.x.hi}, []float64{y, y})
}

func (c *chart) down(class string, x float64) {
	c.line(class, "", []float64{x, x}, []float64{c.y.lo, c.y.hi})
}

func (c *chart) dot(class, tip string, x, y, r float64) {
	if !finite(y) {
		return
	}
	fmt.Fprintf(&c.plane, `<circle class="%s"%s cx="%.1f" cy="%.1f" r="%g"/>`, class, tipped(tip), c.x.at(x), c.y.at(y), r)
}

// bar fills a rectangle of the plane.
func (c *chart) bar(class, tip string, x0, x1, y0, y1 float64) {
	a, b := c.x.at(min(x0, x1)), c.x.at(max(x0, x1))
	lo, hi := min(c.y.at(y0), c.y.at(y1)), max(c.y.at(y0), c.y.at(y1))
	if b < a {
		a, b = b, a
	}
	fmt.Fprintf(&c.plane, `<rect class="%s"%s x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, tipped(tip), a, lo, max(b-a, 0.5), max(hi-lo, 0.5))
}

// tipped returns the attribute that shows a tooltip.
func tipped(tip string) string {
	if tip == "" {
		return ""
	}
	return ` data-tip="` + html.EscapeString(tip) + `"`
}

// label is a name beside the end of a line.
type label struct {
	at    float64 // where the line ends
	class string  // of the line
	text  string
}

// labels writes names beside the right border, without overlap, each joined to its line.
func (c *chart) labels(names []label) {
	slices.SortStableFunc(names, func(a, b label) int { return -cmp(a.at, b.at) })
	places := make([]float64, len(names))
	for i, n := range names {
		places[i] = c.y.at(n.at) + 4.5
		if i > 0 {
			places[i] = max(places[i], places[i-1]+apart)
		}
	}
	last := height - bottom + 4.5
	for i := len(places) - 1; i >= 0 && places[i] > last; i-- {
		places[i] = last
		last -= apart
	}
	for i, n := range names {
		end := width - c.margin + 3
		fmt.Fprintf(&c.frame, `<path class="%s" d="M%.1f %.1fL%.1f %.1f"/>`, n.class, end, c.y.at(n.at), end+leader, places[i]-4.5)
		c.text(&c.frame, end+leader+4, places[i], nameClass, n.text)
	}
}

func cmp(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	default:
		return 0
	}
}

// alone returns the chart as a file of its own, in the light colours of the page. The colours are
// written out, since few programs other than browsers support CSS variables.
func (c *chart) alone() string {
	light, rest, _ := strings.Cut(style, "\n@media")
	_, rest, _ = strings.Cut(rest, "\n")
	for _, narrow := range []string{"@media (max-width", "@media print"} {
		rest, _, _ = strings.Cut(rest, narrow)
	}
	var colours []string
	for named := range strings.SplitSeq(light[strings.Index(light, "{")+1:], ";") {
		if name, colour, ok := strings.Cut(named, ":"); ok {
			colours = append(colours, "var("+strings.TrimSpace(name)+")", strings.TrimSpace(colour))
		}
	}
	said, body, _ := strings.Cut(strings.TrimPrefix(string(c.svg()), "<svg "), ">")
	return strings.NewReplacer(colours...).Replace(fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" %s><style>%s</style><rect width="100%%" height="100%%" style="fill: var(--paper)"/>%s`,
		width, height, said, html.EscapeString(rest), body))
}

// svg returns the chart as the page contains it.
func (c *chart) svg() template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s"><clipPath id="in-%s"><rect x="%g" y="%g" width="%g" height="%g"/></clipPath>%s<g clip-path="url(#in-%s)">%s</g></svg>`,
		width, height, html.EscapeString(c.words), c.name, left, top-6, width-c.margin-left+6, height-bottom-top+12, c.frame.String(), c.name, c.plane.String()))
}
