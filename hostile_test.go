package pare_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
)

// hostile data, made from rows of ordinary ones with labels -1 and 1.
var hostile = map[string]func(rows [][]float64, y []float64) ([][]float64, []float64){
	"one row":    func(x [][]float64, y []float64) ([][]float64, []float64) { return x[:1], y[:1] },
	"two rows":   func(x [][]float64, y []float64) ([][]float64, []float64) { return x[:2], y[:2] },
	"three rows": func(x [][]float64, y []float64) ([][]float64, []float64) { return x[:3], y[:3] },
	"no column":  func(x [][]float64, y []float64) ([][]float64, []float64) { return columnsOf(x, 0), y },
	"one column": func(x [][]float64, y []float64) ([][]float64, []float64) { return columnsOf(x, 1), y },
	"constant column": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return each(x, 1, func(float64) float64 { return 3 }), y
	},
	"empty column": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return each(x, 1, func(float64) float64 { return 0 }), y
	},
	"constant columns": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return every(x, func(float64) float64 { return 3 }), y
	},
	"empty columns": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return every(x, func(float64) float64 { return 0 }), y
	},
	"large columns":      func(x [][]float64, y []float64) ([][]float64, []float64) { return every(x, by(400)), y },
	"small columns":      func(x [][]float64, y []float64) ([][]float64, []float64) { return every(x, by(-400)), y },
	"overflowing column": func(x [][]float64, y []float64) ([][]float64, []float64) { return each(x, 1, by(600)), y },
	"faint column":       func(x [][]float64, y []float64) ([][]float64, []float64) { return each(x, 1, by(-600)), y },
	"mixed columns": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return each(each(x, 0, by(400)), 1, by(-400)), y
	},
	"equal rows": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return slices.Repeat(x[:4], 5), slices.Repeat(y[:4], 5)
	},
	"equal columns": func(x [][]float64, y []float64) ([][]float64, []float64) {
		out := every(x, by(0))
		for i := range out {
			out[i][2] = out[i][0]
		}
		return out, y
	},
	"one target": func(x [][]float64, y []float64) ([][]float64, []float64) { return x, repeat(1, len(y)) },
	"no target":  func(x [][]float64, y []float64) ([][]float64, []float64) { return x, repeat(0, len(y)) },
	"rare class": func(x [][]float64, y []float64) ([][]float64, []float64) {
		return x, append([]float64{-1}, repeat(1, len(y)-1)...)
	},
	"sorted":       func(x [][]float64, y []float64) ([][]float64, []float64) { return x, slices.Sorted(slices.Values(y)) },
	"exact":        func(x [][]float64, y []float64) ([][]float64, []float64) { return x, columnOf(x, 0) },
	"large target": func(x [][]float64, y []float64) ([][]float64, []float64) { return x, scaled(columnOf(x, 0), 400) },
	"small target": func(x [][]float64, y []float64) ([][]float64, []float64) { return x, scaled(columnOf(x, 0), -400) },
	"far target": func(x [][]float64, y []float64) ([][]float64, []float64) {
		out := slices.Clone(y)
		for i := range out {
			out[i] += 1e15
		}
		return x, out
	},
	"all large": func(x [][]float64, y []float64) ([][]float64, []float64) { return every(x, by(400)), scaled(y, 400) },
	"wide": func(x [][]float64, y []float64) ([][]float64, []float64) {
		r := oracle.NewRandom(8)
		out := make([][]float64, len(x))
		for i := range out {
			for range 120 {
				out[i] = append(out[i], r.Normal())
			}
		}
		return out, y
	},
}

func by(exponent int) func(float64) float64 {
	return func(v float64) float64 { return math.Ldexp(v, exponent) }
}

func scaled(y []float64, exponent int) []float64 {
	out := slices.Clone(y)
	for i := range out {
		out[i] = math.Ldexp(out[i], exponent)
	}
	return out
}

func columnOf(x [][]float64, j int) []float64 {
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i][j]
	}
	return out
}

