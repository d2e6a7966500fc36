package iterdiff

import (
	"math"

	"github.com/seed-45b9a24c/pare/model"
)

// evaluation holds the current point as the criterion and the caller need it, and the gradient there.
type evaluation struct {
	h               []float64 // the gradient
	gradientChanges convergence
	change          float64 // estimate of the remaining distance

	point                         *model.State
	support                       []int32
	coef, primal                  []float64
	prediction, slope, outerSlope []float64
	outerSlopeSum, value          float64
	progress                      Progress
	out                           Result
}

// certificate holds the optimality measures of a point, recomputed from X.
type certificate struct {
	gap           float64 // relative to P₀
	kkt           float64 // max ρⱼ
	margin        float64 // the least relative distance of a coordinate off the support from joining it
	entryDistance float64 // the least such distance in the units of kkt
}

// certify computes the certificate of the current point, in a pass over X.
func (e *engine) certify() certificate {
	if e.svm != nil {
		return e.certifyBox()
	}
	e.listSupport()
	cols, coef := e.support, e.coef
	e.point.Intercept = 0 // results must not depend on the previous point
	e.fit.Fit(cols, coef, e.point)
	view := e.fit.View()
	dual := model.NewDual(e.fit, e.penalty, e.point)
	c := certificate{margin: 1, entryDistance: math.Inf(1)}
	for _, j := range view.Matrix().Order() {
		z := view.Dot(int(j), e.point.Weighted) / view.Total()
		b := e.now.beta[j]
		dual.Add(int(j), z, b, view.Norm(int(j)))
		if alpha := e.penalty.Alpha(int(j)); b == 0 && alpha != 0 && !math.IsInf(alpha, 1) {
			lack := alpha - e.penalty.Pull(int(j), z)
			c.entryDistance = min(c.entryDistance, lack)
			c.margin = min(c.margin, lack/alpha)
		}
	}
	c.kkt = dual.KKT()
	c.gap = relative(e.fit.Gap(&dual, e.point), e.fit.Null())
	return c
}

func (e *engine) certifyBox() certificate {
	e.listSupport()
	e.svm.SetPrimal(e.support, e.coef, e.primal)
	var dual model.BoxDual
	c := certificate{margin: 1, entryDistance: math.Inf(1)}
	for i, b := range e.now.beta {
		bound := e.upperBound(int32(i))
		if bound == 0 {
			continue
		}
		m := e.svm.Margin(i, e.primal)
		dual.Add(m, b, bound, e.svm.Square(i))
		if b == 0 || b == bound {
			c.entryDistance = min(c.entryDistance, math.Abs(1-m))
			c.margin = min(c.margin, math.Abs(1-m))
		}
	}
	c.kkt = dual.KKT()
	c.gap = relative(dual.Gap(), e.svm.Null(e.c))
	return c
}

func relative(gap, null float64) float64 {
	if gap <= 0 {
		return 0
	}
	return gap / null
}

// listSupport sets support and coef to the coefficients that are not 0, ascending.
func (e *engine) listSupport() {
	e.support, e.coef = e.support[:0], e.coef[:0]
	for j, b := range e.now.beta {
		if b != 0 && int32(j) != e.unpenalised {
			e.support, e.coef = append(e.support, int32(j)), append(e.coef, b)
		}
	}
}

// evalOuter evaluates the criterion at the current point: its value, and its gradient in the predictions as a
// vector over the rows of Z.
func (e *engine) evalOuter() {
	clear(e.slope)
	if e.svm != nil {
		for _, i := range e.x.Order() {
			rows, values, _ := e.column(i)
			e.prediction[i] = -e.dot(rows, values, e.now.e)
		}
		e.value = e.outer(e.prediction, e.slope)
		clear(e.outerSlope)
		for _, i := range e.x.Order() {
			if e.slope[i] != 0 {
				rows, values, _ := e.column(i)
				e.addScaled(e.slope[i], rows, values, e.outerSlope)
			}
		}
		return
	}
	if e.loss != nil {
		copy(e.prediction, e.now.m)
	} else {
		for i, y := range e.y {
			e.prediction[i] = y - (e.now.e[i] + e.now.offset)
		}
	}
	e.value = e.outer(e.prediction, e.slope)
	e.outerSlopeSum = 0
	for _, v := range e.slope {
		e.outerSlopeSum += v
	}
}
