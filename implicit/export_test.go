package implicit

import "github.com/seed-45b9a24c/pare/model"

// NewIterative is like [New], but its solver uses conjugate gradients for small systems, too.
func NewIterative(fit model.Datafit) *Solver {
	s := New(fit)
	s.iterative = true
	return s
}

// CurvatureAlong calls [Solver.curvatureAlong] with the given row weights.
func CurvatureAlong(s *Solver, d []float64, j int) (curvature, largest float64) {
	s.d = d
	return s.curvatureAlong(j)
}

// NewIterativeVectors is like [NewVectors], but its solver uses conjugate gradients for systems of any size.
func NewIterativeVectors(fit *model.Vectors) *Vectors {
	s := NewVectors(fit)
	s.system.largest = 0
	return s
}
