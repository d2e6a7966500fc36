package cd_test

import (
	"context"
	"testing"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestWatchSeesTheStagesAndChangesNothing checks that Watch is called at every stage,
// last with the certificate that is returned, and that watching changes no bit.
func TestWatchSeesTheStagesAndChangesNothing(t *testing.T) {
	for seed := range oracle.Cases(20) {
		q, name := draw(oracle.NewRandom(seed), 60)
		fit, penalty := fixture.Squared(t, q, false), fixture.Penalty(t, q)
		plain, err := cd.New(fit).Solve(context.Background(), penalty, cd.Options{Tol: 1e-10})
		if err != nil {
			t.Fatal(err)
		}
		var seen []cd.Progress
		watched, err := cd.New(fit).Solve(context.Background(), penalty, cd.Options{Tol: 1e-10, Watch: func(p cd.Progress) { seen = append(seen, p) }})
		if err != nil {
			t.Fatal(err)
		}
		if plain.Gap != watched.Gap || plain.Objective != watched.Objective || plain.Epochs != watched.Epochs {
			t.Errorf("%s: gap %g, watched %g", name, plain.Gap, watched.Gap)
		}
		passes := 0
		for k, p := range seen {
			if p.Stage == cd.Certified {
				passes++
			}
			if k > 0 && p.Stage == seen[k-1].Stage || p.Stage == cd.Improved && seen[k-1].Stage != cd.Chosen {
				t.Errorf("%s: %s after %s", name, p.Stage, seen[k-1].Stage)
			}
		}
		if passes == 0 {
			continue // a solve of a ridge alone has no working sets
		}
		if last := seen[len(seen)-1]; passes != watched.Passes || last.Stage != cd.Certified || last.RelativeGap != watched.RelativeGap || last.Support != len(watched.Support) {
			t.Errorf("%s: ends with %+v after %d passes, want a gap of %g after %d", name, last, passes, watched.RelativeGap, watched.Passes)
		}
	}
}
