package choose

import (
	"context"
	"iter"
	"slices"

	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/search"
)

// line is an objective on the line through a point along which all coordinates
// change by the same amount.
type line struct {
	search.Objective
	origin []float64
}

// Eval implements [search.Objective].
func (r line) Eval(ctx context.Context, request search.Request) (search.Evaluation, error) {
	shift := request.LogLambda
	request.LogLambda = r.at(shift)
	if request.From != nil {
		request.From = r.at(request.From)
	}
	e, err := r.Objective.Eval(ctx, request)
	e.LogLambda = shift
	if e.Gradient != nil {
		var slope float64
		for _, g := range e.Gradient {
			slope += g
		}
		e.Gradient = []float64{slope}
	}
	if e.Curvature != nil {
		var curvature float64
		for _, h := range e.Curvature {
			curvature += h
		}
		e.Curvature = []float64{curvature}
	}
	return e, err
}

func (r line) at(shift []float64) []float64 {
	x := make([]float64, len(r.origin))
	for i, from := range r.origin {
		x[i] = from + shift[0]
	}
	return x
}

// lift returns an evaluation on the line with all coordinates of its λ.
func (r line) lift(e search.Evaluation) search.Evaluation {
	if e.LogLambda != nil {
		e.LogLambda = r.at(e.LogLambda)
	}
	return e
}

// grouped are columns that share λ: group[j] is the coordinate of column j.
type grouped struct{ group []int32 }

// lift returns an evaluation with a λ for every column; the columns of a coordinate share its slope equally.
func (t grouped) lift(e search.Evaluation) search.Evaluation {
	if e.LogLambda == nil {
		return e
	}
	count := make([]float64, len(e.LogLambda))
	for _, h := range t.group {
		count[h]++
	}
	lambda, slopes := make([]float64, len(t.group)), make([]float64, len(t.group))
	for j, h := range t.group {
		lambda[j] = e.LogLambda[h]
		if e.Gradient != nil {
			slopes[j] = e.Gradient[h] / count[h]
		}
	}
	if e.LogLambda = lambda; e.Gradient != nil {
		e.Gradient = slopes
	}
	return e
}

// prefetched is an objective that is evaluated along a path known beforehand, without gradients,
// so that the folds need not wait for one another.
type prefetched struct {
	problem alongPath
	path    [][]float64
	next    func() (bilevel.Report, error, bool)
	stop    func()
}

// Eval implements [search.Objective]. The beginning of the path may have come from a log.
func (a *prefetched) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	if a.next == nil {
		from := slices.IndexFunc(a.path, func(at []float64) bool { return slices.Equal(at, r.LogLambda) })
		a.next, a.stop = iter.Pull2(a.problem.Path(ctx, a.path[max(0, from):]))
	}
	report, err, _ := a.next()
	return report.Evaluation, err
}

// end stops the evaluation of the rest of the path.
func (a *prefetched) end() {
	if a.stop != nil {
		a.stop()
	}
}
