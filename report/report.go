// Package report writes a page of HTML about a choice of λ, a path or a fit, for people to
// look at, to print and to send. The page is self-contained: its charts are SVG, and it
// includes its style and a short script.
//
// The package computes no results: a page shows what a [Result] contains.
package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/search"
)

// Result is what a page shows. Parts whose fields are nil are left out.
type Result struct {
	Title   string   // what was done
	Data    string   // the data, in a line
	Facts   []Fact   // the result in words
	Notes   []string // remarks, a paragraph each
	Command string   // the command that makes the result again
	Version string   // the version of the program and what it ran on

	Model   pare.Model
	Loss    string                   // the name of the criterion
	Name    func(column int) string  // the name of a column
	Scale   func(column int) float64 // the standard deviation of a column
	Target  []float64                // n: the target of every row
	Weights []float64                // n: the weight of every row in the criterion; nil: all 1
	Classes []string                 // the names of the labels, ascending; nil if they are numbers

	Final *pare.Fitted        // the solution on all rows
	Held  *pare.HeldOut       // predictions of held-out rows at its λ
	Best  *search.Evaluation  // the λ chosen
	Visit []search.Evaluation // the evaluations of the search
	OneSE *search.Evaluation  // the choice by the one-standard-error rule
	Least *search.Evaluation  // the minimum, if Best is the one-standard-error choice
	Null  float64             // the criterion of the null model

	// Path has solutions from strong to weak penalties: the ridge strength of an elastic net stays as
	// in Best, or the ℓ1 strength if that is 0, and strengths of classes vary together. Curve has
	// evaluations of the criterion at the same points.
	Path  []*pare.Fitted
	Curve []search.Evaluation
	Level []search.Evaluation // evaluations on a grid of two strengths, the first varying slowest
}

// class returns the name of a label, the k-th in ascending order.
func (r *Result) class(k int, label float64) string {
	if k < len(r.Classes) {
		return r.Classes[k]
	}
	return fmt.Sprintf("%g", label)
}

// Fact is a line of a result in words.
type Fact struct{ Label, Text string }

//go:embed page.html
var pageText string

//go:embed page.css
var style string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Funcs(template.FuncMap{"words": words}).Parse(pageText))

// words reports whether a cell of a table is so long that it is to be wrapped.
func words(cell string) bool { return len(cell) > 40 }

// section is a part of the page.
type section struct {
	ID, Title, Words string
	Figures          []figure
	Tables           []table
}

// figure is a chart with its caption and legend.
type figure struct {
	Name, Caption string
	SVG           template.HTML
	Legend        []key
}

// key is an entry of a legend: the CSS class of lines or points, and what they show.
type key struct{ Class, Text string }

type table struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// WriteCurve writes the criterion against λ as a picture in SVG. The result must have
// Curve, with two points or more, Best and Final. The error is that of w.
func WriteCurve(w io.Writer, r Result) error {
	c := r.curve()
	c.text(&c.frame, width-right, 16, "end soft", r.marked("line: the choice"))
	_, err := io.WriteString(w, c.alone()+"\n")
	return err
}

// Write writes the page. The error is that of w.
func Write(w io.Writer, r Result) error {
	var sections []section
	for _, part := range []func(*Result) section{
		criterionSection, levelSection, pathSection, coefficientSection, classSection, foldSection, classifierSection, residualSection, visitSection,
	} {
		if s := part(&r); s.Title != "" {
			sections = append(sections, s)
		}
	}
	return page.Execute(w, struct {
		Result
		Style    template.CSS
		Script   template.JS
		Sections []section
	}{r, template.CSS(style), template.JS(script), sections})
}
