package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

type infoCommand struct {
	commonFlags
}

func (c *infoCommand) run(ctx context.Context, env environment) (result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	d, err := c.dataFlags.load(ctx, env, true, c.Groups, c.FoldIDs)
	if err != nil {
		if r := c.contents(ctx, err); r != nil {
			return r, nil
		}
		return nil, err
	}
	if err := c.differ(d); err != nil {
		return nil, err
	}
	s := sparse.Summarise(d.x, d.y)
	r := &infoResult{
		dimensions:       d.dimensions(),
		Format:           d.Format,
		Names:            d.labels(d.prepared.Kept),
		Density:          number(s.Density),
		EmptyColumns:     s.EmptyColumns,
		DuplicateColumns: s.DuplicateColumns,
		Labels:           newLabels(s.Labels, d.Labels),
		LogLambdaMax:     map[pare.Model]any{},
		tops:             map[pare.Model][]float64{},
		MemoryBytes:      s.Bytes,
		Warnings:         c.warnings(d),
		emptyRows:        s.EmptyRows,
		asked:            asked{c.commonFlags, d},
	}
	for _, model := range pare.Models() {
		if err := c.alphaMaxOf(model, d, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// alphaMaxOf computes αmax of a model, if the model has one and the target suits it.
func (c *infoCommand) alphaMaxOf(model pare.Model, d *dataset, r *infoResult) error {
	r.LogLambdaMax[model] = nil
	config := c.config(d)
	if config.Model = model; model != c.Model {
		config.Loss = nil
	}
	traits, err := config.Traits()
	if err != nil {
		return err
	}
	if d.y == nil || traits.Samples || traits.Classes && r.Labels.Classes == nil || traits.Grouped && d.columnGroups == nil {
		return nil // support vectors have no αmax, real numbers are no classes, and groups must be stated
	}
	y, _, err := config.Target(d.y, d.Labels)
	if err != nil {
		return nil //nolint:nilerr // it is of another kind
	}
	top, err := pare.LogLambdaMax(d.x, y, config)
	if e := (*outcome.Error)(nil); errors.As(err, &e) && e.Flag != "" && e.Kind != outcome.Usage {
		return err
	}
	if err != nil && model == c.Model && r.N > 0 {
		r.unknown = true
		r.Warnings = append(r.Warnings, warning{"no_alpha_max", "there is no αmax: " + message(classify(d.blame(err)))})
	}
	r.tops[model] = top
	switch {
	case len(top) == 0: // no rows, or a target of another kind; the rest still holds
	case traits.Strengths == pare.EachClass:
		r.LogLambdaMax[model] = numbers(top)
	default:
		r.LogLambdaMax[model] = number(top[0])
	}
	return nil
}

// newLabels describes a target. names are the names of its values, nil for numbers.
func newLabels(l sparse.Labels, names []string) labels {
	r := labels{Kind: l.Kind, Distinct: l.Distinct, Min: number(l.Min), Max: number(l.Max)}
	for _, k := range l.Classes {
		name := short(k.Value)
		if names != nil {
			name = names[int(k.Value)]
		}
		r.Classes = append(r.Classes, class{labelled(name), k.Count})
		r.names = append(r.names, name)
	}
	if names != nil {
		r.Min, r.Max = number(math.NaN()), number(math.NaN())
		if l.Kind == sparse.RealLabels { // many distinct texts are still classes
			r.Kind = sparse.Classes
		}
	}
	return r
}

func (r *infoResult) text(p *page) {
	p.heading("info", r.asked.data)
	p.row("format", "%s", r.Format)
	if names := r.Names; names != nil {
		const most = 30
		text := strings.Join(names[:min(len(names), most)], ", ")
		if len(names) > most {
			text += ", and " + count(len(names)-most) + " more"
		}
		p.row("names", "%s", text)
	}
	p.row("density", "%s, %s in memory", percent(float64(r.Density)), bytesize(r.MemoryBytes))
	p.row("columns", "%s empty, %s equal to another; rows: %s empty", count(r.EmptyColumns), count(r.DuplicateColumns), count(r.emptyRows))
	p.row("target", "%s", r.Labels)
	p.warnings(r.Warnings)
	if r.asked.data.y == nil {
		next := r.asked
		if next.Target = "COLUMN"; r.asked.data.Schema.Width == 0 { // a matrix without a table
			next.Target = "FILE"
		}
		p.next(next.command("select"))
		return
	}
	if r.alphaMax(p) {
		p.next(r.suited().command("select"))
	}
}

// alphaMax prints αmax of the model asked for, and besides the lasso also that of logreg where it suits the
// target. It reports whether there is a λ to choose.
func (r *infoResult) alphaMax(p *page) bool {
	model, label := r.asked.Model, "αmax"
	numeric, logistic := r.tops[model], r.tops[pare.Logistic]
	switch {
	case r.asked.stated.traits.Samples:
		return true
	case len(numeric) > 0 && slices.Max(numeric) == math.Inf(-1):
		p.row(label, "0: the target does not depend on any column")
		return false
	case len(numeric) > 0:
		p.row(label, "%s", alphaMax(r.asked, numeric))
		label = ""
	case r.N == 0:
		p.row(label, "none: there are no rows")
		return false
	case r.unknown: // a warning gives the reason
		return false
	case model != pare.Models()[0]:
		p.row(label, "none: the target does not suit %s", model)
		return false
	}
	if model == pare.Models()[0] && len(logistic) > 0 {
		p.row(label, "%.6g, λmax = ln αmax = %.6g (logreg)", kernels.Exp(logistic[0]), logistic[0])
	}
	return true
}

// alphaMax describes ln αmax of the strengths of a model.
func alphaMax(a asked, top []float64) string {
	of := fmt.Sprintf("%s %s", a.problem(), a.intercept())
	low, high := slices.Min(top), slices.Max(top)
	switch {
	case low == high:
		return fmt.Sprintf("%.6g, λmax = ln αmax = %.6g (%s)", kernels.Exp(high), high, of)
	case a.on(pare.EachClass) || a.on(pare.EachColumn):
		return fmt.Sprintf("from %.6g to %.6g, λmax = ln αmax from %.6g to %.6g (%s)", kernels.Exp(low), kernels.Exp(high), low, high, of)
	default:
		names := pairOf(a.stated.traits.Strengths)
		return fmt.Sprintf("%.6g (%s) and %.6g (%s), λmax = ln αmax = %.6g and %.6g (%s)", kernels.Exp(top[0]), names[0], kernels.Exp(top[1]), names[1], top[0], top[1], of)
	}
}

// suited returns the request with the model that suits the target, unless another model was asked for.
func (r *infoResult) suited() asked {
	a := r.asked
	if a.Model != pare.Models()[0] || a.stated.loss != nil {
		return a
	}
	kind, ok := suitedModel(a.data)
	if !ok {
		return a
	}
	a.Model = kind
	a.stated = statedModel{traits: kind.Traits()}
	return a
}

// String describes a target in one line.
func (l labels) String() string {
	switch l.Kind {
	case sparse.NoLabels:
		return "none"
	case sparse.OneClass:
		return "constant, " + l.names[0]
	case sparse.RealLabels:
		return "real numbers from " + short(float64(l.Min)) + " to " + short(float64(l.Max)) + ", " + count(l.Distinct) + " of them distinct"
	default:
		if l.names == nil {
			return count(l.Distinct) + " different texts"
		}
		s := count(l.Distinct) + " classes:"
		for i, k := range l.Classes {
			if i == 6 {
				return s + " ..."
			}
			s += " " + l.names[i] + " (" + count(k.Count) + ")"
		}
		return s
	}
}
