package pare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// blockModels returns the models that penalise blocks of coefficients and have a duality gap.
func blockModels() (models []pare.Model) {
	for _, m := range pare.Models() {
		if traits := m.Traits(); !traits.Certified && !traits.Samples && traits.Convex {
			models = append(models, m)
		}
	}
	return models
}

// drawBlocks draws a problem for a model, with groups if the model needs them.
func drawBlocks(t *testing.T, seed uint64, m pare.Model, l loss.Loss) (sparse.Matrix, []float64, pare.Config) {
	t.Helper()
	const n, p = 40, 9
	r := oracle.NewRandom(seed)
	q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.6, 1), Mean: r.Pick(0, 1), Active: 4})
	mean, spread := q.Mean(-1), 0.0
	for _, y := range q.Y {
		spread = max(spread, math.Abs(y-mean))
	}
	c := pare.Config{Model: m, Loss: l, NoIntercept: seed%2 == 1, Standardize: seed%3 == 0}
	traits, err := c.Traits()
	if err != nil {
		t.Fatal(err)
	}
	for i, y := range q.Y {
		switch {
		case traits.Classes:
			q.Y[i] = float64(r.Intn(3))
		case traits.Link.Classes():
			q.Y[i] = math.Copysign(1, y-mean+0.3*spread*r.Normal())
		case traits.Link == loss.Log:
			q.Y[i] = math.Floor(4*math.Abs(y-mean)/spread) + 1
		}
	}
	c.Standardize = c.Standardize && !traits.Bare
	if traits.Grouped {
		c.Groups = []int{0, 0, 1, 2, 2, 2, 3, 1, 0}
	}
	if !traits.Convex {
		c.Standardize, c.Gamma, c.A = true, 0, 0
		if l != nil { // with a curvature of at most ¼
			if m == pare.MCP {
				c.Gamma = 8
			} else {
				c.A = 9
			}
		}
	}
	if seed%2 == 0 {
		for range n {
			c.Weights = append(c.Weights, r.Pick(0, 0.5, 1, 2))
		}
	}
	return matrixOf(t, q.X, p, seed%2 == 0), q.Y, c
}

