package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/report"
	"github.com/seed-45b9a24c/pare/search"
)

type selectCommand struct {
	commonFlags
	searchFlags
	saveFlags
	relaxedFlags
	reportFlags
	plotFlags

	called string // report, if that is the command
}

// searchFlags are the flags for the search of λ.
type searchFlags struct {
	Search      pare.Search     `default:"auto" placeholder:"SEARCH" help:"How λ is searched for. auto: from αmax down, then at the minimum of a model of all values and slopes seen. By gradients: gradient, linesearch, lbfgs, adam. By values alone: grid, halton, random, tpe, the last two drawn by --seed (default: auto)." group:"Search"`
	TolSchedule search.Schedule `default:"auto" placeholder:"SCHEDULE" help:"How the tolerance of a search decreases to --tol: auto; exact, that is, --tol throughout; or approx, geometrically from 1e-2 (default: auto)." group:"Search"`
	Start       *float64        `placeholder:"R" help:"The first α/αmax of gradient, linesearch, lbfgs and adam (default: 0.01, or 0.1 for dense data with fewer rows than columns); for svm the first C (default: 1, or less for long rows)." group:"Search"`
	PerClass    bool            `help:"multiclass: choose one λ for each class instead of one α/αmax for all." group:"Search"`
	Evaluations *int            `placeholder:"N" help:"The most evaluations of the criterion, each one λ on all folds (default: 50; 100 for svr; the number of points for grid; 15 more for wlasso)." group:"Search"`
	Precision   bool            `help:"Continue auto to the last digits that --tol allows, beyond a fiftieth of the criterion's standard error."  group:"Search"`
	OneSE       bool            `name:"one-se" help:"Choose by the one-standard-error rule: the strongest penalty whose criterion is within a standard error of the minimum."  group:"Search"`
	MaxSeconds  float64         `placeholder:"S" help:"End the search after S seconds and refit at the best λ so far (default: 0, no limit)."  group:"Search"`
	Checkpoint  string          `placeholder:"FILE" help:"Save the evaluations to this file, so that the same command resumes an interrupted search. With it every evaluation begins with new solvers, so λ may differ within the tolerance of the choice from that of a search without." group:"Search"`
	gridFlags
}

func (f searchFlags) check() error {
	if err := oneOf("search", f.Search, pare.Searches()...); err != nil {
		return err
	}
	if err := oneOf("tol-schedule", f.TolSchedule, search.Auto, search.Exact, search.Approx); err != nil {
		return err
	}
	if f.Start != nil && !(*f.Start > 0 && !math.IsInf(*f.Start, 1)) {
		return outcome.At(outcome.BadParameter, "start", "must be positive and finite, got %g", *f.Start)
	}
	if f.Evaluations != nil && *f.Evaluations < 1 {
		return outcome.At(outcome.BadParameter, "evaluations", "must be at least 1, got %d", *f.Evaluations)
	}
	if !(f.MaxSeconds >= 0) || f.MaxSeconds > math.MaxInt64/1e9 {
		return outcome.At(outcome.BadParameter, "max-seconds", "must be a number of seconds that is not negative, got %g", f.MaxSeconds)
	}
	if f.Checkpoint != "" {
		if err := replaceable("checkpoint", f.Checkpoint, "cannot save the evaluations"); err != nil {
			return err
		}
	}
	return f.gridFlags.check()
}

func (f searchFlags) options() pare.SelectOptions {
	return pare.SelectOptions{
		Search: f.Search, Schedule: f.TolSchedule, Start: given(f.Start, 0), PerClass: f.PerClass,
		OneSE: true, TakeOneSE: f.OneSE, Measures: true, Precision: f.Precision, MaxDuration: time.Duration(math.Ceil(f.MaxSeconds * float64(time.Second))),
		Evaluations: given(f.Evaluations, 0), Points: given(f.Points, 0), MinRatio: given(f.MinRatio, 0),
	}
}

func (c *selectCommand) run(ctx context.Context, env environment) (result, error) {
	if err := checks(c.commonFlags, c.searchFlags, c.keeping(c.dataFlags), c.reportFlags, c.plotted(), outputs{c.page(), {"plot", c.Plot.file}, {"save", c.Save}, {"checkpoint", c.Checkpoint}}); err != nil {
		return nil, err
	}
	d, err := c.load(ctx, env)
	if err != nil {
		return nil, err
	}
	o := c.options()
	o.Relaxed = c.Relaxed
	if o.Validation, err = c.validation(d); err != nil {
		return nil, err
	}
	if c.Checkpoint != "" {
		if o.Log, err = c.log(d); err != nil {
			return nil, err
		}
	}
	config := c.config(d)
	if err := c.watch(env.progress, d, &o, &config); err != nil {
		return nil, err
	}
	o.Stop = env.interrupt.search()
	s, err := pare.Select(ctx, d.x, d.y, o, config)
	if err != nil {
		return nil, d.blame(err)
	}
	r := c.newResult(s, d)
	r.called = cmp.Or(c.called, "select")
	if err := c.keep(ctx, env, d, r); err != nil {
		return nil, r.unkept(err)
	}
	return r, nil
}

