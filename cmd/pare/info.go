package main

import (
	"context"
	"errors"
	"math"

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
	d, err := c.load(ctx, env)
	if err != nil {
		return nil, err
	}
	s := sparse.Summarise(d.x, d.y)
	r := &infoResult{
		dimensions:       d.dimensions(),
		Density:          number(s.Density),
		EmptyColumns:     s.EmptyColumns,
		DuplicateColumns: s.DuplicateColumns,
		Labels:           labels{Kind: s.Labels.Kind, Distinct: s.Labels.Distinct, Min: number(s.Labels.Min), Max: number(s.Labels.Max)},
		LogLambdaMax:     map[pare.Model]any{},
		MemoryBytes:      s.Bytes,
		Warnings:         c.warnings(d),
		emptyRows:        s.EmptyRows,
		asked:            asked{c.commonFlags, d},
	}
	for _, k := range s.Labels.Classes {
		r.Labels.Classes = append(r.Labels.Classes, class{number(k.Value), k.Count})
	}
	for _, model := range pare.Models() {
		r.LogLambdaMax[model] = nil
		if model == pare.Multiclass && s.Labels.Classes == nil {
			continue // a target of real numbers has no classes
		}
		config := c.config(d)
		config.Model = model
		top, err := pare.LogLambdaMax(d.x, d.y, config)
		if e := (*outcome.Error)(nil); errors.As(err, &e) && e.Flag != "" && e.Kind != outcome.Usage {
			return nil, err
		}
		switch {
		case len(top) == 0: // no rows, or a target of another kind; all else still holds
		case model == pare.Multiclass:
			r.LogLambdaMax[model] = numbers(top)
		default:
			r.LogLambdaMax[model] = number(top[0])
		}
	}
	return r, nil
}

func (r *infoResult) text(p *page) {
	p.heading("info", r.asked.data)
	p.row("density", "%s, %s in memory", percent(float64(r.Density)), bytesize(r.MemoryBytes))
	p.row("columns", "%s empty, %s equal to another; rows: %s empty", count(r.EmptyColumns), count(r.DuplicateColumns), count(r.emptyRows))
	p.row("target", "%s", r.Labels)
	p.warnings(r.Warnings)
	lasso, ok := r.LogLambdaMax[pare.Lasso].(number)
	switch top := float64(lasso); {
	case !ok:
		p.row("αmax", "none: there is no row")
		return
	case math.IsInf(top, -1):
		p.row("αmax", "0: the target does not depend on any column")
		return
	default:
		p.row("αmax", "%.6g, λmax = ln αmax = %.6g (lasso %s)", kernels.Exp(top), top, r.asked.intercept())
	}
	if l, ok := r.LogLambdaMax[pare.Logistic].(number); ok {
		p.row("", "%.6g, λmax = ln αmax = %.6g (logreg)", kernels.Exp(float64(l)), float64(l))
	}
	p.next(r.asked.command("select"))
}

// String describes a target in a line.
func (l labels) String() string {
	switch l.Kind {
	case sparse.NoLabels:
		return "none"
	case sparse.OneClass:
		return "constant, " + short(float64(l.Min))
	case sparse.RealLabels:
		return "real numbers from " + short(float64(l.Min)) + " to " + short(float64(l.Max)) + ", " + count(l.Distinct) + " of them distinct"
	default:
		s := count(l.Distinct) + " classes:"
		for i, k := range l.Classes {
			if i == 6 {
				return s + " ..."
			}
			s += " " + short(float64(k.Value)) + " (" + count(k.Count) + ")"
		}
		return s
	}
}
