package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// chosen returns the evaluation of the choice.
func chosen(s *pare.Selection) *search.Evaluation {
	if s.Least != nil { // the choice follows the one-standard-error rule
		return s.OneSE
	}
	for i, e := range s.Evaluations {
		if e.Value == s.Value {
			return &s.Evaluations[i]
		}
	}
	return nil
}

func (c *selectCommand) newResult(s *pare.Selection, d *dataset) *selectResult {
	r := &selectResult{
		LogLambda:    numbers(s.LogLambda),
		Value:        number(s.Value),
		GradientNorm: number(norm(s.Gradient)),
		NullValue:    number(s.NullValue),
		Sigma:        number(s.Sigma),
		Evaluations:  []evaluation{},
		Status:       s.Status,
		Warnings:     c.warnings(d),
		Seconds:      selectSeconds{d.loadSeconds, s.SecondsSearch, s.SecondsRefit, s.SecondsOneSE},
		selection:    s,
		allowed:      c.MaxSeconds,
		grid:         c.Search == pare.Grid,
		drawn:        slices.Contains([]pare.Search{pare.Random, pare.Halton, pare.TPE}, c.Search),
		asked:        asked{c.commonFlags, d},
	}
	if s.StandardError > 0 {
		r.StandardError = pointer(s.StandardError)
	}
	if seen := s.Seen; seen.Basins > 0 {
		r.Seen = &seenResult{number(seen.From), number(seen.To), seen.Basins}
	}
	for _, m := range s.Measures {
		if r.Measures == nil {
			r.Measures = map[string]number{}
		}
		r.Measures[m.Name] = number(m.Value)
	}
	if s.Least != nil {
		r.Least = &choice{LogLambda: numbers(s.Least.LogLambda), Value: number(s.Least.Value)}
	}
	if s.OneSE != nil {
		r.OneSE = &choice{LogLambda: numbers(s.OneSE.LogLambda), Value: number(s.OneSE.Value)}
	}
	if s.Tested {
		r.Test = pointer(s.Test)
	}
	if s.Common != nil {
		r.Common = &choice{Value: number(s.Common.Value), LogLambda: numbers(s.Common.LogLambda)}
		if s.Common.Tested {
			r.Common.Test = pointer(s.Common.Test)
		}
		if c.many() {
			r.Common.LogLambda = r.Common.LogLambda[:1]
		}
	}
	for _, e := range s.Evaluations {
		r.Evaluations = append(r.Evaluations, c.evaluation(e))
	}
	r.doubt()
	if s.Final != nil {
		r.Final = newFitResult(s.Final, r.asked)
		r.Relaxed = r.asked.relaxed(s.Relaxed, s.RelaxedValue)
		r.Final.Seconds = fitSeconds{Load: d.loadSeconds, Solve: s.SecondsRefit, Certify: s.Final.SecondsCertify}
	}
	return r
}

// doubt adds warnings about a choice that cannot be trusted, and about a search that failed.
func (r *selectResult) doubt() {
	if best := r.best(); best.Trusted != nil {
		r.Warnings = append(r.Warnings, warning{"untrusted", "the criterion or its slope at the choice cannot be trusted: " + untrusted(best.Status)})
	}
	if r.Status == outcome.Failed {
		r.Warnings = append(r.Warnings, warning{"failed", fmt.Sprintf("the search was broken off: %v", r.selection.Err)})
	}
}

// unkept returns the error of a file that cannot be written after the search. It adds the command that fits the
// choice without another search.
func (r *selectResult) unkept(err error) error {
	a, isAdvised := errors.AsType[advised](err)
	if l := r.selection.LogLambda; isAdvised && len(l) <= mostTyped {
		a.advice += " The search is done: " + r.asked.command("fit", "--log-lambda="+listAll(l)) + " fits at the chosen strength."
		return a
	}
	return err
}

// untrusted says what is wrong with an evaluation of the given status, and what to do about it.
func untrusted(s outcome.Status) string {
	const byValues = "--search halton uses values only"
	switch s {
	case outcome.NotDifferentiable:
		return "a column is about to enter or leave here, or the system behind the slope is singular; " + byValues
	case outcome.NotUnique:
		return "the solution has no derivative here, for example because columns are equal on the training rows; drop one of them, or " + byValues
	case outcome.LinearSystemStalled:
		return "the linear system behind the slope was not solved to tolerance; scale the columns with --standardize, or " + byValues
	default:
		return gradStatus(s)
	}
}

// evaluation converts an evaluation for the JSON.
func (f problemFlags) evaluation(e search.Evaluation) evaluation {
	entry := evaluation{
		Value:        number(e.Value),
		GradientNorm: number(norm(e.Gradient)),
		Tol:          number(e.Tol),
		Support:      e.Support,
		Seconds:      e.Seconds,
	}
	if !f.many() {
		entry.LogLambda = numbers(e.LogLambda)
	}
	if e.StandardError > 0 {
		entry.StandardError = pointer(e.StandardError)
	}
	if e.Tested {
		entry.Test = pointer(e.Test)
	}
	if !e.Trusted {
		entry.Trusted, entry.Status = new(bool), e.Status
	}
	return entry
}

// many reports whether there is one λ per column: too many to list.
func (f problemFlags) many() bool { return f.on(pare.EachColumn) }

func pointer(v float64) *number {
	n := number(v)
	return &n
}
