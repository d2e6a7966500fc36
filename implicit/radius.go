package implicit

import "math"

// correlationRadius returns, for each column, how far its correlation zⱼ may be from that of the exact
// solution, given the gap. With a bound L of the loss's curvature that is ‖X̃_j‖√(2L·gap/N); without one, for
// a loss that is self-concordant with M,
//
//	√(2Hⱼⱼ·gap) + (M/3)·maxᵢ|xᵢⱼ|·gap,  H the curvature at the point,
//
// by Fenchel's inequality for the Bregman divergence of the loss, as in Bernstein's bound.
// A loss with neither has the radius +Inf.
func (s *Solver) correlationRadius(gap float64) func(j int32) float64 {
	if bound, ok := s.fit.Smoothness(); ok {
		radius := math.Sqrt(2 * gap * bound / s.view.Total())
		return func(j int32) float64 { return s.view.Norm(int(j)) * radius }
	}
	concordance, ok := 0.0, false
	if s.curved != nil {
		concordance, ok = s.curved.Concordance()
	}
	if !ok {
		return func(int32) float64 { return math.Inf(1) }
	}
	s.curved.Curvature(s.state, s.d)
	return func(j int32) float64 {
		curvature, largest := s.curvatureAlong(int(j))
		return math.Sqrt(2*gap*curvature) + float64(concordance/3*largest*gap)
	}
}

// curvatureAlong returns Hⱼⱼ, and the largest entry on rows with curvature, of a column
// centred on its mean by the curvature where there is an intercept.
func (s *Solver) curvatureAlong(j int) (curvature, largest float64) {
	var total, rest, sum float64 // Σdᵢ, the part of it on rows without an entry, Σdᵢxᵢ
	for _, d := range s.d {
		total += d
	}
	rest = total
	rows, values := s.view.Matrix().Column(j)
	row := func(at int) int {
		if rows == nil {
			return at
		}
		return int(rows[at])
	}
	scale := s.view.Scale(j)
	for at, x := range values {
		d := s.d[row(at)]
		rest -= d
		sum = math.FMA(d, x*scale, sum)
	}
	mean := 0.0
	if s.view.Centred() && total > 0 {
		mean = sum / total
	}
	curvature = max(0, rest) * mean * mean
	if len(values) < len(s.d) {
		largest = math.Abs(mean)
	}
	for at, x := range values {
		d, centred := s.d[row(at)], float64(x*scale)-mean
		curvature = math.FMA(float64(d*centred), centred, curvature)
		if d > 0 {
			largest = max(largest, math.Abs(centred))
		}
	}
	return curvature / s.view.Total(), largest
}
