package goals

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/studies"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/sparse"
)

const (
	drawnProblems = 300   // per model
	drawnQuick    = 60    //
	gridPoints    = 200   // of the reference grid
	realSeeds     = 6     // shuffles of each data set
	referenceTol  = 1e-7  // tolerance of the reference grid's points
	clearTol      = 1e-11 // the same where noise is little: looser solutions would be the same at several points
	leftRows      = 0.1   // for leave-one-out criteria: least fraction of rows that a support must leave free to be meaningful
	largestDrawn  = 1000  // number of rows above which the grid is coarser and shorter
)

// problem is a data set on which λ is chosen.
type problem struct {
	name string
	x    sparse.Matrix
	y    []float64
	v    pare.Validation
	tol  float64 // tolerance of the reference
}

// drawn is a kind of random problem.
type drawn struct {
	model     pare.Model
	criterion pare.Criterion // "" is cross-validation
	clear     bool           // little noise
}

// name returns the name of the model, with what deviates from the default.
func (d drawn) name() string {
	name := string(d.model)
	if d.criterion != "" {
		name += " by " + string(d.criterion)
	}
	if d.clear {
		name += " in little noise"
	}
	return name
}

// kinds are the random problems of O8.
var kinds = []drawn{
	{model: pare.Lasso},
	{model: pare.Logistic},
	{model: pare.Ridge},
	{model: pare.SVM},
	{model: pare.ElasticNet},
	{model: pare.Lasso, clear: true},
	{model: pare.Ridge, clear: true},
	{model: pare.Lasso, criterion: pare.SURE},
	{model: pare.Lasso, criterion: pare.AIC},
	{model: pare.Lasso, criterion: pare.BIC},
	{model: pare.Lasso, criterion: pare.GCV},
	{model: pare.Lasso, criterion: pare.ALO},
}

// draw draws the k-th random problem of a seed: 40 to 300 rows and 10 to 200 correlated columns, half the time
// of very different scales, with few nonzero coefficients. The ratio of noise to signal variance is from a
// tenth to three, or, where noise is little, from a millionth to a tenth. Classes are the signs of the target.
func (d drawn) draw(seed uint64, k int) (problem, error) {
	m, least, most, tol := d.model, 0.3, 10.0, referenceTol
	if d.clear {
		least, most, tol = 10, 1e6, clearTol
	}
	source := random.SplitMix64(seed*1_000_003 + uint64(k)*7919 + uint64(len(m)))
	between := func(low, high float64) float64 { return low + float64((high-low)*source.Uniform()) }
	n, p := int(between(40, 301)), int(between(10, 201))
	correlation, ratio := between(0, 0.9), math.Exp(between(math.Log(least), math.Log(most)))
	scaled := source.Uniform() < 0.5
	scale := slices.Repeat([]float64{1}, p)
	for j := range scale {
		if scaled {
			scale[j] = math.Exp(2 * source.Normal())
		}
	}
	coef := make([]float64, p)
	for range 1 + source.Below(min(p, 20)) {
		coef[source.Below(p)] = source.Normal()
	}
	values, y := make([]float64, n*p), make([]float64, n)
	for i := range n {
		last := source.Normal()
		for j := range p {
			last = correlation*last + math.Sqrt(1-correlation*correlation)*source.Normal()
			values[j*n+i] = last * scale[j]
			y[i] += coef[j] * last
		}
	}
	var square float64
	for _, t := range y {
		square += t * t / float64(n)
	}
	noise := math.Sqrt(square / ratio)
	for i := range y {
		y[i] += noise * source.Normal()
	}
	if m.Traits().Link.Classes() {
		middle := slices.Sorted(slices.Values(y))[n/2]
		for i, t := range y {
			y[i] = math.Copysign(1, t-middle)
		}
	}
	x, err := sparse.NewDense(n, p, values)
	return problem{fmt.Sprintf("random %d", k), x, y, pare.Validation{Criterion: d.criterion, Seed: uint64(k)}, tol}, err
}

// quality summarises how far choices are above the best of a grid.
type quality struct {
	count, percent, bad, thousandth, worse, contained int
	worst, excess                                     float64 // in standard errors
	evaluations                                       []int
	status                                            map[string]int
	seconds                                           float64
	worstName                                         string
}

