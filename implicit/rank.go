package implicit

import (
	"context"
	"math"

	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// Where columns depend on one another A is singular, and conjugate gradients do not detect it: all the
// right-hand sides of the gradient are in the range of A, and conjugate gradients converge to the solution of
// least norm. A random right-hand side has a component outside the range, about 1/√s of its norm, which stays
// in the residual. A solve whose residual gets below a hundredth of that has shown that there is no such
// component, except for one in a hundred of the right-hand sides where a single dimension is missing.
const rankShare = 0.01

// rank is what is known of the rank of A.
type rank int

const (
	full rank = iota
	deficient
	unknownRank
)

// rank solves for a random right-hand side, unless a factor or a ridge proves that A is regular, or the
// caller assumes it. The Ritz values of the solve also serve error bounds.
func (s *Solver) rank(ctx context.Context, g model.Penalty, opts Options) rank {
	switch {
	case s.direct.dependent:
		return deficient
	case s.direct.ready, g.Ridge() > 0, opts.AssumeFullRank, len(s.support) < 2:
		return full
	}
	s.drawRightSide(g)
	clear(s.x)
	tol := rankShare / math.Sqrt(float64(len(s.support)))
	var report support.Report
	if s.onGram {
		report = s.cg.Solve(ctx, &s.dense, s.rhs, s.x, tol, opts.MaxIterations)
	} else {
		report = s.system.Solve(ctx, &s.cg, s.rhs, s.x, tol, opts.MaxIterations)
	}
	before := s.ritz
	s.countIterations(report)
	margin := s.ritz[0] / s.ritz[1]
	s.out.InjectivityMargin = min(s.out.InjectivityMargin, margin)
	if report.Converged && margin > singular {
		return full
	}
	s.ritz = before // those of the range of A
	switch {
	case report.Iterations < opts.MaxIterations && ctx.Err() == nil:
		return deficient
	default:
		return unknownRank
	}
}

// drawRightSide makes a random right-hand side in the scale of the diagonal: the same for copies of a column where
// they may share a coefficient.
func (s *Solver) drawRightSide(g model.Penalty) {
	source := random.SplitMix64(len(s.support))
	for k, d := range s.diag {
		s.rhs[k] = float64(float64(2*source.Uniform())-1) * math.Sqrt(d)
	}
	equal, opposite := g.Indifferent()
	if !equal {
		return
	}
	copies := s.view.NewCopies(opposite)
	if len(copies.Find(s.support)) == 0 {
		return
	}
	first := map[int32]float64{}
	for k, j := range s.support {
		rep := copies.Representative(j)
		b, met := first[rep.Column]
		if !met {
			b = s.rhs[k] / rep.Sign
			first[rep.Column] = b
		}
		s.rhs[k] = b * rep.Sign
	}
}
