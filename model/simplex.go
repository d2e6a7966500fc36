package model

import "slices"

// projectOntoSimplex sets w to the nearest point with w ≥ 0 and Σw = 1 (Held, Wolfe and Crowder,
// Mathematical Programming 6, 1974).
func projectOntoSimplex(w []float64) {
	threshold := SimplexThreshold(w)
	for j, v := range w {
		w[j] = max(0, v-threshold)
	}
}

// SimplexThreshold returns the τ for which Σ(vⱼ − τ)₊ = 1: the projection of v onto the simplex.
func SimplexThreshold(v []float64) (tau float64) {
	sorted := slices.Clone(v)
	slices.Sort(sorted)
	var sum float64 // of what exceeds the largest, which is exact where they are large and alike
	top := len(sorted) - 1
	for k := top; k >= 0; k-- {
		sum += sorted[k] - sorted[top]
		count := float64(top - k + 1)
		if k == 0 || sorted[k-1]-sorted[top] <= (sum-1)/count {
			return sorted[top] + (sum-1)/count
		}
	}
	return 0
}

// alongFace sets w to its part in the directions in which the entries where at > 0 keep their sum.
func alongFace(at, w []float64) {
	var sum, count float64
	for j, v := range at {
		if v > 0 {
			sum, count = sum+w[j], count+1
		}
	}
	for j, v := range at {
		if v > 0 {
			w[j] -= sum / count
		} else {
			w[j] = 0
		}
	}
}

func subtractMean(v []float64) {
	var sum float64
	for _, x := range v {
		sum += x
	}
	for k := range v {
		v[k] -= sum / float64(len(v))
	}
}
