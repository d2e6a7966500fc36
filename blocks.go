package pare

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// blockForm is what a form of penalty on blocks of coefficients has besides.
type blockForm struct {
	// penalty makes the penalty of a λ.
	penalty func(*blocked, []float64) (model.Blocks, error)
	// unit makes one whose strength is 1, for αmax; nil where αmax is that of the Lasso, with
	// which penalties that are not convex begin.
	unit func(*blocked) (model.ConvexBlocks, error)
	// grouped says that columns make groups.
	grouped bool
	// shaped says what the penalty has a parameter for.
	shaped shape
}

// shape is a parameter of a penalty besides its strengths.
type shape struct {
	flag    string
	of      func(Config) float64
	usual   float64
	concave bool // the penalty is not convex, and the derivative in its logarithm is known
}

// value returns the parameter, its usual value where it is 0.
func (s shape) value(c Config) float64 { return cmp.Or(s.of(c), s.usual) }

// shapes are the parameters there are: γ of MCP, a of SCAD, τ of a sparse group Lasso.
func shapes() (gamma, a, tau shape) {
	return shape{flag: "gamma", of: func(c Config) float64 { return c.Gamma }, usual: 3, concave: true},
		shape{flag: "a", of: func(c Config) float64 { return c.A }, usual: 3.7, concave: true},
		shape{flag: "tau", of: func(c Config) float64 { return c.Tau }, usual: 0.5}
}

// blocked is the inner problem of a penalty on blocks of coefficients: groups of columns, or
// the coefficients of a column for all classes, or single ones.
type blocked struct {
	engine  *engine
	form    *blockForm
	judge   criterion.Criterion // on held-out rows; nil for the cross-entropy of all classes
	part    *model.Partition
	weights []float64 // of the groups; nil: 1
	classes []float64 // of a softmax, else nil
	label   []int32
	fit     model.Scores
	solver  *cd.Blocks // nil before the first solve
	descent *cd.Descent
	top     []float64 // nil before it is asked for
}

func newBlocked(e *engine) (problem, error) {
	b := &blocked{engine: e, form: e.family.blocks}
	if err := b.partition(); err != nil {
		return nil, err
	}
	view, err := e.view()
	if err != nil {
		return nil, err
	}
	if e.family.classes {
		if n, _ := e.x.Dims(); len(e.y) != n {
			return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(e.y), n)
		}
		if b.classes, b.label, err = bilevel.Classes(e.y); err != nil {
			return nil, err
		}
	} else {
		bound, err := loss.Bind(e.family.loss, e.y, view.Weights(), view.Centred())
		if err != nil {
			return nil, err
		}
		b.judge = e.family.judge(bound)
	}
	b.fit, err = b.scores(view)
	return b, err
}

// partition makes the blocks of columns.
func (b *blocked) partition() (err error) {
	_, p := b.engine.x.Dims()
	c := b.engine.config
	switch {
	case !b.form.grouped:
		b.part = model.Singletons(p)
		return nil
	case c.Groups == nil:
		b.part = model.Singletons(p)
	case len(c.Groups) != p:
		return outcome.At(outcome.Shape, "column-groups", "%d groups for %d columns; there must be one a column", len(c.Groups), p)
	}
	if c.Groups != nil {
		if b.part, err = model.NewPartition(c.Groups); err != nil {
			return err
		}
	}
	if b.weights = c.GroupWeights; b.weights == nil {
		b.weights = model.RootSizes(b.part)
	}
	return model.CheckGroupWeights(b.weights, b.part)
}

// scores makes the datafit of a view.
func (b *blocked) scores(view *sparse.View) (model.Scores, error) {
	if b.classes != nil {
		return model.NewSoftmax(view, b.label, b.classes)
	}
	fit, err := b.engine.datafit(view, b.engine.y)
	if err != nil {
		return nil, err
	}
	return model.OneScore(fit), nil
}

// parameter is what the penalty has besides its strengths.
func (b *blocked) parameter() float64 { return b.form.shaped.value(b.engine.config) }

// alphaMax returns αmax from the correlations of the null model.
func (b *blocked) alphaMax(z []float64) float64 {
	if b.form.unit == nil {
		return b.engine.k.MaxAbs(z)
	}
	unit, err := b.form.unit(b)
	if err != nil {
		return 0 // λ = 0 is a strength of 1
	}
	return model.BlockMax(unit, b.part, b.fit.Count(), z)
}

// max implements [problem].
func (b *blocked) max() []float64 {
	if b.top == nil {
		b.begin()
		_, z := b.solver.Null()
		b.setMax(z)
	}
	return b.top
}

func (b *blocked) setMax(z []float64) {
	r := b.engine.hyperparameters
	b.top = slices.Repeat([]float64{kernels.Log(b.alphaMax(z))}, r)
}

// begin makes the solver, at the null model, and sets αmax.
func (b *blocked) begin() {
	if b.solver != nil {
		return
	}
	b.solver = cd.NewBlocks(b.fit, b.part)
	_, z := b.solver.Null()
	b.setMax(z)
	if b.form.shaped.concave {
		b.descent = cd.NewDescent(b.solver, func(lambda float64) (model.Blocks, error) { return b.form.penalty(b, []float64{lambda}) }, b.top[0])
	}
}