// Quality is O8: the choices of select against the best of 200 points and the null model.
func Quality(ctx context.Context, o studies.Options) (*studies.Result, error) {
	t := &studies.Table{Columns: []string{"data", "model", "problems", "off by 1 % and 0.3 SE", "off by 0.1 % and 0.05 SE", "worse than null", "above a contained model", "largest excess (SE)", "mean excess (SE)", "evaluations: median", "90 %", "seconds", "worst"}}
	names := make([]string, len(kinds))
	for k, d := range kinds {
		names[k] = d.name()
	}
	for _, name := range o.Choose(names, len(names)) {
		d := kinds[slices.Index(names, name)]
		count := drawnProblems
		if o.Quick {
			count = drawnQuick
		}
		q := quality{status: map[string]int{}}
		for k := range count {
			if o.Progress != nil {
				o.Progress(fmt.Sprintf("%s, problem %d of %d", name, k+1, count))
			}
			p, err := d.draw(o.Seed, k)
			if err == nil {
				err = q.judge(ctx, d.model, p)
			}
			if err != nil {
				return nil, fmt.Errorf("%s, problem %d: %w", name, k, err)
			}
		}
		q.row(t, "random", name)
		if d != (drawn{model: d.model}) {
			continue
		}
		if err := realSets(ctx, o, t, d.model); err != nil {
			return nil, err
		}
	}
	return &studies.Result{Tables: map[string]studies.Table{"O8": *t}}, nil
}

