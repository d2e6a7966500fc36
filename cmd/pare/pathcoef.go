package main

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/seed-45b9a24c/pare"
)

// coefficients adds the coefficients of a solution to its point.
func (p *pathPoint) coefficients(f *pare.Fitted, a asked) {
	whole := newFitResult(f, a)
	if p.Coef, p.Classes = whole.Coef, whole.Classes; f.PerClass == nil {
		p.Intercept = &whole.Intercept
	}
}

// coefficients prints the coefficients of every point, by column, and marks the λ at which each column first
// enters.
func (r *pathResult) coefficients(p *page) {
	type entry struct {
		class  string
		column int32
	}
	entered := map[entry]bool{}
	var rows [][]string
	for _, point := range r.Points {
		list := func(class string, of *sparseVector) {
			for k, j := range of.Index {
				mark := ""
				if e := (entry{class, j}); !entered[e] {
					entered[e], mark = true, "enters"
				}
				rows = append(rows, []string{fmt.Sprintf("%.4f", float64(point.LogLambda[0])), class, r.asked.data.label(j), fmt.Sprintf("%.8g", float64(of.Value[k])), mark})
			}
		}
		if point.Coef != nil {
			list("", point.Coef)
		}
		for _, one := range point.Classes {
			list(fmt.Sprint(one.Label), one.Coef)
		}
	}
	columns := []column{{head: "       λ"}, {head: "class"}, {head: "column", left: r.asked.data.Names != nil}, {head: "coefficient", left: true}, {head: "", left: true, spare: 1}}
	if len(r.Points) == 0 || r.Points[0].Classes == nil {
		columns = slices.Delete(columns, 1, 2)
		for i, row := range rows {
			rows[i] = slices.Delete(row, 1, 2)
		}
	}
	p.table(0, columns, rows)
	p.line("")
}

// entries are the columns that have had a nonzero coefficient.
type entries map[int32]bool

// enter adds the support of a solution and returns the columns that are new, in the numbering of the file.
func (e entries) enter(f *pare.Fitted, d *dataset) (fresh []int32) {
	of := f.PerClass
	if of == nil {
		of = []*pare.Fitted{f}
	}
	for _, one := range of {
		for _, j := range d.columns(one.Support) {
			if !e[j] {
				e[j] = true
				fresh = append(fresh, j)
			}
		}
	}
	slices.Sort(fresh)
	return fresh
}

// some names as many columns as fit into most characters, and counts the rest.
func (d *dataset) some(columns []int32, most int) string {
	text, rest := "", ""
	for k, j := range columns {
		name := d.label(j)
		if k > 0 {
			name = text + ", " + name
		}
		more := ""
		if left := len(columns) - k - 1; left > 0 {
			more = " + " + count(left)
		}
		if utf8.RuneCountInString(name+more) > most {
			break
		}
		text, rest = name, more
	}
	switch {
	case text != "":
	case len(columns) == 1:
		return string([]rune(d.label(columns[0]))[:most-1]) + "…"
	case len(columns) > 1:
		return plural(len(columns), "column")
	}
	return text + rest
}
