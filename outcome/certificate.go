package outcome

// Certificate is what is known of how good a solution is, recomputed from the data at that
// very point.
type Certificate struct {
	Gap         float64 // duality gap, ≥ Φ − Φ*; with a bound of rounding where it is of sums over many rows
	RelativeGap float64 // relative to the objective of the null model; 0 where both are 0
	KKT         float64 // fixed-point residual of the optimality conditions
}

// Worst makes c the worse of two certificates, entry by entry, and the gaps' sum.
func (c *Certificate) Worst(other Certificate) {
	c.Gap += other.Gap
	c.RelativeGap = max(c.RelativeGap, other.RelativeGap)
	c.KKT = max(c.KKT, other.KKT)
}

// Effort counts what a solution took.
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
