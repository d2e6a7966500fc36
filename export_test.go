package pare

import "github.com/seed-45b9a24c/pare/sparse"

// Afford is the check of MaxBytes for a number of inner problems at once.
func Afford(x sparse.Matrix, y []float64, c Config, problems int) error {
	return (&engine{config: c, x: x, y: y}).afford(problems)
}
