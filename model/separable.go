package model

// Separable is a penalty Σ gⱼ(βⱼ) at one λ, known a coefficient at a time: what a solver
// and a derivative need of a penalty that is not a [Penalty]. gⱼ need not be convex. cd's
// solver of such penalties minimises under it, and implicit.Generic differentiates.
type Separable interface {
	// Hyperparameters returns r.
	Hyperparameters() int
	// Value returns gⱼ(b).
	Value(j int, b float64) float64
	// Prox returns prox_{γgⱼ}(z), the minimiser of (b − z)²/2γ + gⱼ(b) for the step γ, and its
	// derivative in z, which is 0 exactly where the coefficient stays where it is.
	Prox(j int, z, step float64) (value, slope float64)
	// Sensitivity returns ∂prox_{γgⱼ}(z)/∂λᵢ.
	Sensitivity(j, i int, z, step float64) float64
	// Stationarity returns how far z is from the subdifferential of gⱼ at b: with
	// z = −∂f/∂βⱼ it is 0 where the coefficient is stationary.
	Stationarity(j int, b, z float64) float64
	// Curvature returns gⱼ″(b) where it exists, negative where gⱼ is concave, and 0 at a
	// kink.
	Curvature(j int, b float64) float64
	// LargestStep returns a bound that steps must stay below for the prox to have one
	// value; +Inf for a convex penalty.
	LargestStep() float64
}
