package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/search"
)

// The axes of curves and paths show the first strength of λ as a share of its αmax, or the
// strength itself if there is no αmax. They are logarithmic, with strong penalties on the left.

// shares reports whether strengths have an αmax.
func (r *Result) shares() bool {
	return r.Final != nil && len(r.Final.LogLambdaMax) > 0 && !math.IsNaN(r.Final.LogLambdaMax[0]) && !math.IsInf(r.Final.LogLambdaMax[0], 0)
}

// axis returns the coordinate that the axis shows: the first, or the second for an elastic
// net whose ℓ1 strength is 0.
func (r *Result) axis() int {
	if r.Best != nil && len(r.Best.LogLambda) == 2 && math.IsInf(r.Best.LogLambda[0], -1) {
		return 1
	}
	return 0
}

// place returns the position of a λ on the axis, a decimal logarithm.
func (r *Result) place(logLambda []float64) float64 {
	l := logLambda[r.axis()]
	if r.shares() {
		l -= r.Final.LogLambdaMax[r.axis()]
	}
	return l / math.Ln10
}

// strength returns the title of the axis.
func (r *Result) strength() string {
	switch {
	case !r.shares():
		return "C, strong penalty left, weak right"
	case r.axis() == 1:
		return "ridge strength α₂ as a share of αmax, strong left"
	case r.Model.Traits().Strengths == pare.L1AndRidge:
		return "ℓ1 strength α₁ as a share of αmax, strong left"
	case r.Model.Traits().Strengths == pare.EachClass:
		return "strength α/αmax of the first class, strong left"
	default:
		return "strength α as a share of αmax, strong left, weak right"
	}
}

// others returns a sentence about the strengths that the axis does not show, "" if there are none.
func (r *Result) others() string {
	switch r.Model.Traits().Strengths {
	case pare.L1AndRidge:
		if r.axis() == 1 {
			return " There is no ℓ1 strength at the choice."
		}
		return " The ridge strength stays that of the choice."
	case pare.EachClass:
		return " The strengths of the other classes move alike."
	default:
		return ""
	}
}

// strengths returns the bounds and the ticks of an axis for places.
func (r *Result) strengths(places []float64) (bounds [2]float64, marks []tick) {
	lo, hi := slices.Min(places), slices.Max(places)
	pad := max(0.02*(hi-lo), 0.02)
	lo, hi = lo-pad, hi+pad
	if !r.shares() { // a large C penalises little
		return [2]float64{lo, hi}, powers(lo, hi)
	}
	return [2]float64{hi, lo}, powers(lo, hi)
}

// onCurve reports whether an evaluation is on the line that the curve shows: all its coordinates differ from those of
// Best by the same amount, where equal strengths of 0 are left out; of an elastic net only that of the axis differs.
func (r *Result) onCurve(e search.Evaluation) bool {
	if r.Best == nil || len(e.LogLambda) == 0 {
		return false
	}
	alone, axis, best := r.Model.Traits().Strengths == pare.L1AndRidge, r.axis(), r.Best.LogLambda
	shift := e.LogLambda[axis] - best[axis]
	for i, l := range e.LogLambda {
		switch d := l - best[i]; {
		case i == axis || l == best[i] && (alone || math.IsInf(l, -1)):
		case alone || !(math.Abs(d-shift) <= 1e-6*(1+math.Abs(d))):
			return false
		}
	}
	return !math.IsInf(shift, 0)
}

// visited returns the evaluations of the search that are on the curve.
func (r *Result) visited() []search.Evaluation {
	return slices.DeleteFunc(slices.Clone(r.Visit), func(e search.Evaluation) bool { return !r.onCurve(e) })
}

// standardError returns the standard error of an evaluation, 0 if it has none.
func standardError(e search.Evaluation) float64 {
	if e.StandardError > 0 && finite(e.StandardError) {
		return e.StandardError
	}
	return 0
}

// banded reports whether the curve has a band.
func (r *Result) banded() bool {
	return slices.ContainsFunc(r.Curve, func(e search.Evaluation) bool { return standardError(e) > 0 })
}

// dashed returns the point of the curve that a dashed line marks, and its name; nil if there is none.
func (r *Result) dashed() (e *search.Evaluation, name string) {
	switch {
	case r.Least != nil:
		return r.Least, "minimum"
	case r.OneSE != nil && r.onCurve(*r.OneSE):
		return r.OneSE, "one-standard-error choice"
	default:
		return nil, ""
	}
}

