package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare"
)

const (
	named    = 10  // lines with names in a path, at most
	drawn    = 150 // lines in a path
	barred   = 20  // bars of coefficients
	withPath = 12  // classes with a path of their own
	ofClass  = 40  // lines in each path of a class
	perLine  = 5   // coefficients in the row of a class
)

// pathSection shows how coefficients grow as the penalty shrinks.
func pathSection(r *Result) section {
	if len(r.Path) < 2 {
		return section{}
	}
	s := section{ID: "path", Title: "Which columns enter where"}
	if classes := r.Path[0].PerClass; classes != nil {
		for k := range min(len(classes), withPath) {
			name := r.class(k, r.Path[0].Classes[k])
			own := make([]*pare.Fitted, len(r.Path))
			for i, f := range r.Path {
				own[i] = f.PerClass[k]
			}
			caption := fmt.Sprintf("Coefficients of class %s along the strength", name)
			if k == withPath-1 && len(classes) > withPath {
				caption = fmt.Sprintf("The first %d of %d classes have a path here; pare path --coef --json has all. %s", withPath, len(classes), caption)
			}
			s.Figures = append(s.Figures, r.pathFigure(fmt.Sprintf("coefficient-path-%d", k+1), caption, own, ofClass))
		}
	} else if !r.Model.Traits().Samples {
		s.Figures = append(s.Figures, r.pathFigure("coefficient-path", "Coefficients along the strength", r.Path, drawn))
	}
	s.Figures = append(s.Figures, figure{
		Name: "support-path", SVG: r.supportPath().svg(), Legend: []key{{"a", "columns used"}, {"b", "the choice"}},
		Caption: "How many columns the solution on all rows uses.",
	})
	return s
}

// ofAll says how many of all are shown.
func ofAll(shown, all int, what string) string {
	if shown == all {
		return fmt.Sprintf("all %d %s", all, what)
	}
	return fmt.Sprintf("the %d largest of %d %s", shown, all, what)
}

func (r *Result) pathFigure(name, caption string, path []*pare.Fitted, drawn int) figure {
	c, shown, all := r.coefficientPath(name, path, drawn)
	return figure{
		Name: name, SVG: c.svg(), Legend: []key{{"b", "the choice"}},
		Caption: fmt.Sprintf("%s, times the standard deviation of their columns so that they compare; %s. The largest have names.", caption, ofAll(shown, all, "columns that enter")),
	}
}

// coefficientPath draws the largest coefficients along a path, which is that of the Result or that
// of one of its classes.
func (r *Result) coefficientPath(name string, path []*pare.Fitted, drawn int) (c *chart, shown, all int) {
	xs := make([]float64, len(path))
	series := map[int32][]float64{}
	for i, f := range path {
		xs[i] = r.place(r.Path[i].LogLambda)
		for k, j := range f.Support {
			if series[j] == nil {
				series[j] = make([]float64, len(path))
			}
			series[j][i] = f.Coef[k] * r.Scale(int(j))
		}
	}
	largest := func(j int32) (m float64) {
		for _, v := range series[j] {
			m = max(m, math.Abs(v))
		}
		return m
	}
	order := make([]int32, 0, len(series))
	for j := range series {
		order = append(order, j)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if byReach := -cmp(largest(a), largest(b)); byReach != 0 {
			return byReach
		}
		return int(a - b)
	})
	all = len(order)
	order = order[:min(all, drawn)]
	least, most := 0.0, 0.0
	for _, j := range order {
		least, most = min(least, slices.Min(series[j])), max(most, slices.Max(series[j]))
	}
	pad := max(0.05*(most-least), 1e-300)
	bounds, marks := r.strengths(xs)
	c = newChart(name, "Coefficients against the strength of the penalty", bounds, [2]float64{least - pad, most + pad}, labelled)
	c.axes(marks, r.strength(), ticks(least-pad, most+pad), "coefficient × standard deviation")
	c.across("axis", 0)
	classes := []string{"a", "b", "c", "d", "a dash", "b dash", "c dash", "d dash", "a dots", "c dots"}
	var names []label
	short := r.shortNames(order[:min(len(order), named)])
	for i, j := range slices.Backward(order) {
		class := "g"
		if i < named {
			class = classes[i%len(classes)]
			names = append(names, label{series[j][len(xs)-1], class, short[i]})
		}
		c.line(class, r.Name(int(j)), xs, series[j])
	}
	c.labels(names)
	if r.Final != nil {
		c.down("b", r.place(r.Final.LogLambda))
	}
	return c, len(order), all
}

