package model

import "math"

// Separable is a penalty Σ gⱼ(βⱼ) at one λ on single coefficients, with kinks at 0, convex or not.
// [Elementwise] turns it into a penalty on blocks, for the solvers and derivatives of [Blocks].
type Separable interface {
	// Hyperparameters returns r.
	Hyperparameters() int
	// Value returns gⱼ(b).
	Value(j int, b float64) float64
	// Prox returns prox_{γgⱼ}(z), the minimiser of (b − z)²/2γ + gⱼ(b) for the step γ, and its
	// derivative in z, which is 0 exactly where the coefficient stays at 0.
	Prox(j int, z, step float64) (value, slope float64)
	// Strength returns α, the slope at 0 in every column: a coefficient stays at 0 while |z| ≤ α.
	Strength() float64
	// Slope returns gⱼ′(b) where b ≠ 0.
	Slope(j int, b float64) float64
	// Shift returns −∂gⱼ′(b)/∂λᵢ where b ≠ 0.
	Shift(j, i int, b float64) float64
	// Curvature returns gⱼ″(b) where it exists, negative where gⱼ is concave, and 0 at a
	// kink.
	Curvature(j int, b float64) float64
	// LargestStep returns a bound that steps must stay below for the prox to be single-valued;
	// +Inf for a convex penalty.
	LargestStep() float64
}

// Elementwise is a separable penalty as a penalty on the blocks of [Singletons]: block j is column j.
type Elementwise struct{ Of Separable }

// Hyperparameters implements [Blocks].
func (g Elementwise) Hyperparameters() int { return g.Of.Hyperparameters() }

// Concavity implements [Blocks].
func (g Elementwise) Concavity() float64 { return 1 / g.Of.LargestStep() }

// Value implements [Blocks].
func (g Elementwise) Value(j int, b []float64) float64 { return g.Of.Value(j, b[0]) }

// Prox implements [Blocks].
func (g Elementwise) Prox(j int, z []float64, step float64, out []float64) {
	out[0], _ = g.Of.Prox(j, z[0], step)
}

// Lack implements [Blocks].
func (g Elementwise) Lack(j int, b, z, out []float64) {
	if b[0] == 0 {
		out[0] = SoftThreshold(z[0], g.Of.Strength())
	} else {
		out[0] = z[0] - g.Of.Slope(j, b[0])
	}
}

// Judge sets lack[j] = |[Elementwise.Lack]| for some columns j, from the coefficients b and the
// correlations z. It returns the largest of them and the least [Elementwise.Clearance].
func (g Elementwise) Judge(columns []int32, b, z, lack []float64) (worst, clearance float64) {
	largest, strength := 0.0, g.Of.Strength() // largest is over the columns at 0
	for _, column := range columns {
		j := int(column)
		if b[j] != 0 {
			lack[j] = math.Abs(z[j] - g.Of.Slope(j, b[j]))
			worst = max(worst, lack[j])
			continue
		}
		size := math.Abs(z[j])
		if lack[j] = 0; !(size <= strength) { // keeps NaN
			lack[j] = size - strength
		}
		largest = max(largest, size)
	}
	return max(worst, largest-strength), min(1, 1-largest/strength)
}

// Curvature implements [Blocks].
func (g Elementwise) Curvature(j int, b, h []float64) { h[0] += g.Of.Curvature(j, b[0]) }

// Sensitivity implements [Blocks].
func (g Elementwise) Sensitivity(j, i int, b, out []float64) {
	if out[0] = 0; b[0] != 0 {
		out[0] = g.Of.Shift(j, i, b[0])
	}
}

// Kinked implements [Blocks].
func (g Elementwise) Kinked(int, int) bool { return true }

// Clearance implements [Blocks].
func (g Elementwise) Clearance(j int, b, z []float64) float64 {
	if b[0] != 0 {
		return 1
	}
	return 1 - math.Abs(z[0])/g.Of.Strength()
}
