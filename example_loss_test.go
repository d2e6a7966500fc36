package pare_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/sparse"
)

// exponential is a loss that pare does not provide: ℓ = e^−ym for a class y = ±1, the loss of AdaBoost
// (Friedman, Hastie and Tibshirani, Annals of Statistics 28, 2000, section 4).
type exponential struct{}

func (exponential) Name() string    { return "exponential" }
func (exponential) Link() loss.Link { return loss.Margin }

func (exponential) Check(y float64) error {
	if math.Abs(y) != 1 {
		return errors.New("the target must be -1 or 1")
	}
	return nil
}

func (exponential) Value(k *kernels.Set, y, m, out []float64) {
	for i := range m {
		out[i] = -y[i] * m[i]
	}
	k.Exp(out, out)
	for i := range out {
		out[i] = min(out[i], math.MaxFloat64) // finite if m is
	}
}

func (l exponential) Slope(k *kernels.Set, y, m, out []float64) { // −ℓ′
	l.Value(k, y, m, out)
	for i := range out {
		out[i] *= y[i]
	}
}

func (l exponential) Curvature(k *kernels.Set, y, m, out []float64) { l.Value(k, y, m, out) }

func (l exponential) Third(k *kernels.Set, y, m, out []float64) {
	l.Value(k, y, m, out)
	for i := range out {
		out[i] *= -y[i]
	}
}

// Divergence returns u((1 − r)ln(1 − r) + r), with u = e^−ym and the dual point (1 − r)ρ; a duality gap is a
// sum of such terms. The conjugate is ℓ*(−yv) = v ln v − v.
func (l exponential) Divergence(k *kernels.Set, y, m []float64, at loss.Dual, out []float64) {
	l.Value(k, y, m, out)
	for i := range out {
		switch r := at.Rest(i); {
		case r < 1e-3: // the difference would suffer from cancellation
			out[i] *= r * r * (0.5 + r/6 + r*r/12 + r*r*r/20)
		case r < 1:
			out[i] *= (1-r)*kernels.Log(1-r) + r
		}
	}
}

func (exponential) Smoothness() (float64, bool)  { return 0, false } // ℓ″ is unbounded
func (exponential) Concordance() (float64, bool) { return 1, true }  // |ℓ‴| ≤ ℓ″

// twoClasses returns a design matrix of random numbers, and classes that depend on two of its columns and
// noise.
func twoClasses() (*sparse.Dense, []float64, error) {
	const n, p = 200, 5
	values, y := make([]float64, n*p), make([]float64, n)
	r := rand.New(rand.NewPCG(1, 2))
	for k := range values {
		values[k] = 2*r.Float64() - 1
	}
	for i := range n {
		y[i] = math.Copysign(1, values[i]-values[n+i]/2+2*r.Float64()-1)
	}
	x, err := sparse.NewDense(n, p, values)
	return x, y, err
}

// Fit, differentiate and choose λ for a loss of your own, exactly as for the losses of package loss.
// docs/add-a-loss.md explains it step by step. This file uses only exported names, so the code also works in
// another module.
func Example_ownLoss() {
	ctx := context.Background()
	x, y, err := twoClasses()
	if err != nil {
		log.Fatal(err)
	}
	config := pare.Config{Loss: exponential{}}
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
	classes, err := f.Predictor().Predict(x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: λ = %.2f, loss %.4f, that of the null model %.4f, slope below 1e-3: %v\n", s.Status, s.LogLambda[0], s.Value, s.NullValue, math.Abs(g.Gradient[0]) < 1e-3)
	fmt.Printf("%s loss, %d columns, relative gap below 1e-6: %v\n", f.Loss, len(f.Support), f.RelativeGap < 1e-6)
	fmt.Printf("the first row is of class %+.0f\n", classes[0])
	// Output:
	// stationary: λ = -3.32, loss 0.8280, that of the null model 1.0023, slope below 1e-3: true
	// exponential loss, 2 columns, relative gap below 1e-6: true
	// the first row is of class +1
}