// TestBlockGaps checks that the gap of a solve that ends early is an upper bound on its suboptimality, under every
// penalty on blocks and every loss.
func TestBlockGaps(t *testing.T) {
	ctx := context.Background()
	early := 0
	for turn, m := range blockModels() {
		losses := loss.All()
		if m.Traits().Classes {
			losses = []loss.Loss{nil}
		}
		for k, l := range losses {
			x, y, c := drawBlocks(t, uint64(turn+7*k), m, l)
			lambda := somewhere(t, x, y, c)
			c.Tol = 1e-14
			best, err := pare.Fit(ctx, x, y, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			if best.Status != outcome.Converged {
				t.Errorf("%s, %s: %s at %g", m, lossName(l), best.Status, best.RelativeGap)
			}
			for _, tol := range []float64{0.5, 0.1, 1e-3} {
				c.Tol = tol
				f, err := pare.Fit(ctx, x, y, lambda, c)
				if err != nil {
					t.Fatal(err)
				}
				off := f.Objective - best.Objective
				if !(off <= f.Gap+1e-13*best.Objective) || off < -best.Gap-1e-13*best.Objective {
					t.Errorf("%s, %s: %g above the least, the gap is %g", m, lossName(l), off, f.Gap)
				}
				if off > 1e-9*best.Objective {
					early++
				}
			}
		}
	}
	if early < 20 {
		t.Errorf("only %d solves ended early", early)
	}
}

// TestSingleColumnGroupsAreTheLasso checks that groups of one column give the Lasso's αmax, objective and coefficients,
// with one λ and with a ridge.
func TestSingleColumnGroupsAreTheLasso(t *testing.T) {
	ctx := context.Background()
	for grouped, plain := range map[pare.Model]pare.Model{pare.GroupLasso: pare.Lasso, pare.GroupNet: pare.ElasticNet, pare.SparseGroup: pare.Lasso} {
		for seed, l := range loss.All() {
			x, y, c := drawBlocks(t, uint64(seed), grouped, l)
			c.Groups, c.Tol = nil, 1e-14
			other := c
			other.Model = plain
			lambda := somewhere(t, x, y, c)
			if want := somewhere(t, x, y, other); math.Abs(lambda[0]-want[0]) > 1e-12 {
				t.Errorf("%s, %s: ln αmax − 2 = %.15g, of %s %.15g", grouped, l.Name(), lambda[0], plain, want[0])
			}
			got, err := pare.Fit(ctx, x, y, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			want, err := pare.Fit(ctx, x, y, lambda, other)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Objective-want.Objective) > 1e-12*want.Objective || !slices.Equal(got.Support, want.Support) {
				t.Errorf("%s, %s: %.15g on %v, of %s %.15g on %v", grouped, l.Name(), got.Objective, got.Support, plain, want.Objective, want.Support)
				continue
			}
			for k, b := range want.Coef {
				if math.Abs(got.Coef[k]-b) > 1e-5*(1+math.Abs(b)) {
					t.Errorf("%s, %s: coefficient %g, of %s %g", grouped, l.Name(), got.Coef[k], plain, b)
				}
			}
		}
	}
}

// TestOneGroupOfOrthogonalColumns checks the closed form for columns of squared norm n: the solution is the vector of
// correlations, shrunk as a whole.
func TestOneGroupOfOrthogonalColumns(t *testing.T) {
	const n, p = 16, 5
	values := make([]float64, 0, n*p)
	for j := range p { // Walsh functions: orthogonal to one another and to 1
		for i := range n {
			values = append(values, 1-2*float64(bitsOf(i&[...]int{1, 2, 4, 8, 3}[j])&1))
		}
	}
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		t.Fatal(err)
	}
	y, z, size := make([]float64, n), make([]float64, p), 0.0
	for i := range y {
		y[i] = math.Sin(float64(3 * i))
	}
	for j := range z {
		for i, v := range y {
			z[j] += values[j*n+i] * v / n
		}
		size += z[j] * z[j]
	}
	size = math.Sqrt(size)
	for _, ridge := range []float64{0, 0.7} {
		c := pare.Config{Model: pare.GroupLasso, Groups: make([]int, p), Tol: 1e-15}
		alpha := 0.3 * size / math.Sqrt(p)
		lambda := []float64{math.Log(alpha)}
		if ridge > 0 {
			c.Model, lambda = pare.GroupNet, append(lambda, math.Log(ridge))
		}
		f, err := pare.Fit(t.Context(), x, y, lambda, c)
		if err != nil || len(f.Coef) != p {
			t.Fatalf("%+v, %v", f, err)
		}
		for j, b := range f.Coef {
			if want := 0.7 * z[j] / (1 + ridge); math.Abs(b-want) > 1e-12*size {
				t.Errorf("ridge %g: coefficient %d is %.15g, want %.15g", ridge, j, b, want)
			}
		}
	}
}

func bitsOf(v int) (count int) {
	for ; v > 0; v >>= 1 {
		count += v & 1
	}
	return count
}

