package choose

import "github.com/seed-45b9a24c/pare/search"

// Vanishing lets the first strength of an objective vanish from a floor on down: in the
// coordinates returned, which at makes of λ, and whose evaluations lift names by λ.
func Vanishing(f search.Objective, floor float64) (in search.Objective, at func(lambda []float64) []float64, lift func(search.Evaluation) search.Evaluation) {
	v := vanishing{f, floor}
	return v, v.coordinates, v.lift
}

// RivalTo is rivalTo.
func RivalTo(best search.Evaluation, done []search.Evaluation) (rival search.Evaluation, across int, ok bool) {
	return rivalTo(best, done)
}

// Recalling is an objective that answers again what it has answered.
func Recalling(f Objective) search.Objective { return &recalling{Objective: f} }