// marked describes the marks in a picture of the curve; choice describes that of the choice.
func (r *Result) marked(choice string) string {
	var words []string
	if r.banded() {
		words = append(words, "band: standard error")
	}
	if slices.ContainsFunc(r.Visit, r.onCurve) {
		words = append(words, "rings: visited")
	}
	words = append(words, choice)
	if e, name := r.dashed(); e != nil {
		words = append(words, "dashes: "+strings.Replace(name, "standard-error", "SE", 1))
	}
	return strings.Join(words, "; ")
}

// criterionSection shows the criterion against λ.
func criterionSection(r *Result) section {
	if len(r.Curve) < 2 || r.Best == nil {
		return section{}
	}
	return section{
		ID: "criterion", Title: "The criterion against the strength",
		Words: "The lower the curve, the better the model predicts rows it was not trained on. Numbered points are those that the search visited, in order.",
		Figures: []figure{{
			Name: "criterion-curve", SVG: r.curve().svg(),
			Legend:  r.curveLegend(),
			Caption: fmt.Sprintf("%s against the strength of the penalty.%s", r.Loss, r.others()),
		}},
	}
}

func (r *Result) curveLegend() []key {
	keys := []key{{"a", "criterion"}}
	if r.banded() {
		keys = append(keys, key{"band", "one standard error"})
	}
	if len(r.Curve[0].FoldValues) > 1 {
		keys = append(keys, key{"g", "each fold"})
	}
	keys = append(keys, key{"open", "visited"}, key{"b", "the choice"})
	if e, name := r.dashed(); e != nil {
		keys = append(keys, key{"c dash", name})
	}
	if finite(r.Null) {
		keys = append(keys, key{"axis dots", "model without columns"})
	}
	return keys
}

// heights returns the bounds of the values in the chart of the curve: the band, the points visited and the null model.
func (r *Result) heights(lo, hi []float64, visited []search.Evaluation) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range slices.Concat(lo, hi) {
		if finite(v) {
			least, most = min(least, v), max(most, v)
		}
	}
	for _, e := range visited {
		if finite(e.Value) {
			least = min(least, e.Value)
		}
	}
	if finite(r.Null) {
		most = min(most, r.Null+0.3*(r.Null-least)) // larger values are of no interest
		most = max(most, r.Null)
	}
	if !(least <= most) { // no value is finite
		return 0, 1
	}
	return least, most
}

// curve draws the criterion.
func (r *Result) curve() *chart {
	k := len(r.Curve)
	xs, ys, lo, hi := make([]float64, 0, k), make([]float64, 0, k), make([]float64, 0, k), make([]float64, 0, k)
	visited := r.visited()
	for _, e := range r.Curve {
		se := standardError(e)
		xs, ys, lo, hi = append(xs, r.place(e.LogLambda)), append(ys, e.Value), append(lo, e.Value-se), append(hi, e.Value+se)
	}
	places := slices.Clone(xs)
	for _, e := range visited {
		places = append(places, r.place(e.LogLambda))
	}
	least, most := r.heights(lo, hi, visited)
	pad := 0.05 * (most - least)
	bounds, marks := r.strengths(places)
	c := newChart("criterion-curve", "The criterion against the strength of the penalty", bounds, [2]float64{least - pad, most + pad}, right)
	c.axes(marks, r.strength(), ticks(least-pad, most+pad), r.Loss)
	for f := range r.Curve[0].FoldValues {
		one := make([]float64, len(r.Curve))
		for i, e := range r.Curve {
			one[i] = e.FoldValues[f]
		}
		c.line("g", fmt.Sprintf("fold %d", f), xs, one)
	}
	if r.banded() {
		c.band(xs, lo, hi)
	}
	if finite(r.Null) {
		c.across("axis dots", r.Null)
	}
	c.line("a", "", xs, ys)
	for i, e := range r.Curve {
		c.dot("faint", r.says(e, ""), xs[i], ys[i], 3)
	}
	if e, name := r.dashed(); e != nil {
		c.down("c dash", r.place(e.LogLambda))
		c.dot("c", r.says(*e, name+": "), r.place(e.LogLambda), e.Value, 5)
	}
	best := r.place(r.Best.LogLambda)
	c.down("b", best)
	numbered := []float64{} // positions of the numbers, which are drawn over all lines
	for i, e := range r.Visit {
		if !r.onCurve(e) {
			continue
		}
		x := r.place(e.LogLambda)
		c.dot("open", r.says(e, fmt.Sprintf("visited as number %d: ", i+1)), x, e.Value, 5)
		at := c.x.at(x)
		if finite(e.Value) && !slices.ContainsFunc(numbered, func(other float64) bool { return math.Abs(at-other) < numbersApart }) {
			c.text(&c.plane, at, c.y.at(e.Value)-11, anchorMid+" over", strconv.Itoa(i+1))
			numbered = append(numbered, at)
		}
	}
	c.dot("b", r.says(*r.Best, "the choice: "), best, r.Best.Value, 6)
	return c
}

