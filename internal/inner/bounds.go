package inner

import (
	"errors"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// hasBounds reports that coefficients have bounds other than β ≥ 0 alone.
func (s *Statement) hasBounds() bool { return s.Lower != nil || s.Upper != nil }

// checkBounds returns an error for bounds that are invalid or not available for the model, and stores valid
// ones, combined with β ≥ 0, in Box.
func (s *Statement) checkBounds() error {
	if !s.hasBounds() {
		return nil
	}
	_, p := s.X.Dims()
	for k, list := range [][]float64{s.Lower, s.Upper} {
		if list != nil && len(list) != p {
			return outcome.At(outcome.Shape, []string{"lower", "upper"}[k], "%d bounds for %d columns; there must be one per column", len(list), p)
		}
	}
	flag := "lower"
	if s.Lower == nil {
		flag = "upper"
	}
	if !s.Form.NonNegative {
		return outcome.At(outcome.Usage, flag, "%s does not support bounds; models with an ℓ1 penalty do", s.Name)
	}
	lower := slices.Clone(s.Lower)
	if s.Positive && lower == nil {
		lower = make([]float64, p)
	}
	for j, l := range lower {
		if s.Positive {
			lower[j] = max(0, l)
		}
	}
	var err error
	if s.Box, err = model.NewBox(lower, s.Upper); err != nil {
		if of := (*outcome.Error)(nil); errors.As(err, &of) {
			of.Flag = flag
		}
	}
	return err
}

// atBound returns the bound of column j that the coefficient b is at, to rounding.
func (s *Statement) atBound(j int, b float64) float64 {
	list := s.Upper
	if b < 0 {
		list = s.Lower
	}
	if list == nil || math.IsInf(list[j], 0) {
		return b
	}
	return list[j]
}