// shortNames returns names of columns that fit into the margin beside a chart. It cuts long names at the
// end, or, where that would leave equal names, also omits the leading words that these have in common.
func (r *Result) shortNames(columns []int32) []string {
	const most = 16
	cut := func(name string) string {
		if runes := []rune(name); len(runes) > most {
			return string(runes[:most-1]) + "…"
		}
		return name
	}
	like := map[string][]string{}
	for _, j := range columns {
		name := r.Name(int(j))
		like[cut(name)] = append(like[cut(name)], name)
	}
	short := make([]string, len(columns))
	for i, j := range columns {
		name := r.Name(int(j))
		short[i] = cut(name)
		if alike := like[short[i]]; len(alike) > 1 {
			short[i] = cut("…" + name[commonWords(alike):])
		}
	}
	return short
}

// commonWords returns the length of the leading words that all names share, including the separator
// that follows.
func commonWords(names []string) int {
	n := 0
	for k, c := range names[0] {
		for _, other := range names[1:] {
			if !strings.HasPrefix(other[min(k, len(other)):], string(c)) {
				return n
			}
		}
		if strings.ContainsRune(" _.-=", c) {
			n = k + 1
		}
	}
	return n
}

// supportPath draws the number of columns used.
func (r *Result) supportPath() *chart {
	xs, ys := make([]float64, 0, len(r.Path)), make([]float64, 0, len(r.Path))
	for _, f := range r.Path {
		xs, ys = append(xs, r.place(f.LogLambda)), append(ys, float64(len(f.Support)))
	}
	bounds, marks := r.strengths(xs)
	most := max(slices.Max(ys)*1.05, 1)
	c := newChart("support-path", "Columns used against the strength of the penalty", bounds, [2]float64{0, most}, right)
	c.axes(marks, r.strength(), ticks(0, most), "columns used")
	c.line("a", "", xs, ys)
	for i, f := range r.Path {
		c.dot("a", fmt.Sprintf("%d columns at λ %.5g", len(f.Support), f.LogLambda[r.axis()]), xs[i], ys[i], 3)
	}
	if r.Final != nil {
		c.down("b", r.place(r.Final.LogLambda))
	}
	return c
}

// ranked returns the indices into a support in order of |coefficient × scale|, largest first.
func ranked(f *pare.Fitted, scale func(int) float64) []int {
	order := make([]int, len(f.Support))
	for i := range order {
		order[i] = i
	}
	size := func(k int) float64 { return math.Abs(f.Coef[k]) * scale(int(f.Support[k])) }
	slices.SortStableFunc(order, func(a, b int) int { return -cmp(size(a), size(b)) })
	return order
}

// coefficientSection shows the largest coefficients on both scales.
func coefficientSection(r *Result) section {
	f := r.Final
	if f == nil || f.PerClass != nil || len(f.Support) == 0 {
		return section{}
	}
	one := func(int) float64 { return 1 }
	return section{
		ID: "coefficients", Title: "The largest coefficients",
		Words: fmt.Sprintf("%d of %d columns are used. On the scale of the data a coefficient is the change of the prediction for one unit of the column; times the standard deviation, for a usual change of the column.", len(f.Support), f.Columns),
		Figures: []figure{
			{Name: "coefficients-standardised", SVG: r.bars("coefficients-standardised", "coefficient × standard deviation", f, r.Scale).svg(), Caption: fmt.Sprintf("Times the standard deviation of the column: %s.", ofAll(min(barred, len(f.Support)), len(f.Support), "columns used"))},
			{Name: "coefficients-original", SVG: r.bars("coefficients-original", "coefficient", f, one).svg(), Caption: fmt.Sprintf("On the scale of the data: %s.", ofAll(min(barred, len(f.Support)), len(f.Support), "columns used"))},
		},
		Tables: []table{r.coefficientTable(f)},
	}
}

