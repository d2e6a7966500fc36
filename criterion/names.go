package criterion

import "github.com/seed-45b9a24c/pare/loss"

// Names returns the names that [Named] accepts.
func Names() []string {
	return []string{"mse", "mae", "logistic", "hinge", "squared_hinge", "poisson_deviance", "gamma_deviance", "tweedie_deviance", "misclassification", "auc"}
}

// Named returns the criterion of a name, nil if there is none. "mse" is
// [MeanSquaredError], "mae" [MeanAbsoluteError], "logistic" the mean logistic loss, "hinge"
// the mean smoothed hinge loss, and "squared_hinge" half the mean squared hinge loss.
// "poisson_deviance", "gamma_deviance" and "tweedie_deviance" (of power 1.5) are mean unit
// deviances, with m the logarithm of the mean. "misclassification" is [Misclassification],
// and "auc" [RankError].
func Named(name string) Criterion {
	switch name {
	case "mse":
		return MeanSquaredError{}
	case "mae":
		return MeanAbsoluteError{}
	case "logistic":
		return Of(loss.Logistic{})
	case "hinge":
		return Of(loss.SmoothedHinge{})
	case "squared_hinge":
		return Of(loss.SquaredHinge{})
	case "poisson_deviance":
		return Deviance(loss.Poisson{})
	case "gamma_deviance":
		return Deviance(loss.Gamma{})
	case "tweedie_deviance":
		return Deviance(loss.Tweedie{})
	case "misclassification":
		return Misclassification{}
	case "auc":
		return RankError{}
	default:
		return nil
	}
}
