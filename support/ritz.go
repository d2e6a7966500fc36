package support

import "math"

// ritz returns the smallest and largest eigenvalues of the Lanczos matrix that
// conjugate gradients built on the way: diagonal 1/stepᵢ + ratioᵢ₋₁/stepᵢ₋₁,
// off-diagonal √ratioᵢ/stepᵢ (Golub and Van Loan, Matrix Computations, 11.3).
// Without iterations both are 1, the value for a diagonal A.
func ritz(steps, ratios []float64) (smallest, largest float64) {
	m := len(steps)
	if m == 0 {
		return 1, 1
	}
	diagonal := func(i int) float64 {
		d := 1 / steps[i]
		if i > 0 {
			d += ratios[i-1] / steps[i-1]
		}
		return d
	}
	off := func(i int) float64 { // squared, between i and i+1
		return float64(ratios[i]/steps[i]) / steps[i]
	}
	// below counts the eigenvalues less than x: the negative pivots of T − xI.
	below := func(x float64) int {
		count, pivot := 0, 1.0
		for i := range m {
			d := diagonal(i) - x
			if i > 0 {
				d -= off(i-1) / pivot
			}
			if d == 0 {
				d = -math.SmallestNonzeroFloat64
			}
			if d < 0 {
				count++
			}
			pivot = d
		}
		return count
	}
	var bound float64 // by Gershgorin
	for i := range m {
		r := diagonal(i)
		if i > 0 {
			r += math.Sqrt(off(i - 1))
		}
		if i+1 < m {
			r += math.Sqrt(off(i))
		}
		bound = max(bound, r)
	}
	search := func(wanted int) float64 { // least x with wanted eigenvalues below it
		lo, hi := 0.0, bound*(1+1e-12)
		for range 60 {
			mid := float64(0.5 * (lo + hi))
			if below(mid) >= wanted {
				hi = mid
			} else {
				lo = mid
			}
		}
		return 0.5 * (lo + hi)
	}
	return search(1), search(m)
}