// TestSoftmaxOfTwoClassesIsLogistic checks that the softmax of two classes is logistic regression whose score is that
// of the second class minus that of the first. For coefficients (−d, d)/2 the penalty is |d| in the ℓ1 norm and |d|/√2
// in the ℓ2 norm, and half the squared norm is d²/4.
func TestSoftmaxOfTwoClassesIsLogistic(t *testing.T) {
	ctx := context.Background()
	for name, of := range map[string]struct {
		two, one pare.Model
		shift    []float64 // added to ln α
	}{
		"l1":    {pare.Multinomial, pare.Logistic, []float64{0}},
		"group": {pare.MultinomialGroup, pare.Logistic, []float64{-math.Ln2 / 2}},
		"enet":  {pare.MultinomialNet, pare.ElasticNet, []float64{0, -math.Ln2}},
	} {
		for seed := range uint64(4) {
			x, y, c := drawBlocks(t, seed, of.one, loss.Logistic{})
			c.Tol, c.Groups = 1e-13, nil
			lambda := somewhere(t, x, y, c)
			both := c
			both.Model, both.Loss = of.two, nil
			at := slices.Clone(lambda)
			for i := range at {
				at[i] -= of.shift[i]
			}
			v := pare.Validation{InOrder: true, Folds: 4}
			want, err := pare.Gradient(ctx, x, y, lambda, v, c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := pare.Gradient(ctx, x, y, at, v, both)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.Value-want.Value) > 1e-9*want.Value {
				t.Errorf("%s, %d: cross-entropy %.15g, logistic loss %.15g", name, seed, got.Value, want.Value)
			}
			for i, slope := range want.Gradient {
				if math.Abs(got.Gradient[i]-slope) > 1e-7*want.Value {
					t.Errorf("%s, %d: slopes %.12g, logistic %.12g", name, seed, got.Gradient, want.Gradient)
				}
			}
			one, err := pare.Fit(ctx, x, y, lambda, c)
			if err != nil {
				t.Fatal(err)
			}
			two, err := pare.Fit(ctx, x, y, at, both)
			if err != nil || math.Abs(two.Objective-one.Objective) > 1e-12*one.Objective {
				t.Errorf("%s, %d: Φ = %.15g, %v; logistic %.15g", name, seed, two.Objective, err, one.Objective)
			}
		}
	}
}

// TestSoftmaxOfTwoClassesIsTrustedWhereLogisticIs checks that rounding does not make a softmax gradient untrusted.
// Adding a constant to all coefficients of a column leaves the objective unchanged, and the slope along this shift is
// nothing but rounding error.
func TestSoftmaxOfTwoClassesIsTrustedWhereLogisticIs(t *testing.T) {
	trusted := 0
	for seed := range uint64(30) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 20 + r.Intn(20), P: 3 + r.Intn(20), Density: 1})
		for i, row := range q.X {
			q.Y[i] = math.Copysign(1, row[0]+r.Normal())
		}
		_, p := q.Dims()
		x := matrixOf(t, q.X, p, true)
		c := pare.Config{Model: pare.Logistic, NoIntercept: seed%2 == 0, Tol: 1e-9}
		lambda, err := pare.LogLambdaMax(x, q.Y, c)
		if err != nil {
			t.Fatal(err)
		}
		lambda[0] -= 0.5 + 2*r.Float64()
		want, err := pare.Gradient(t.Context(), x, q.Y, lambda, pare.Validation{Folds: 4}, c)
		if err != nil {
			t.Fatal(err)
		}
		if want.Status != outcome.Converged {
			continue
		}
		trusted++
		c.Model = pare.Multinomial
		got, err := pare.Gradient(t.Context(), x, q.Y, lambda, pare.Validation{Folds: 4}, c)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != outcome.Converged || math.Abs(got.Gradient[0]-want.Gradient[0]) > got.ErrorBound+want.ErrorBound {
			t.Errorf("%d: %s, slope %.15g ± %g; logistic %.15g ± %g", seed, got.Status, got.Gradient[0], got.ErrorBound, want.Gradient[0], want.ErrorBound)
		}
	}
	if trusted < 25 {
		t.Errorf("%d of 30 are trusted as logistic", trusted)
	}
}

