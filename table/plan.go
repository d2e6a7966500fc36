package table

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/seed-45b9a24c/pare/outcome"
)

// header has the names of a file's columns, or only their number.
type header struct {
	file   string
	names  []string // nil: none
	width  int
	labels func(k int) bool // reports whether the file marks a column as labels of rows; nil: it marks none
}

func headerOf(file string, rows Rows) header {
	h := header{file: file, names: rows.Columns(), width: rows.Width()}
	if r, ok := rows.(interface{ LabelsRows(k int) bool }); ok {
		h.labels = r.LabelsRows
	}
	return h
}

// fileName returns the name of the file for a sentence.
func (h header) fileName() string { return cmp.Or(h.file, "the table") }

// find returns the column with a name, or with a number: from 1, or from −1 backwards.
func (h header) find(name string) (int, bool) {
	if k := slices.Index(h.names, name); k >= 0 {
		return k, true
	}
	n, err := strconv.Atoi(name)
	switch {
	case err != nil:
		return 0, false
	case 1 <= n && n <= h.width:
		return n - 1, true
	case -h.width <= n && n <= -1:
		return h.width + n, true
	default:
		return 0, false
	}
}

// findUnique is find for a name that a model uses: −1 if no column has it, an error if several have it.
func (h header) findUnique(name string) (int, error) {
	k := slices.Index(h.names, name)
	if k >= 0 && slices.Contains(h.names[k+1:], name) {
		return k, shape(h, fmt.Sprintf("several columns are named %q, but the model uses one: remove the others", name))
	}
	return k, nil
}

// require is find for a column that must exist, and whose name must be unique.
func (h header) require(flag, name string) (int, error) {
	k, ok := h.find(name)
	if !ok {
		e := outcome.At(outcome.Usage, flag, "%s has no column %q; %s", h.fileName(), name, h.columnList())
		return 0, e
	}
	if h.names != nil && slices.Index(h.names[k+1:], name) >= 0 {
		return 0, outcome.At(outcome.Usage, flag, "%s has several columns named %q: give the column's number instead", h.fileName(), name)
	}
	return k, nil
}

// requireAll is require for a list of names.
func (h header) requireAll(flag string, names []string) ([]int, error) {
	var list []int
	for _, name := range names {
		k, err := h.require(flag, name)
		if err != nil {
			return nil, err
		}
		if flag == "columns" && slices.Contains(list, k) {
			return nil, outcome.At(outcome.Usage, flag, "%s is listed twice", h.columnLabel(k))
		}
		list = append(list, k)
	}
	return list, nil
}

// columnList lists the columns that exist, for error messages.
func (h header) columnList() string {
	if h.names == nil {
		return fmt.Sprintf("it has columns 1 to %d, without names", h.width)
	}
	const most = 12
	names := slices.Clone(h.names[:min(len(h.names), most)])
	for k, name := range names {
		if name == "" {
			names[k] = strconv.Itoa(k + 1)
		}
	}
	text := "the columns are " + strings.Join(names, ", ")
	if len(h.names) > most {
		text += fmt.Sprintf(" and %d more", len(h.names)-most)
	}
	return text
}

// columnLabel is the name of a column in messages.
func (h header) columnLabel(k int) string {
	if h.names != nil && h.names[k] != "" {
		return "column " + strconv.Quote(h.names[k])
	}
	return "column " + strconv.Itoa(k+1)
}

// role is the use of a column of a file.
type role uint8

const (
	feature role = iota
	ignored
	target
	aside
)

// plan is the use of each column of a file.
type plan struct {
	header
	roles      []role
	categories []bool   // cells are categories, even if they look like numbers
	target     int      // −1: none
	targetFile string   // "": none
	aside      []string // by column, its name in Options.Aside
	rowLabels  []int    // columns that are ignored because they label rows
}

// newPlan assigns a role to each column, and refuses features with the same name.
func newPlan(h header, o Options) (*plan, error) {
	p, err := assignRoles(h, o)
	if err != nil {
		return nil, err
	}
	return p, p.checkDistinct()
}

