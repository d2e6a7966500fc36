package pare

import "github.com/seed-45b9a24c/pare/iterdiff"

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