// TestBlockSlopes checks the hypergradients of every penalty on blocks with every loss, with and without weights,
// intercept and standardised columns, against finite differences. A pair that has no hypergradient must be refused by
// name.
func TestBlockSlopes(t *testing.T) {
	ctx := context.Background()
	looked, pairs := 0, 0
	for turn, m := range append(blockModels(), pare.MCP, pare.SCAD) {
		losses := loss.All()
		if m.Traits().Classes {
			losses = []loss.Loss{nil}
		}
		for k, l := range losses {
			if !oracle.Turn(turn+k, 1) {
				continue
			}
			pairs++
			for again := range oracle.Cases(4) {
				x, y, c := drawBlocks(t, uint64(turn+3*k)+again, m, l)
				c.Tol = 1e-12
				name := fmt.Sprintf("%s, %s, draw %d", m, lossName(l), again)
				v := pare.Validation{InOrder: true, Folds: 3}
				if !m.Traits().Convex && !smooth(l) {
					_, err := pare.Gradient(ctx, x, y, []float64{-2}, v, c)
					if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Usage || e.Flag != "penalty" {
						t.Errorf("%s: %v", name, err)
					}
					looked++
					continue
				}
				lambda := somewhere(t, x, y, c)
				looked += slopesAgree(t, name, x, y, lambda, v, c)
			}
		}
	}
	if looked < pairs*int(oracle.Cases(4))*2/3 {
		t.Errorf("%d slopes looked at", looked)
	}
}

func lossName(l loss.Loss) string {
	if l == nil {
		return "softmax"
	}
	return l.Name()
}

// smooth reports whether the curvature of a loss is bounded, as it is for the softmax.
func smooth(l loss.Loss) bool {
	if l == nil {
		return true
	}
	_, ok := l.Smoothness()
	return ok
}

// slopesAgree compares a hypergradient with finite differences away from kinks. It returns 1 if it compared anything,
// and 0 otherwise.
func slopesAgree(t *testing.T, name string, x sparse.Matrix, y, lambda []float64, v pare.Validation, c pare.Config) (looked int) {
	t.Helper()
	at := func(i int, step float64) *pare.Hypergradient {
		moved := slices.Clone(lambda)
		moved[i] += step
		h, err := pare.Gradient(t.Context(), x, y, moved, v, c)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return h
	}
	here := at(0, 0)
	if l := c.Loss; here.Status == outcome.NotConverged && !c.Model.Traits().Convex && l != nil && l.Link() == loss.Margin {
		return 0 // a row without curvature cannot balance a penalty that is not convex
	}
	if here.Status == outcome.Budget && c.Method != pare.Implicit {
		return 0 // without a ridge, steps of 1/L take too long
	}
	if !here.Status.OK() && here.Status != outcome.Flat && here.Status != outcome.Stationary && here.Status != outcome.NotDifferentiable {
		t.Errorf("%s: %s", name, here.Status)
	}
	if here.Status == outcome.NotDifferentiable {
		return 0
	}
	for i, got := range here.Gradient {
		const h = 1e-5
		up, down := at(i, h).Value, at(i, -h).Value
		forward, backward := (up-here.Value)/h, (here.Value-down)/h
		scale := math.Abs(forward) + 1e-2*here.Value
		if math.Abs(forward-backward) > 1e-3*scale {
			continue // a knot lies between the two points
		}
		looked = 1
		if want := (forward + backward) / 2; math.Abs(got-want) > 1e-5*scale {
			t.Errorf("%s: ∂/∂λ%d = %.10g, differences %.10g", name, i+1, got, want)
		}
	}
	return looked
}

// TestBlocksRefuse checks that options not available for penalties on blocks are refused by the name of their flag.
func TestBlocksRefuse(t *testing.T) {
	for _, m := range append(blockModels(), pare.MCP) {
		x, y, c := drawBlocks(t, 4, m, nil)
		factors := []float64{1, 2, 1, 1, 1, 1, 1, 1, 1}
		for flag, change := range map[string]func(*pare.Config){
			"penalty-factors": func(c *pare.Config) { c.PenaltyFactors = factors },
			"lower":           func(c *pare.Config) { c.Lower = make([]float64, 9) },
			"upper":           func(c *pare.Config) { c.Upper = factors },
			"positive":        func(c *pare.Config) { c.Positive = true },
			"method":          func(c *pare.Config) { c.Method = pare.ForwardPGD },
		} {
			changed := c
			change(&changed)
			_, err := pare.Gradient(t.Context(), x, y, somewhere(t, x, y, c), pare.Validation{}, changed)
			if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Flag != flag || e.Kind != outcome.Usage {
				t.Errorf("%s, %s: %v", m, flag, err)
			}
		}
	}
}

