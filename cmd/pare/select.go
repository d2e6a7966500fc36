package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
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

	called string // report, where that is the command
}

// searchFlags say how λ is looked for.
type searchFlags struct {
	Search      pare.Search     `default:"auto" placeholder:"SEARCH" help:"How λ is searched for. auto: from αmax down, then at the minimum of a model of all values and slopes seen. By gradients: gradient, linesearch, lbfgs, adam. By values alone: grid, halton, random, tpe, the last two drawn by --seed (default: auto)." group:"Search"`
	TolSchedule search.Schedule `default:"auto" placeholder:"SCHEDULE" help:"How the tolerance of a search decreases to --tol: auto; exact, that is, --tol throughout; or approx, geometrically from 1e-2 (default: auto)." group:"Search"`
	Start       *float64        `placeholder:"R" help:"The first α/αmax of gradient, linesearch, lbfgs and adam (default: 0.01, or 0.1 for dense data with fewer rows than columns); for svm the first C (default: 1, or less for long rows)." group:"Search"`
	PerClass    bool            `help:"multiclass: choose one λ for each class instead of one α/αmax for all." group:"Search"`
	Evaluations *int            `placeholder:"N" help:"The most evaluations of the criterion, each one λ on all folds (default: 50; the number of points for grid; 15 more for wlasso)." group:"Search"`
	Precision   bool            `help:"Continue auto to the last digits that --tol allows, beyond a hundredth of the criterion's standard error."  group:"Search"`
	OneSE       bool            `name:"one-se" help:"Choose by the one-standard-error rule: the strongest penalty whose criterion is within a standard error of the minimum."  group:"Search"`
	MaxSeconds  float64         `placeholder:"S" help:"End the search after S seconds and refit at the best λ so far."  group:"Search"`
	Checkpoint  string          `placeholder:"FILE" help:"Save every evaluation to this file, so that the same command resumes an interrupted search." group:"Search"`
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
		return outcome.At(outcome.BadParameter, "evaluations", "need at least 1, got %d", *f.Evaluations)
	}
	if !(f.MaxSeconds >= 0) || f.MaxSeconds > math.MaxInt64/1e9 {
		return outcome.At(outcome.BadParameter, "max-seconds", "must be a number of seconds, got %g", f.MaxSeconds)
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
		OneSE: true, TakeOneSE: f.OneSE, Measures: true, Precision: f.Precision, MaxDuration: time.Duration(f.MaxSeconds * float64(time.Second)),
		Evaluations: given(f.Evaluations, 0), Points: given(f.Points, 0), MinRatio: given(f.MinRatio, 0),
	}
}

func (c *selectCommand) run(ctx context.Context, env environment) (result, error) {
	if err := checks(c.commonFlags, c.searchFlags, c.keeping(c.dataFlags), c.reportFlags, c.plotted()); err != nil {
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
	if env.progress.w != nil {
		top, err := pare.LogLambdaMax(d.x, d.y, config)
		if err != nil {
			return nil, d.blame(err)
		}
		env.progress.begin("evaluation 1")
		env.progress.expect(given(c.Evaluations, 0), c.MaxSeconds)
		config.Solved = env.progress.inner(top)
		o.Progress = func(e search.Evaluation) { env.progress.evaluation(e, top) }
	}
	o.Stop = env.interrupt.search()
	s, err := pare.Select(ctx, d.x, d.y, o, config)
	if err != nil {
		return nil, d.blame(err)
	}
	r := c.newResult(s, d)
	r.called = cmp.Or(c.called, "select")
	model := r.Relaxed.kept(s.Final)
	keep, warnings := c.keeps(model)
	r.Warnings = append(r.Warnings, warnings...)
	if keep {
		if err := c.save(model, r.asked); err != nil {
			return nil, err
		}
		r.saved = c.Save
	}
	if c.Report != "" && s.Final != nil {
		m := material{final: s.Final, best: chosen(s), visit: s.Evaluations, oneSE: s.OneSE, least: s.Least, null: s.NullValue}
		if err := c.writeReport(ctx, env, c.Report, "pare "+r.called, r, d, m); err != nil {
			return nil, err
		}
		r.report = c.reportFlags
	}
	if c.Plot.asked && s.Final != nil {
		if err := c.draw(ctx, env, d, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// chosen is the evaluation of the choice.
func chosen(s *pare.Selection) *search.Evaluation {
	if s.Least != nil { // the one-standard-error choice was taken
		return s.OneSE
	}
	for i, e := range s.Evaluations {
		if e.Value == s.Value {
			return &s.Evaluations[i]
		}
	}
	return nil
}

// plotted checks --plot beside the model.
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
	return c.writePlot(report.Result{
		Model: c.Model, Loss: c.criterion(), Final: s.Final, Best: chosen(s), Visit: s.Evaluations,
		OneSE: s.OneSE, Least: s.Least, Null: s.NullValue, Curve: r.curve,
	})
}

// plotted is the curve to be printed: what --plot has made, or on a terminal what a
// search by values has seen; nil where neither.
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
			e.Message = "is that of another search or other data"
		}
		return nil, advised{e, "Remove the file to begin anew, or give another to --checkpoint."}
	}
	return log, err
}

