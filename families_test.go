package pare_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// feature is an option to combine with a loss and a penalty: how it changes the configuration, the flag that a refusal
// names, and which models support it.
type feature struct {
	flag   string
	change func(c *pare.Config, p int)
	has    func(t pare.Traits) bool
}

func features() []feature {
	always := func(pare.Traits) bool { return true }
	each := func(v float64, p int) []float64 { return slices.Repeat([]float64{v}, p) }
	return []feature{
		{"", func(*pare.Config, int) {}, always},
		{"intercept", func(c *pare.Config, _ int) { c.Intercept, c.NoIntercept = true, false }, func(t pare.Traits) bool { return t.Bare && t.Intercept }},
		{"standardize", func(c *pare.Config, _ int) { c.Standardize = true }, func(t pare.Traits) bool { return !t.Bare }},
		{"offset", func(c *pare.Config, _ int) {
			for i := range 40 {
				c.Offset = append(c.Offset, float64(i%3)/4)
			}
		}, func(t pare.Traits) bool { return t.Offset }},
		{"positive", func(c *pare.Config, _ int) { c.Positive = true }, func(t pare.Traits) bool { return t.Positive }},
		{"upper", func(c *pare.Config, p int) { c.Upper = each(0.05, p) }, func(t pare.Traits) bool { return t.Positive }},
		{"penalty-factors", func(c *pare.Config, p int) {
			c.PenaltyFactors = each(2, p)
			c.PenaltyFactors[0] = 0.5
		}, func(t pare.Traits) bool { return t.Factors }},
		{"class-weight", func(c *pare.Config, _ int) { c.Balanced = true }, func(t pare.Traits) bool { return t.Link.Classes() || t.Classes }},
		{"column-groups", func(c *pare.Config, _ int) { c.Groups = []int{0, 1, 0, 2, 1, 3, 3, 2, 1} }, func(t pare.Traits) bool { return t.Grouped }},
		{"group-weights", func(c *pare.Config, _ int) {
			c.GroupWeights = []float64{1, 0.5, 2, 1, 1, 1, 1, 1, 1}
			if c.Groups != nil {
				c.GroupWeights = c.GroupWeights[:4]
			}
		}, func(t pare.Traits) bool { return t.Grouped }},
		{"tau", func(c *pare.Config, _ int) { c.Tau = 0.3 }, func(t pare.Traits) bool { return t.Model == pare.SparseGroup }},
		{"method", func(c *pare.Config, _ int) { c.Method, c.Standardize = pare.ForwardPGD, false }, func(t pare.Traits) bool { return t.Iterated }},
	}
}

// TestEveryLossWithEveryPenalty checks every combination of a loss, a penalty and a feature. A combination that the
// table of models lists is solved to its certificate, its hypergradient agrees with finite differences, and a saved
// model makes the same predictions after loading. Every other combination is refused by the name of the flag.
func TestEveryLossWithEveryPenalty(t *testing.T) {
	looked, refusals, turn := 0, 0, 0
	for _, m := range pare.Models() {
		losses := []loss.Loss{nil}
		if m.Traits().Loss == "squared" {
			losses = loss.All()
		}
		for _, l := range losses {
			for _, f := range features() {
				turn++
				if !oracle.Turn(turn, 19) {
					continue
				}
				x, y, c := drawBlocks(t, uint64(turn)+3, m, l)
				_, p := x.Dims()
				lambda := somewhere(t, x, y, c)
				traits, err := c.Traits()
				if err != nil {
					t.Fatal(err)
				}
				c.Tol = 1e-12
				f.change(&c, p)
				name := fmt.Sprintf("%s, %s, %q, turn %d", m, traits.Loss, f.flag, turn)
				v := pare.Validation{InOrder: true, Folds: 3}
				_, err = pare.Gradient(t.Context(), x, y, lambda, v, c)
				var flags []string
				if !f.has(traits) {
					flags = append(flags, f.flag)
				}
				if !traits.Convex && !smooth(l) {
					flags = append(flags, "penalty")
				}
				if refused(t, name, err, flags) || len(flags) > 0 {
					refusals++
					continue
				}
				looked += slopesAgree(t, name, x, y, lambda, v, c)
				fittedAndKept(t, name, x, y, lambda, c)
			}
		}
	}
	if turn < 1000 || !oracle.Few() && (looked < turn/3 || refusals < turn/5) {
		t.Errorf("%d combinations, %d differentiated, %d refused", turn, looked, refusals)
	}
}

// fittedAndKept fits with a certificate, and saves and loads the predictor.
func fittedAndKept(t *testing.T, name string, x sparse.Matrix, y, lambda []float64, c pare.Config) {
	t.Helper()
	f, err := pare.Fit(t.Context(), x, y, lambda, c)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	switch traits, _ := c.Traits(); {
	case traits.Convex && (f.Status != outcome.Converged || !(f.RelativeGap <= c.Tol)):
		t.Errorf("%s: %s at a relative gap of %g", name, f.Status, f.RelativeGap)
	case !traits.Convex && (f.Status != outcome.Stationary || !(f.KKT <= 1e-9)):
		t.Errorf("%s: %s, %g from stationary", name, f.Status, f.KKT)
	}
	path := filepath.Join(t.TempDir(), "model.pare")
	p := f.Predictor()
	if err := p.Save(path); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	kept, err := pare.Load(path)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	want, err := p.Predict(x)
	if err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if got, err := kept.Predict(x); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: a model that was kept predicts otherwise: %v", name, err)
	}
}

// TestTargetsThatTheNullModelFits checks that a target which the null model fits exactly is solved at once and
// certified, also for losses with a logarithmic link.
func TestTargetsThatTheNullModelFits(t *testing.T) {
	r := oracle.NewRandom(8)
	values, y := make([]float64, 60), slices.Repeat([]float64{0.7457213655596335}, 20)
	for i := range values {
		values[i] = r.Normal()
	}
	x, err := sparse.NewDense(20, 3, values)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []loss.Loss{loss.Squared{}, loss.Poisson{}, loss.Gamma{}, loss.Tweedie{}} {
		for _, m := range []pare.Model{pare.Lasso, pare.Ridge} {
			f, err := pare.Fit(t.Context(), x, y, []float64{-2}, pare.Config{Model: m, Loss: l})
			if err != nil {
				t.Fatal(err)
			}
			if f.Status != outcome.Converged || f.Objective != 0 || f.RelativeGap != 0 || f.Epochs != 0 {
				t.Errorf("%s of the %s loss: %s, objective %g, gap %g, %d epochs", m, l.Name(), f.Status, f.Objective, f.RelativeGap, f.Epochs)
			}
		}
	}
}