// TestBlocksAreChosenWell checks that the default search ends within a thousandth, or 0.05 standard errors, of the best
// of 200 strengths: on the embedded data, as numbers and as classes, and on data sets stored outside the repository if
// they are present.
func TestBlocksAreChosenWell(t *testing.T) {
	sets := []string{"diabetes", "patients", "breast_cancer", "colon_cancer"}
	if testing.Short() {
		sets = sets[:1]
	}
	for _, set := range sets {
		for _, m := range []pare.Model{pare.GroupLasso, pare.SparseGroup, pare.MCP, pare.SCAD} {
			t.Run(set+"/"+string(m), func(t *testing.T) { chosenWell(t, set, m) })
		}
	}
}

func chosenWell(t *testing.T, set string, m pare.Model) {
	c := pare.Config{Model: m, Standardize: true}
	var x sparse.Matrix
	var y []float64
	switch set {
	case "diabetes":
		x, y = load(t)
	case "patients":
		x, y = patients(t)
		c.Loss = loss.Logistic{}
		if !m.Traits().Convex {
			c.Gamma, c.A = map[pare.Model]float64{pare.MCP: 12}[m], map[pare.Model]float64{pare.SCAD: 13}[m]
		}
	default:
		x, y = shared(t, set)
	}
	_, p := x.Dims()
	if m.Traits().Grouped {
		for j := range p {
			c.Groups = append(c.Groups, j/3)
		}
	}
	s, err := pare.Select(t.Context(), x, y, pare.SelectOptions{}, c)
	if err != nil || !s.Status.OK() {
		t.Fatalf("%+v, %v", s, err)
	}
	top := lambdaMax(t, x, y, c)
	best := math.Inf(1)
	var grid [][]float64
	points := int(oracle.Cases(200))
	for k := range points {
		grid = append(grid, []float64{top - math.Log(1e4)*float64(k)/float64(points-1)})
	}
	for e, err := range pare.Validate(t.Context(), x, y, grid, pare.Validation{}, c) {
		if err != nil {
			t.Fatal(err)
		}
		best = min(best, e.Value)
	}
	if s.Value > best*(1+1e-3) && s.Value > best+0.05*s.StandardError {
		t.Errorf("%g after %d evaluations, %g on a grid, the standard error is %g", s.Value, len(s.Evaluations), best, s.StandardError)
	}
}

// TestDeepGroupsTakeFewPasses checks that, with fewer rows than columns and λ far below αmax, a solve proceeds through
// a sequence of stronger penalties and shortens Newton steps that are too long.
func TestDeepGroupsTakeFewPasses(t *testing.T) {
	const n, p = 30, 240
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: n, P: p, Density: 1, Correlation: 0.7, Active: 12})
	groups := make([]int, p)
	for j := range groups {
		groups[j] = j / 6
	}
	x := matrixOf(t, q.X, p, true)
	for _, m := range []pare.Model{pare.GroupLasso, pare.SparseGroup} {
		c := pare.Config{Model: m, Groups: groups, Tol: 1e-8}
		top := lambdaMax(t, x, q.Y, c)
		for _, depth := range []float64{5, 8} {
			f, err := pare.Fit(t.Context(), x, q.Y, []float64{top - depth}, c)
			if err != nil || f.Status != outcome.Converged || f.Passes > 100 {
				t.Errorf("%s at e^−%g·αmax: %+v, %v", m, depth, f, err)
			}
		}
	}
}

