package bilevel

import (
	"math"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/implicit"
	"github.com/seed-45b9a24c/pare/internal/plain"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/search"
)

// Report is an evaluation with its certificates: the worst relative gap, KKT residual and margin
// over the folds, the error bound of the gradient, and the sums of the counts.
type Report struct {
	search.Evaluation

	outcome.Certificate // the worst values over the folds; Gap is a sum
	outcome.Effort
	// SupportCertified reports whether it is proved, where a proof was asked for, that every fold's
	// exact solution has the support that was differentiated.
	SupportCertified              bool
	ErrorBound, InjectivityMargin float64
	Bound                         implicit.Bound // Proved if the bounds of all folds are
	Iterations                    int            // of conjugate gradients
	SecondsSolve, SecondsGradient float64
	// Shape has the derivatives in further parameters of a penalty on blocks, which follow its
	// λ's, such as ln γ of MCP; nil where there are none.
	Shape    []float64
	supports int // the sum of the sizes of the supports
}

// MarshalJSON writes the fields by their names, and null for numbers that are not finite.
func (r Report) MarshalJSON() ([]byte, error) { return plain.Marshal(r) }

// newReport returns the report of a request with r hyperparameters before any lane is added.
func newReport(request search.Request, r int) Report {
	report := Report{
		Evaluation:        search.Evaluation{LogLambda: request.LogLambda, Flat: !request.ValueOnly, Status: outcome.Converged, TrainLoss: math.Inf(1)},
		InjectivityMargin: 1, Bound: implicit.Proved,
		SupportCertified: !request.ValueOnly,
	}
	if !request.ValueOnly {
		report.Gradient = make([]float64, r)
	}
	return report
}

func summarise(s *cd.Solution, took time.Duration) Solved {
	return Solved{
		Certificate: s.Certificate, Effort: s.Effort, Support: len(s.Support),
		Status: s.Status, Seconds: took.Seconds(), Work: s.Work, Shared: s.Shared,
	}
}

func derivedFrom(g *implicit.Hypergradient, took time.Duration) Derived {
	return Derived{
		ErrorBound: g.ErrorBound, Bound: g.Bound, InjectivityMargin: g.InjectivityMargin, Work: g.Work, Iterations: g.Iterations,
		Status: g.Status, Seconds: took.Seconds(),
	}
}

// scatter adds share times a lane's gradient to total. The gradient of a weighted penalty has
// entries for the columns of the support only.
func scatter(gradient []float64, columns []int32, share float64, total []float64) {
	for k, v := range gradient {
		at := k
		if columns != nil {
			at = int(columns[k])
		}
		total[at] = math.FMA(share, v, total[at])
	}
}

func (r *Report) addSolution(s *Solved) {
	r.Worst(s.Certificate)
	r.Add(s.Effort)
	r.supports += s.Support
	if s.TrainLoss > 0 {
		r.TrainLoss = min(r.TrainLoss, s.TrainLoss)
	}
	r.Saturation += s.Saturation
	r.Work += s.Work
	r.SecondsSolve += s.Seconds
	r.worsen(s.Status)
}

// addTest adds share times the value on the test rows.
func (r *Report) addTest(value, share float64) {
	r.Tested = true
	r.Test += float64(share * value)
}

// addGradient adds the status, margin and work of a lane's hypergradient. The caller adds its entries and their error bound.
func (r *Report) addGradient(d *Derived) {
	r.Flat = r.Flat && d.Status == outcome.Flat
	if d.Bound != implicit.Proved {
		r.Bound = implicit.Estimated
	}
	r.InjectivityMargin = min(r.InjectivityMargin, d.InjectivityMargin)
	r.Iterations += d.Iterations
	r.Work += d.Work
	r.SupportCertified = r.SupportCertified && d.SupportCertified
	r.SecondsGradient += d.Seconds
	if d.Status != outcome.Flat {
		r.worsen(d.Status)
	}
}

// worsen sets the status to s if s is worse than the status so far.
func (r *Report) worsen(s outcome.Status) {
	if severity(s) > severity(r.Status) {
		r.Status = s
	}
}

// severity orders statuses: certified, stationary without a known gap, good enough for a step of a search, not to be trusted.
func severity(s outcome.Status) int {
	switch s {
	case outcome.Converged:
		return 0
	case outcome.Stationary:
		return 1
	case outcome.SupportUncertified:
		return 2
	default:
		return 3
	}
}

// finish computes means and the final status from the sums over the lanes.
func (r *Report) finish(lanes int) {
	if r.Tol = r.RelativeGap; math.IsNaN(r.Tol) {
		r.Tol = 0 // no gap is known, and the point is stationary to the tolerance asked for
	}
	r.Support = (r.supports + lanes/2) / lanes
	r.Saturation /= float64(lanes)
	if math.IsInf(r.TrainLoss, 1) {
		r.TrainLoss = 0
	}
	// With a support that may still change, the gradient is good enough for a step.
	r.Trusted = severity(r.Status) < severity(outcome.Failed)
	if r.Flat && (r.Status == outcome.Converged || r.Status == outcome.Stationary) {
		r.Status = outcome.Flat
	}
	if sum := r.Value; r.Trusted {
		for _, g := range r.Gradient {
			sum += math.Abs(g)
		}
		if math.IsNaN(sum) || math.IsInf(sum, 0) {
			r.Status, r.Trusted = outcome.Failed, false
		}
	}
}
