package cd

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// vectorsSides sweeps over the dual of regression without an intercept (Ho and Lin, Journal of
// Machine Learning Research 13, 2012), as an SVM's: over a variable β ≥ 0 for each side σ of the
// tube of a row, aᵢ = βᵢ⁺ − βᵢ⁻, whose margin is σyᵢ − ε. The sides of row list[k] are variables
// 2k and 2k + 1.
type vectorsSides struct {
	sweeper
	at []kernels.BoxVariable
	w  []float64
}

// sweep goes on by sweeps while they are cheaper than the interior-point method, and reports
// whether the gap is the tolerance.
func (s *Vectors) sweep(ctx context.Context, tol float64, opts Options) bool {
	if s.fit.Centred() || s.fit.Classes() || len(s.columns) == 0 {
		return false
	}
	v, price := &s.sides, s.inside.price(s)
	s.beginSweeps()
	v.start(opts)
	s.k.Copy(s.a, s.sol.Dual)
	s.evaluate()
	for s.bestGap > tol && v.left > 0 {
		for i, row := range kernels.Each(s.k, s.list) {
			m := s.m[row]
			v.margin[2*i], v.margin[2*i+1] = m, -m
		}
		copy(v.w, s.w)
		v.activate()
		for goal := v.factor * tol; ; {
			v.left -= float64(len(v.live)) / float64(len(v.at))
			s.sol.Epochs++
			if !v.epoch(ctx) || v.hopeless(v.e.Gap, goal, price) {
				v.left = 0
			}
			s.sol.Work += v.cost
			if v.e.Gap <= goal || v.left <= 0 {
				break
			}
		}
		v.factor = max(leastTry, nextTry*v.factor)
		for k, i := range kernels.Each(s.k, s.list) {
			s.a[i] = v.at[2*k].Value - v.at[2*k+1].Value
		}
		s.evaluate()
	}
	return s.bestGap <= tol
}

// beginSweeps states the problem to the sweeper, at the point at hand.
func (s *Vectors) beginSweeps() {
	v := &s.sides
	if v.at == nil {
		samples := sparse.Transpose(s.fit.Matrix())
		features, values := samples.Arrays()
		values = s.scaled(features, values)
		v.at, v.w = make([]kernels.BoxVariable, 2*len(s.list)), make([]float64, s.p)
		e := kernels.BoxEpoch{Features: features, Values: values, At: v.at, W: v.w}
		for _, i := range kernels.Each(s.k, s.list) {
			from, to := samples.Span(int(i))
			e.From, e.To = append(e.From, from, from), append(e.To, to, to)
		}
		v.init(s.k, e, make([]float64, 2*len(s.list)))
	}
	for k := range v.at {
		i := s.list[k/2]
		sign := float64(1 - 2*(k%2))
		_, bound := s.fit.Interval(int(i), s.c)
		margin, value := float64(sign*s.fit.Target()[i])-s.epsilon, max(0, float64(sign*s.sol.Dual[i]))
		inverse := 1 / s.square[i]
		if math.IsInf(inverse, 1) { // no w changes what it predicts
			if inverse, value = 0, 0; margin > 0 {
				value = bound
			}
		}
		v.at[k] = kernels.BoxVariable{Sign: sign, Inverse: inverse, Bound: bound, Value: value, Margin: margin}
	}
}

// scaled returns the values of samples times the scales of their columns.
func (s *Vectors) scaled(features []int32, values []float64) []float64 {
	if !s.fit.Scaled() {
		return values
	}
	values = slices.Clone(values)
	for k := range values {
		j := k % s.p
		if features != nil {
			j = int(features[k])
		}
		values[k] *= s.fit.Scale(j)
	}
	return values
}
