package model_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
)

// TestCurvatureOfScoresIsSummedOverRows checks Σ wᵢ(diag pᵢ − pᵢpᵢᵀ), computed by tiles of scores and of rows,
// against a plain loop, including rows of weight 0.
func TestCurvatureOfScoresIsSummedOverRows(t *testing.T) {
	r := oracle.NewRandom(61)
	for _, q := range []int{2, 3, 8, 10, 17} {
		const n = 600
		m := model.Metric{Count: q, Weight: make([]float64, n), Share: make([]float64, n*q)}
		want := make([]float64, q*q)
		for i := range n {
			m.Weight[i] = float64(r.Intn(3))
			p, total := m.Share[i*q:][:q], 0.0
			for k := range p {
				p[k] = math.Exp(3 * r.Normal())
				total += p[k]
			}
			for k := range p {
				p[k] /= total
			}
			for a, v := range p {
				for b, u := range p {
					if want[a*q+b] -= m.Weight[i] * v * u; a == b {
						want[a*q+b] += m.Weight[i] * v
					}
				}
			}
		}
		got := make([]float64, q*q)
		m.Sum(fixture.Kernels(t), got)
		for k, v := range want {
			if !(math.Abs(got[k]-v) <= 1e-12*n) {
				t.Errorf("%d scores, entry %d: %g, want %g", q, k, got[k], v)
			}
		}
	}
}
