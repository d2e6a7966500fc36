package pare

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// checkFrom refuses an earlier selection that this one cannot go on from.
func (e *engine) checkFrom(o SelectOptions) error {
	s := o.From
	refused := func(kind outcome.Kind, format string, args ...any) error {
		return outcome.At(kind, "from", format, args...)
	}
	switch {
	case s == nil:
		return nil
	case e.family.samples:
		return refused(outcome.Usage, "%s has dual variables of samples, which another sample's are no start for; select without it", e.config.Model)
	case o.Search != Auto:
		return refused(outcome.Usage, "has no effect with --search %s; it goes with %s", o.Search, Auto)
	case s.Final == nil || s.LogLambda == nil:
		return refused(outcome.Usage, "the earlier selection ended before its refit, so there is no model to begin from")
	case s.Final.Model != e.config.Model || s.Final.Loss != e.family.lossName():
		return refused(outcome.Usage, "the earlier selection is of %s with the loss %s, this one of %s with %s", s.Final.Model, s.Final.Loss, e.config.Model, e.family.lossName())
	}
	if _, p := e.of.X.Dims(); s.Final.Columns != p || len(s.LogLambdaMax) != e.of.Count {
		return refused(outcome.Shape, "the earlier selection is of %d columns and %d hyperparameters, the data have %d and %d", s.Final.Columns, len(s.LogLambdaMax), p, e.of.Count)
	}
	if e.family.classes {
		if labels, _, err := bilevel.Classes(e.of.Y); err != nil || !slices.Equal(labels, s.Final.Classes) {
			return refused(outcome.Usage, "the earlier selection has the classes %g, the data %g; select without it", s.Final.Classes, labels)
		}
	}
	for _, f := range s.predictors() {
		for k, j := range f.Support {
			if len(f.Coef) != len(f.Support) || j < 0 || int(j) >= s.Final.Columns || k > 0 && j <= f.Support[k-1] || !(math.Abs(f.Coef[k]) <= math.MaxFloat64) {
				return refused(outcome.BadParameter, "the model of the earlier selection needs ascending columns with a finite coefficient each")
			}
		}
	}
	return nil
}

// predictors returns the refit, of each class where there are classes.
func (s *Selection) predictors() []*Fitted {
	if s.Final.PerClass != nil {
		return s.Final.PerClass
	}
	return []*Fitted{s.Final}
}

// coefficients returns the coefficients of the refit.
func (s *Selection) coefficients() (all []bilevel.Solution) {
	for _, f := range s.predictors() {
		all = append(all, bilevel.Solution{Support: f.Support, Coef: f.Coef})
	}
	return all
}

// seen returns the search of an earlier selection. Shares of αmax, where one serves all
// hyperparameters, are those of αmax now.
func (s *Selection) seen(common bool, top []float64) *search.Result {
	best := search.Evaluation{LogLambda: s.LogLambda, Value: s.Value, Gradient: s.Gradient, StandardError: s.StandardError, Trusted: true}
	switch {
	case s.Common != nil:
		best = *s.Common
	case s.Least != nil:
		best = *s.Least
	}
	r := &search.Result{Best: best, Evaluations: slices.Clone(s.Evaluations)}
	if !common {
		return r
	}
	move := func(e *search.Evaluation) {
		own := slices.Clone(e.LogLambda)
		for i := range own {
			own[i] += top[i] - s.LogLambdaMax[i]
		}
		e.LogLambda = own
	}
	move(&r.Best)
	for i := range r.Evaluations {
		move(&r.Evaluations[i])
	}
	return r
}
