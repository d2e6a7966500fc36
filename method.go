package pare

import (
	"slices"

	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Method says how hypergradients are computed: from the solution, or along the
// iterates of a descent, forward with them or backward from the last. The descents
// are proximal gradient and proximal coordinate descent (algorithms 1 to 4 of the
// paper); they start from β = 0 and are there for comparison.
type Method string

// The methods.
const (
	Implicit    Method = "implicit"
	ForwardPGD  Method = "forward-pgd"
	BackwardPGD Method = "backward-pgd"
	ForwardPCD  Method = "forward-cd"
	BackwardPCD Method = "backward-cd"
)

// Methods lists the methods there are.
func Methods() []Method { return []Method{Implicit, ForwardPGD, BackwardPGD, ForwardPCD, BackwardPCD} }

// iterate returns the method of package iterdiff, nil for implicit differentiation.
func (m Method) iterate() *iterdiff.Method {
	var of iterdiff.Method
	switch m {
	case ForwardPGD:
		of = iterdiff.ForwardPGD
	case BackwardPGD:
		of = iterdiff.BackwardPGD
	case ForwardPCD:
		of = iterdiff.ForwardPCD
	case BackwardPCD:
		of = iterdiff.BackwardPCD
	default:
		return nil
	}
	return &of
}

func (e *engine) checkMethod() error {
	switch m := e.config.Method; {
	case m != "" && !slices.Contains(Methods(), m):
		return outcome.At(outcome.Usage, "method", "no method %q; there are %v", m, Methods())
	case m.iterate() != nil && e.config.Standardize:
		return outcome.At(outcome.Usage, "method", "standardised columns go with method %s only", Implicit)
	case m.iterate() != nil && e.config.PenaltyFactors != nil:
		return outcome.At(outcome.Usage, "method", "penalty factors go with method %s only", Implicit)
	case m.iterate() != nil && e.config.bounded():
		return outcome.At(outcome.Usage, "method", "bounds go with method %s only", Implicit)
	case m.iterate() != nil && (e.family.classes || e.family.blocks != nil):
		return outcome.At(outcome.Usage, "method", "%s goes with method %s only", e.config.Model, Implicit)
	case m.iterate() != nil && !e.family.smooth():
		return outcome.At(outcome.Usage, "method", "steps of a descent are 1/L, and the curvature of the %s loss has no bound L; %s needs none", e.family.lossName(), Implicit)
	default:
		return nil
	}
}
