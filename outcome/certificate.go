package outcome

// Certificate says how good a solution is. It is recomputed from the data at that very
// solution.
type Certificate struct {
	Gap         float64 // duality gap, ≥ Φ − Φ*; includes a bound of rounding errors if computed from sums over many rows
	RelativeGap float64 // relative to the objective of the null model; 0 where both are 0
	KKT         float64 // fixed-point residual of the optimality conditions
}

// Worst sets c to the worse of two certificates, entry by entry, and Gap to the sum of their gaps.
func (c *Certificate) Worst(other Certificate) {
	c.Gap += other.Gap
	c.RelativeGap = max(c.RelativeGap, other.RelativeGap)
	c.KKT = max(c.KKT, other.KKT)
}

// Effort counts the work of a solution.
type Effort struct {
	Epochs int // sweeps over working sets
	Passes int // passes over all of X; those over a part of its rows count for that part, rounded up
	Steps  int // Newton steps, and steps of a homotopy
}

// Add adds another effort.
func (e *Effort) Add(other Effort) {
	e.Epochs += other.Epochs
	e.Passes += other.Passes
	e.Steps += other.Steps
}
