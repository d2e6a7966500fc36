package pare

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Measure says how well held-out rows are predicted, by a criterion that need not be the one that
// λ was chosen by.
type Measure struct {
	Name  string  // the criterion, see [criterion.Named]; the value of "auc" is the area itself, not 1 minus the area
	Value float64 // the mean over the folds in which it is defined
}

// extraCriteria returns the criteria that judge a choice besides the model's own loss.
func extraCriteria(link loss.Link) []criterion.Criterion {
	switch {
	case link.Classes():
		return []criterion.Criterion{criterion.Misclassification{}, criterion.RankError{}}
	case link == loss.Identity:
		return []criterion.Criterion{criterion.MeanSquaredError{}, criterion.MeanAbsoluteError{}}
	default:
		return nil
	}
}

// measures judges predictions of held-out rows at the choice.
func (t *task) measures(ctx context.Context, v Validation, final *Fitted) ([]Measure, error) {
	e := t.engine
	held, err := t.heldOut(ctx, v, final)
	if err != nil {
		return nil, err
	}
	defer e.turn(ctx)()
	folds := held.rows(e.statement.Kernels, e.config.Weights)
	if e.family.classes {
		return held.ofClasses(e, folds), nil
	}
	score := held.scores
	own := e.Problem.(interface{ Judged() criterion.Criterion }).Judged()
	all := []criterion.Criterion{own}
	for _, c := range extraCriteria(e.family.link()) {
		if c.Name() != own.Name() {
			all = append(all, c)
		}
	}
	out := make([]Measure, 0, len(all))
	for _, c := range all {
		m := Measure{c.Name(), meanOverFolds(folds, func(rows []int32) float64 {
			return criterion.Eval(e.statement.Kernels, e.statement.Weighted(c), rows, e.statement.Y, score, nil, nil)
		})}
		if c.Name() == (criterion.RankError{}).Name() {
			m.Value = 1 - m.Value
		}
		out = append(out, m)
	}
	return out, nil
}

// heldOut predicts the held-out rows by the solutions of the folds at the chosen λ. If the problem
// does not have these solutions, it fits the folds anew with the final model as a warm start.
func (t *task) heldOut(ctx context.Context, v Validation, final *Fitted) (*predicted, error) {
	e := t.engine
	folds, ok := t.problem.(interface {
		HeldOut(ctx context.Context, logLambda []float64) ([]bilevel.Predicted, error)
	})
	if !ok || t.columns != nil || e.config.Method.iterdiffMethod() != nil {
		v.Loss = nil
		return e.outOfFold(ctx, final.LogLambda, v, refitOptions{from: final})
	}
	all, err := folds.HeldOut(ctx, final.LogLambda)
	if err != nil {
		return nil, err
	}
	defer e.turn(ctx)()
	held, pace := newPredicted(e.statement.Kernels, len(e.statement.Y), len(all)), e.statement.Kernels.Pace()
	held.classes = final.Classes
	for fold, of := range all {
		held.status[fold] = of.Status
		held.allocate(e.statement.Kernels, len(of.Scores))
		for at, i := range of.Rows {
			pace.Did(1)
			held.fold[i] = fold
			for k, scores := range of.Scores {
				held.rowScores(int(i))[k] = scores[at]
			}
		}
	}
	return held, nil
}

// meanOverFolds returns the mean of a value over the folds for which it is not NaN; NaN if there are none.
func meanOverFolds(folds [][]int32, value func(rows []int32) float64) float64 {
	var sum, count float64
	for _, rows := range folds {
		if v := value(rows); !math.IsNaN(v) {
			sum += v
			count++
		}
	}
	return sum / count
}

// ofClasses returns the measures for models with a score for each class.
func (p *predicted) ofClasses(e *engine, folds [][]int32) []Measure {
	pace := e.statement.Kernels.Pace()
	weight := func(i int32) float64 {
		if e.config.Weights == nil {
			return 1
		}
		return e.config.Weights[i]
	}
	wrong := func(rows []int32) float64 {
		var off, all float64
		for _, i := range rows {
			pace.Did(len(p.classes))
			best := 0
			scores := p.rowScores(int(i))
			for k, s := range scores {
				if s > scores[best] {
					best = k
				}
			}
			if all += weight(i); p.classes[best] != e.statement.Y[i] {
				off += weight(i)
			}
		}
		return off / all
	}
	entropy := func(rows []int32) float64 {
		var c criterion.CrossEntropy
		class, scores := make([]int32, len(rows)), make([][]float64, len(p.classes))
		for at, i := range rows {
			pace.Did(len(p.classes))
			c.Weights = append(c.Weights, weight(i))
			for k, label := range p.classes {
				scores[k] = append(scores[k], p.rowScores(int(i))[k])
				if label == e.statement.Y[i] {
					class[at] = int32(k)
				}
			}
		}
		return c.Eval(e.statement.Kernels, class, scores)
	}
	return []Measure{{"cross-entropy", meanOverFolds(folds, entropy)}, {(criterion.Misclassification{}).Name(), meanOverFolds(folds, wrong)}}
}

// checkSmooth refuses a criterion without a gradient; what names the method that needs the gradient.
func checkSmooth(c criterion.Criterion, what string) error {
	if criterion.Smooth(c) {
		return nil
	}
	return outcome.At(outcome.Usage, "validation-loss", "%s is piecewise constant, but %s needs a gradient; use --search %s, %s, %s or %s, or choose by the loss of the model: the result reports both",
		c.Name(), what, Grid, Random, Halton, TPE)
}
