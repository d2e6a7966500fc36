package criterion

import (
	"errors"
	"reflect"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Check returns an error if a criterion cannot judge the rows with targets y: if it is not defined for
// a target (the error then has the row), if it cannot take the weights of the rows, if it has weights of
// its own as well as the rows or not one for each row, or if it is a nil pointer or function. A nil
// criterion stands for a model's own loss, which is always valid. Check ends with k, as [Eval] does. The
// error is an [outcome.Error] about the flag "validation-loss".
func Check(k *kernels.Set, c Criterion, y, weights []float64) error {
	if c != nil && isNil(c) {
		return outcome.At(outcome.BadParameter, "validation-loss", "must not be a nil pointer or function")
	}
	switch c := c.(type) {
	case nil, MeanSquaredError, MeanAbsoluteError:
		return nil
	case Misclassification, RankError:
		err := loss.CheckTarget(k, loss.Logistic{}, y)
		if e, ok := errors.AsType[*outcome.Error](err); ok {
			e.Flag, e.Message = "validation-loss", "the criterion "+c.Name()+" cannot judge this row: "+e.Message
		}
		return err
	case rowwise:
		err := loss.CheckTarget(k, c.loss, y)
		if e, ok := errors.AsType[*outcome.Error](err); ok {
			e.Flag, e.Message = "validation-loss", "the criterion "+c.name+" cannot judge this row: "+e.Message
		}
		return err
	case Weighted:
		switch {
		case weights != nil:
			return outcome.At(outcome.Usage, "validation-loss", "%s has its own weights and cannot be used with weighted rows", c.Name())
		case c.Weights != nil && len(c.Weights) != len(y):
			return outcome.At(outcome.Shape, "validation-loss", "%s has %d weights for %d rows; there must be one per row", c.Name(), len(c.Weights), len(y))
		}
		return Check(k, c.Criterion, y, nil)
	default:
		if weights != nil {
			return outcome.At(outcome.Usage, "validation-loss", "%s does not take row weights; the losses of package criterion do, and so does criterion.Of a loss of your own", c.Name())
		}
		return nil
	}
}

// isNil reports whether a criterion is nil, a nil pointer or function, or weights one of these.
func isNil(c Criterion) bool {
	switch c := c.(type) {
	case nil:
		return true
	case Weighted:
		return isNil(c.Criterion)
	case function:
		return c.loss == nil
	default:
		of := reflect.ValueOf(c)
		return of.Kind() == reflect.Pointer && of.IsNil()
	}
}
