package cd

import (
	"context"
	"iter"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// Path solves for one penalty after the other, each from the previous solution;
// decreasing strengths are the fast order. It yields a solution for each penalty, which
// the next one overwrites. It ends early after an error of [Solver.Solve], or when ctx
// ends, with a solution of status Cancelled. The first solve starts from the last
// solution of the solver, if there is one.
func (s *Solver) Path(ctx context.Context, penalties iter.Seq[model.Penalty], opts Options) iter.Seq2[*Solution, error] {
	return func(yield func(*Solution, error) bool) {
		for g := range penalties {
			sol, err := s.Solve(ctx, g, opts)
			if !yield(sol, err) || err != nil || sol.Status == outcome.Cancelled {
				return
			}
		}
	}
}
