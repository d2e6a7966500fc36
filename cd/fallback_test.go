package cd_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestEndedInAPassTheLastCertificateStands checks that a solve whose context ends in the middle of an operation
// returns the last certified point, with its objective and gap, or an error if there is none.
func TestEndedInAPassTheLastCertificateStands(t *testing.T) {
	r := oracle.NewRandom(3)
	q := r.Problem(oracle.Shape{N: kernels.Block + 99, P: 140, Density: 1, Correlation: 0.8})
	q.Uniform(0.02 * q.AlphaMax())
	g := fixture.Penalty(t, q)
	looks := oracle.LooksOf(t.Context(), math.MaxInt)
	view, err := sparse.NewView(fixture.Kernels(t).Until(ending{looks}), fixture.Matrix(t, q, true), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := model.NewSquared(view, q.Y)
	if err != nil {
		t.Fatal(err)
	}
	s := cd.New(fit)
	cancelled, refused, moved := 0, 0, 0
	apart := 4
	if oracle.Fewest() {
		apart = 1
	}
	for after, done := 0, false; !done; after += 1 + after/apart {
		s.Reset()
		looks.Set(after)
		sol, err := s.Solve(t.Context(), g, cd.Options{Tol: 1e-13})
		done = looks.Left() >= 0
		looks.Set(math.MaxInt)
		if err != nil {
			refused++
			continue
		}
		beta := scatter(sol, 140)
		if !done && sol.Status != outcome.Converged {
			if cancelled++; len(sol.Support) > 0 {
				moved++
			}
		}
		if objective, gap := q.Objective(beta, 0), q.Gap(beta, 0); math.Abs(sol.Objective-objective) > 1e-12*q.Null() || math.Abs(sol.Gap-gap) > 1e-12*q.Null() {
			t.Errorf("after %d looks: %s with objective %g, not %g, gap %g, not %g", after, sol.Status, sol.Objective, objective, sol.Gap, gap)
		}
	}
	if refused == 0 || cancelled == 0 || moved == 0 {
		t.Errorf("%d cancelled, %d of them with coefficients, %d refused", cancelled, moved, refused)
	}
}

// ending is a context whose Done channel is not nil, so that kernels check whether it has ended.
type ending struct{ context.Context }

func (ending) Done() <-chan struct{} { return make(chan struct{}) }
