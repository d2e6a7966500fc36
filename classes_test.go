package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
)

// The hypergradient of the cross-entropy in the λ of a class, on real data, is what
// differences of its values say.
func TestSlopesOfClassesOnSharedData(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the oracle's problems are tested in bilevel all the same")
	}
	for name, ratio := range map[string]float64{"usps_t": 0.05, "reuters_multi53": 0.1} {
		x, y := shared(t, name)
		c := pare.Config{Model: pare.Multiclass, Tol: 1e-11}
		v := pare.Validation{InOrder: true, Criterion: pare.HoldOut, Split: pare.Stratified, Folds: 3}
		at, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			t.Fatal(err)
		}
		for k := range at {
			at[k] += math.Log(ratio)
		}
		g, err := pare.Gradient(context.Background(), x, y, at, v, c)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range []int{0, len(at) / 3, 2 * len(at) / 3} {
			const h = 1e-4
			var values []float64
			up, down := append([]float64(nil), at...), append([]float64(nil), at...)
			up[k] += h
			down[k] -= h
			for e, err := range pare.Validate(context.Background(), x, y, [][]float64{up, down}, v, c) {
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, e.Value)
			}
			if want := (values[0] - values[1]) / (2 * h); math.Abs(g.Gradient[k]-want) > 0.01*math.Abs(want)+1e-9 {
				t.Errorf("%s, class %d: slope %g, by differences %g (%s)", name, k, g.Gradient[k], want, g.Status)
			}
		}
	}
}
