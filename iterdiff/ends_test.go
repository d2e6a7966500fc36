package iterdiff_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// slow is a context that ends at the n-th call of its Err.
type slow struct {
	context.Context
	asked, ends int
}

func (s *slow) Err() error {
	if s.asked++; s.asked >= s.ends {
		return context.Canceled
	}
	return nil
}

// TestCancellation checks that the context is examined within epochs, in the forward and the reverse sweep, and
// that a cancelled call returns the results so far with the status Cancelled.
func TestCancellation(t *testing.T) {
	fit, outer := wide(t, 200, 2000, 75) // 150,000 entries
	g, err := model.Lasso(math.Log(model.AlphaMax(fit)) - 2)
	if err != nil {
		t.Fatal(err)
	}
	s, err := iterdiff.New(fit)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range allMethods {
		o := iterdiff.Options{Method: method, Epochs: 2}
		for ends := 1; ; ends++ {
			ctx := &slow{Context: t.Context(), ends: ends}
			got, err := s.Solve(ctx, g, outer, o)
			if err != nil {
				t.Fatal(err)
			}
			if got.Status != outcome.Cancelled {
				if ends < 4 {
					t.Errorf("%s: the context was asked %d times in %d epochs", method, ctx.asked, got.Epochs)
				}
				break
			}
			if ends == 1 && got.Epochs != 0 {
				t.Errorf("%s: %d epochs after the end", method, got.Epochs)
			}
			if !(got.Gap >= 0) {
				t.Errorf("%s: gap %g", method, got.Gap)
			}
		}
	}
}

// TestEnds checks the status of runs that do not converge to a derivative.
func TestEnds(t *testing.T) {
	for _, method := range allMethods {
		q := draw(t, oracle.NewRandom(1), fixture.Kernels(t), squared, "lasso", method)
		flat, err := model.Lasso(q.log[0] + 10)
		if err != nil {
			t.Fatal(err)
		}
		got, err := q.solver.Solve(t.Context(), flat, q.outer, iterdiff.Options{Method: method})
		if err != nil || got.Status != outcome.Flat || got.Gradient[0] != 0 || got.Epochs > 2 || got.Identified != 0 {
			t.Errorf("%s above αmax: %+v, %v", method, got, err)
		}
		got = q.solve(t, iterdiff.Options{MaxEpochs: 2})
		if got.Status != outcome.Budget || got.Epochs != 2 || !(got.Gap > 0) || !(got.Change > 0) {
			t.Errorf("%s after 2 epochs: %+v", method, got)
		}
		at := iterdiff.Point{}
		for _, o := range []iterdiff.Options{{Tol: 1e-12}, {}} {
			o.Start = at
			got = q.solve(t, o)
			if got.Status != outcome.Converged {
				t.Errorf("%s: %s", method, got.Status)
			}
			at = iterdiff.Point{Support: slices.Clone(got.Support), Coef: slices.Clone(got.Coef)}
		}
		if got.Identified != 0 {
			t.Errorf("%s from the solution: support found at epoch %d", method, got.Identified)
		}
		got = q.solve(t, iterdiff.Options{Step: 1e6, Epochs: 500})
		if diverges := method == iterdiff.ForwardPGD || method == iterdiff.BackwardPGD; diverges != (got.Status == outcome.NotConverged) {
			t.Errorf("%s with a step of 1e6: %s", method, got.Status)
		}
	}
	q := draw(t, oracle.NewRandom(1), fixture.Kernels(t), squared, "wlasso", iterdiff.ForwardPCD)
	if _, err := q.solver.Solve(t.Context(), q.penalty(t), q.outer, iterdiff.Options{MemoryBudget: 8}); outcome.KindOf(err) != outcome.Limit {
		t.Errorf("no room for the Jacobian: %v", err)
	}
}

// TestLateSupportsAreDifferentiatedLonger checks runs whose support is found shortly before the iterates converge:
// a reverse sweep must not end at coordinates that did not change in the last epochs, as if it had converged. The
// derivative of a backward method agrees with that of a forward method to the accuracy that it reports.
func TestLateSupportsAreDifferentiatedLonger(t *testing.T) {
	compared := 0
	for seed := range uint64(400) {
		for _, l := range []kind{box, squared} {
			r := oracle.NewRandom(5000 + seed)
			q := draw(t, r, fixture.Kernels(t), l, "lasso", iterdiff.BackwardPCD)
			got := *q.solve(t, iterdiff.Options{Tol: 1e-6})
			gradient := slices.Clone(got.Gradient)
			q.method = iterdiff.ForwardPCD
			want := q.solve(t, iterdiff.Options{Tol: 1e-13, MaxEpochs: 100_000})
			if got.Status != outcome.Converged || want.Status != outcome.Converged {
				continue
			}
			compared++
			if off := math.Abs(gradient[0] - want.Gradient[0]); off > 10*got.Change*math.Abs(want.Gradient[0])+1e-12 {
				t.Errorf("seed %d, kind %d: %d epochs, support from %d on, off by %g of %g, %g left", seed, l, got.Epochs, got.Identified, off, want.Gradient[0], got.Change)
			}
		}
	}
	if compared < 100 {
		t.Errorf("%d compared", compared)
	}
}
