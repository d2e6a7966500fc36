package choose

import (
	"cmp"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// Search names an outer method.
type Search string

// The outer methods.
const (
	// Auto chooses one λ by [search.Scan], and C and ε by scans in turn. Any other two λ are searched
	// by a trust region from the best value of each alone or, if the criterion jumps, by steps without
	// slopes from the best common share of αmax. With more λ, Auto begins with one share of αmax for all,
	// and goes on by a trust region, or by L-BFGS with one λ for each column.
	Auto         Search = "auto"
	GradientStep Search = "gradient"   // the paper's gradient descent, repaired
	LineSearch   Search = "linesearch" // gradient descent, each step shortened until the value falls
	LBFGS        Search = "lbfgs"      // limited-memory BFGS
	Adam         Search = "adam"
	Grid         Search = "grid"   // a geometric grid down from αmax
	Random       Search = "random" // points drawn from the box
	Halton       Search = "halton" // points of Halton's sequence in the box
	TPE          Search = "tpe"    // tree-structured Parzen estimator
)

// Searches lists the outer methods there are.
func Searches() []Search {
	return []Search{Auto, GradientStep, LineSearch, LBFGS, Adam, Grid, Random, Halton, TPE}
}

// Points reports whether the method evaluates points without a start and without slopes.
func (s Search) Points() bool { return slices.Contains([]Search{Grid, Random, Halton, TPE}, s) }

// Options say how to choose. The zero value is ready to use.
type Options struct {
	Search   Search // "" means Auto
	PerClass bool   // one λ for each class, from the best share of αmax for all
	// Precision continues the choice of Auto to the last digits that Tol allows. Without it one λ is
	// chosen to a hundredth of the criterion's standard error, or a fiftieth where evaluations take
	// long, and to a thousandth of its value.
	Precision bool
	// Evaluations is the budget. 0 means 50; 120 if the penalty is not convex or the criterion jumps, or
	// 160 if there are two λ then; 100 for C and ε; the size of a grid; and with one λ for each column 15,
	// after those with a common λ.
	Evaluations int
	// Points and MinRatio describe the grid: α from αmax down to MinRatio·αmax, the range
	// from which Random, Halton and TPE draw, too. 0 means 100 and 0.001.
	Points   int
	MinRatio float64
	Schedule search.Schedule // of the tolerances; "" means search.Auto
	Tol      float64         // relative gap asked of inner problems in the end; 0: the objective's own
	Seed     uint64          // of the random points
	Progress func(search.Evaluation)
	Log      *search.Log
	// From is an earlier choice of nearly the same problem, by Auto, to go on from.
	From *search.Result
	// Fresh is the share of new rows if the earlier rows have stayed in their folds; 0 means that
	// they have not.
	Fresh float64
}

// Check returns an error if an option is invalid or options do not go together.
func (o Options) Check() error {
	o.Search = cmp.Or(o.Search, Auto)
	switch points := o.Search.Points(); {
	case !slices.Contains([]search.Schedule{"", search.Auto, search.Exact, search.Approx}, o.Schedule):
		return outcome.At(outcome.BadParameter, "tol-schedule", "unknown schedule %q; the schedules are %v", o.Schedule, []search.Schedule{search.Exact, search.Approx, search.Auto})
	case !slices.Contains(Searches(), o.Search):
		return outcome.At(outcome.Usage, "search", "unknown search %q; the searches are %v", o.Search, Searches())
	case points && o.Schedule != "" && o.Schedule != search.Auto:
		return outcome.At(outcome.Usage, "tol-schedule", "%s solves every point to the same tolerance; a schedule applies to searches such as %s and %s", o.Search, Auto, GradientStep)
	case points && o.Precision, o.Precision && o.Search != Auto:
		return outcome.At(outcome.Usage, "precision", "%s has its own stopping rule; --precision applies only to %s", o.Search, Auto)
	case !points && o.MinRatio != 0:
		return outcome.At(outcome.Usage, "min-ratio", "applies to %s, %s, %s and %s only; %s chooses its own range", Grid, Random, Halton, TPE, o.Search)
	case o.Search != Grid && o.Points != 0:
		return outcome.At(outcome.Usage, "points", "applies only to --search %s; with %s use --evaluations", Grid, o.Search)
	case o.PerClass && o.Search == Grid:
		return outcome.At(outcome.Usage, "per-class", "a grid varies one α/αmax for all classes; use %s or %s to choose one λ for each class", Auto, GradientStep)
	case !(o.Tol >= 0) || math.IsInf(o.Tol, 0):
		return outcome.At(outcome.BadParameter, "tol", "must be finite and not negative, got %g", o.Tol)
	}
	return nil
}

// search returns the options of the search itself.
func (o Options) search() search.Options {
	s := search.Options{Evaluations: o.Evaluations, Progress: o.Progress, Log: o.Log, Tol: o.Tol, Schedule: cmp.Or(o.Schedule, search.Auto)}
	if o.Search != Grid && s.Evaluations == 0 {
		s.Evaluations = defaultBudget
	}
	if o.Precision && o.Tol > 0 { // values err by about as much
		s.Stop = min(preciseStop, o.Tol)
	}
	return s
}
