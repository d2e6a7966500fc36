package pare_test

import (
	"context"
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestElasticNetEnds checks that a search over an elastic net ends at a stationary point. The
// criterion has a corner wherever the support changes, and a minimum may be at such a corner,
// with slopes that point into it from both sides. Where the search ends, some convex
// combination of the slopes within 0.03, apart from the component at the border, must be below
// 1e-4 of the criterion per unit of λ, so that no descent direction remains.
func TestElasticNetEnds(t *testing.T) {
	for _, name := range []string{"diabetes", "leukemia"} {
		t.Run(name, func(t *testing.T) {
			x, y := load(t)
			if name != "diabetes" {
				x, y = shared(t, name)
			}
			c := pare.Config{Model: pare.ElasticNet, NoIntercept: true}
			s, err := pare.Select(context.Background(), x, y, pare.SelectOptions{Precision: true, Validation: pare.Validation{InOrder: true}}, c)
			if err != nil || !s.Status.OK() {
				t.Fatal(s, err)
			}
			top := s.Final.LogLambdaMax
			lowest := top[0] - 18
			c.Tol = 1e-12
			var slopes [][2]float64
			for _, radius := range []float64{0, 1e-3, 3e-3, 1e-2, 3e-2} {
				for k := range 8 {
					sin, cos := math.Sincos(float64(k) * math.Pi / 4)
					at := []float64{max(lowest, s.LogLambda[0]+radius*cos), s.LogLambda[1] + radius*sin}
					e, err := pare.Gradient(context.Background(), x, y, at, pare.Validation{InOrder: true}, c)
					if err != nil {
						t.Fatal(err)
					}
					g := [2]float64{e.Gradient[0], e.Gradient[1]}
					if s.Status == outcome.Box && at[0] <= lowest+0.01 {
						g[0] = min(g[0], 0)
					}
					slopes = append(slopes, g)
				}
			}
			mean := slopes[0] // the shortest convex combination, by Frank–Wolfe
			for range 100_000 {
				least, to := math.Inf(1), mean
				for _, g := range slopes {
					if along := g[0]*mean[0] + g[1]*mean[1]; along < least {
						least, to = along, g
					}
				}
				d := [2]float64{to[0] - mean[0], to[1] - mean[1]}
				share := -(mean[0]*d[0] + mean[1]*d[1]) / (d[0]*d[0] + d[1]*d[1])
				if !(share > 0) {
					break
				}
				share = min(share, 1)
				mean = [2]float64{mean[0] + share*d[0], mean[1] + share*d[1]}
			}
			t.Logf("%s at %g of αmax, %.8g after %d: slopes %.2g there, %.2g in the mean", s.Status,
				[]float64{math.Exp(s.LogLambda[0] - top[0]), math.Exp(s.LogLambda[1] - top[1])}, s.Value, len(s.Evaluations), slopes[0], mean)
			if length := math.Hypot(mean[0], mean[1]); length > 1e-4*s.Value {
				t.Errorf("the shortest mean of the slopes around is %g of the criterion", length/s.Value)
			}
		})
	}
}

// TestElasticNetContainsLasso checks that the search for an elastic net, which without its
// ridge is a Lasso, ends no worse than the Lasso's search from the same start, up to the
// stopping tolerance.
func TestElasticNetContainsLasso(t *testing.T) {
	x, y := load(t)
	for _, v := range []pare.Validation{{InOrder: true}, {Split: pare.Blocks}, {}, {Seed: 1}} {
		o := pare.SelectOptions{Validation: v}
		lasso, err := pare.Select(context.Background(), x, y, o, pare.Config{})
		if err != nil {
			t.Fatal(err)
		}
		both, err := pare.Select(context.Background(), x, y, o, pare.Config{Model: pare.ElasticNet})
		if err != nil || !both.Status.OK() || len(both.Gradient) != 2 {
			t.Fatal(both, err)
		}
		if both.Value > lasso.Value*(1+1e-4) {
			t.Errorf("%v: %s at %.8g after %d, the Lasso has %.8g", v, both.Status, both.Value, len(both.Evaluations), lasso.Value)
		}
	}
}

// TestElasticNetContainsRidge checks that the search for an elastic net, which without its ℓ1
// strength is a ridge, ends no worse than the ridge's search where the ridge is the better of
// the two. In one problem a single column with large entries makes αmax so large that strengths
// small beside it still shrink all other columns; in the other all columns have large entries,
// so that the best ridge strength is large.
func TestElasticNetContainsRidge(t *testing.T) {
	const p = 60
	for name, c := range map[string]struct {
		n            int
		first, other float64 // the scale of the first column and of the other columns
	}{
		"one large column": {100, 60, 1},
		"large entries":    {200, 1e4, 1e4},
	} {
		t.Run(name, func(t *testing.T) {
			r := oracle.NewRandom(8)
			y, entries := make([]float64, c.n), make([]float64, 0, c.n*p)
			for i := range y {
				y[i] = 4 * r.Normal()
			}
			scale := c.first
			for range p {
				effect := r.Normal()
				for i := range y {
					v := r.Normal()
					y[i] += 0.3 * effect * v
					entries = append(entries, scale*v)
				}
				scale = c.other
			}
			x, err := sparse.NewDense(c.n, p, entries)
			if err != nil {
				t.Fatal(err)
			}
			alone, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Model: pare.Ridge})
			if err != nil {
				t.Fatal(err)
			}
			both, err := pare.Select(context.Background(), x, y, pare.SelectOptions{}, pare.Config{Model: pare.ElasticNet})
			if err != nil || !both.Status.OK() {
				t.Fatal(both, err)
			}
			if both.Value > alone.Value*(1+1e-4) {
				t.Errorf("%s at %.8g after %d, the ridge has %.8g", both.Status, both.Value, len(both.Evaluations), alone.Value)
			}
		})
	}
}
