package pare

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/seed-45b9a24c/pare/internal/plain"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// Selection is a chosen λ and the model refitted at it on all rows.
type Selection struct {
	// LogLambda is the λ chosen, one per hyperparameter; nil if the search ended before its first
	// evaluation. −Inf is a strength of 0: the elastic net is best as a Lasso or as a ridge.
	LogLambda    []float64
	Value        float64   // the criterion at LogLambda; NaN if LogLambda is nil
	LogLambdaMax []float64 // see [LogLambdaMax], for all rows
	// StandardError is the standard error of Value: over the folds, or over the rows of a hold-out
	// or of [ALO]. For [GCV] it is the standard error of ALO at the same point, see [LeftOut], or,
	// on dense data with many rows per column, that over twenty batches of rows. 0 if the
	// criterion has none.
	StandardError float64
	// Gradient is the hypergradient at LogLambda; nil after a search by values alone. If one share
	// of αmax was chosen for all classes, it has one entry, the derivative with respect to the
	// logarithm of that share. For C and ε, which are chosen in turn, it is the slope along the
	// line on which the point was found.
	Gradient []float64
	// Test is the criterion at LogLambda on the rows that Validation.FoldIDs reserves for testing,
	// if Tested. Only [WeightedLasso] uses such rows: its search ends when Test stops decreasing.
	Test   float64
	Tested bool
	// Common is the best point with one share of αmax for all λ's, if the search continued from
	// that point: for [WeightedLasso] and with [SelectOptions].PerClass. Else nil.
	Common      *search.Evaluation
	NullValue   float64             // the criterion of the null model, which uses no column; NaN if the search ended before it was computed
	Sigma       float64             // the noise level of [SURE], [AIC] and [BIC]; 0 for other criteria
	Evaluations []search.Evaluation // all evaluations, in the order in which they were made
	Seen        search.Seen         // the range of the first λ that Auto has scanned, and the minima found
	// Status says why the search ended: Converged, NullModel if no λ beats the null model,
	// Stationary, Kink, Flat, Box, Exhausted, Budget, Cancelled, or Failed.
	Status outcome.Status
	// Err is the error of a failed evaluation or of saving the log, or says that ctx ended before
	// the refit or that the search ended before its first evaluation. nil otherwise.
	Err   error
	Final *Fitted // the refit on all rows at LogLambda; nil if there is no λ, or ctx ended before the refit
	// OneSE is the strongest penalty whose criterion is not clearly above the minimum by more
	// than a standard error over the folds; nil if it was not asked for, does not apply, or ctx
	// ended first. With [SelectOptions].TakeOneSE, LogLambda and Value are those of OneSE, and
	// Least is the minimum; else Least is nil.
	OneSE *search.Evaluation
	Least *search.Evaluation

	// Relaxed is Final refitted without penalty on its support; nil if it was not asked for, or ctx
	// ended first. RelaxedValue is the criterion of such refits in every fold, NaN for criteria on
	// all rows. If it is below Value, the chosen model shrinks too much.
	Relaxed      *Fitted
	RelaxedValue float64

	// Measures judge the predictions of held-out rows at LogLambda, if they were asked for: by
	// the model's loss, and for numbers also by the mean squared and absolute errors, for two
	// classes by the misclassification and the area under the ROC curve, and for models with a
	// predictor per class by the misclassification. nil for criteria on all rows, or if ctx ended
	// first.
	Measures []Measure

	// Folds has the fold of each row, in the format of [Validation].FoldIDs; nil for criteria on all
	// rows. It is not written to JSON.
	Folds []int `json:"-"`

	// SecondsRefit is the time that the refit took after the end of the search; with more threads
	// than folds the refit may have begun before.
	SecondsSearch, SecondsRefit, SecondsOneSE float64

	resume resumeState // the state that a selection with [SelectOptions].From continues from
}

// setChoice makes an evaluated point the choice.
func (s *Selection) setChoice(at search.Evaluation) {
	s.LogLambda, s.Value, s.StandardError, s.Gradient = at.LogLambda, at.Value, at.StandardError, at.Gradient
	s.Test, s.Tested = at.Test, at.Tested
}

// MarshalJSON writes the fields by their names, as encoding/json does, but writes null for numbers
// that are not finite, and Err as its text, so that every selection can be written.
func (s Selection) MarshalJSON() ([]byte, error) {
	fields := plain.Value(s).(map[string]any)
	fields["Err"] = nil
	if s.Err != nil {
		fields["Err"] = s.Err.Error()
	}
	return json.Marshal(fields)
}

// UnmarshalJSON reads what MarshalJSON wrote. A null becomes −Inf, a strength of 0, for λ and ln αmax,
// NaN for values of the criterion and gaps, and 0 for all other numbers; Err is an error with the same text.
func (s *Selection) UnmarshalJSON(text []byte) error {
	type fields Selection // without methods
	read := struct {
		*fields
		LogLambda, LogLambdaMax plain.LogLambda
		Err                     *string
	}{fields: (*fields)(s)}
	s.Value, s.NullValue, s.RelaxedValue = math.NaN(), math.NaN(), math.NaN() // null does not overwrite them
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	s.LogLambda, s.LogLambdaMax = read.LogLambda, read.LogLambdaMax
	if s.Err = nil; read.Err != nil {
		s.Err = errors.New(*read.Err)
	}
	return nil
}

// MarshalJSON writes the fields by their names, but writes null for numbers that are not finite,
// such as the αmax of an SVM and the gap of a model that is not convex.
func (f Fitted) MarshalJSON() ([]byte, error) { return plain.Marshal(f) }

// UnmarshalJSON reads what MarshalJSON wrote. A null becomes −Inf, a strength of 0, for λ and ln αmax,
// NaN for gaps, and 0 for all other numbers.
func (f *Fitted) UnmarshalJSON(text []byte) error {
	type fields Fitted // without methods
	read := struct {
		*fields
		LogLambda, LogLambdaMax plain.LogLambda
	}{fields: (*fields)(f)}
	f.Gap, f.RelativeGap = math.NaN(), math.NaN() // null does not overwrite them
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	f.LogLambda, f.LogLambdaMax = read.LogLambda, read.LogLambdaMax
	return nil
}

// MarshalJSON writes the fields by their names, but writes null for numbers that are not finite.
func (h Hypergradient) MarshalJSON() ([]byte, error) { return plain.Marshal(h) }

// MarshalJSON writes the fields by their names, but writes null for numbers that are not finite.
func (l LeftOut) MarshalJSON() ([]byte, error) { return plain.Marshal(l) }
