package criterion

import "github.com/seed-45b9a24c/pare/loss"

// Names lists the criteria that [Named] knows.
func Names() []string {
	return []string{"mse", "mae", "logistic", "hinge", "poisson_deviance"}
}

// Named returns the criterion of a name, nil where there is none: "mse"
// [MeanSquaredError], "mae" [MeanAbsoluteError], "logistic" the mean logistic loss, "hinge"
// the mean smoothed hinge, "poisson_deviance" the mean Poisson deviance of m on the scale of
// the logarithm.
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
	case "poisson_deviance":
		return Deviance(loss.Poisson{})
	default:
		return nil
	}
}