func (c *selectCommand) newResult(s *pare.Selection, d *dataset) *selectResult {
	r := &selectResult{
		LogLambda:    numbers(s.LogLambda),
		Value:        number(s.Value),
		GradientNorm: number(norm(s.Gradient)),
		NullValue:    number(s.NullValue),
		Sigma:        number(s.Sigma),
		Evaluations:  []evaluation{},
		Status:       s.Status,
		Warnings:     c.warnings(d),
		Seconds:      selectSeconds{d.loadSeconds, s.SecondsSearch, s.SecondsRefit, s.SecondsOneSE},
		selection:    s,
		allowed:      c.MaxSeconds,
		grid:         c.Search == pare.Grid,
		drawn:        slices.Contains([]pare.Search{pare.Random, pare.Halton, pare.TPE}, c.Search),
		asked:        asked{c.commonFlags, d},
	}
	if s.StandardError > 0 {
		r.StandardError = pointer(s.StandardError)
	}
	if seen := s.Seen; seen.Basins > 0 {
		r.Seen = &seenResult{number(seen.From), number(seen.To), seen.Basins}
	}
	for _, m := range s.Measures {
		if r.Measures == nil {
			r.Measures = map[string]number{}
		}
		r.Measures[m.Name] = number(m.Value)
	}
	if s.Least != nil {
		r.Least = &choice{LogLambda: numbers(s.Least.LogLambda), Value: number(s.Least.Value)}
	}
	if s.OneSE != nil {
		r.OneSE = &choice{LogLambda: numbers(s.OneSE.LogLambda), Value: number(s.OneSE.Value)}
	}
	if s.Tested {
		r.Test = pointer(s.Test)
	}
	if s.Common != nil {
		r.Common = &choice{Value: number(s.Common.Value), LogLambda: numbers(s.Common.LogLambda)}
		if s.Common.Tested {
			r.Common.Test = pointer(s.Common.Test)
		}
		if c.many() {
			r.Common.LogLambda = r.Common.LogLambda[:1]
		}
	}
	for _, e := range s.Evaluations {
		r.Evaluations = append(r.Evaluations, c.evaluation(e))
	}
	if s.Final != nil {
		r.Final = newFitResult(s.Final, r.asked)
		r.Relaxed = r.asked.relaxed(s.Relaxed, s.RelaxedValue)
		r.Final.Seconds = fitSeconds{Load: d.loadSeconds, Solve: s.SecondsRefit, Certify: s.Final.SecondsCertify}
	}
	return r
}

// evaluation copies an evaluation.
func (f problemFlags) evaluation(e search.Evaluation) evaluation {
	entry := evaluation{
		Value:        number(e.Value),
		GradientNorm: number(norm(e.Gradient)),
		Tol:          number(e.Tol),
		Support:      e.Support,
		Seconds:      e.Seconds,
	}
	if !f.many() {
		entry.LogLambda = numbers(e.LogLambda)
	}
	if e.StandardError > 0 {
		entry.StandardError = pointer(e.StandardError)
	}
	if e.Tested {
		entry.Test = pointer(e.Test)
	}
	if !e.Trusted {
		entry.Trusted, entry.Status = new(bool), e.Status
	}
	return entry
}

// many reports whether there is a λ for each column: too many to list.
func (f problemFlags) many() bool { return f.on(pare.EachColumn) }

func pointer(v float64) *number {
	n := number(v)
	return &n
}

func (r *selectResult) text(p *page) {
	p.title(r.called, r.asked)
	s := r.selection
	if s.LogLambda == nil {
		p.row("status", "cancelled: interrupted before the first evaluation was done")
		return
	}
	if c := r.plotted(p); c != nil {
		p.plot(c)
	}
	p.strength(r.asked, s.LogLambda, s.LogLambdaMax)
	p.row(r.asked.criterion(), "%.6g (%s)", s.Value, r.asked.judged(s.Sigma))
	if r.asked.informed() {
		p.row("", "the null model has %.6g", s.NullValue)
	} else {
		p.row("", "the null model has %.6g: %s", s.NullValue, explained(s.Value, s.NullValue))
	}
	p.measures(s, r.asked)
	if s.Common != nil {
		p.row("", "with one %s for all λ's: %.6g", r.asked.shared(), s.Common.Value)
	}
	if s.Tested {
		text := fmt.Sprintf("%.6g on the rows kept for testing", s.Test)
		if s.Common != nil {
			text += fmt.Sprintf(", %.6g with one %s for all λ's", s.Common.Test, r.asked.shared())
		}
		p.row("test", "%s", text)
	}
	if s.Least != nil {
		p.row("", "the one-standard-error choice; the minimum is %.6g at %s", s.Least.Value, r.asked.share(s.Least.LogLambda[0], s.LogLambdaMax[0]))
	}
	if s.Final == nil {
		p.row("model", "none: stopped before the refit; the command below does it")
	} else {
		p.support(s.Final, r.asked)
		p.certificate(r.Final)
		p.relaxed(r.Relaxed, r.asked)
	}
	p.row("search", "%s: %s", s.Status, r.why())
	if seen := s.Seen; seen.Basins > 0 {
		p.row("", "seen from %s to %s: %s", r.asked.place(seen.From, s.LogLambdaMax), r.asked.place(seen.To, s.LogLambdaMax), plural(seen.Basins, "basin"))
	}
	if r.best().Trusted != nil {
		p.row("", "the criterion at the chosen point is not to be trusted: an inner problem or its derivative was not solved to tolerance; raise --tol")
	}
	p.warnings(r.Warnings)
	if s.OneSE != nil && s.Least == nil {
		p.row("one-SE rule", "%s; %s %.6g, %s on average over the folds", r.asked.share(s.OneSE.LogLambda[0], s.LogLambdaMax[0]), r.asked.criterion(), s.OneSE.Value, plural(s.OneSE.Support, "column"))
	}
	p.row("work", "%s in %s, refit %s, reading %s", plural(len(s.Evaluations), "evaluation"),
		seconds(r.Seconds.Search), seconds(r.Seconds.Refit), seconds(r.Seconds.Load))
	r.report.reported(p)
	p.next(r.following()...)
}

