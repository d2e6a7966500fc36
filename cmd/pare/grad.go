package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
)

type gradCommand struct {
	commonFlags
	lambdaFlags
}

func (c *gradCommand) run(ctx context.Context, env environment) (result, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	strengths, err := c.strengths("grad")
	if err != nil {
		return nil, err
	}
	d, err := c.load(ctx, env)
	if err != nil {
		return nil, err
	}
	validation, err := c.validation(d)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	logLambda, err := strengths.logLambda(c.commonFlags, d)
	if err != nil {
		return nil, d.blame(err)
	}
	env.progress.begin("the criterion and its slope at λ = %s", spread(logLambda, "%.4g", "%.3g"))
	h, err := pare.Gradient(ctx, d.x, d.y, logLambda, validation, c.config(d))
	if err != nil {
		return nil, d.blame(strengths.stated(err))
	}
	elapsed := time.Since(began).Seconds()
	top, err := pare.LogLambdaMax(d.x, d.y, c.config(d))
	if err != nil {
		return nil, d.blame(err)
	}
	return c.newResult(h, d, top, elapsed), nil
}

// newResult copies a hypergradient, which took elapsed seconds; top is ln αmax.
func (c *gradCommand) newResult(h *pare.Hypergradient, d *dataset, top []float64, elapsed float64) *gradResult {
	share := 0.0
	if total := h.SecondsSolve + h.SecondsGradient; total > 0 {
		share = h.SecondsGradient / total
	}
	r := &gradResult{
		Model:             c.Model,
		Loss:              c.lossBeside(),
		dimensions:        d.dimensions(),
		LogLambda:         numbers(h.LogLambda),
		LogLambdaMax:      numbers(top),
		Criterion:         c.Criterion,
		Value:             number(h.Value),
		Gradient:          gradientJSON(h.Gradient, d, c.on(pare.EachColumn)),
		optimality:        newCertificate(h.Certificate).optimality,
		Support:           h.Support,
		Method:            c.Method,
		ErrorBound:        number(h.ErrorBound),
		Bound:             h.Bound,
		InjectivityMargin: number(h.InjectivityMargin),
		CGIterations:      h.Iterations,
		Sigma:             number(h.Sigma),
		Shape:             shapeJSON(c.problemFlags.stated.traits, h.Shape),
		Status:            h.Status,
		Kernels:           h.Kernels,
		Threads:           c.threads(),
		Seconds:           gradSeconds{d.loadSeconds, elapsed * (1 - share), elapsed * share},
		Warnings:          d.notes(),
		hyper:             h,
		top:               top,
		asked:             asked{c.commonFlags, d},
	}
	if h.Below != nil {
		r.OneSided = &oneSided{gradientJSON(h.Below, d, c.on(pare.EachColumn)), gradientJSON(h.Above, d, c.on(pare.EachColumn))}
	}
	if c.certifies(d) {
		r.SupportCertified = &h.SupportCertified
	}
	return r
}

// shapeJSON returns the derivative in the shape parameter of a penalty that is not convex; nil for a convex
// one.
func shapeJSON(traits pare.Traits, slope float64) *number {
	if traits.Convex {
		return nil
	}
	return new(number(slope))
}

// gradientJSON returns a dense vector, except for the weighted Lasso, where most entries are 0.
func gradientJSON(g []float64, d *dataset, sparse bool) any {
	if !sparse {
		return numbers(g)
	}
	v := sparseVector{Index: []int32{}, Value: []number{}}
	for i, slope := range g {
		if slope != 0 {
			v.Index, v.Value = append(v.Index, d.prepared.Kept[i]), append(v.Value, number(slope))
		}
	}
	v.Name = d.labels(v.Index)
	return v
}

