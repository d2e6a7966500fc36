package model

// projectOntoSimplex sets w to the nearest point with w ≥ 0 and Σw = 1 (Held, Wolfe and Crowder,
// Mathematical Programming 6, 1974).
func projectOntoSimplex(w []float64) {
	top := largest(w)
	tau := thresholdOffset(w, top)
	for j, v := range w {
		w[j] = max(0, v-top-tau) // v − top is exact for entries near the largest, top + τ is not
	}
}

// largest returns the largest entry of v, which is not empty and has no NaN.
func largest(v []float64) float64 {
	top := v[0]
	for _, x := range v[1:] {
		if x > top {
			top = x
		}
	}
	return top
}

// SimplexThreshold returns the τ for which Σ(vⱼ − τ)₊ = 1: (v − τ)₊ is the projection of v onto
// the simplex. v must not be empty.
func SimplexThreshold(v []float64) (tau float64) {
	top := largest(v)
	return top + thresholdOffset(v, top)
}

// thresholdOffset returns the threshold minus the largest entry top. It removes entries that cannot exceed the threshold
// until there are none (Michelot, Journal of Optimization Theory and Applications 50, 1986), first all entries that are
// below the largest by 1 or more.
func thresholdOffset(v []float64, top float64) (tau float64) {
	var near []float64 // differences from the largest entry, which are exact for large, similar entries
	for _, x := range v {
		if d := x - top; d > -1 {
			near = append(near, d)
		}
	}
	for {
		sum := -1.0
		for _, d := range near {
			sum += d
		}
		tau = sum / float64(len(near))
		kept := 0
		for _, d := range near {
			if d > tau {
				near[kept] = d
				kept++
			}
		}
		if kept == len(near) {
			return tau
		}
		near = near[:kept]
	}
}

// SimplexLack returns the excess of ½‖w‖² − v'w over its minimum on the simplex, for a w on the simplex. It is
// the contribution to the duality gap of a w that is not the projection of v.
func SimplexLack(v, w []float64) (lack float64) {
	top := largest(v)
	tau := thresholdOffset(v, top)
	for j, w := range w {
		over := v[j] - top - tau
		off := w - max(0, over)
		lack += float64(0.5*off*off) + float64(max(0, -over)*w)
	}
	return lack
}

// projectOntoFace projects w onto the directions along the face of at: it subtracts the mean from the entries
// where at > 0, and sets the other entries to 0.
func projectOntoFace(at, w []float64) {
	var first, sum, count float64
	for j, v := range at {
		switch {
		case v <= 0:
		case count == 0:
			first, count = w[j], 1
		default:
			sum, count = sum+(w[j]-first), count+1
		}
	}
	for j, v := range at {
		if v > 0 {
			w[j] = w[j] - first - sum/count // the first difference is exact for similar entries
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
