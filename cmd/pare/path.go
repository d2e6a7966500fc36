package main

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/report"
	"github.com/seed-45b9a24c/pare/search"
)

type pathCommand struct {
	commonFlags
	gridFlags
	reportFlags
	plotFlags
}

func (c *pathCommand) run(ctx context.Context, env environment) (result, error) {
	if err := checks(c.commonFlags, c.gridFlags, c.reportFlags, c.plotFlags); err != nil {
		return nil, err
	}
	if c.stated.traits.Samples {
		return nil, outcome.At(outcome.Usage, "model", "%s has no αmax to start a path from; use fit, grad or select", c.Model)
	}
	if c.Plot.file != "" && c.points() < 2 {
		return nil, outcome.At(outcome.Usage, "points", "a curve needs at least 2 points")
	}
	if err := c.solution("path"); err != nil {
		return nil, err
	}
	d, err := c.load(ctx, env)
	if err != nil {
		return nil, err
	}
	validation, err := c.validation(d)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	top, err := c.alphaMax(d, "there is no path")
	if err != nil {
		return nil, d.blame(err)
	}
	r := &pathResult{Points: []pathPoint{}, Status: outcome.Converged, planned: c.points(), top: top, Warnings: d.notes(), asked: asked{c.commonFlags, d}}
	if err := c.walk(ctx, env, d, validation, r); err != nil {
		return nil, d.blame(err)
	}
	r.Seconds = fitSeconds{Load: d.loadSeconds, Solve: time.Since(began).Seconds()}
	if c.Report != "" && len(r.Points) > 0 {
		if err := c.report(ctx, env, d, r); err != nil {
			return nil, err
		}
		r.report = c.reportFlags
	}
	if r.plot = c.plotFlags; c.Plot.asked && len(r.curve) > 1 {
		best := r.curve[r.best()]
		err := c.writePlot(report.Result{
			Model: c.Model, Loss: c.criterion(), Final: &pare.Fitted{LogLambda: best.LogLambda, LogLambdaMax: r.top}, Best: &best, Null: math.NaN(), Curve: r.curve,
		})
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// report writes the page of the best point.
func (c *pathCommand) report(ctx context.Context, env environment, d *dataset, r *pathResult) error {
	chosen := r.Points[r.best()].LogLambda
	best := make([]float64, len(chosen))
	for i, l := range chosen {
		best[i] = float64(l)
	}
	fitted, err := pare.Fit(ctx, d.x, d.y, best, c.config(d))
	if err != nil {
		return d.blame(err)
	}
	return c.writeReport(ctx, env, c.Report, "pare path", r, d, material{final: fitted, null: math.NaN()})
}

// best returns the index of the point with the least criterion.
func (r *pathResult) best() int {
	best := 0
	for i, point := range r.Points {
		if point.Value < r.Points[best].Value {
			best = i
		}
	}
	return best
}

// walk solves and validates the points in turn. If ctx ends, the points done so far are kept.
func (c *pathCommand) walk(ctx context.Context, env environment, d *dataset, v pare.Validation, r *pathResult) error {
	grid := c.grid(r.top)
	config := c.config(d)
	config.Certify = false // a row of the table has no place for proofs
	config.Solved = env.progress.inner(r.top)
	env.progress.expect(len(grid), 0)
	folds := config
	config.Pool, folds.Pool = d.pool(config.Threads, 2), d.pool(config.Threads, 2)
	next, stop := iter.Pull2(pare.Validate(ctx, d.x, d.y, grid, v, folds))
	defer stop()
	began, met := time.Now(), entries{}
	for fitted, err := range pare.Path(ctx, d.x, d.y, grid, config) {
		if ctx.Err() != nil && (err != nil || fitted.Status == outcome.Cancelled) {
			break
		}
		if err != nil {
			return err
		}
		e, err, _ := next()
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			return err
		}
		if fitted.Status == outcome.Stationary && r.Status == outcome.Converged {
			r.Status = outcome.Stationary
		}
		if r.Status.OK() && (!fitted.Status.OK() || !e.Trusted) {
			r.Status = outcome.NotConverged
		}
		e.Seconds = time.Since(began).Seconds()
		began = time.Now()
		point := pathPoint{
			LogLambda:   numbers(fitted.LogLambda),
			Objective:   number(fitted.Objective),
			relativeGap: newCertificate(fitted.Certificate).relativeGap,
			Support:     len(fitted.Support),
			Epochs:      fitted.Epochs,
			Seconds:     e.Seconds,
			Value:       number(e.Value),
		}
		if c.Coef {
			point.coefficients(fitted, r.asked)
		}
		point.entered = met.enter(fitted, d)
		r.Points = append(r.Points, point)

		e.Support = len(fitted.Support)
		r.curve = append(r.curve, e)
		env.progress.evaluation(e, r.top)
	}
	if len(r.Points) < len(grid) {
		r.Status = outcome.Cancelled
	}
	return nil
}

// grid returns the geometric grid from αmax down, with all hyperparameters moving together; for the elastic net
// α₂ = α₁.
func (c *pathCommand) grid(top []float64) [][]float64 {
	points := make([][]float64, c.points())
	for _, l := range top {
		for i, point := range search.Geometric(l, kernels.Log(c.minRatio()), c.points()) {
			points[i] = append(points[i], point[0])
		}
	}
	return points
}

// strengths returns the λ of a point in the form of the command line: once if all are equal.
func (p pathPoint) strengths() string {
	values := make([]float64, len(p.LogLambda))
	for i, l := range p.LogLambda {
		values[i] = float64(l)
	}
	if one := slices.Compact(slices.Clone(values)); len(one) == 1 {
		return short(one[0])
	}
	return listAll(values)
}

func (r *pathResult) text(p *page) {
	p.title("path", r.asked)
	if len(r.Points) == 0 {
		p.row("points", "interrupted before the first point was done")
		return
	}
	best := r.best()
	if r.plot.Plot.asked && r.plot.Plot.file == "" || p.terminal && len(r.curve) >= fewest {
		p.plot(&curve{points: r.curve, best: r.curve[best].LogLambda, top: r.top, name: r.asked.criterion()})
	}
	p.table(0, []column{
		{head: "       λ"},
		{head: "α/αmax", left: true},
		{head: "support"},
		{head: r.asked.criterion()},
		{head: "gap", spare: 1},
		{head: "sweeps", spare: 3},
		{head: "", left: true},
		{head: "enters", left: true},
	}, r.rows(best, max(leastNames, p.width-besideNames)))
	p.line("")
	if r.asked.Coef {
		r.coefficients(p)
	}
	switch r.Status {
	case outcome.Cancelled:
		p.row("status", "cancelled: interrupted; these points are done")
	case outcome.Stationary:
		p.row("status", "stationary: every point, each reached from larger strengths; the points have no known duality gap")
	case outcome.Converged:
		p.row("status", "converged: every point within the relative gap of %g", r.asked.Tol)
	default:
		p.row("status", "%s: a point missed the relative gap of %g, on all rows or in a fold; raise --tol, or --min-ratio", r.Status, r.asked.Tol)
	}
	switch r.asked.stated.traits.Strengths {
	case pare.L1AndRidge, pare.GroupAndRidge, pare.L1AndGroup:
		p.row("grid", "both strengths together, α₂ = α₁")
	default:
	}
	p.row("best", "the point marked *: %s %.8g (%s)", r.asked.criterion(), float64(r.Points[best].Value), r.asked.judged(0))
	if best == r.planned-1 && best > 0 {
		p.row("", "it is on the edge of the grid, and a better one may lie beyond; lower --min-ratio")
	}
	p.row("work", "reading %s, solving and validating %s", seconds(r.Seconds.Load), seconds(r.Seconds.Solve))
	r.report.reported(p)
	p.warnings(r.Warnings)
	p.next(r.asked.command("fit", "--log-lambda="+r.Points[best].strengths(), "--coef"), r.asked.command("select"))
}

// Widths for the names of columns that enter, in characters.
const (
	leastNames  = 12
	besideNames = 59 // width of the other columns of the table
)

// decimals returns the number of decimals with which a value has eight digits.
func decimals(value float64) int {
	const digits = 8
	if !(math.Abs(value) >= 1) || math.IsInf(value, 0) {
		return digits
	}
	return max(0, digits-1-int(math.Log10(math.Abs(value))))
}

// rows returns the rows of the table; the best is marked. Names of columns that enter take no more than most
// characters.
func (r *pathResult) rows(best, most int) [][]string {
	rows := make([][]string, 0, len(r.Points))
	places := decimals(float64(r.Points[0].Value))
	for i, point := range r.Points {
		l := float64(point.LogLambda[0])
		mark := ""
		if i == best {
			mark = "*"
		}
		gap := "-" // not known
		if g := float64(point.GapRelative); !math.IsNaN(g) {
			gap = fmt.Sprintf("%.1e", g)
		}
		rows = append(rows, []string{
			fmt.Sprintf("%.4f", l), fmt.Sprintf("%.4g", kernels.Exp(l-r.top[0])), count(point.Support), fmt.Sprintf("%.*f", places, float64(point.Value)),
			gap, count(point.Epochs), mark, r.asked.data.some(point.entered, most),
		})
	}
	return rows
}
