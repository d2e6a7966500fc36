package studies

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/iterdiff"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Costs is table 4, measured: 20 epochs of every method of iterative differentiation and, for comparison, a
// solution with its implicit derivative, on seeded Gaussian data with a doubling number of columns, with one λ
// and with one λ per column. The paper's table has O(npr) for a forward epoch, O(np) for backward PGD and
// O(np²) for backward PCD; our backward PCD is O(np) too.
func Costs(ctx context.Context, o Options) (*Result, error) {
	const rows, epochs = 200, 20
	sizes := []int{250, 500, 1000, 2000, 4000}
	if o.Quick {
		sizes = sizes[:3]
	}
	t := Table{Columns: []string{"method", "hyperparameters", "columns", "epochs", "entries_per_epoch_and_nonzero", "seconds_per_epoch", "allocated_bytes"}}
	grown := map[string]*chart.Series{}
	var order []string
	for _, p := range sizes {
		x, y, err := gaussian(rows, p)
		if err != nil {
			return nil, err
		}
		for _, weighted := range []bool{false, true} {
			for _, method := range []iterdiff.Method{iterdiff.ForwardPGD, iterdiff.BackwardPGD, iterdiff.ForwardPCD, iterdiff.BackwardPCD, -1} {
				name, r := "implicit", 1
				if method >= 0 {
					name = method.String()
				}
				if weighted {
					r = p
				}
				o.say(fmt.Sprintf("%s, %d columns, %d hyperparameters", name, p, r))
				cost, err := EpochCost(ctx, x, y, weighted, method, epochs)
				if err != nil {
					return nil, err
				}
				t.Add(name, map[bool]string{false: "1", true: "p"}[weighted], p, cost.Epochs, cost.Entries, cost.Seconds, cost.Bytes)
				key := fmt.Sprintf("%s %v", name, weighted)
				if grown[key] == nil {
					label := name
					if method < 0 {
						label += ", all of it"
					}
					grown[key] = &chart.Series{Name: label, Line: true, Points: true, Colour: colours[name]}
					order = append(order, key)
				}
				grown[key].X, grown[key].Y = append(grown[key].X, float64(p)), append(grown[key].Y, cost.Seconds)
			}
		}
	}
	exponents := Table{Columns: []string{"method", "hyperparameters", "exponent of columns"}}
	one := chart.Chart{Title: "one λ", X: "columns", Y: "seconds per epoch", LogX: true, LogY: true}
	many := chart.Chart{Title: "one λ per column", X: "columns", Y: "seconds per epoch", LogX: true, LogY: true}
	for k, key := range order {
		s := *grown[key]
		if k < 5 {
			one.Series = append(one.Series, s)
		} else {
			many.Series = append(many.Series, s)
		}
		exponents.Add(s.Name, map[bool]string{true: "1", false: "p"}[k < 5], exponent(s.X, s.Y))
	}
	r := newResult()
	r.Tables["costs"], r.Tables["costs-exponents"] = t, exponents
	r.Charts["costs"] = chart.Panels{{one, many}}
	return r, nil
}

// Cost is the cost of one epoch; for the implicit method, of the whole computation.
type Cost struct {
	Epochs  int     // for the implicit method, its steps
	Entries float64 // entries of X visited, per nonzero and epoch
	Seconds float64
	Bytes   int // allocated in total
}

// EpochCost runs a method at αmax/10, or with a strength per column drawn from [αmax/20, αmax/5]. The criterion
// is the mean of squared predictions.
func EpochCost(ctx context.Context, x sparse.Matrix, y []float64, weighted bool, method iterdiff.Method, epochs int) (Cost, error) {
	k, err := kernels.Active()
	if err != nil {
		return Cost{}, err
	}
	view, err := sparse.NewView(k, x, nil, false)
	if err != nil {
		return Cost{}, err
	}
	fit, err := model.NewSquared(view, y)
	if err != nil {
		return Cost{}, err
	}
	n, p := x.Dims()
	top := model.AlphaMax(fit)
	penalty, err := epochPenalty(top, p, weighted)
	if err != nil {
		return Cost{}, err
	}
	outer := func(m, slope []float64) (value float64) {
		for i, v := range m {
			slope[i] = 2 * v / float64(n)
			value += v * v / float64(n)
		}
		return value
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began, c := time.Now(), Cost{Epochs: epochs}
	if method < 0 {
		s, err := cd.New(fit).Solve(ctx, penalty, cd.Options{})
		if err != nil {
			return Cost{}, err
		}
		slopes := implicit.Outer{Slope: make([]float64, n), Curvature: make([]float64, n)}
		outer(s.Prediction, slopes.Slope)
		at := implicit.Point{Support: s.Support, Coef: s.Coef, KKT: s.KKT}
		if _, err := implicit.New(fit).Solve(ctx, penalty, at, slopes, implicit.Options{}); err != nil {
			return Cost{}, err
		}
		c.Epochs, c.Entries = s.Epochs+s.Steps, math.NaN()
		c.Seconds = time.Since(began).Seconds()
	} else {
		solver, err := iterdiff.New(fit)
		if err != nil {
			return Cost{}, err
		}
		r, err := solver.Solve(ctx, penalty, outer, iterdiff.Options{Method: method, Epochs: epochs})
		if err != nil {
			return Cost{}, err
		}
		c.Entries = float64(r.ForwardEntries+r.ReverseEntries) / float64(epochs) / float64(x.NNZ())
		c.Seconds = time.Since(began).Seconds() / float64(epochs)
	}
	runtime.ReadMemStats(&after)
	c.Bytes = int(after.TotalAlloc - before.TotalAlloc)
	return c, nil
}

// epochPenalty returns a tenth of αmax for all p columns, or a strength drawn for each.
func epochPenalty(top float64, p int, weighted bool) (model.Penalty, error) {
	if !weighted {
		return model.Lasso(kernels.Log(top / 10))
	}
	random, l := rand.New(rand.NewPCG(0, 1)), make([]float64, p)
	for j := range l {
		l[j] = kernels.Log(top * (0.05 + 0.15*random.Float64()))
	}
	return model.WeightedLasso(l)
}

// gaussian returns a design of independent normal entries and a target of ten columns plus noise.
func gaussian(n, p int) (sparse.Matrix, []float64, error) {
	random := rand.New(rand.NewPCG(0, uint64(p)))
	values, y := make([]float64, n*p), make([]float64, n)
	for k := range values {
		values[k] = random.NormFloat64()
	}
	for i := range y {
		y[i] = random.NormFloat64()
		for j := range min(10, p) {
			y[i] += values[j*n+i]
		}
	}
	x, err := sparse.NewDense(n, p, values)
	return x, y, err
}

// exponent returns the slope of ln y against ln x.
func exponent(x, y []float64) float64 {
	var mx, my, product, square float64
	for i := range x {
		mx, my = mx+math.Log(x[i])/float64(len(x)), my+math.Log(y[i])/float64(len(x))
	}
	for i := range x {
		dx := math.Log(x[i]) - mx
		product += dx * (math.Log(y[i]) - my)
		square += dx * dx
	}
	return product / square
}
