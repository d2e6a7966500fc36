package choose

import (
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// stages are successive searches that share one budget and one log.
type stages struct {
	options search.Options
	done    []search.Evaluation
}

// run runs the next search, whose options have what is left of the budget and the log.
// lift converts its evaluations to all coordinates. The result is that of this search,
// with the evaluations of all searches so far; nil if the arguments are refused.
func (s *stages) run(lift func(search.Evaluation) search.Evaluation, method func(search.Options) (*search.Result, error)) (*search.Result, error) {
	o := s.options
	o.Evaluations -= len(s.done)
	o.Logged = len(s.done)
	if progress := o.Progress; progress != nil {
		o.Progress = func(e search.Evaluation) { progress(lift(e)) }
	}
	result, err := method(o)
	if result == nil {
		return nil, err
	}
	result.Best = lift(result.Best)
	for _, e := range result.Evaluations {
		s.done = append(s.done, lift(e))
	}
	result.Evaluations = s.done
	return result, err
}

// mayContinue reports whether another search may follow one with this result.
func (s *stages) mayContinue(r *search.Result, err error) bool {
	return err == nil && r.Status.OK() && r.Status != outcome.Flat && s.options.Evaluations > len(s.done)
}

func unchanged(e search.Evaluation) search.Evaluation { return e }

// noWorse replaces the best point of a result by that of an earlier one if it is worse, and
// returns the result with Seen of the earlier one if it has none.
func noWorse(result, earlier *search.Result) *search.Result {
	if result != nil && (result.Best.LogLambda == nil || !(result.Best.Value <= earlier.Best.Value)) {
		result.Best = earlier.Best
	}
	if result != nil && result.Seen == (search.Seen{}) {
		result.Seen = earlier.Seen
	}
	return result
}