// assignRoles assigns a role to each column.
func assignRoles(h header, o Options) (*plan, error) {
	p := &plan{header: h, roles: make([]role, h.width), categories: make([]bool, h.width), aside: make([]string, h.width), target: -1}
	if o.Columns != nil {
		for k := range p.roles {
			p.roles[k] = ignored
		}
		kept, err := h.requireAll("columns", o.Columns)
		if err != nil {
			return nil, err
		}
		for _, k := range kept {
			p.roles[k] = feature
		}
	}
	dropped, err := h.requireAll("drop", o.Drop)
	if err != nil {
		return nil, err
	}
	for _, k := range dropped {
		p.roles[k] = ignored
	}
	for _, name := range o.Aside {
		if k, ok := h.find(name); ok && name != "" {
			p.roles[k], p.aside[k] = aside, name
		}
	}
	if err := p.setTarget(o); err != nil {
		return nil, err
	}
	text, err := h.requireAll("categories", o.Categories)
	if err != nil {
		return nil, err
	}
	for _, k := range text {
		p.categories[k] = true
	}
	for k, r := range p.roles {
		if r == feature && o.Columns == nil && !p.categories[k] && h.labelsRows(k) {
			p.roles[k], p.rowLabels = ignored, append(p.rowLabels, k)
		}
	}
	return p, nil
}

// labelsRows reports whether a column labels rows: the file says so, or no column up to it has a name, as
// pandas and R write row labels to text, or its name is one that pandas gives row labels in Parquet, or when it
// reads them from text.
func (h header) labelsRows(k int) bool {
	if h.labels != nil && h.labels(k) {
		return true
	}
	if h.names == nil {
		return false
	}
	level, ok := strings.CutPrefix(h.names[k], "__index_level_")
	if ok && strings.HasSuffix(level, "__") {
		return true
	}
	return !slices.ContainsFunc(h.names[:k+1], func(name string) bool { return name != "" && !strings.HasPrefix(name, "Unnamed: ") })
}

func (p *plan) setTarget(o Options) error {
	if o.Target == "" {
		if o.NoTarget {
			return nil
		}
		return outcome.At(outcome.Usage, "target", "which column of %s is the target? Give --target NAME or its number; %s", p.fileName(), p.columnList())
	}
	if k, ok := p.find(o.Target); ok {
		if _, err := p.require("target", o.Target); err != nil {
			return err
		}
		p.roles[k], p.target = target, k
		return nil
	}
	if o.hasFile() {
		p.targetFile = o.Target
		return nil
	}
	return outcome.At(outcome.Usage, "target", "%q is neither a column of %s nor a file; %s", o.Target, p.fileName(), p.columnList())
}

// checkDistinct refuses features with the same name: models identify columns by their names.
func (p *plan) checkDistinct() (err error) {
	for k, r := range p.roles {
		if r != ignored && p.names != nil && !utf8.ValidString(p.names[k]) {
			return &outcome.Error{Kind: outcome.Parse, File: p.file, Message: fmt.Sprintf("the name of column %d is not UTF-8 text: save the file as UTF-8", k+1)}
		}
	}
	p.eachRepeated(func(first, again int) {
		if err == nil {
			err = outcome.At(outcome.Usage, "drop", "columns %d and %d of %s have the same name, %q: rename one of them, or leave it out by its number", first+1, again+1, p.fileName(), p.names[again])
		}
	})
	return err
}

// eachRepeated reports each feature that has the name of an earlier one, by calling tell.
func (p *plan) eachRepeated(tell func(first, again int)) {
	if p.names == nil {
		return
	}
	seen := map[string]int{}
	for k, r := range p.roles {
		if r != feature || p.names[k] == "" {
			continue
		}
		if first, ok := seen[p.names[k]]; ok {
			tell(first, k)
		} else {
			seen[p.names[k]] = k
		}
	}
}