func (r *gradResult) text(p *page) {
	p.title("grad", r.asked)
	p.strength(r.asked, r.hyper.LogLambda, r.top)
	p.row(r.asked.criterion(), "%.10g (%s)", float64(r.Value), r.asked.judged(r.hyper.Sigma))
	switch g := r.hyper.Gradient; r.asked.stated.traits.Strengths {
	case pare.EachColumn:
		p.row("gradient", "norm %.6g; largest entries%s:", norm(g), r.asked.data.numbering())
		p.largest(r.asked.data, r.asked.data.prepared.Kept, g)
	case pare.EachClass:
		p.row("gradient", "norm %.6g; by the λ of each class, labels ascending:", norm(g))
		entries := make([]string, 0, mostClasses)
		for _, v := range g[:min(len(g), mostClasses)] {
			entries = append(entries, fmt.Sprintf("%.6g", v))
		}
		p.items(entries)
		if more := len(g) - mostClasses; more > 0 {
			p.row("", "and %s more; --json has them", plural(more, "class"))
		}
	default:
		p.row("gradient", "%s by λ: %s", list(g, "%.8g"), r.downhill(g))
	}
	if r.Shape != nil {
		p.row("", "%.8g by ln %s", float64(*r.Shape), r.asked.stated.traits.Shape)
	}
	if r.OneSided != nil {
		p.row("", "to smaller λ %s, to larger λ %s: a column enters or leaves here", slopes(r.hyper.Below), slopes(r.hyper.Above))
	}
	if r.Method == "implicit" {
		margin := fmt.Sprintf("; injectivity margin %.2g", float64(r.InjectivityMargin))
		if math.IsNaN(float64(r.InjectivityMargin)) { // slopes are finite differences
			margin = ""
		}
		p.row("error bound", "%.2g on an entry of the gradient, %s%s", float64(r.ErrorBound), r.Bound, margin)
	} else {
		p.row("error bound", "about %.2g on an entry of the gradient, from the last changes of the iterates", float64(r.ErrorBound))
	}
	if r.asked.stated.traits.Samples {
		p.row("samples", "%s on the margin, on average over the folds", count(r.Support))
	} else {
		p.row("support", "%s of %s columns, on average over %s%s", count(r.Support), count(r.P), r.asked.lanes(), unless(!r.hyper.SupportCertified, "; proved"))
	}
	if r.asked.stated.traits.Convex {
		p.row("certificate", "relative gap %.2g (asked: %g), KKT residual %.2g, worst of %s", float64(r.GapRelative), r.asked.Tol, float64(r.KKT), r.asked.lanes())
	} else {
		p.row("certificate", "stationary to %.2g, worst of %s; the penalty is not convex, and there is no duality gap", float64(r.KKT), r.asked.lanes())
	}
	p.row("status", "%s: %s", r.Status, gradStatus(r.Status))
	if r.Method == "implicit" {
		systems := "systems factorised"
		if r.CGIterations > 0 {
			systems = plural(r.CGIterations, "iteration") + " of conjugate gradients"
		}
		p.row("work", "%s; reading %s, solving %s, gradient %s", systems,
			seconds(r.Seconds.Load), seconds(r.Seconds.Solve), seconds(r.Seconds.Gradient))
	} else {
		p.row("work", "%s; reading %s, solving and differentiating %s", plural(r.hyper.Epochs, "epoch"), seconds(r.Seconds.Load), seconds(r.Seconds.Solve))
	}
	p.warnings(r.Warnings)
	p.next(r.asked.command("select"))
}

// slopes formats a one-sided gradient: its entries if there are few, else its norm.
func slopes(g []float64) string {
	if len(g) > mostClasses {
		return fmt.Sprintf("a norm of %.6g", norm(g))
	}
	return list(g, "%.8g")
}

// downhill says in which direction the criterion falls.
func (r *gradResult) downhill(g []float64) string {
	largest, strength := 0.0, "α"
	if r.asked.stated.traits.Samples {
		strength = "C"
	}
	for _, v := range g {
		if math.Abs(v) > math.Abs(largest) {
			largest = v
		}
	}
	switch {
	case len(g) > 1:
		return "the criterion falls in the opposite direction"
	case largest > 0:
		return "the criterion falls as " + strength + " shrinks"
	case largest < 0:
		return "the criterion falls as " + strength + " grows"
	default:
		return "the criterion does not change with " + strength + " here"
	}
}

// unless returns the text if the condition is false.
func unless(condition bool, text string) string {
	if condition {
		return ""
	}
	return text
}

func gradStatus(s outcome.Status) string {
	switch s {
	case outcome.Converged:
		return "value and gradient meet the tolerance"
	case outcome.Stationary:
		return "the inner problems are at strict local minima, reached from larger strengths; they have no known duality gap"
	case outcome.Flat:
		return "no coefficient changes with λ here; try smaller strengths"
	case outcome.Budget:
		return "the epochs allowed were used up; raise --tol, or use --method implicit"
	case outcome.NotConverged:
		return "an inner problem missed the tolerance; raise --tol, or scale the columns with --unit-columns"
	case outcome.NotDifferentiable:
		return "a column is about to enter or leave here, or the system is singular: the gradient is one-sided at best"
	case outcome.NotUnique:
		return "the solution has no derivative here, for example because columns are equal on the training rows; do not use the gradient"
	case outcome.LinearSystemStalled:
		return "the linear system behind the gradient was not solved to tolerance; do not use the gradient"
	case outcome.SupportUncertified:
		return "the support may still change within the error of the solution; lower --tol"
	default:
		return "the result cannot be trusted"
	}
}