// TestGroupsOnStraightPartsOfALoss checks that a group moves even if all of its rows are beyond Huber's δ, where the
// quadratic model of the loss has no curvature.
func TestGroupsOnStraightPartsOfALoss(t *testing.T) {
	columns := [][]float64{{3.75, 3.75, 3.75, 3.75, 3.75, 3.75, 3.75, 3.75}, {0, 1.25, -0.5, 0, 0, 0, 0, 1.75}, {5: -1.25, 7: 0}, {5: -2.5, 7: 0}, {3: 1.75, 7: 0}}
	x, err := sparse.NewDense(8, 5, slices.Concat(columns...))
	if err != nil {
		t.Fatal(err)
	}
	y := []float64{3.5, 2.75, 5.625, 1, 4.125, 1.25, 6.125, 1.375}
	c := pare.Config{Model: pare.SparseGroupPair, Loss: loss.Huber{Delta: 0.3}, Groups: []int{0, 1, 0, 2, 2}, Tol: 1e-10}
	if f, err := pare.Fit(t.Context(), x, y, []float64{-3.5, -3.4}, c); err != nil || f.Status != outcome.Converged || f.Epochs > 200 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestColumnsFarFromZeroWithoutIntercept checks fits on dense columns of mean 1,000 and standard deviation 1, which are
// nearly parallel, with more coefficients than rows. The test computes the gaps from the definitions of the losses and
// penalties.
func TestColumnsFarFromZeroWithoutIntercept(t *testing.T) {
	const tol, mostSweeps = 1e-6, 10_000
	for seed := range oracle.Cases(8) {
		r := oracle.NewRandom(40 + seed)
		n, p := []int{3, 10, 40}[seed%3], []int{5, 30, 80}[(seed/3+1)%3]
		rows := make([][]float64, n)
		y, class, groups := make([]float64, n), make([]float64, n), make([]int, p)
		for i := range rows {
			y[i], class[i] = r.Normal(), float64(i%3)
			for range p {
				rows[i] = append(rows[i], 1000+r.Normal())
			}
		}
		for j := range groups {
			groups[j] = j / 3
		}
		x := matrixOf(t, rows, p, true)
		for _, m := range []pare.Model{pare.Multinomial, pare.GroupLasso} {
			c, target, gap := pare.Config{Model: m, NoIntercept: true, Tol: tol}, class, softmaxGap
			if m == pare.GroupLasso {
				c.Groups, target, gap = groups, y, groupGap
			}
			lambda := lambdaMax(t, x, target, c) - 5
			f, err := pare.Fit(t.Context(), x, target, []float64{lambda}, c)
			if err != nil {
				t.Fatal(err)
			}
			if f.Status != outcome.Converged || f.Epochs > mostSweeps {
				t.Errorf("%s, %d × %d: %s after %d sweeps, a gap of %g", m, n, p, f.Status, f.Epochs, f.RelativeGap)
			}
			off, null := gap(rows, target, groups, math.Exp(lambda), f)
			if !(off <= 2*tol*null) {
				t.Errorf("%s, %d × %d: a gap of %g of %g", m, n, p, off, null)
			}
		}
	}
}

// TestSparseGroupsMoveWhatTheirModelKnows checks that the entries of a group that belong at 0 stay there while its
// other entries move: the Hessian that is formed covers only the moving entries. At the solution 0 ∈ z − ∂g(β), with z
// = Xᵀr/n.
func TestSparseGroupsMoveWhatTheirModelKnows(t *testing.T) {
	const n, p, size, mostSweeps = 30, 20, 4, 3000
	for seed := range oracle.Cases(16) {
		r := oracle.NewRandom(60 + seed)
		rows, y, groups := make([][]float64, n), make([]float64, n), make([]int, p)
		for i := range rows {
			y[i] = r.Normal()
			for j := range groups {
				rows[i], groups[j] = append(rows[i], 1+0.1*r.Normal()), j/size
			}
		}
		x := matrixOf(t, rows, p, true)
		c := pare.Config{Model: pare.SparseGroup, Groups: groups, NoIntercept: true, Tol: 1e-12}
		for _, depth := range []float64{5, 9} {
			lambda := lambdaMax(t, x, y, c) - depth
			f, err := pare.Fit(t.Context(), x, y, []float64{lambda}, c)
			if err != nil {
				t.Fatal(err)
			}
			if f.Status != outcome.Converged || f.Epochs > mostSweeps {
				t.Errorf("seed %d, e^−%g·αmax: %s after %d sweeps, a gap of %g", seed, depth, f.Status, f.Epochs, f.RelativeGap)
			}
			beta, z := make([]float64, p), make([]float64, p)
			for at, j := range f.Support {
				beta[j] = f.Coef[at]
			}
			for i, row := range rows {
				rest := y[i]
				for j, v := range row {
					rest -= v * beta[j]
				}
				for j, v := range row {
					z[j] += v * rest / n
				}
			}
			one, all := 0.5*math.Exp(lambda), 0.5*math.Exp(lambda)*math.Sqrt(size)
			for g := range p / size {
				var norm, most, lack float64
				for j := size * g; j < size*(g+1); j++ {
					norm = math.Hypot(norm, beta[j])
				}
				for j := size * g; j < size*(g+1); j++ {
					v := z[j]
					if norm > 0 {
						v -= all * beta[j] / norm
					}
					if beta[j] != 0 {
						v -= math.Copysign(one, beta[j])
					} else {
						v = max(0, math.Abs(v)-one)
					}
					lack = math.Hypot(lack, v)
				}
				if most = 1e-6; norm == 0 {
					most += all
				}
				if !(lack <= most) {
					t.Errorf("seed %d, e^−%g·αmax: group %d lacks %g", seed, depth, g, lack)
				}
			}
		}
	}
}

// TestGroupsComeBackFromFarOut checks that a solve recovers from steps that are far too long. Under Huber's loss,
// models without curvature lead to such steps; there the intercept has no curvature either, and must still move when
// the coefficients return. The dual point is cρ, with ρ the slopes (Σρ = 0) and c the largest factor up to 1 for which
// no ‖X_gᵀcρ‖/n exceeds its strength; its value is Σ(cρᵢyᵢ − ½(cρᵢ)²)/n.
func TestGroupsComeBackFromFarOut(t *testing.T) {
	const delta, tol = 0.5, 1e-9
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(800 + seed)
		n, groups := 4+r.Intn(5), []int{0, 0, 1, 1, 2}
		rows, y := make([][]float64, n), make([]float64, n)
		for i := range rows {
			y[i] = float64(r.Intn(9) - 4)
			for range groups {
				rows[i] = append(rows[i], r.Pick(0, float64(r.Intn(9)-4)))
			}
		}
		x := matrixOf(t, rows, len(groups), seed%2 == 0)
		c := pare.Config{Model: pare.GroupLasso, Loss: loss.Huber{Delta: delta}, Groups: groups, Tol: tol}
		lambda := lambdaMax(t, x, y, c) - 2
		if math.IsInf(lambda, 0) {
			continue
		}
		f, err := pare.Fit(t.Context(), x, y, []float64{lambda}, c)
		if err != nil || f.Status != outcome.Converged {
			t.Errorf("seed %d: %+v, %v", seed, f, err)
			continue
		}
		slope, rest, gap := make([]float64, n), 0.0, 0.0
		pull, norm, strength := make([]float64, 3), make([]float64, 3), []float64{math.Sqrt2, math.Sqrt2, 1}
		for i, row := range rows {
			off := y[i] - f.Intercept
			for at, j := range f.Support {
				off -= row[j] * f.Coef[at]
			}
			slope[i] = max(-delta, min(delta, off))
			rest += slope[i]
			gap += slope[i] * (off - slope[i]/2) / float64(n)
		}
		for j, g := range groups {
			var z float64
			for i, v := range slope {
				z += rows[i][j] * v / float64(n)
			}
			pull[g] = math.Hypot(pull[g], z)
		}
		for at, j := range f.Support {
			norm[groups[j]] = math.Hypot(norm[groups[j]], f.Coef[at])
		}
		within := 1.0
		for g, v := range norm {
			gap += math.Exp(lambda) * strength[g] * v
			within = min(within, math.Exp(lambda)*strength[g]/pull[g])
		}
		for i, v := range slope {
			v *= within
			gap -= v * (y[i] - v/2) / float64(n)
		}
		if !(gap <= 1e-7) || !(math.Abs(rest) <= 1e-9) {
			t.Errorf("seed %d: a gap of %g, slopes sum to %g", seed, gap, rest)
		}
	}
}