func columnsOf(x [][]float64, p int) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = slices.Clone(x[i][:p])
	}
	return out
}

func each(x [][]float64, j int, f func(float64) float64) [][]float64 {
	out := columnsOf(x, len(x[0]))
	for i := range out {
		out[i][j] = f(out[i][j])
	}
	return out
}

func every(x [][]float64, f func(float64) float64) [][]float64 {
	out := columnsOf(x, len(x[0]))
	for j := range x[0] {
		out = each(out, j, f)
	}
	return out
}

// TestHostileData: what comes of data that leave little to do is finite numbers and a
// status, or an error with a kind that says more than that.
func TestHostileData(t *testing.T) {
	ctx := context.Background()
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 20, P: 4, Active: 2})
	y := make([]float64, len(q.Y))
	for i, v := range q.Y {
		y[i] = math.Copysign(1, v)
	}
	faulty := func(name string, err error) bool {
		if e, ok := errors.AsType[*outcome.Error](err); err != nil && (!ok || e.Kind == outcome.Internal || e.Message == "") {
			t.Errorf("%s: %v", name, err)
		}
		return err != nil
	}
	finite := func(name string, values ...float64) {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 1) {
				t.Errorf("%s: %g", name, values)
				return
			}
		}
	}
	for i, what := range slices.Sorted(maps.Keys(hostile)) {
		rows, target := hostile[what](q.X, y)
		x := matrixOf(t, rows, len(rows[0]), false)
		for j, m := range pare.Models() {
			if !oracle.Turn(i+j, 4) {
				continue
			}
			configs := []pare.Config{{}, {NoIntercept: true, Standardize: m != pare.SVM}, {Positive: m != pare.SVM && m != pare.Ridge}}
			if oracle.Few() {
				configs = configs[:1]
			}
			convex := m.Traits().Convex
			for _, c := range configs {
				c.Model, c.MaxEpochs, c.Certify = m, 50, true
				name := fmt.Sprintf("%s, %+v", what, c)
				lambda := repeat(-2, m.Hyperparameters(x, target))
				if f, err := pare.Fit(ctx, x, target, lambda, c); !faulty(name, err) {
					if !convex && math.IsNaN(f.Gap) { // none is known
						f.Gap, f.RelativeGap = 0, 0
					}
					finite(name, append(slices.Clone(f.Coef), f.Intercept, f.Objective, f.Gap, f.RelativeGap, f.KKT, f.DualMargin)...)
				}
				for _, v := range []pare.Validation{{InOrder: true}, {InOrder: true, Criterion: pare.HoldOut, Split: pare.Stratified}, {Criterion: pare.SURE}} {
					name := fmt.Sprintf("%s, %+v", name, v)
					if g, err := pare.Gradient(ctx, x, target, lambda, v, c); !faulty(name, err) && g.Status != outcome.Failed {
						if !convex && math.IsNaN(g.RelativeGap) {
							g.RelativeGap = 0
						}
						finite(name, append(slices.Clone(g.Gradient), g.Value, g.RelativeGap, g.KKT)...)
					}
					if s, err := pare.Select(ctx, x, target, pare.SelectOptions{Validation: v, Evaluations: 6, OneSE: true}, c); !faulty(name, err) {
						finite(name, append(slices.Clone(s.LogLambda), s.Value, s.NullValue)...)
					}
				}
			}
		}
	}
}

// TestFaintColumns: entries that cannot be squared are refused, with the column or the row,
// instead of taken for 0.
func TestFaintColumns(t *testing.T) {
	q := oracle.NewRandom(5).Problem(oracle.Shape{N: 20, P: 4})
	y := repeat(1, 20)
	y[3], y[8] = -1, -1
	for _, m := range pare.Models() {
		x := matrixOf(t, every(q.X, by(-600)), 4, false)
		_, err := pare.Fit(context.Background(), x, y, repeat(-2, m.Hyperparameters(x, y)), pare.Config{Model: m})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || !e.HasColumn && !e.HasRow {
			t.Errorf("%s: %v", m, err)
		}
	}
}