// realSets adds a row for each data set that exists, over several shuffles.
func realSets(ctx context.Context, o studies.Options, t *studies.Table, m pare.Model) error {
	if traits := m.Traits(); traits.Strengths != pare.OneStrength || traits.Dense {
		return nil
	}
	seeds := uint64(realSeeds)
	if o.Quick {
		seeds = 2
	}
	for _, name := range []string{"diabetes", "breast_cancer", "colon_cancer", "leukemia", "golub_raw", "rcv1_vw", "rcv1_dev", "a9a", "w8a", "usps", "gina_like", "reuters_places"} {
		if m.Traits().Link.Classes() && name == "diabetes" {
			continue
		}
		d, err := o.Raw(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		y := d.Y
		if m.Traits().Link.Classes() {
			y = studies.Signs(y)
		}
		q := quality{status: map[string]int{}}
		for seed := range seeds {
			if o.Progress != nil {
				o.Progress(fmt.Sprintf("%s, %s, shuffle %d of %d", m, name, seed+1, seeds))
			}
			p := problem{fmt.Sprintf("shuffle %d", seed), sparse.Compact(d.X.(*sparse.CSC)), y, pare.Validation{Seed: seed}, referenceTol}
			if err := q.judge(ctx, m, p); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		q.row(t, name, string(m))
	}
	return nil
}

func (q *quality) row(t *studies.Table, data, what string) {
	slices.Sort(q.evaluations)
	at := func(share float64) int { return q.evaluations[int(share*float64(len(q.evaluations)-1))] }
	t.Add(data, what, q.count, q.bad, q.thousandth, q.worse, q.contained, q.worst, q.excess/float64(q.count), at(0.5), at(0.9), q.seconds, fmt.Sprintf("%s %v", q.worstName, q.status))
}

// judge chooses λ for one problem and compares the criterion at the choice, solved again, with the reference.
func (q *quality) judge(ctx context.Context, m pare.Model, p problem) error {
	c := pare.Config{Model: m, Threads: 1}
	began := time.Now()
	s, err := pare.Select(ctx, p.x, p.y, pare.SelectOptions{Validation: p.v}, c)
	if err != nil {
		return err
	}
	q.seconds += time.Since(began).Seconds()
	p.v.Sigma = s.Sigma // as Select estimated it
	best, spread, err := reference(ctx, p, c, s)
	if err != nil {
		return err
	}
	at, err := anew(ctx, p, m, s)
	if err != nil {
		return err
	}
	if m.Traits().Strengths == pare.L1AndRidge {
		if err := q.contains(ctx, p, at); err != nil {
			return err
		}
	}
	q.count++
	q.evaluations = append(q.evaluations, len(s.Evaluations))
	q.status[string(s.Status)]++
	above := at - best
	if above > 0.01*math.Abs(best) {
		q.percent++
		if above > 0.3*spread {
			q.bad++
		}
	}
	if above > 0.001*math.Abs(best) && above > 0.05*spread {
		q.thousandth++
	}
	if at > s.NullValue+1e-6*math.Abs(s.NullValue) {
		q.worse++
	}
	excess := max(0, above) / spread
	if q.excess += excess; excess > q.worst {
		q.worst, q.worstName = excess, fmt.Sprintf("%s: %.6g, best %.6g", p.name, at, best)
	}
	return nil
}

// anew returns the criterion at a choice, solved to the tolerance of the reference.
func anew(ctx context.Context, p problem, m pare.Model, s *pare.Selection) (float64, error) {
	if s.Status == "null_model" && !m.Traits().Dense && m.Traits().Strengths != pare.Cost {
		return s.NullValue, nil
	}
	h, err := pare.Gradient(ctx, p.x, p.y, s.LogLambda, p.v, pare.Config{Model: m, Threads: 1, Tol: p.tol})
	if err != nil {
		return 0, err
	}
	return h.Value, nil
}

// contains counts elastic nets that are worse than their own Lasso or ridge.
func (q *quality) contains(ctx context.Context, p problem, at float64) error {
	for _, m := range []pare.Model{pare.Lasso, pare.Ridge} {
		s, err := pare.Select(ctx, p.x, p.y, pare.SelectOptions{Validation: p.v}, pare.Config{Model: m, Threads: 1})
		if err != nil {
			return err
		}
		alone, err := anew(ctx, p, m, s)
		if err != nil {
			return err
		}
		if at > alone+1e-3*math.Abs(alone) {
			q.contained++
			return nil
		}
	}
	return nil
}

// reference returns the least criterion over a grid and the null model, and its standard error over the folds.
// For leave-one-out criteria, solutions with nearly as many coefficients as rows do not count: there both the
// residual and the remaining degrees of freedom are next to nothing, and their quotient may be small by chance.
func reference(ctx context.Context, p problem, c pare.Config, s *pare.Selection) (best, spread float64, err error) {
	best = s.NullValue
	if len(s.Evaluations) > 0 {
		spread = s.Evaluations[0].StandardError
	}
	grid, err := points(p, c)
	if err != nil {
		return 0, 0, err
	}
	c.Tol = p.tol
	if c.Model.Traits().Strengths == pare.Cost { // with large C sweeps do not end
		c.Tol, c.MaxEpochs = 1e-5, 3000
	}
	most := math.MaxInt
	if p.v.Criterion == pare.GCV || p.v.Criterion == pare.ALO {
		n, _ := p.x.Dims()
		most = int((1 - leftRows) * float64(n))
	}
	for e, err := range pare.Validate(ctx, p.x, p.y, grid, p.v, c) {
		if err != nil {
			return 0, 0, err
		}
		if e.Trusted && e.Value < best && e.Support <= most {
			best, spread = e.Value, e.StandardError
		}
	}
	return best, spread, nil
}

// points returns the reference grid: 200 points down to αmax·1e-6, for ridge down to 1e-9·αmax; for two
// strengths a square; for an SVM around C = 1.
func points(p problem, c pare.Config) (grid [][]float64, err error) {
	top, err := pare.LogLambdaMax(p.x, p.y, c)
	if err != nil {
		return nil, err
	}
	from, span, count := top[0]+0.1, math.Log(1e6), gridPoints
	if n, _ := p.x.Dims(); n > largestDrawn { // a real data set, on which weaker penalties take minutes
		span, count = math.Log(1e4), gridPoints/4
	}
	switch traits := c.Model.Traits(); { // all other models have the range of the Lasso
	case traits.Dense:
		from, span = top[0]+4, math.Log(1e9)+4
	case traits.Strengths == pare.Cost:
		from, span, count = -12, -16, gridPoints/3
	case traits.Strengths == pare.L1AndRidge:
		c.Model = pare.Ridge
		ridge, err := pare.LogLambdaMax(p.x, p.y, c)
		if err != nil {
			return nil, err
		}
		side := int(math.Sqrt(gridPoints))
		for i := range side {
			for j := range side {
				grid = append(grid, []float64{top[0] - 9*float64(i)/float64(side-1), ridge[0] + 2 - 14*float64(j)/float64(side-1)})
			}
		}
		return grid, nil
	}
	for k := range count {
		grid = append(grid, []float64{from - span*float64(k)/float64(count-1)})
	}
	return grid, nil
}