// says describes an evaluation in one line.
func (r *Result) says(e search.Evaluation, before string) string {
	what := "C"
	if r.shares() {
		what = "α/αmax"
	}
	text := fmt.Sprintf("%s%s %.4g, λ %.5g: %s %.6g", before, what, math.Pow(10, r.place(e.LogLambda)), e.LogLambda[r.axis()], r.Loss, e.Value)
	if se := standardError(e); se > 0 {
		text += fmt.Sprintf(" ± %.2g", se)
	}
	return fmt.Sprintf("%s, %d columns", text, e.Support)
}

// visitSection lists the evaluations of a search, and draws their values in order if some
// are not on the curve.
func visitSection(r *Result) section {
	if len(r.Visit) == 0 {
		return section{}
	}
	s := section{ID: "search", Title: "The search, step by step"}
	if len(r.visited()) < len(r.Visit) {
		s.Figures = []figure{{
			Name: "visits", SVG: r.visits().svg(), Legend: []key{{"a", "criterion"}, {"axis dots", "model without columns"}},
			Caption: "The criterion at the points that the search visited, in order.",
		}}
	}
	listed := table{Caption: "Evaluations, in order", Head: []string{"", "λ", "criterion", "support", "gap reached", "slope", "seconds"}}
	const most = 60
	for i, e := range r.Visit {
		if i == most {
			listed.Caption = fmt.Sprintf("The first %d of %d evaluations, in order", most, len(r.Visit))
			break
		}
		listed.Rows = append(listed.Rows, []string{strconv.Itoa(i + 1), lambdas(e.LogLambda), fmt.Sprintf("%.8g", e.Value), strconv.Itoa(e.Support), fmt.Sprintf("%.1e", e.Tol), slope(e.Gradient), fmt.Sprintf("%.3f", e.Seconds)})
	}
	s.Tables = []table{listed}
	return s
}

func (r *Result) visits() *chart {
	xs, ys := make([]float64, 0, len(r.Visit)), make([]float64, 0, len(r.Visit))
	most, least := math.Inf(-1), math.Inf(1)
	for i, e := range r.Visit {
		xs, ys = append(xs, float64(i+1)), append(ys, e.Value)
		if finite(e.Value) {
			most, least = max(most, e.Value), min(least, e.Value)
		}
	}
	if !(least <= most) {
		least, most = 0, 1
	}
	if finite(r.Null) {
		most = max(least, min(most, 1.2*r.Null-0.2*least))
	}
	pad := max(0.05*(most-least), 1e-9*math.Abs(most))
	c := newChart("visits", "The criterion at each evaluation", [2]float64{0.5, float64(len(xs)) + 0.5}, [2]float64{least - pad, most + pad}, right)
	c.axes(ticks(1, float64(len(xs))), "evaluation", ticks(least-pad, most+pad), r.Loss)
	if finite(r.Null) {
		c.across("axis dots", r.Null)
	}
	c.line("a", "", xs, ys)
	for i := range xs {
		c.dot("a", fmt.Sprintf("evaluation %d: %.6g", i+1, ys[i]), xs[i], ys[i], 4)
	}
	return c
}

// lambdas formats a λ for a cell of a table.
func lambdas(logLambda []float64) string {
	switch len(logLambda) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.6g", logLambda[0])
	case 2:
		return strings.ReplaceAll(fmt.Sprintf("%.5g, %.5g", logLambda[0], logLambda[1]), "-Inf", "−∞")
	default:
		return fmt.Sprintf("%.4g to %.4g", slices.Min(logLambda), slices.Max(logLambda))
	}
}

// slope formats the norm of a gradient for a cell of a table.
func slope(gradient []float64) string {
	if gradient == nil {
		return "–"
	}
	var sum float64
	for _, g := range gradient {
		sum += float64(g * g)
	}
	return fmt.Sprintf("%.2g", math.Sqrt(sum))
}
