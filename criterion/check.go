package criterion

import (
	"errors"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Check refuses a criterion that cannot judge rows with such targets, with the row, or
// that cannot be told their weights. nil stands for a model's own loss, which can. It ends with k, which may be nil. The
// error is an [outcome.Error] about the flag "validation-loss".
func Check(k *kernels.Set, c Criterion, y, weights []float64) error {
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
	default:
		if weights != nil {
			return outcome.At(outcome.Usage, "validation-loss", "%s cannot be told the weights of rows; the losses of package criterion can", c.Name())
		}
		return nil
	}
}
