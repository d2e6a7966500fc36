package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// warning is what a result does not show by itself: the code is for programs, and stable.
type warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// warnings looks for what makes a result on the data other than its reader expects.
func (f commonFlags) warnings(d *dataset) []warning {
	var all []warning
	if w, ok := f.scaleWarning(d); ok {
		all = append(all, w)
	}
	return all
}

// scaleWarning reports columns of very different scale, where they are taken as they are.
func (f commonFlags) scaleWarning(d *dataset) (warning, bool) {
	if f.Standardize || f.Model == pare.SVM {
		return warning{}, false
	}
	k, err := kernels.Active()
	if err != nil {
		return warning{}, false // said where the problem is stated
	}
	s, err := sparse.ScalesOf(k, d.x)
	if err != nil || !s.Wide() {
		return warning{}, false // likewise
	}
	columns := d.columns([]int32{int32(s.LeastColumn), int32(s.MostColumn)})
	return warning{"column_scales", fmt.Sprintf(
		"the columns differ in scale: standard deviations go from %.3g (column %d) to %.3g (column %d), and the penalty bears most on the small ones; --standardize takes all at one scale",
		s.Least, columns[0]+1, s.Most, columns[1]+1)}, true
}

// warnings prints them.
func (p *page) warnings(all []warning) {
	for _, w := range all {
		label := "warning"
		for _, line := range wrapped(w.Message, 62) {
			p.row(label, "%s", line)
			label = ""
		}
	}
}

// wrapped divides text into lines of at most so many characters, where words allow it.
func wrapped(text string, most int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		last := len(lines) - 1
		if last >= 0 && utf8.RuneCountInString(lines[last])+1+utf8.RuneCountInString(word) <= most {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
