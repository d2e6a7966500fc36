package pare

import (
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Afford is the check of MaxBytes for a number of inner problems at once. It returns how many
// columns the Gram matrix of each may have.
func Afford(x sparse.Matrix, y []float64, c Config, problems int) (columns int, err error) {
	e := engine{config: c, family: c.Model.family()}
	e.of = e.statement(x, y)
	err = e.afford(problems, 0)
	return e.gram, err
}

// LeastGram is the number of columns that a Gram matrix may have in any case.
const LeastGram = inner.LeastGram
