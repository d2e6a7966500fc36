package pare

import (
	"errors"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// bounded reports bounds on coefficients, other than β ≥ 0 alone.
func (c Config) bounded() bool { return c.Lower != nil || c.Upper != nil }

// checkBounds refuses bounds that are none, or none for the model, and takes them over, with
// β ≥ 0 as one of them.
func (e *engine) checkBounds() error {
	c := e.config
	if !c.bounded() {
		return nil
	}
	_, p := e.x.Dims()
	for flag, list := range map[string][]float64{"lower": c.Lower, "upper": c.Upper} {
		if list != nil && len(list) != p {
			return outcome.At(outcome.Shape, flag, "%d bounds for %d columns; there must be one a column", len(list), p)
		}
	}
	flag := "lower"
	if c.Lower == nil {
		flag = "upper"
	}
	if !e.family.positive {
		return outcome.At(outcome.Usage, flag, "%s has no bounds; the models with an ℓ1 penalty have them", c.Model)
	}
	lower := slices.Clone(c.Lower)
	if c.Positive && lower == nil {
		lower = make([]float64, p)
	}
	for j, l := range lower {
		if c.Positive {
			lower[j] = max(0, l)
		}
	}
	var err error
	if e.box, err = model.NewBox(lower, c.Upper); err != nil {
		if of := (*outcome.Error)(nil); errors.As(err, &of) {
			of.Flag = flag
		}
	}
	return err
}

// bound returns the bound of a column that a coefficient is at, to rounding.
func (c Config) bound(j int, b float64) float64 {
	list := c.Upper
	if b < 0 {
		list = c.Lower
	}
	if list == nil || math.IsInf(list[j], 0) {
		return b
	}
	return list[j]
}
