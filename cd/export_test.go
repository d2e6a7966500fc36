package cd

// RidgeWays is the number of ways in which a ridge is solved.
const RidgeWays = 3

// ForceRidge makes a solver take one of them.
func ForceRidge(s *Solver, way int) {
	s.plan()
	s.ridge.way = ridgeWay(way)
}

// Thinned reports whether the last Solve made a model of some of the rows.
func Thinned(s *Solver) bool { return s.thinning.draw != 0 }
