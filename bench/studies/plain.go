package studies

import (
	"context"
	"fmt"
	"time"

	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// A plain coordinate descent represents "any solver's β": cyclic sweeps over all coordinates, without working
// sets, screening or certificates, as in a textbook.

// each calls f with the entries of a column.
func each(x sparse.Matrix, j int, f func(row int, value float64)) {
	rows, values := x.Column(j)
	for k, v := range values {
		if rows != nil {
			f(int(rows[k]), v)
		} else {
			f(k, v)
		}
	}
}

// plainly sweeps over the Lasso's columns and differentiates at the resulting β.
func (q *linear) plainly(ctx context.Context, epochs int, outer implicit.Outer, judge iterdiff.Outer) (seconds, gradient float64, err error) {
	if _, squared := q.fit.(*model.Squared); !squared {
		return 0, 0, fmt.Errorf("the plain descent covers the squared loss, not %T", q.fit)
	}
	view := q.fit.View()
	x, y, weights, total := view.Matrix(), q.fit.Target(), view.Weights(), view.Total()
	n, p := view.Dims()
	beta, residual := make([]float64, p), make([]float64, n) // the residual of all rows
	copy(residual, y)
	began := time.Now()
	for range epochs {
		for j := range p {
			norm := view.Norm(j)
			if norm == 0 {
				continue
			}
			lipschitz, slope := norm*norm/total, 0.0
			each(x, j, func(i int, v float64) {
				if weights == nil {
					slope += v * residual[i]
				} else {
					slope += v * residual[i] * weights[i]
				}
			})
			old := beta[j]
			beta[j] = q.penalty.Prox(j, old+slope/total/lipschitz, 1/lipschitz)
			if step := beta[j] - old; step != 0 {
				each(x, j, func(i int, v float64) { residual[i] -= step * v })
			}
		}
	}
	at := implicit.Point{KKT: -1}
	for j, b := range beta {
		if b != 0 {
			at.Support, at.Coef = append(at.Support, int32(j)), append(at.Coef, b)
		}
	}
	prediction := make([]float64, n)
	for i := range prediction {
		prediction[i] = y[i] - residual[i]
	}
	clear(outer.Slope)
	judge(prediction, outer.Slope)
	gradient, err = q.at(ctx, at, outer, 1e-10)
	return time.Since(began).Seconds(), gradient, err
}

// plainly sweeps over the SVM's samples.
func (q *svmProblem) plainly(ctx context.Context, epochs int, outer implicit.Outer, judge iterdiff.Outer) (seconds, gradient float64, err error) {
	n, p := q.fit.Dims()
	bound, err := q.fit.Strength(q.logC)
	if err != nil {
		return 0, 0, err
	}
	dual, w := make([]float64, n), make([]float64, p)
	began := time.Now()
	for range epochs {
		for i := range n {
			lipschitz, most := q.fit.Square(i), bound*q.fit.Weight(i)
			if lipschitz == 0 || most == 0 {
				continue
			}
			b := model.Clip(dual[i]+(1-q.fit.Margin(i, w))/lipschitz, most)
			if step := b - dual[i]; step != 0 {
				q.fit.Add(i, step, w)
				dual[i] = b
			}
		}
	}
	var at implicit.SVMPoint
	for i, b := range dual {
		switch most := bound * q.fit.Weight(i); {
		case most == 0 || b == 0:
		case b == most:
			at.Bound = append(at.Bound, int32(i))
		default:
			at.Free, at.Dual = append(at.Free, int32(i)), append(at.Dual, b)
		}
	}
	at.Predictions = make([]float64, n)
	for i, y := range q.fit.Labels() {
		at.Predictions[i] = y * q.fit.Margin(i, w)
	}
	clear(outer.Slope)
	judge(at.Predictions, outer.Slope)
	h, err := q.derivative.Solve(ctx, q.logC, at, outer, implicit.Options{Tol: 1e-10})
	if err != nil {
		return 0, 0, err
	}
	return time.Since(began).Seconds(), h.Gradient[0], nil
}
