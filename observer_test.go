package pare_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
)

// solved is an observer that keeps the models reported to it.
type solved struct {
	pare.Observer
	models []pare.Model
}

func (s *solved) Solve(f *pare.Fitted, _ time.Duration) { s.models = append(s.models, f.Model) }

// TestObserversAreToldOfFitsOnAllRows checks that observers receive the fits on all rows, under the name of
// the requested model, and no fits of folds.
func TestObserversAreToldOfFitsOnAllRows(t *testing.T) {
	x, y := load(t)
	seen := &solved{Observer: pare.LogTo(slog.New(slog.DiscardHandler))}
	ctx, c := t.Context(), pare.Config{Observer: seen}
	f, err := pare.Fit(ctx, x, y, []float64{-1}, c)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]struct {
		of   func() error
		want int
	}{
		"relaxed":     {func() error { _, err := pare.Relax(ctx, x, y, f, c); return err }, 1},
		"out of fold": {func() error { _, err := pare.OutOfFold(ctx, x, y, []float64{-1}, pare.Validation{}, c); return err }, 0},
		"choice": {func() error {
			_, err := pare.Select(ctx, x, y, pare.SelectOptions{Relaxed: true, Measures: true}, c)
			return err
		}, 2},
	} {
		seen.models = nil
		if err := call.of(); err != nil {
			t.Fatal(err)
		}
		if want := slices.Repeat([]pare.Model{pare.Lasso}, call.want); !slices.Equal(seen.models, want) {
			t.Errorf("%s: told of %v, want %v", name, seen.models, want)
		}
	}
}
