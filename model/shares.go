package model

import "github.com/seed-45b9a24c/pare/kernels"

// shareRows is the number of rows that are added to the tiles at once.
const shareRows = 256

// Sum sets out, q × q, to the sum of the curvatures of all rows, Σ wᵢ(diag pᵢ − pᵢpᵢᵀ).
func (m *Metric) Sum(k *kernels.Set, out []float64) {
	const lanes = kernels.Lanes
	q, n := m.Count, len(m.Weight)
	stride := (q + lanes - 1) / lanes * lanes
	products, panels := make([]float64, stride*stride), make([]float64, stride*shareRows)
	var x [lanes][]float64
	for l := range x {
		x[l] = make([]float64, shareRows)
	}
	pace := k.Pace()
	for from := 0; from < n; from += shareRows {
		rows := min(shareRows, n-from)
		pace.Did(rows * stride)
		share, weight, height := m.Share[from*q:][:rows*q], m.Weight[from:][:rows], lanes*rows
		for b := 0; b < stride; b += lanes {
			panel, width := panels[b*rows:][:height], min(lanes, q-b)
			for i := range weight {
				copy(panel[lanes*i:][:width], share[i*q+b:][:width])
				clear(panel[lanes*i+width:][:lanes-width])
			}
		}
		for a := 0; a < stride; a += lanes {
			panel := panels[a*rows:][:height]
			for l := range x {
				x[l] = x[l][:rows]
				for i, w := range weight {
					x[l][i] = w * panel[lanes*i+l]
				}
			}
			for b := a; b < stride; b += lanes {
				k.AddTile(&x, panels[b*rows:][:height], stride, products[a*stride+b:])
			}
		}
	}
	clear(out)
	for a := range q {
		for b := range a { // p sums to 1, so the diagonal follows from the other entries
			v := products[b*stride+a]
			out[a*q+b], out[b*q+a] = -v, -v
			out[a*q+a] += v
			out[b*q+b] += v
		}
	}
}
