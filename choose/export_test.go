package choose

import "github.com/seed-45b9a24c/pare/search"

// Vanishing changes the coordinate of the first strength so that the strength reaches 0 at a finite distance below
// a floor. at maps λ to the coordinates of the objective in, and lift expresses an evaluation in terms of λ.
func Vanishing(f search.Objective, floor float64) (in search.Objective, at func(lambda []float64) []float64, lift func(search.Evaluation) search.Evaluation) {
	v := vanishing{f, floor}
	return v, v.coordinates, v.lift
}

// RivalTo exports rivalTo.
func RivalTo(best search.Evaluation, done []search.Evaluation) (rival search.Evaluation, across int, ok bool) {
	return rivalTo(best, done)
}

// Recalling returns an objective that remembers its answers.
func Recalling(f Objective) search.Objective { return &caching{Objective: f} }
