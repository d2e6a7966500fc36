package implicit

import "github.com/seed-45b9a24c/pare/model"

// NewIterative is [New] for a solver that leaves small systems to conjugate gradients, too.
func NewIterative(fit model.Datafit) *Solver {
	s := New(fit)
	s.iterative = true
	return s
}