func (r *Result) coefficientTable(f *pare.Fitted) table {
	const most = 50
	t := table{Head: []string{"column", "coefficient", "× standard deviation"}}
	order := ranked(f, r.Scale)
	for _, k := range order[:min(len(order), most)] {
		j := int(f.Support[k])
		t.Rows = append(t.Rows, []string{r.Name(j), fmt.Sprintf("%+.6g", f.Coef[k]), fmt.Sprintf("%+.4g", f.Coef[k]*r.Scale(j))})
	}
	t.Caption = fmt.Sprintf("By size on the standardised scale, %s; --coef --json has every digit of all", ofAll(len(t.Rows), len(order), "columns used"))
	return t
}

// bars draws the largest coefficients on a scale, with names beside them.
func (r *Result) bars(name, axis string, f *pare.Fitted, scale func(int) float64) *chart {
	order := ranked(f, scale)
	order = order[:min(len(order), barred)]
	least, most := 0.0, 0.0
	for _, k := range order {
		v := f.Coef[k] * scale(int(f.Support[k]))
		least, most = min(least, v), max(most, v)
	}
	pad := max(0.03*(most-least), 1e-300)
	c := newChart(name, "The largest of "+axis, [2]float64{least - pad, most + pad}, [2]float64{float64(max(len(order), 8)) - 0.4, -0.6}, labelled)
	c.axes(ticks(least-pad, most+pad), axis, nil, "")
	c.down("axis", 0)
	columns := make([]int32, len(order))
	for i, k := range order {
		columns[i] = f.Support[k]
	}
	short := r.shortNames(columns)
	for i, k := range order {
		j := int(f.Support[k])
		v := f.Coef[k] * scale(j)
		class := "a"
		if v < 0 {
			class = "b"
		}
		c.bar(class, fmt.Sprintf("%s: %+.6g", r.Name(j), v), 0, v, float64(i)-0.36, float64(i)+0.36)
		c.text(&c.frame, width-labelled+6, c.y.at(float64(i))+4.5, nameClass, short[i])
	}
	return c
}

// classSection has a row for each class.
func classSection(r *Result) section {
	if r.Final == nil || r.Final.PerClass == nil {
		return section{}
	}
	t := table{Caption: "A predictor for each class against the others", Head: []string{"class", "α", "α/αmax", "columns used", "intercept", "relative gap", "largest coefficients, × standard deviation"}}
	for k, f := range r.Final.PerClass {
		var largest []string
		for i, at := range ranked(f, r.Scale) {
			if i == perLine {
				break
			}
			j := int(f.Support[at])
			largest = append(largest, fmt.Sprintf("%s %+.3g", r.Name(j), f.Coef[at]*r.Scale(j)))
		}
		t.Rows = append(t.Rows, []string{
			r.class(k, r.Final.Classes[k]), fmt.Sprintf("%.4g", math.Exp(f.LogLambda[0])), fmt.Sprintf("%.4g", math.Exp(f.LogLambda[0]-f.LogLambdaMax[0])),
			strconv.Itoa(len(f.Support)), fmt.Sprintf("%.4g", f.Intercept), fmt.Sprintf("%.1e", f.RelativeGap), strings.Join(largest, ", "),
		})
	}
	return section{ID: "classes", Title: "The classes", Tables: []table{t}}
}
