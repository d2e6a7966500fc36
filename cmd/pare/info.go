package main

import (
	"context"
	"errors"
	"math"
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
		MemoryBytes:      s.Bytes,
		Warnings:         c.warnings(d),
		emptyRows:        s.EmptyRows,
		asked:            asked{c.commonFlags, d},
	}
	for _, model := range pare.Models() {
		r.LogLambdaMax[model] = nil
		traits, err := pare.Config{Model: model}.Traits()
		if err != nil {
			return nil, err
		}
		each := traits.Strengths == pare.EachClass
		if d.y == nil || traits.Samples || traits.Classes && r.Labels.Classes == nil || traits.Grouped && d.columnGroups == nil {
			continue // support vectors have no αmax, a target of real numbers no classes, and columns no groups but those stated
		}
		y, _, err := model.Target(d.y, d.Labels)
		if err != nil {
			continue // it is of another kind
		}
		config := c.config(d)
		config.Model, config.Loss = model, nil
		top, err := pare.LogLambdaMax(d.x, y, config)
		if e := (*outcome.Error)(nil); errors.As(err, &e) && e.Flag != "" && e.Kind != outcome.Usage {
			return nil, err
		}
		switch {
		case len(top) == 0: // no rows, or a target of another kind; all else still holds
		case each:
			r.LogLambdaMax[model] = numbers(top)
		default:
			r.LogLambdaMax[model] = number(top[0])
		}
	}
	return r, nil
}

// newLabels describes a target whose values have the names given, nil for numbers.
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
		if l.Kind == sparse.RealLabels { // many texts are kinds still
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
			text += ", and " + plural(len(names)-most, "more")
		}
		p.row("names", "%s", text)
	}
	p.row("density", "%s, %s in memory", percent(float64(r.Density)), bytesize(r.MemoryBytes))
	p.row("columns", "%s empty, %s equal to another; rows: %s empty", count(r.EmptyColumns), count(r.DuplicateColumns), count(r.emptyRows))
	p.row("target", "%s", r.Labels)
	p.warnings(r.Warnings)
	if r.asked.data.y == nil {
		next := r.asked
		next.Target = "COLUMN"
		p.next(next.command("select"))
		return
	}
	lasso, numeric := r.LogLambdaMax[pare.Lasso].(number)
	logistic, two := r.LogLambdaMax[pare.Logistic].(number)
	label := "αmax"
	switch top := float64(lasso); {
	case !numeric && r.asked.data.Labels == nil:
		p.row(label, "none: there is no row")
		return
	case numeric && math.IsInf(top, -1):
		p.row(label, "0: the target does not depend on any column")
		return
	case numeric:
		p.row(label, "%.6g, λmax = ln αmax = %.6g (lasso %s)", kernels.Exp(top), top, r.asked.intercept())
		label = ""
	}
	if two {
		p.row(label, "%.6g, λmax = ln αmax = %.6g (logreg)", kernels.Exp(float64(logistic)), float64(logistic))
	}
	p.next(r.suited().command("select"))
}

// suited is the request with the model that suits the target, where another was not asked for.
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

// String describes a target in a line.
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