// restart implements [problem].
func (b *blocked) restart() { b.solver = nil }

// start implements [problem].
func (b *blocked) start() float64 { return b.engine.shareOfMax() }

// null implements [anchored].
func (b *blocked) null() float64 { return b.fit.Null() }

func (b *blocked) accepts(logLambda []float64) error {
	_, err := b.form.penalty(b, logLambda)
	return err
}

func (b *blocked) solve(ctx context.Context, logLambda []float64) (*Fitted, error) {
	g, err := b.form.penalty(b, logLambda)
	if err != nil {
		return nil, err
	}
	b.begin()
	var s *cd.BlockSolution
	if b.descent != nil {
		s, err = b.descent.Solve(ctx, logLambda[0], b.engine.solver())
	} else {
		s, err = b.solver.Solve(ctx, g, b.engine.solver())
	}
	if err != nil {
		return nil, err
	}
	return b.fitted(s, logLambda), nil
}

// fitted copies a solution, its coefficients those of the matrix behind the view.
func (b *blocked) fitted(s *cd.BlockSolution, logLambda []float64) *Fitted {
	out := b.engine.blank()
	out.Support = append(out.Support, s.Support...)
	out.Objective, out.Certificate, out.Effort, out.Status = s.Objective, s.Certificate, s.Effort, s.Status
	view, q := b.fit.View(), b.fit.Count()
	if b.classes == nil {
		for k, j := range s.Support {
			out.Coef = append(out.Coef, s.Coef[k]*view.Scale(int(j)))
		}
		out.Intercept = s.Intercept[0]
		return out
	}
	out.Classes = slices.Clone(b.classes)
	for k := range q {
		one := &Fitted{
			LogLambda: []float64{logLambda[min(k, len(logLambda)-1)]}, LogLambdaMax: []float64{b.top[0]}, Kernels: b.engine.k.Name,
			Intercept: s.Intercept[k], Objective: s.Objective, Certificate: s.Certificate, Status: s.Status,
		}
		for c, j := range s.Support {
			if v := s.Coef[c*q+k]; v != 0 {
				one.Support, one.Coef = append(one.Support, j), append(one.Coef, v*view.Scale(int(j)))
			}
		}
		out.PerClass = append(out.PerClass, one)
	}
	return out
}

func (b *blocked) outer(spec bilevel.Spec) (outer, error) {
	return bilevel.New(b.engine.k, b.engine.x, b.targets(), b.complete(spec))
}

// lanes implements [distributable].
func (b *blocked) lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	return bilevel.NewLanes(b.engine.k, x, b.targets(), b.complete(spec))
}

// over implements [distributable].
func (b *blocked) over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (outer, error) {
	return bilevel.NewOver(ctx, runner, b.complete(spec))
}

// complete adds what the outer problem has of the model.
func (b *blocked) complete(spec bilevel.Spec) bilevel.Spec {
	spec.Blocked = &bilevel.Blocked{
		Partition: b.part, Count: b.fit.Count(), Scores: b.scores, Max: b.alphaMax, Descend: b.form.shaped.concave,
		Penalty: func(logLambda []float64) (model.Blocks, error) { return b.form.penalty(b, logLambda) },
	}
	if spec.Criterion == nil {
		spec.Criterion = b.judge
	}
	return spec
}

// targets returns y, of classes their numbers.
func (b *blocked) targets() []float64 {
	if b.classes == nil {
		return b.engine.y
	}
	y := make([]float64, len(b.label))
	for i, c := range b.label {
		y[i] = float64(c)
	}
	return y
}

// judged is what judges held-out rows.
func (b *blocked) judged() criterion.Criterion { return b.judge }

// startAt makes the next solve begin at these coefficients, see [cd.Blocks.Start].
func (b *blocked) startAt(at []int32, coef []float64) {
	if len(at) > 0 {
		b.begin()
		b.solver.Start(at, coef)
	}
}

// refuseShapes refuses parameters that are not those of the penalty.
func (e *engine) refuseShapes() error {
	own := ""
	gamma, a, tau := shapes()
	if f := e.family.blocks; f != nil && f.shaped.of != nil {
		own = f.shaped.flag
		switch v := f.shaped.value(e.config); {
		case own == tau.flag && !(v > 0 && v <= 1):
			return outcome.At(outcome.BadParameter, own, "the share of the ℓ1 term must be above 0 and at most 1, got %g", v)
		case !(v > 0):
			return outcome.At(outcome.BadParameter, own, "must be positive, got %g", v)
		}
	}
	for _, s := range []shape{gamma, a, tau} {
		if s.of(e.config) != 0 && s.flag != own {
			return outcome.At(outcome.Usage, s.flag, "%s has no such parameter", e.config.Model)
		}
	}
	grouped := e.family.blocks != nil && e.family.blocks.grouped
	switch {
	case e.config.Groups != nil && !grouped:
		return outcome.At(outcome.Usage, "column-groups", "%s has no groups of columns; %s, %s and %s have", e.config.Model, GroupLasso, GroupNet, SparseGroup)
	case e.config.GroupWeights != nil && !grouped:
		return outcome.At(outcome.Usage, "group-weights", "%s has no groups of columns; %s, %s and %s have", e.config.Model, GroupLasso, GroupNet, SparseGroup)
	}
	return nil
}
