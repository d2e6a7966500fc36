package bilevel

import (
	"context"
	"math"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Information is a criterion without held-out rows: Fit·‖y − m‖² + Freedom·dof +
// Constant, dof the degrees of freedom of the fit.
type Information struct{ Fit, Freedom, Constant float64 }

// SURE is Stein's unbiased estimate of the risk, ‖y − m‖² − nσ² + 2σ²·dof, for
// noise of standard deviation sigma.
func SURE(n int, sigma float64) Information {
	return Information{Fit: 1, Freedom: 2 * sigma * sigma, Constant: -float64(n) * sigma * sigma}
}

// AIC is ‖y − m‖²/σ² + 2·dof.
func AIC(sigma float64) Information { return Information{Fit: 1 / (sigma * sigma), Freedom: 2} }

// BIC is ‖y − m‖²/σ² + ln(n)·dof.
func BIC(n int, sigma float64) Information {
	return Information{Fit: 1 / (sigma * sigma), Freedom: kernels.Log(float64(n))}
}

// Sure is the bilevel problem of an [Information] criterion for a squared-loss
// model, on all rows. The degrees of freedom |S| jump with λ and carry no
// gradient; they are taken by finite differences along a random direction δ,
//
//	dof = δᵀ(m(y + εδ) − m(y))/ε,  ε = 2σ/n^0.3,
//
// so that an evaluation solves two inner problems (Deledalle, Vaiter, Fadili and
// Peyré, SIAM J. Imaging Sci. 7, 2014; Bertrand et al., section 4.1). It
// implements [search.Objective] and is not safe for concurrent use.
type Sure struct {
	spec      Spec
	criterion Information
	n         int
	y, delta  []float64
	epsilon   float64
	lanes     [2]sureLane // of y, and of y + εδ
	null      float64
}

type sureLane struct {
	solver           *cd.Solver
	implicit         *implicit.Solver
	solution         *cd.Solution
	gradient         *implicit.Hypergradient
	slope, curvature []float64
	solved           solved
	derived          derived
}

// NewSure prepares the problem. sigma is the noise level, which sets ε; seed
// draws δ. Folds, Datafit and Criterion of the spec are not used; it has no Weights. The
// error is an [outcome.Error] about the arguments.
func NewSure(k *kernels.Set, x sparse.Matrix, y []float64, criterion Information, sigma float64, seed uint64, spec Spec) (*Sure, error) {
	n, _ := x.Dims()
	if !(sigma > 0) || math.IsInf(sigma, 0) {
		return nil, outcome.At(outcome.BadParameter, "sigma", "the noise level must be positive and finite, got %g", sigma)
	}
	if spec.Weights != nil {
		return nil, outcome.Errorf(outcome.Usage, "information criteria are for rows of equal weight")
	}
	view, err := spec.view(k, x, nil)
	if err != nil {
		return nil, err
	}
	s := &Sure{spec: spec, criterion: criterion, n: n, y: y, delta: normals(n, seed)}
	s.epsilon = 2 * sigma / kernels.Exp(0.3*kernels.Log(float64(n)))
	shifted := make([]float64, len(y))
	for i, t := range y {
		if i < n {
			shifted[i] = math.FMA(s.epsilon, s.delta[i], t)
		}
	}
	for at, target := range [][]float64{y, shifted} {
		fit, err := model.NewSquared(view, target)
		if err != nil {
			return nil, err
		}
		solver := cd.New(fit)
		s.lanes[at] = sureLane{
			solver: solver, implicit: implicit.NewSharing(fit, solver.Cache()),
			slope: make([]float64, n), curvature: make([]float64, n),
		}
		if at == 0 {
			s.null = float64(criterion.Fit*2*float64(n)*fit.Null()) + criterion.Constant
			if spec.Intercept {
				s.null += criterion.Freedom // the mean is one degree of freedom
			}
		}
	}
	return s, nil
}

// normals draws n standard normal numbers by Marsaglia's polar method from
// SplitMix64: the same bits on every architecture.
func normals(n int, seed uint64) []float64 {
	source := random.SplitMix64(seed)
	uniform := func() float64 { // in (−1, 1)
		return float64(int64(source.Next())>>10) * 0x1p-53
	}
	out := make([]float64, 0, n+1)
	for len(out) < n {
		u, v := uniform(), uniform()
		r := math.FMA(u, u, v*v)
		if r == 0 || r >= 1 {
			continue
		}
		scale := math.Sqrt(-2 * kernels.Log(r) / r)
		out = append(out, u*scale, v*scale)
	}
	return out[:n]
}

// NullValue returns the criterion of the null model.
func (s *Sure) NullValue() float64 { return s.null }

// Eval implements [search.Objective].
func (s *Sure) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	report, err := s.Evaluate(ctx, r)
	return report.Evaluation, err
}