// softmaxGap returns the duality gap of a softmax of three classes with an ℓ1 penalty and no intercepts, and the loss
// at 0. With P the probabilities and Y the classes, the gap is Φ(B) minus the mean entropy of (1 − c)Y + cP, with c the
// largest factor up to 1 for which no entry of cXᵀ(Y − P)/n exceeds α.
func softmaxGap(rows [][]float64, class []float64, _ []int, alpha float64, f *pare.Fitted) (gap, null float64) {
	const q = 3
	n, p := len(rows), len(rows[0])
	z := make([]float64, p*q)
	shares := make([][q]float64, n)
	for i, row := range rows {
		var score [q]float64
		for k, one := range f.PerClass {
			for at, j := range one.Support {
				score[k] += row[j] * one.Coef[at]
			}
		}
		top, total := max(score[0], score[1], score[2]), 0.0
		for _, s := range score {
			total += math.Exp(s - top)
		}
		gap += (math.Log(total) + top - score[int(class[i])]) / float64(n)
		for k, s := range score {
			shares[i][k] = math.Exp(s-top) / total
			rest := -shares[i][k]
			if k == int(class[i]) {
				rest++
			}
			for j, v := range row {
				z[j*q+k] += v * rest / float64(n)
			}
		}
	}
	for _, one := range f.PerClass {
		for _, b := range one.Coef {
			gap += alpha * math.Abs(b)
		}
	}
	c := 1.0
	for _, v := range z {
		c = min(c, alpha/math.Abs(v))
	}
	for i, share := range shares {
		for k, s := range share {
			s *= c
			if k == int(class[i]) {
				s += 1 - c
			}
			if s > 0 {
				gap += s * math.Log(s) / float64(n)
			}
		}
	}
	return gap, math.Log(q)
}

