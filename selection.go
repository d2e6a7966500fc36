package pare

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// Selection is a chosen λ and the model refitted at it on all rows.
type Selection struct {
	// LogLambda is the choice, one per hyperparameter; nil where the search was ended before
	// an evaluation was done. −Inf stands for a strength of the elastic net that is nothing:
	// its Lasso or its ridge is best.
	LogLambda []float64
	Value     float64 // the criterion there; NaN without
	// LogLambdaMax is ln αmax of all rows, as of [Fitted].
	LogLambdaMax []float64
	// StandardError is that of Value, over the folds or the rows of a hold-out; 0 where the
	// criterion has none.
	StandardError float64
	// Gradient is the hypergradient there, nil for a grid. Where one share of αmax
	// was chosen for all classes, it has one entry, the slope by its logarithm.
	Gradient []float64
	// Test is the criterion there on the rows that Validation.FoldIDs keeps for testing,
	// where Tested says that there are such. Only the weighted Lasso uses them: its
	// search ends when they no longer gain.
	Test   float64
	Tested bool
	// Common is the best point with one share of αmax for all λ's, where the search
	// went on from there: for the weighted Lasso and PerClass.
	Common      *search.Evaluation
	NullValue   float64 // the criterion of the null model: no column is used
	Sigma       float64 // the noise level, of [SURE], [AIC] and [BIC]
	Evaluations []search.Evaluation
	// Seen is the range of the first λ that Auto has scanned, and the basins found.
	Seen search.Seen
	// Status says why the search ended: Converged, NullModel where nothing beats the null
	// model, Stationary, Kink, Flat, Box, Exhausted, Budget, Cancelled, or Failed. Err says
	// what failed, the criterion or saving the log, or that ctx ended before the refit.
	Status outcome.Status
	Err    error
	// Final is nil where ctx has ended: there is no model then, only the best λ so far.
	Final *Fitted
	// OneSE is the most penalised λ at which the criterion does not clearly exceed Value by
	// its standard error over the folds. nil where it was not asked for, where
	// [SelectOptions].OneSE does not go with the rest, and where ctx ended before. With
	// TakeOneSE, LogLambda and Value are those of OneSE, and Least is the minimum.
	OneSE *search.Evaluation
	Least *search.Evaluation

	// Relaxed is Final without penalty on its support, and RelaxedValue the criterion of models
	// of the folds made likewise at LogLambda; NaN for [SURE], [AIC] and [BIC]. Where it is
	// below Value, the choice shrinks more than it should. nil where it was not asked for.
	Relaxed      *Fitted
	RelaxedValue float64

	// Measures are of predictions of held-out rows at the choice: the model's loss, and what is
	// usual of its target besides, the mean squared and absolute errors of numbers,
	// misclassification and the area under the ROC curve of classes. By cross-validation and
	// a hold-out, where they were asked for.
	Measures []Measure

	SecondsSearch, SecondsRefit, SecondsOneSE float64
}

// take makes a point the choice.
func (s *Selection) take(at search.Evaluation) {
	s.LogLambda, s.Value, s.StandardError, s.Gradient = at.LogLambda, at.Value, at.StandardError, at.Gradient
	s.Test, s.Tested = at.Test, at.Tested
}

// MarshalJSON writes the fields by their names, as encoding/json does, with null for numbers
// that are not finite and Err as its text: a selection can always be written.
func (s *Selection) MarshalJSON() ([]byte, error) {
	fields := writable(reflect.ValueOf(*s)).(map[string]any)
	fields["Err"] = nil
	if s.Err != nil {
		fields["Err"] = s.Err.Error()
	}
	return json.Marshal(fields)
}

// writable turns structs into maps and numbers that are not finite into nil.
func writable(v reflect.Value) any {
	switch v.Kind() { //nolint:exhaustive // other kinds are written as they are
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return writable(v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return nil
		}
		all := make([]any, v.Len())
		for i := range all {
			all[i] = writable(v.Index(i))
		}
		return all
	case reflect.Struct:
		fields := map[string]any{}
		for _, f := range reflect.VisibleFields(v.Type()) {
			if f.IsExported() && !f.Anonymous && f.Tag.Get("json") != "-" && f.Type.Kind() != reflect.Interface {
				fields[f.Name] = writable(v.FieldByIndex(f.Index))
			}
		}
		return fields
	}
	return v.Interface()
}

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