// Evaluate solves both problems at r.LogLambda and returns the criterion and its
// hypergradient.
func (s *Sure) Evaluate(ctx context.Context, r search.Request) (Report, error) {
	start := time.Now()
	penalty, err := s.spec.Penalty(r.LogLambda)
	if err != nil {
		return Report{}, err
	}
	options := s.spec.Solver
	if r.Tol != 0 {
		options.Tol = r.Tol
	}
	options = sharpen(options)
	if err := s.each(ctx, func(ctx context.Context, l *sureLane) error {
		start := time.Now()
		var err error
		l.solution, err = l.solver.Solve(ctx, penalty, options)
		if err == nil && l.solution.Status == outcome.Cancelled {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		l.solved = summarise(l.solution, time.Since(start))
		return nil
	}); err != nil {
		return Report{}, err
	}
	report := newReport(r, penalty.Hyperparameters())
	report.Value = s.value()
	if !r.ValueOnly {
		if err := s.each(ctx, func(ctx context.Context, l *sureLane) error {
			start := time.Now()
			var err error
			at := implicit.Point{Support: l.solution.Support, Coef: l.solution.Coef, KKT: l.solution.KKT, State: l.solution.State}
			l.gradient, err = l.implicit.Solve(ctx, penalty, at,
				implicit.Outer{Slope: l.slope, Curvature: l.curvature},
				implicit.Options{Tol: systemTol(options.Tol)})
			if err == nil && l.gradient.Status == outcome.Cancelled {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			l.derived = differentiated(l.gradient, time.Since(start))
			if s.spec.Certify {
				return l.derived.prove(func() (implicit.Certificate, error) { return l.implicit.Certify(ctx, penalty, at) })
			}
			return nil
		}); err != nil {
			return Report{}, err
		}
	}
	for at := range s.lanes {
		l := &s.lanes[at]
		report.addSolution(l.solved)
		if !r.ValueOnly {
			report.addGradient(l.derived, 1)
			scatter(l.gradient.Gradient, weightedColumns(penalty, l.solution.Support), 1, report.Gradient)
		}
	}
	report.finish(len(s.lanes))
	report.Seconds = time.Since(start).Seconds()
	return report, nil
}

// each runs a task for both problems.
func (s *Sure) each(ctx context.Context, task func(context.Context, *sureLane) error) error {
	group, inner := errgroup.WithContext(ctx)
	if s.spec.Threads > 0 {
		group.SetLimit(s.spec.Threads)
	}
	for at := range s.lanes {
		group.Go(func() error { return task(inner, &s.lanes[at]) })
	}
	return group.Wait()
}

// value returns the criterion and leaves its slopes in the predictions of both
// problems.
func (s *Sure) value() float64 {
	m, moved := s.lanes[0].solution.Prediction, s.lanes[1].solution.Prediction
	weight := s.criterion.Freedom / s.epsilon
	var rss, dof float64
	for i, t := range s.y {
		r := m[i] - t
		rss = math.FMA(r, r, rss)
		dof = math.FMA(s.delta[i], moved[i]-m[i], dof)
		s.lanes[1].slope[i] = weight * s.delta[i]
		s.lanes[0].slope[i] = math.FMA(2*s.criterion.Fit, r, -s.lanes[1].slope[i])
		s.lanes[0].curvature[i] = 2 * s.criterion.Fit
	}
	return float64(s.criterion.Fit*rss) + float64(weight*dof) + s.criterion.Constant
}