// groupGap returns the duality gap of the squared loss with a group Lasso whose factors are the square roots of the
// group sizes, and the loss at 0. The gap is Φ(β) − (‖y‖² − ‖y − cr‖²)/2n, with r the residual and c the largest factor
// up to 1 for which no ‖X_gᵀcr‖/n exceeds its strength.
func groupGap(rows [][]float64, y []float64, groups []int, alpha float64, f *pare.Fitted) (gap, null float64) {
	n, p := len(rows), len(rows[0])
	rest, z := make([]float64, n), make([]float64, p)
	for i, row := range rows {
		rest[i] = y[i]
		for at, j := range f.Support {
			rest[i] -= row[j] * f.Coef[at]
		}
		gap += rest[i] * rest[i] / float64(2*n)
		null += y[i] * y[i] / float64(2*n)
		for j, v := range row {
			z[j] += v * rest[i] / float64(n)
		}
	}
	count := groups[p-1] + 1
	size, pull, norm := make([]float64, count), make([]float64, count), make([]float64, count)
	for j, g := range groups {
		size[g]++
		pull[g] = math.Hypot(pull[g], z[j])
	}
	for at, j := range f.Support {
		norm[groups[j]] = math.Hypot(norm[groups[j]], f.Coef[at])
	}
	c := 1.0
	for g, v := range norm {
		strength := alpha * math.Sqrt(size[g])
		gap += strength * v
		c = min(c, strength/pull[g])
	}
	for i, r := range rest {
		gap -= (y[i]*y[i] - (y[i]-c*r)*(y[i]-c*r)) / float64(2*n)
	}
	return gap, null
}
