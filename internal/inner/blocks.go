package inner

import (
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

// BlockForm is the part of a [Form] that only penalties on blocks of coefficients have.
type BlockForm struct {
	// penalty makes the penalty at a λ.
	penalty func(*blockProblem, []float64) (model.Blocks, error)
	// unit makes the penalty with a strength of 1, for αmax; nil where αmax is that of the Lasso, as for
	// penalties that are not convex, which behave like the Lasso near 0.
	unit func(*blockProblem) (model.ConvexBlocks, error)
	// Grouped says that the blocks are groups of columns.
	Grouped bool
	// Shape is the parameter that the penalty has besides its strengths.
	Shape Shape
}

// Shape is a parameter of a penalty besides its strengths.
type Shape struct {
	Flag    string // what messages call it; "" where there is none
	Usual   float64
	Concave bool // the penalty is not convex, and the derivative in its logarithm is known
}

// The flags of the parameters.
const (
	Gamma = "gamma" // γ of [MCP]
	A     = "a"     // a of [SCAD]
	Tau   = "tau"   // τ of [SparseGroup]
)

// blockProblem is the inner problem of a penalty on blocks of coefficients: those of a group of columns, those of
// a column for all classes, or single ones.
type blockProblem struct {
	statement      *Statement
	form           *BlockForm
	judge          criterion.Criterion // on held-out rows; nil for the cross-entropy of all classes
	part           *model.Partition
	weights        []float64 // of the groups; nil: 1
	classes        []float64 // of a softmax, else nil
	label          []int32
	fit            model.Scores
	solver         *cd.Blocks     // nil before the first solve
	descent        *cd.Descent    // under a penalty that is not convex; nil before it is needed
	condensedStart condensedStart // replaces descent where there are condensed rows
	logMax         []float64      // ln αmax; nil before it is computed
}

// OnBlocks makes the inner problem of a penalty on blocks of coefficients.
func OnBlocks(s *Statement) (Problem, error) {
	b := &blockProblem{statement: s, form: s.Form.Blocks}
	if err := b.partition(); err != nil {
		return nil, err
	}
	view, err := s.View()
	if err != nil {
		return nil, err
	}
	if s.Classes {
		if n, _ := s.X.Dims(); len(s.Y) != n {
			return nil, outcome.Errorf(outcome.Shape, "%d labels for %d rows", len(s.Y), n)
		}
		if b.classes, b.label, err = bilevel.Classes(s.Kernels, s.Y); err != nil {
			return nil, err
		}
	} else {
		bound, err := loss.Bind(s.Kernels, s.Loss, s.Y, view.Weights(), view.Centred())
		if err != nil {
			return nil, err
		}
		b.judge = s.Judge(bound)
	}
	b.fit, err = b.scores(view)
	return b, err
}

// partition makes the blocks of columns.
func (b *blockProblem) partition() (err error) {
	_, p := b.statement.X.Dims()
	c := b.statement
	switch {
	case !b.form.Grouped:
		b.part = model.Singletons(p)
		return nil
	case c.Groups == nil:
		b.part = model.Singletons(p)
	case len(c.Groups) != p:
		return outcome.At(outcome.Shape, "column-groups", "%d groups for %d columns; there must be one per column", len(c.Groups), p)
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

// scores returns the datafit on a view.
func (b *blockProblem) scores(view *sparse.View) (model.Scores, error) {
	if b.classes != nil {
		return model.NewSoftmax(view, b.label, b.classes)
	}
	fit, err := b.statement.datafit(view, b.statement.Y)
	if err != nil {
		return nil, err
	}
	return model.OneScore(fit)
}

// alphaMax returns αmax from the correlations of the null model.
func (b *blockProblem) alphaMax(z []float64) float64 {
	if b.form.unit == nil {
		return b.statement.Kernels.MaxAbs(z)
	}
	unit, err := b.form.unit(b)
	if err != nil {
		return 0 // does not happen: λ = 0 is a strength of 1
	}
	return model.BlockMax(unit, b.part, b.fit.Count(), z)
}

// AppendMax implements [Problem].
func (b *blockProblem) AppendMax(out []float64) []float64 {
	if b.logMax == nil {
		b.ensureSolver()
		_, z := b.solver.Null()
		b.setLogMax(z)
	}
	return append(out, b.logMax...)
}

func (b *blockProblem) setLogMax(z []float64) {
	r := b.statement.Count
	b.logMax = slices.Repeat([]float64{kernels.Log(b.alphaMax(z))}, r)
}

// ensureSolver makes the solver, at the null model, and sets αmax.
func (b *blockProblem) ensureSolver() {
	if b.solver != nil {
		return
	}
	b.solver = cd.NewBlocks(b.fit, b.part)
	_, z := b.solver.Null()
	b.setLogMax(z)
}

// ensureDescent returns the descent to solutions under a penalty that is not convex.
func (b *blockProblem) ensureDescent() *cd.Descent {
	if b.descent == nil {
		b.descent = cd.NewDescent(b.solver, func(lambda float64) (model.Blocks, error) { return b.form.penalty(b, []float64{lambda}) }, b.logMax[0])
	}
	return b.descent
}

// Restart implements [Problem].
func (b *blockProblem) Restart() {
	b.solver, b.descent = nil, nil
	b.condensedStart.restart()
}

// Start implements [Problem].
func (b *blockProblem) Start() float64 { return b.statement.shareOfMax() }

// Null implements [Anchored].
func (b *blockProblem) Null() float64 { return b.fit.Null() }

func (b *blockProblem) Accepts(logLambda []float64) error {
	_, err := b.form.penalty(b, logLambda)
	return err
}

func (b *blockProblem) Solve(ctx context.Context, logLambda []float64) (*Solution, error) {
	g, err := b.form.penalty(b, logLambda)
	if err != nil {
		return nil, err
	}
	var near *Solution
	if b.form.Shape.Concave {
		if near, err = b.condensedStart.startAtCondensed(ctx, b, logLambda); err != nil {
			return nil, err
		}
	}
	defer b.statement.Turn(ctx)()
	b.ensureSolver()
	var s *cd.BlockSolution
	if b.form.Shape.Concave && near == nil {
		s, err = b.ensureDescent().Solve(ctx, logLambda[0], b.statement.Solver())
	} else {
		s, err = b.solver.Solve(ctx, g, b.statement.Solver())
	}
	if err != nil {
		return nil, err
	}
	if near != nil {
		s.Add(near.Effort)
		s.Work += near.Work
	}
	return b.result(s, logLambda), nil
}

// result copies a solution, with coefficients of the columns of X.
func (b *blockProblem) result(s *cd.BlockSolution, logLambda []float64) *Solution {
	out := b.statement.newResult()
	out.Support = append(out.Support, s.Support...)
	out.Objective, out.Certificate, out.Effort, out.Work, out.Status = s.Objective, s.Certificate, s.Effort, s.Work, s.Status
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
		one := &Solution{
			LogLambda: []float64{logLambda[min(k, len(logLambda)-1)]}, LogLambdaMax: []float64{b.logMax[0]},
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

func (b *blockProblem) Outer(spec bilevel.Spec) (Outer, error) {
	return bilevel.New(b.statement.Kernels, b.statement.X, b.targets(), b.completeSpec(spec))
}

// Lanes implements [Distributable].
func (b *blockProblem) Lanes(x sparse.Matrix, spec bilevel.Spec) (*bilevel.Lanes, error) {
	return bilevel.NewLanes(b.statement.Kernels, x, b.targets(), b.completeSpec(spec))
}

// Over implements [Distributable].
func (b *blockProblem) Over(ctx context.Context, runner bilevel.Runner, spec bilevel.Spec) (Outer, error) {
	return bilevel.NewOver(ctx, runner, b.completeSpec(spec))
}

// completeSpec adds to a spec what is particular to the model.
func (b *blockProblem) completeSpec(spec bilevel.Spec) bilevel.Spec {
	spec.Blocked = &bilevel.Blocked{
		Partition: b.part, Count: b.fit.Count(), Scores: b.scores, Max: b.alphaMax, Descend: b.form.Shape.Concave,
		Penalty: func(logLambda []float64) (model.Blocks, error) { return b.form.penalty(b, logLambda) },
	}
	if spec.Criterion == nil {
		spec.Criterion = b.judge
	}
	return spec
}

// targets returns y, for classes as their numbers.
func (b *blockProblem) targets() []float64 {
	if b.classes == nil {
		return b.statement.Y
	}
	y := make([]float64, len(b.label))
	for i, c := range b.label {
		y[i] = float64(c)
	}
	return y
}

func (b *blockProblem) view() *sparse.View { return b.fit.View() }

func (b *blockProblem) startNear(columns []int32, coef []float64) {
	toView(b.view(), columns, coef)
	b.ensureSolver()
	b.solver.Start(columns, coef)
}

// dualErrorCost implements [summable]. With a ridge, correlations of a block that are off by e raise the conjugate
// by ‖e‖‖β‖ + ‖e‖²/2α₂ at most.
func (b *blockProblem) dualErrorCost(s *Solution, logLambda, off []float64) (share, objective float64, err error) {
	g, err := b.form.penalty(b, logLambda)
	if err != nil {
		return 0, 0, err
	}
	convex, beta, coef := g.(model.ConvexBlocks), make([]float64, len(off)), slices.Clone(s.Coef)
	toView(b.view(), s.Support, coef)
	for k, j := range s.Support {
		beta[j] = coef[k]
	}
	k, room := b.statement.Kernels, make([]float64, 2*b.part.Largest())
	for block := range b.part.Count() {
		e := model.Entries(b.part, block, 1, off, room)
		if ridge := convex.Ridge(); ridge > 0 {
			size := k.Nrm2(e)
			objective += float64(size*k.Nrm2(model.Entries(b.part, block, 1, beta, room[len(room)/2:]))) + float64(size*size/(2*ridge))
		} else {
			share = max(share, 1/convex.Reach(block, e))
		}
	}
	return share, objective, nil
}

// Judged returns the criterion on held-out rows.
func (b *blockProblem) Judged() criterion.Criterion { return b.judge }

// StartAt makes the next solve start at the given coefficients, see [cd.Blocks.Start].
func (b *blockProblem) StartAt(at []int32, coef []float64) {
	if len(at) > 0 {
		b.ensureSolver()
		b.solver.Start(at, coef)
	}
}
