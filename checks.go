package pare

import (
	"slices"

	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/outcome"
)

// checkConfig refuses options that the model does not have.
func (e *engine) checkConfig() error {
	switch c, f := e.config, e.family; {
	case c.Offset != nil && !f.offset():
		return outcome.At(outcome.Usage, "offset", "%s has no offset; the models with one predictor and a penalty on columns have one", c.Model)
	case c.Offset != nil && c.Method.iterdiffMethod() != nil:
		return outcome.At(outcome.Usage, "method", "offsets go with method %s only", Implicit)
	case c.Positive && !f.form.NonNegative:
		return outcome.At(outcome.Usage, "positive", "%s has no constraint β ≥ 0; the models whose penalty is the ℓ1 norm or an elastic net have it, but for the multinomial ones", c.Model)
	}
	for _, check := range []func() error{e.checkShapes, e.checkGroups, e.checkVectors, e.checkMethod, e.checkClassWeights} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkShapes refuses invalid parameters of the penalty, and parameters that it does not have.
func (e *engine) checkShapes() error {
	own := e.family.shape().Flag
	if own != "" {
		switch v := e.parameter(); {
		case own == inner.Tau && !(v > 0 && v <= 1):
			return outcome.At(outcome.BadParameter, own, "the share of the ℓ1 term must be above 0 and at most 1, got %g", v)
		case !(v > 0):
			return outcome.At(outcome.BadParameter, own, "must be positive, got %g", v)
		}
	}
	for _, flag := range []string{inner.Gamma, inner.A, inner.Tau} {
		if e.config.parameter(flag) != 0 && flag != own {
			return outcome.At(outcome.Usage, flag, "%s has no such parameter", e.config.Model)
		}
	}
	return nil
}

// checkGroups refuses groups of columns if the penalty has none.
func (e *engine) checkGroups() error {
	flag := ""
	switch c := e.config; {
	case e.family.grouped():
	case c.Groups != nil:
		flag = "column-groups"
	case c.GroupWeights != nil:
		flag = "group-weights"
	}
	if flag == "" {
		return nil
	}
	return outcome.At(outcome.Usage, flag, "%s has no groups of columns; %s, %s, %s and %s have", e.config.Model, GroupLasso, GroupNet, SparseGroup, SparseGroupPair)
}

// checkVectors refuses options that support vectors, or models with an intercept by default, do not have.
func (e *engine) checkVectors() error {
	switch c := e.config; {
	case c.Intercept && e.family.simplex:
		return outcome.At(outcome.Usage, "intercept", "%s has none: its coefficients have the sum 1", c.Model)
	case c.Standardize && e.family.simplex:
		return outcome.At(outcome.Usage, "standardize", "the coefficients of %s have the sum 1 as they are; scale the columns before", c.Model)
	case c.Intercept && !e.family.optionalIntercept:
		return outcome.At(outcome.Usage, "intercept", "%s has an intercept unless NoIntercept says otherwise", c.Model)
	case c.Intercept && c.NoIntercept:
		return outcome.At(outcome.Usage, "intercept", "both asked for and left out")
	case c.Standardize && e.family.samples && !e.isVectors():
		return outcome.At(outcome.Usage, "standardize", "%s without an intercept works on rows as they are; scale the columns before, or ask for an intercept", c.Model)
	case c.Method.iterdiffMethod() != nil && e.isVectors():
		return outcome.At(outcome.Usage, "method", "%s with an intercept or a tube has %s alone", c.Model, Implicit)
	default:
		return nil
	}
}

// isVectors reports whether the problem is one of support vectors with an intercept or a tube.
func (e *engine) isVectors() bool { return e.family.tube || e.family.samples && e.config.Intercept }

// checkMethod refuses options that are supported only with implicit differentiation.
func (e *engine) checkMethod() error {
	switch m := e.config.Method; {
	case m != "" && !slices.Contains(Methods(), m):
		return outcome.At(outcome.Usage, "method", "no method %q; there are %v", m, Methods())
	case m.iterdiffMethod() == nil:
		return nil
	case e.config.Standardize:
		return outcome.At(outcome.Usage, "method", "standardised columns go with method %s only", Implicit)
	case e.config.PenaltyFactors != nil:
		return outcome.At(outcome.Usage, "method", "penalty factors go with method %s only", Implicit)
	case e.config.Lower != nil || e.config.Upper != nil:
		return outcome.At(outcome.Usage, "method", "bounds go with method %s only", Implicit)
	case e.family.classes || e.family.form.Blocks != nil:
		return outcome.At(outcome.Usage, "method", "%s goes with method %s only", e.config.Model, Implicit)
	case !e.family.smooth():
		return outcome.At(outcome.Usage, "method", "steps of a descent are 1/L, and the curvature of the %s loss has no bound L; %s needs none", e.family.lossName(), Implicit)
	default:
		return nil
	}
}

// checkClassWeights refuses weights of classes if the target is a number.
func (e *engine) checkClassWeights() error {
	switch c := e.config; {
	case c.ClassWeights == nil && !c.Balanced:
		return nil
	case !e.family.link().Classes() && !e.family.classes:
		return outcome.At(outcome.Usage, "class-weight", "is for models of classes, and the target of %s is a number", c.Model)
	case c.ClassWeights != nil && c.Balanced:
		return outcome.At(outcome.Usage, "class-weight", "classes have weights of their own or balanced ones, not both")
	default:
		return nil
	}
}
