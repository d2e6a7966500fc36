package implicit

import "github.com/seed-45b9a24c/pare/model"

// NewIterative is [New] for a solver that leaves small systems to conjugate gradients, too.
func NewIterative(fit model.Datafit) *Solver {
	s := New(fit)
	s.iterative = true
	return s
}

// CurvatureAlong is [Solver.curvatureAlong] with given weights of rows.
func CurvatureAlong(s *Solver, d []float64, j int) (curvature, largest float64) {
	s.d = d
	return s.curvatureAlong(j)
}

// NewIterativeVectors is [NewVectors] for a solver that leaves systems of any size to conjugate gradients.
func NewIterativeVectors(fit *model.Vectors) *Vectors {
	s := NewVectors(fit)
	s.system.most = 0
	return s
}
