package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/outcome"
)

func (r *selectResult) text(p *page) {
	p.title(r.called, r.asked)
	s := r.selection
	if s.LogLambda == nil {
		why := "interrupted"
		if r.Status == outcome.Budget {
			why = "the time allowed was used up"
		}
		p.row("status", "%s: %s before the first evaluation was done", r.Status, why)
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
		p.row("", "with one α/αmax for all λ's: %.6g", s.Common.Value)
	}
	if s.Tested {
		text := fmt.Sprintf("%.6g on the rows kept for testing", s.Test)
		if s.Common != nil {
			text += fmt.Sprintf(", %.6g with one α/αmax for all λ's", s.Common.Test)
		}
		p.row("test", "%s", text)
	}
	if s.Least != nil {
		p.row("", "the one-standard-error choice; the minimum is %.6g at %s", s.Least.Value, r.asked.share(s.Least.LogLambda, s.LogLambdaMax))
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
	p.warnings(r.Warnings)
	if s.OneSE != nil && s.Least == nil {
		p.row("one-SE rule", "%s; %s %.6g, %s on average over the folds", r.asked.share(s.OneSE.LogLambda, s.LogLambdaMax), r.asked.criterion(), s.OneSE.Value, plural(s.OneSE.Support, "column"))
	}
	p.row("work", "%s in %s, refit %s, reading %s", plural(len(s.Evaluations), "evaluation"),
		seconds(r.Seconds.Search), seconds(r.Seconds.Refit), seconds(r.Seconds.Load))
	r.report.reported(p)
	p.next(r.following()...)
}

// measures prints measures of the held-out predictions other than the criterion.
func (p *page) measures(s *pare.Selection, a asked) {
	var out []string
	for i, m := range s.Measures {
		if m.Name == a.ValidationLoss || i == 0 && a.ValidationLoss == "" {
			continue // it is the criterion
		}
		out = append(out, fmt.Sprintf("%s %.4g", m.Name, m.Value))
	}
	if out != nil {
		p.row("held-out rows", "%s", strings.Join(out, ", "))
	}
}

// following returns the commands that may come next.
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

// mostTyped is the largest number of λ that a command line repeats.
const mostTyped = 3

// simpler returns the model to which an elastic net reduces if one of its strengths is 0.
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
		return "the model is worse than that on held-out rows"
	}
	return percent(share) + " of that explained"
}

// why says how the search ended.
func (r *selectResult) why() string {
	switch r.Status {
	case outcome.Converged:
		if simpler := r.simpler(); simpler != "" {
			return fmt.Sprintf("the %s strength does not help here; %s is as good, with one λ less", map[bool]string{true: "ℓ1", false: "ridge"}[simpler.Traits().Dense], simpler)
		}
		return "less than a fiftieth of the standard error can still be gained; --precision continues"
	case outcome.NullModel:
		return "no λ that was tried predicts better than the null model, which uses no columns"
	case outcome.Exhausted:
		if r.asked.many() {
			return "the planned evaluations are done; more would overfit the held-out rows"
		}
		if r.drawn {
			return "the best of the points drawn; --evaluations draws more, --search auto follows the slope"
		}
		if len(r.Evaluations) == 1 {
			return "the only point of the grid"
		}
		return "the best point of the grid, and not on its edge"
	case outcome.Stationary:
		if r.asked.many() {
			return "the next step from one strength for all columns towards one for each gains too little"
		}
		return "the slope of the criterion is close to 0 here"
	case outcome.Kink:
		return "the criterion has a corner here: its slope jumps from one sign to the other"
	case outcome.Flat:
		return "no coefficient changes with λ here, so there is no slope to follow; try a smaller --start"
	case outcome.Box:
		if r.grid {
			return "the best point is on the edge of the grid, and a better one may lie beyond; lower --min-ratio"
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
		return "an evaluation failed; this is the best point before it"
	default:
		return "see the evaluations in the JSON"
	}
}
