package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/sparse"
)

// warning is a remark on what a result does not show by itself. Code is stable and meant for programs.
type warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// warnings looks for properties of the data that may make the result other than the reader expects.
func (f commonFlags) warnings(d *dataset) []warning {
	all := d.notes()
	if w, ok := f.targetWarning(d); ok {
		all = append(all, w)
	}
	if w, ok := f.scaleWarning(d); ok {
		all = append(all, w)
	}
	if w, ok := d.leakWarning(); ok {
		all = append(all, w)
	}
	return all
}

// notes returns the remarks on how the file was read.
func (d *dataset) notes() (all []warning) {
	for _, note := range d.Notes {
		all = append(all, warning{note.Code, note.Message})
	}
	return all
}

// targetWarning reports a target that looks like classes although the model takes numbers.
func (f commonFlags) targetWarning(d *dataset) (warning, bool) {
	if d.classes != nil || d.Labels != nil || d.y == nil || f.stated.traits.Link != loss.Identity {
		return warning{}, false
	}
	switch model, ok := suitedModel(d); {
	case !ok:
		return warning{}, false
	case model.Traits().Link == loss.Log:
		return warning{"target_counts", fmt.Sprintf("the target looks like counts, but %s treats it as numbers; --model poisson predicts counts", f.Model)}, true
	default:
		return warning{"target_classes", fmt.Sprintf("the target has few values, like classes, but %s treats it as numbers; --model %s predicts classes", f.Model, model)}, true
	}
}

// suitedModel returns the model of classes or of counts that suits a target, if the target looks like them.
func suitedModel(d *dataset) (model pare.Model, ok bool) {
	const most = 10 // with more distinct integers, the target may well be numeric
	switch l := sparse.LabelsOf(d.y); {
	case l.Kind == sparse.NoLabels || l.Kind == sparse.OneClass:
		return "", false
	case l.Kind == sparse.TwoClasses:
		return pare.Logistic, true
	case l.Kind == sparse.Classes && l.Distinct <= most || d.Labels != nil:
		return pare.Multiclass, true
	case l.Min == 0 && !slices.ContainsFunc(d.y, func(v float64) bool { return v != math.Trunc(v) }):
		return pare.Poisson, true
	default:
		return "", false
	}
}

// scaleWarning reports columns of very different scales that are not standardised.
func (f commonFlags) scaleWarning(d *dataset) (warning, bool) {
	if f.Standardize || f.stated.traits.Samples {
		return warning{}, false
	}
	k, err := kernels.Active()
	if err != nil {
		return warning{}, false // reported where the problem is stated
	}
	s, err := sparse.ScalesOf(k, d.x)
	if err != nil || !s.Wide() {
		return warning{}, false // likewise
	}
	return warning{"column_scales", fmt.Sprintf(
		"the columns differ in scale: standard deviations go from %.3g (%s) to %.3g (%s), and the penalty affects the small ones most; --standardize puts all on one scale",
		s.Least, d.column(s.LeastColumn), s.Most, d.column(s.MostColumn))}, true
}

// leakWarning reports a column that determines the target.
func (d *dataset) leakWarning() (warning, bool) {
	const fewest = 8 // rows: a column may agree with fewer by chance
	if len(d.y) < fewest {
		return warning{}, false
	}
	other := slices.IndexFunc(d.y, func(v float64) bool { return v != d.y[0] })
	if other < 0 {
		return warning{}, false
	}
	_, p := d.x.Dims()
	for j := range p {
		if rows, values := d.x.Column(j); determines(rows, values, d.y, other) {
			return warning{"target_column", fmt.Sprintf(
				"a column contains the target: %s equals it in all rows, up to a factor and a constant, and so predicts it alone; --drop leaves the column out", d.column(j))}, true
		}
	}
	return warning{}, false
}

// determines reports whether a column is a + b·y for some a and b ≠ 0, where y[other] ≠ y[0]. rows is nil for a dense column.
func determines(rows []int32, values, y []float64, other int) bool {
	k := 0 // entries of a sparse column before row i; i increases from call to call
	at := func(i int) float64 {
		if rows == nil {
			return values[i]
		}
		for k < len(rows) && int(rows[k]) < i {
			k++
		}
		if k < len(rows) && int(rows[k]) == i {
			return values[k]
		}
		return 0
	}
	first, spread := at(0), y[other]-y[0]
	rise := at(other) - first
	if rise == 0 {
		return false
	}
	k = 0
	for i, v := range y {
		line, value := first+float64(rise*((v-y[0])/spread)), at(i)
		if !(math.Abs(value-line) <= 1e-9*(math.Abs(rise)+math.Abs(value))) {
			return false
		}
	}
	return true
}

// warnings prints the warnings.
func (p *page) warnings(all []warning) {
	for _, w := range all {
		p.row("warning", "%s", w.Message)
	}
}
