package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
)

type inspectCommand struct {
	Saved string `arg:"" name:"model" help:"A file that select or fit wrote with --save."`
	Coef  bool   `help:"Print all coefficients in the text; the JSON always has them." group:"Output"`
	JSON  bool   `name:"json" help:"Print one JSON object on standard output." group:"Output"`
}

func (c *inspectCommand) output() outputFlags { return outputFlags{JSON: c.JSON, Quiet: true} }

func (c *inspectCommand) run(context.Context, environment) (result, error) {
	p, err := loadModel(c.Saved)
	if err != nil {
		return nil, advised{err, "\"pare select FILE --save MODEL\" makes one."}
	}
	from := p.Provenance()
	r := &inspectResult{
		Model: p.Model(), Loss: p.Loss(), Link: p.Link(), P: p.Columns(), LogLambda: numbers(p.LogLambda()),
		Standardized: from.Standardized, Schema: from.Schema, Data: from.Data, Program: from.Program, all: c.Coef, from: c.Saved,
	}
	status, gap := p.Status()
	r.Status, r.GapRelative = status, number(gap)
	for k := range p.Scores() {
		columns, coef, intercept := p.Coefficients(k)
		s := inspectedScore{Intercept: number(intercept), Coef: sparseVector{Index: columns, Value: append([]number{}, numbers(coef)...)}}
		if from.Names != nil {
			s.Coef.Name = make([]string, len(columns))
			for i, j := range columns {
				s.Coef.Name[i] = from.Names[j]
			}
		}
		if p.Scores() > 1 {
			s.Label = labelled(p.Label(k))
		}
		r.Scores = append(r.Scores, s)
	}
	for k := range p.Classes() {
		r.names = append(r.names, p.Label(k))
	}
	if r.names != nil {
		r.Labels = labelledAll(r.names)
	}
	return r, nil
}

// inspectResult describes a model file. Columns count from 0.
type inspectResult struct {
	Model        pare.Model       `json:"model"`
	Loss         string           `json:"loss"`
	Link         loss.Link        `json:"link"`
	P            int              `json:"p"`
	LogLambda    []number         `json:"log_lambda,omitempty"`
	Labels       []any            `json:"labels,omitempty"` // classes, in their order
	Scores       []inspectedScore `json:"scores"`
	Standardized bool             `json:"standardized"`
	Schema       *table.Schema    `json:"schema,omitempty"`
	Status       outcome.Status   `json:"status"`
	GapRelative  number           `json:"gap_relative"`
	Data         string           `json:"data,omitempty"`
	Program      string           `json:"program,omitempty"`

	names []string // of the classes
	all   bool
	from  string
}

// inspectedScore holds the intercept and the coefficients of a score.
type inspectedScore struct {
	Label     any          `json:"label,omitempty"` // the class, where there are several scores
	Intercept number       `json:"intercept"`
	Coef      sparseVector `json:"coef"`
}

func (r *inspectResult) trusted() bool { return true }

func (r *inspectResult) text(p *page) {
	p.line("pare inspect, %s", r.Model)
	p.line("%s", r.from)
	p.line("")
	switch {
	case len(r.LogLambda) == 0:
	case r.Model.Traits().Strengths == pare.EachColumn:
		p.row("strength", "one per column")
	default:
		values := make([]float64, len(r.LogLambda))
		for i, l := range r.LogLambda {
			values[i] = float64(l)
		}
		p.row("strength", "λ = ln α = %s, α = %s", spread(values, "%.6g", "%.6g"), spread(exponentials(values), "%.6g", "%.6g"))
	}
	if r.names != nil {
		p.row("classes", "%s", strings.Join(r.names[:min(len(r.names), mostClasses)], ", "))
	}
	for k, s := range r.Scores {
		if s.Label != nil {
			p.row("class", "%s", r.names[k])
		}
		p.row("support", "%s of %s columns", count(len(s.Coef.Index)), count(r.P))
		p.items(s.listed(r.all))
		p.row("intercept", "%.6g", float64(s.Intercept))
	}
	if r.Standardized {
		p.row("columns", "standardised in the fit; coefficients are for the original columns")
	}
	if r.Schema != nil && r.Schema.Inputs != nil {
		p.row("file", "%s", described(r.Schema))
	}
	p.row("status", "%s, relative gap %.2g", r.Status, float64(r.GapRelative))
	if r.Data != "" {
		p.row("data", "checksum %s", r.Data)
	}
	if r.Program != "" {
		p.row("made by", "%s", r.Program)
	}
	p.next(predictCommandLine(r.from))
}

func exponentials(values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = kernels.Exp(v)
	}
	return out
}

// listed returns the largest coefficients, or all of them in the order of their columns.
func (s inspectedScore) listed(all bool) []string {
	order := make([]int, len(s.Coef.Index))
	for i := range order {
		order[i] = i
	}
	most := len(order)
	if !all {
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(math.Abs(float64(s.Coef.Value[b])), math.Abs(float64(s.Coef.Value[a])))
		})
		most = min(most, shown)
	}
	texts := make([]string, 0, most)
	for _, i := range order[:most] {
		name := strconv.Itoa(int(s.Coef.Index[i]) + 1)
		if s.Coef.Name != nil {
			name = s.Coef.Name[i]
		}
		texts = append(texts, fmt.Sprintf("%s: %+.6g", name, float64(s.Coef.Value[i])))
	}
	return texts
}

// described says how a file is made into the columns of the model.
func described(s *table.Schema) string {
	categories, filled := 0, 0
	for _, in := range s.Inputs {
		if in.Categories != nil {
			categories++
		}
		if in.Fill != nil {
			filled++
		}
	}
	text := plural(len(s.Inputs), "column") + " of the file are used"
	if categories > 0 {
		text += fmt.Sprintf(", %s of them as categories", count(categories))
	}
	switch {
	case filled > 0:
		text += fmt.Sprintf("; missing cells are replaced by the %s", s.Missing)
	case s.Missing == table.DropRows:
		text += "; rows with missing cells are left out"
	}
	if s.Target != "" {
		text += "; the target was " + s.Target
	}
	return text
}
