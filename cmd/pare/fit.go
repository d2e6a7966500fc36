package main

import (
	"context"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
)

type fitCommand struct {
	commonFlags
	lambdaFlags
	saveFlags
	relaxedFlags
	reportFlags
}

func (c *fitCommand) run(ctx context.Context, env environment) (result, error) {
	if err := checks(c.commonFlags, c.keeping(c.dataFlags), c.reportFlags, outputs{c.page(), {"save", c.Save}}); err != nil {
		return nil, err
	}
	strengths, err := c.strengths("fit")
	if err != nil {
		return nil, err
	}
	if err := c.solution("fit"); err != nil {
		return nil, err
	}
	d, err := c.load(ctx, env)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	logLambda, err := strengths.logLambda(c.commonFlags, d)
	if err != nil {
		return nil, d.blame(err)
	}
	env.progress.begin("solving at λ = %s", spread(logLambda, "%.4g", "%.3g"))
	fitted, err := pare.Fit(ctx, d.x, d.y, logLambda, c.config(d))
	if err != nil {
		return nil, d.blame(strengths.stated(err))
	}
	r := newFitResult(fitted, asked{c.commonFlags, d})
	if c.Relaxed {
		relaxed, err := pare.Relax(ctx, d.x, d.y, fitted, c.config(d))
		if err != nil {
			return nil, d.blame(err)
		}
		r.Relaxed = r.asked.relaxed(relaxed, math.NaN())
	}
	model := r.Relaxed.kept(fitted)
	keep, unkept := c.keeps(model)
	if r.Warnings = append(d.notes(), unkept...); keep {
		if err := c.save(model, r.asked); err != nil {
			return nil, err
		}
		r.saved = c.Save
	}
	r.Seconds = fitSeconds{Load: d.loadSeconds, Solve: time.Since(began).Seconds() - fitted.SecondsCertify, Certify: fitted.SecondsCertify}
	if c.Report != "" {
		m := material{final: fitted, null: math.NaN()}
		if err := c.writeReport(ctx, env, c.Report, "pare fit", r, d, m); err != nil {
			return nil, err
		}
		r.report = c.reportFlags
	}
	return r, nil
}

func newFitResult(f *pare.Fitted, a asked) *fitResult {
	r := &fitResult{
		Model:        a.Model,
		Loss:         a.lossBeside(),
		dimensions:   a.data.dimensions(),
		LogLambda:    numbers(f.LogLambda),
		LogLambdaMax: numbers(f.LogLambdaMax),
		Objective:    number(f.Objective),
		certificate:  newCertificate(f.Certificate),
		Support:      a.supportSize(f),
		Unique:       f.Unique,
		DualMargin:   number(math.NaN()),
		Epochs:       f.Epochs,
		Passes:       f.Passes,
		Status:       f.Status,
		Intercept:    number(f.Intercept),
		Kernels:      f.Kernels,
		Threads:      a.threads(),
		fitted:       f,
		asked:        a,
	}
	if a.stated.traits.Samples || a.Lower != "" || a.Upper != "" {
		r.AtBound = &f.Bound
	}
	switch {
	case a.stated.traits.Samples:
	case a.certifies(a.data):
		r.Certified, r.DualMargin = &f.SupportCertified, number(f.DualMargin)
	}
	if a.data.distinguishes(a.Model) {
		r.Labels = labelledAll(a.data.classes)
	}
	if f.PerClass == nil {
		r.Coef = a.coefficients(f)
		return r
	}
	r.Intercept = number(math.NaN())
	for k, one := range f.PerClass {
		r.Classes = append(r.Classes, classResult{
			Label:       labelled(a.data.classes[k]),
			LogLambda:   number(one.LogLambda[0]),
			Objective:   number(one.Objective),
			relativeGap: newCertificate(one.Certificate).relativeGap,
			Support:     len(one.Support),
			Status:      one.Status,
			Intercept:   number(one.Intercept),
			Coef:        a.coefficients(one),
		})
	}
	return r
}

// supportSize returns the size of the generalised support; for the SVM, its elements are samples.
func (a asked) supportSize(f *pare.Fitted) int {
	if a.stated.traits.Samples {
		return f.Free
	}
	return len(f.Support)
}

// coefficients returns the coefficients of a solution if --coef asks for them, else nil.
func (a asked) coefficients(f *pare.Fitted) *sparseVector {
	if !a.Coef {
		return nil
	}
	index := a.data.columns(f.Support)
	return &sparseVector{Index: index, Value: append([]number{}, numbers(f.Coef)...), Name: a.data.labels(index)}
}

func (r *fitResult) text(p *page) {
	p.title("fit", r.asked)
	p.strength(r.asked, r.fitted.LogLambda, r.fitted.LogLambdaMax)
	p.row("objective", "%.10g", float64(r.Objective))
	p.support(r.fitted, r.asked)
	p.certificate(r)
	p.relaxed(r.Relaxed, r.asked)
	p.row("work", "%s over working sets, %s over the data; reading %s, solving %s",
		plural(r.Epochs, "sweep"), plural(r.Passes, "pass"), seconds(r.Seconds.Load), seconds(r.Seconds.Solve))
	r.report.reported(p)
	p.warnings(r.Warnings)
	p.next(predictCommandLine(r.saved), r.asked.command("path"), r.asked.command("select"))
}
