package main

import (
	"fmt"
	"math"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
)

// relaxedFlags are the flags for a refit without penalty.
type relaxedFlags struct {
	Relaxed bool `help:"Also refit without penalty on the columns chosen; --save then saves that model (not ridge, svm, multiclass)." group:"Output"`
}

// relaxedResult is a refit without penalty.
type relaxedResult struct {
	Value     *number `json:"value,omitempty"` // select: the criterion of the folds' refits
	Objective number  `json:"objective"`
	relativeGap
	Status    outcome.Status `json:"status"`
	Intercept number         `json:"intercept"`
	Coef      *sparseVector  `json:"coef,omitempty"`

	fitted *pare.Fitted
}

// relaxed returns a refit without penalty, with the criterion of the folds' refits, NaN if that is not known.
// It returns nil if there is no refit.
func (a asked) relaxed(f *pare.Fitted, value float64) *relaxedResult {
	if f == nil {
		return nil
	}
	r := &relaxedResult{
		Objective: number(f.Objective), relativeGap: newCertificate(f.Certificate).relativeGap, Status: f.Status,
		Intercept: number(f.Intercept), Coef: a.coefficients(f), fitted: f,
	}
	if !math.IsNaN(value) {
		r.Value = pointer(value)
	}
	return r
}

// kept returns the model that --save saves.
func (r *relaxedResult) kept(final *pare.Fitted) *pare.Fitted {
	if r == nil {
		return final
	}
	return r.fitted
}

// relaxed prints a refit without penalty.
func (p *page) relaxed(r *relaxedResult, a asked) {
	if r == nil {
		return
	}
	text := "without penalty on these columns"
	if r.Value != nil {
		text += fmt.Sprintf(", %s %.6g", a.criterion(), float64(*r.Value))
	}
	if r.fitted.Status != outcome.Converged {
		text += "; " + string(r.Status) + ": there may be no solution, as where the columns separate the classes"
	}
	p.row("relaxed", "%s:", text)
	p.largest(a.data, a.data.columns(r.fitted.Support), r.fitted.Coef)
}
