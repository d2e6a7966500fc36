package pare_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
)

// gamma is a loss that pare does not have: ℓ = ye^−m + m − 1 − ln y of a positive target
// with mean e^m, half its unit deviance under a gamma distribution.
type gamma struct{}

func (gamma) Name() string    { return "gamma" }
func (gamma) Link() loss.Link { return loss.Log }

func (gamma) Check(y float64) error {
	if !(y > 0) || math.IsInf(y, 1) {
		return errors.New("the target must be positive and finite")
	}
	return nil
}

// ratios sets out = y/e^m, which all its derivatives are made of.
func ratios(k *kernels.Set, y, m, out []float64) {
	for i := range m {
		out[i] = -m[i]
	}
	k.Exp(out, out)
	for i := range out {
		out[i] = min(y[i]*out[i], math.MaxFloat64) // finite wherever m is
	}
}

func (gamma) Value(k *kernels.Set, y, m, out []float64) {
	for i := range m {
		h := kernels.Log(y[i]) - m[i] // ln of the ratio
		out[i] = kernels.Exp(h) - 1 - h
	}
}

func (gamma) Slope(k *kernels.Set, y, m, out []float64) { // −ℓ′
	ratios(k, y, m, out)
	for i := range out {
		out[i]--
	}
}

func (gamma) Curvature(k *kernels.Set, y, m, out []float64) { ratios(k, y, m, out) }

func (gamma) Third(k *kernels.Set, y, m, out []float64) {
	ratios(k, y, m, out)
	for i := range out {
		out[i] = -out[i]
	}
}

// Divergence is KL(w‖u) = u((1 + x)ln(1 + x) − x) of u = y/e^m and w = u(1 + x), the dual
// point plus 1: what a duality gap is made of.
func (gamma) Divergence(k *kernels.Set, y, m []float64, at loss.Dual, out []float64) {
	ratios(k, y, m, out)
	for i, u := range out {
		x := at.Rest(i) * (1 - u) / u
		switch {
		case math.Abs(x) < 1e-3: // where the difference would cancel
			out[i] = u * x * x * (0.5 - x/6 + x*x/12 - x*x*x/20)
		case x <= -1:
			out[i] = u
		default:
			out[i] = u * ((1+x)*kernels.Log(1+x) - x)
		}
	}
}

func (gamma) Smoothness() (float64, bool)  { return 0, false } // ℓ″ has no bound
func (gamma) Concordance() (float64, bool) { return 1, true }  // |ℓ‴| ≤ ℓ″

// A loss of one's own is fitted, differentiated and chosen for like those of package loss;
// docs/add-a-loss.md goes through it.
func Example_ownLoss() {
	ctx := context.Background()
	x, y, err := diabetes() // all targets are positive
	if err != nil {
		log.Fatal(err)
	}
	config := pare.Config{Loss: gamma{}}
	s, err := pare.Select(ctx, x, y, pare.SelectOptions{Precision: true}, config)
	if err != nil {
		log.Fatal(err)
	}
	g, err := pare.Gradient(ctx, x, y, s.LogLambda, pare.Validation{}, config)
	if err != nil {
		log.Fatal(err)
	}
	f, err := pare.Fit(ctx, x, y, s.LogLambda, config)
	if err != nil {
		log.Fatal(err)
	}
	means, err := f.Predictor().Predict(x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: λ = %.2f, loss %.4f, that of the mean %.4f, slope below 1e-4: %v\n", s.Status, s.LogLambda[0], s.Value, s.NullValue, math.Abs(g.Gradient[0]) < 1e-4)
	fmt.Printf("%s loss, %d columns, relative gap below 1e-6: %v\n", f.Loss, len(f.Support), f.RelativeGap < 1e-6)
	fmt.Printf("the first row's mean is %.0f\n", means[0])
	// Output:
	// stationary: λ = -7.20, loss 0.0794, that of the mean 0.1444, slope below 1e-4: true
	// gamma loss, 5 columns, relative gap below 1e-6: true
	// the first row's mean is 194
}
