package model

import "math"

// Concave is a [Separable] that is concave away from 0: a solver of blocks takes it a
// coefficient at a time, see [Singly].
type Concave interface {
	Separable
	// Strength returns α, the slope at 0: a coefficient stays there while |z| ≤ α.
	Strength() float64
	// Slope returns gⱼ′(b) where b ≠ 0.
	Slope(b float64) float64
	// Shift returns −∂gⱼ′(b)/∂λᵢ where b ≠ 0.
	Shift(i int, b float64) float64
}

// Singly is a concave penalty as one on blocks of one coefficient each.
type Singly struct{ Of Concave }

// Hyperparameters implements [Blocks].
func (g Singly) Hyperparameters() int { return g.Of.Hyperparameters() }

// Concavity implements [Blocks].
func (g Singly) Concavity() float64 { return 1 / g.Of.LargestStep() }

// Value implements [Blocks].
func (g Singly) Value(block int, b []float64) float64 { return g.Of.Value(block, b[0]) }

// Prox implements [Blocks].
func (g Singly) Prox(block int, z []float64, step float64, out []float64) {
	out[0], _ = g.Of.Prox(block, z[0], step)
}

// Lack implements [Blocks].
func (g Singly) Lack(_ int, b, z, out []float64) {
	if b[0] == 0 {
		out[0] = SoftThreshold(z[0], g.Of.Strength())
	} else {
		out[0] = z[0] - g.Of.Slope(b[0])
	}
}

// Curvature implements [Blocks].
func (g Singly) Curvature(block int, b, h []float64) { h[0] += g.Of.Curvature(block, b[0]) }

// Sensitivity implements [Blocks].
func (g Singly) Sensitivity(_, i int, b, out []float64) {
	if out[0] = 0; b[0] != 0 {
		out[0] = g.Of.Shift(i, b[0])
	}
}

// Clearance implements [Blocks].
func (g Singly) Clearance(_ int, b, z []float64) float64 {
	if b[0] != 0 {
		return 1
	}
	return 1 - math.Abs(z[0])/g.Of.Strength()
}
