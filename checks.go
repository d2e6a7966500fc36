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
		return outcome.At(outcome.Usage, "offset", "%s does not take an offset; models with one predictor and a penalty on columns do", c.Model)
	case c.Offset != nil && c.Method.iterdiffMethod() != nil:
		return outcome.At(outcome.Usage, "method", "offsets are supported by method %s only", Implicit)
	case c.Positive && !f.form.NonNegative:
		return outcome.At(outcome.Usage, "positive", "%s does not support the constraint β ≥ 0; models with an ℓ1 or elastic net penalty do, except multinomial ones", c.Model)
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
	return outcome.At(outcome.Usage, flag, "%s does not use groups of columns; %s, %s, %s and %s do", e.config.Model, GroupLasso, GroupNet, SparseGroup, SparseGroupPair)
}

// checkVectors refuses options that support vectors, or models with an intercept by default, do not have.
func (e *engine) checkVectors() error {
	switch c := e.config; {
	case c.Intercept && e.family.simplex:
		return outcome.At(outcome.Usage, "intercept", "%s has no intercept: its coefficients sum to 1", c.Model)
	case c.Standardize && e.family.simplex:
		return outcome.At(outcome.Usage, "standardize", "the coefficients of %s must sum to 1 on the scale of the data; scale the columns in the data instead", c.Model)
	case c.Intercept && !e.family.optionalIntercept:
		return outcome.At(outcome.Usage, "intercept", "%s has an intercept by default; set NoIntercept to leave it out", c.Model)
	case c.Intercept && c.NoIntercept:
		return outcome.At(outcome.Usage, "intercept", "Intercept and NoIntercept are both set; set one of them")
	case c.Standardize && e.family.samples && !e.isVectors():
		return outcome.At(outcome.Usage, "standardize", "%s can standardise columns only with an intercept; fit one, or scale the columns in the data", c.Model)
	case c.Method.iterdiffMethod() != nil && e.isVectors():
		return outcome.At(outcome.Usage, "method", "%s with an intercept or an ε-tube supports only method %s", c.Model, Implicit)
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
		return outcome.At(outcome.Usage, "method", "unknown method %q; the methods are %v", m, Methods())
	case m.iterdiffMethod() == nil:
		return nil
	case e.config.Standardize:
		return outcome.At(outcome.Usage, "method", "standardised columns are supported by method %s only", Implicit)
	case e.config.PenaltyFactors != nil:
		return outcome.At(outcome.Usage, "method", "penalty factors are supported by method %s only", Implicit)
	case e.config.Lower != nil || e.config.Upper != nil:
		return outcome.At(outcome.Usage, "method", "bounds are supported by method %s only", Implicit)
	case e.family.classes || e.family.form.Blocks != nil:
		return outcome.At(outcome.Usage, "method", "%s is supported by method %s only", e.config.Model, Implicit)
	case !e.family.smooth():
		return outcome.At(outcome.Usage, "method", "descent takes steps of 1/L, but the curvature of the %s loss has no bound L; use %s, which needs none", e.family.lossName(), Implicit)
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
		return outcome.At(outcome.Usage, "class-weight", "applies only to models of classes, and %s predicts a number", c.Model)
	case c.ClassWeights != nil && c.Balanced:
		return outcome.At(outcome.Usage, "class-weight", "the weights of classes are either given or balanced, not both")
	default:
		return nil
	}
}