// watch connects a search to the progress, if progress is shown.
func (c *selectCommand) watch(to *progress, d *dataset, o *pare.SelectOptions, config *pare.Config) error {
	if to.w == nil {
		return nil
	}
	top, err := pare.LogLambdaMax(d.x, d.y, *config)
	if err != nil {
		return d.blame(err)
	}
	to.begin("evaluation 1")
	to.expect(given(c.Evaluations, 0), c.MaxSeconds)
	config.Solved = to.inner(top)
	o.Progress = func(e search.Evaluation) { to.evaluation(e, top) }
	return nil
}

// keep writes the files that are asked for: the model, the report, the curve.
func (c *selectCommand) keep(ctx context.Context, env environment, d *dataset, r *selectResult) error {
	s := r.selection
	model := r.Relaxed.kept(s.Final)
	keep, warnings := c.keeps(model)
	r.Warnings = append(r.Warnings, warnings...)
	if keep {
		if err := c.save(model, r.asked); err != nil {
			return err
		}
		r.saved = c.Save
	}
	if c.Report != "" && s.Final != nil {
		m := material{final: s.Final, best: chosen(s), visit: s.Evaluations, oneSE: s.OneSE, least: s.Least, null: s.NullValue}
		if err := c.writeReport(ctx, env, c.Report, "pare "+r.called, r, d, m); err != nil {
			return err
		}
		r.report = c.reportFlags
	}
	if c.Plot.asked && s.Final != nil {
		return c.draw(ctx, env, d, r)
	}
	return nil
}

// plotted checks --plot together with the model.
func (c *selectCommand) plotted() interface{ check() error } {
	return plotsFor{c.plotFlags, c.problemFlags}
}

type plotsFor struct {
	plotFlags
	problemFlags
}

func (f plotsFor) check() error {
	if f.Plot.asked && f.many() {
		return outcome.At(outcome.Usage, "plot", "%s has a strength for each column, and no curve", f.Model)
	}
	return f.plotFlags.check()
}

// draw makes the curve of --plot.
func (c *selectCommand) draw(ctx context.Context, env environment, d *dataset, r *selectResult) (err error) {
	s := r.selection
	r.plot = c.plotFlags
	if r.curve, err = c.validated(ctx, env, d, s.Final); err != nil || len(r.curve) == 0 {
		return err
	}
	best := cmp.Or(chosen(s), at(r.curve, s.Final.LogLambda)) // the null model may not be a point of the search
	if best == nil {
		return nil // interrupted before the curve reached the choice
	}
	return c.writePlot(report.Result{
		Model: c.Model, Loss: c.criterion(), Final: s.Final, Best: best, Visit: s.Evaluations,
		OneSE: s.OneSE, Least: s.Least, Null: s.NullValue, Curve: r.curve,
	})
}

// plotted returns the curve to be printed: that of --plot or, on a terminal, the points of a search by values;
// nil if there is neither.
func (r *selectResult) plotted(p *page) *curve {
	s := r.selection
	c := &curve{points: r.curve, best: s.LogLambda, oneSE: s.OneSE, top: s.LogLambdaMax, name: r.asked.criterion()}
	if c.points == nil && p.terminal && len(s.Evaluations) >= fewest && len(s.LogLambda) == 1 {
		c.points = s.Evaluations
	}
	if c.points == nil || r.plot.Plot.file != "" {
		return nil
	}
	return c
}

// log opens the checkpoint of this search on these data.
func (c *selectCommand) log(d *dataset) (*search.Log, error) {
	key := fmt.Sprintf("%s --search=%s --start=%g --evaluations=%d --tol-schedule=%s --per-class=%t --precision=%t --points=%d --min-ratio=%g: %s",
		asked{c.commonFlags, d}.command("select"), c.Search, given(c.Start, 0), given(c.Evaluations, 0), c.TolSchedule, c.PerClass, c.Precision, c.points(), c.minRatio(), d.fingerprint())
	if err := fits(c.Checkpoint); err != nil {
		return nil, err
	}
	log, err := search.OpenLog(c.Checkpoint, key)
	if e, ok := errors.AsType[*outcome.Error](err); ok {
		if e.Flag = "checkpoint"; e.Kind == outcome.BadParameter {
			e.Kind, e.Message = outcome.Usage, "belongs to another search or to other data" // another try would not help
		}
		return nil, advised{e, "Remove the file to start again, or give another file with --checkpoint."}
	}
	return log, err
}