// measures prints what held-out predictions are like by others than the criterion.
func (p *page) measures(s *pare.Selection, a asked) {
	var out []string
	for i, m := range s.Measures {
		if m.Name == a.ValidationLoss || i == 0 && a.ValidationLoss == "" {
			continue // the criterion
		}
		out = append(out, fmt.Sprintf("%s %.4g", m.Name, m.Value))
	}
	if out != nil {
		p.row("held-out rows", "%s", strings.Join(out, ", "))
	}
}

// following are the commands that may come next.
func (r *selectResult) following() []string {
	s, fit := r.selection, ""
	if len(s.LogLambda) <= mostTyped {
		fit = r.asked.command("fit", "--log-lambda="+listAll(s.LogLambda), "--coef", "--json")
	} else if r.saved == "" {
		fit = r.asked.command("select", "--save=MODEL")
	}
	simpler := ""
	if m := r.simpler(); m != "" {
		one := r.asked
		one.Model = m
		simpler = one.command("select")
	}
	return []string{predictCommandLine(r.saved), fit, simpler, r.asked.command("path")}
}

// mostTyped is how many λ's a command line repeats.
const mostTyped = 3

// simpler is the model that an elastic net is where one of its strengths is nothing.
func (r *selectResult) simpler() pare.Model {
	switch l := r.selection.LogLambda; {
	case !r.asked.on(pare.L1AndRidge) || r.asked.stated.loss != nil || len(l) != 2:
		return ""
	case math.IsInf(l[0], -1):
		return pare.Ridge
	case math.IsInf(l[1], -1):
		return pare.Lasso
	default:
		return ""
	}
}

// explained compares the criterion with that of the null model.
func explained(value, null float64) string {
	if !(null > 0) {
		return "nothing is left to explain"
	}
	share := 1 - value/null
	if share < 0 {
		return "the model is worse than that, by held-out rows"
	}
	return percent(share) + " of that explained"
}

// why says in words how the search ended.
func (r *selectResult) why() string {
	switch r.Status {
	case outcome.Converged:
		if simpler := r.simpler(); simpler != "" {
			return fmt.Sprintf("the %s strength is of no use here; %s is as good, with one λ less", map[bool]string{true: "ℓ1", false: "ridge"}[simpler.Traits().Dense], simpler)
		}
		return "less than a hundredth of its standard error is to be gained; --precision goes on"
	case outcome.NullModel:
		return "no λ that was tried predicts better than the null model, which uses no column"
	case outcome.Exhausted:
		if r.asked.many() {
			return "the planned evaluations are done; more would fit the rows that choose the strengths"
		}
		if r.drawn {
			return "the best of the points drawn; --evaluations draws more, --search auto goes by the slope"
		}
		return "the best point of the grid, and not on its edge"
	case outcome.Stationary:
		if r.asked.many() {
			return "the next step from one strength for all columns towards one for each gains too little"
		}
		return "the slope of the criterion vanishes here"
	case outcome.Kink:
		return "the criterion has a corner here: its slope changes sign at once"
	case outcome.Flat:
		return "no coefficient moves with λ here, so there is no slope to follow; try a smaller --start"
	case outcome.Box:
		if r.grid {
			return "the best point is on the edge of the grid, a better one may lie beyond; lower --min-ratio"
		}
		return "the best point is on the border of the range searched; beyond it a strength no longer matters"
	case outcome.Budget:
		if r.allowed > 0 && r.Seconds.Search >= r.allowed {
			return "the time allowed is used up; this is the best point so far"
		}
		return "the evaluations allowed are used up; --evaluations raises the budget"
	case outcome.Cancelled:
		return "interrupted; this is the best point so far"
	case outcome.Failed:
		return fmt.Sprintf("broken off: %v; this is the best point before", r.selection.Err)
	default:
		return "see the evaluations in the JSON"
	}
}
