package pare_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

var soak = flag.Duration("soak", 0, "how long TestSoak goes on, instead of some thousand rounds")

// TestSoak checks random calls on random problems, of every loss under every separable penalty,
// with cancels at any time, limits, threads and damaged files. The oracle must confirm every
// result that is called converged; everything else is an error of a known kind. Goroutines end,
// and memory does not grow.
func TestSoak(t *testing.T) {
	var s soaking
	rounds := oracle.Cases(2000)
	oracle.Soak(t, rounds, *soak, 1<<20, func(k uint64) { s.round(t, oracle.NewRandom(k)) })
	t.Logf("%+v", s)
	if n := int(rounds); s.Certified < n || s.Cancelled < n/20 || s.Refused < n/20 {
		t.Errorf("too little was met: %+v", s)
	}
}

// soaking counts how calls ended.
type soaking struct {
	Rounds, Certified, Cancelled, Limited, Refused int
}

// A soaked is a problem and the configuration to solve it with.
type soaked struct {
	q    *oracle.Problem
	x    sparse.Matrix
	c    pare.Config
	loss oracle.Loss
}

// round draws a problem and makes several calls on it.
func (s *soaking) round(t *testing.T, r *oracle.Random) {
	t.Helper()
	s.Rounds++
	losses := fixture.Losses()
	l := losses[r.Intn(len(losses))]
	shape := oracle.Shape{N: 4 + r.Intn(60), P: 1 + r.Intn(40), Density: r.Pick(0.1, 0.5, 1), Correlation: r.Pick(0, 0.9), Mean: r.Pick(0, 1), Weights: r.Intn(3) == 0}
	q := r.Problem(shape).Draw(r, l.Defined)
	q.Intercept, q.Positive = r.Intn(2) == 0, r.Intn(4) == 0
	c := pare.Config{
		Loss: l.Loss, NoIntercept: !q.Intercept, Weights: q.Weights, Positive: q.Positive,
		Tol: r.Pick(1e-3, 1e-6, 1e-9), Threads: 1 + r.Intn(3), Certify: r.Intn(4) == 0,
	}
	c.Model = []pare.Model{pare.Lasso, pare.ElasticNet, pare.WeightedLasso, pare.Ridge}[r.Intn(4)]
	if c.Model == pare.Ridge {
		q.Positive, c.Positive = false, false
	}
	switch r.Intn(6) {
	case 0:
		c.MaxSupport = 1 + r.Intn(3)
	case 1:
		c.MaxBytes = 1 << (8 + r.Intn(16))
	}
	p := &soaked{q, matrixOf(t, q.X, shape.P, r.Intn(2) == 0), c, l.Defined}
	top, err := pare.LogLambdaMax(p.x, q.Y, c)
	if err != nil {
		s.ended(t, err)
		return
	}
	for i := range top {
		top[i] -= 5 * r.Float64()
	}
	v := pare.Validation{Folds: 2 + r.Intn(3)}
	for range 3 {
		ctx, stop := context.WithCancel(t.Context())
		if r.Intn(3) == 0 {
			time.AfterFunc(time.Duration(math.Exp(12*r.Float64()))*time.Microsecond/10, stop)
		}
		switch r.Intn(5) {
		case 0, 1:
			f, err := pare.Fit(ctx, p.x, q.Y, top, c)
			s.fitted(t, p, f, err)
			s.saved(t, r, p, f)
		case 2:
			next := slices.Clone(top)
			for i := range next {
				next[i]--
			}
			for f, err := range pare.Path(ctx, p.x, q.Y, [][]float64{top, next}, c) {
				s.fitted(t, p, f, err)
			}
		case 3:
			_, err := pare.Gradient(ctx, p.x, q.Y, top, v, c)
			s.ended(t, err)
		case 4:
			choice, err := pare.Select(ctx, p.x, q.Y, pare.SelectOptions{Validation: v, Evaluations: 1 + r.Intn(6)}, c)
			s.ended(t, err)
			if choice != nil {
				s.fitted(t, p, choice.Final, nil)
			}
		}
		stop()
	}
}

// ended checks that an error is nil or of a kind in which these calls may end.
func (s *soaking) ended(t *testing.T, err error) {
	t.Helper()
	e, typed := errors.AsType[*outcome.Error](err)
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled):
		s.Cancelled++
	case !typed || e.Kind == outcome.Internal:
		t.Errorf("%#v: %v", err, err)
	case e.Kind == outcome.Limit:
		s.Limited++
	default:
		s.Refused++
	}
}

// fitted checks a solution: if it is called converged, its gap must agree with the oracle.
func (s *soaking) fitted(t *testing.T, p *soaked, f *pare.Fitted, err error) {
	t.Helper()
	s.ended(t, err)
	if f == nil || f.Status != outcome.Converged {
		return
	}
	q := *p.q
	q.Alpha = make([]float64, len(q.Alpha))
	for j := range q.Alpha {
		switch p.c.Model {
		case pare.WeightedLasso:
			q.Alpha[j] = math.Exp(f.LogLambda[j])
		case pare.Ridge:
			q.Ridge = math.Exp(f.LogLambda[0])
		default:
			q.Alpha[j] = math.Exp(f.LogLambda[0])
			if p.c.Model == pare.ElasticNet {
				q.Ridge = math.Exp(f.LogLambda[1])
			}
		}
	}
	beta := make([]float64, len(q.Alpha))
	for k, j := range f.Support {
		beta[j] = f.Coef[k]
	}
	objective, gap := q.LossObjective(p.loss, beta, f.Intercept), q.LossGap(p.loss, beta, f.Intercept)
	null := 0.0
	if f.RelativeGap > 0 {
		null = f.Gap / f.RelativeGap
	}
	if size := max(math.Abs(objective), null); math.Abs(f.Objective-objective) > 1e-12*size || gap > f.Gap+1e-11*size || f.Gap > p.c.Tol*null*(1+1e-12) && null > 0 {
		t.Errorf("%s %T: objective %.15g and gap %g, by their definitions %.15g and %g; tolerance %g of %g", p.c.Model, p.c.Loss, f.Objective, f.Gap, objective, gap, p.c.Tol, null)
	}
	s.Certified++
}

// saved writes a model, possibly damages the file, and reads it back: the model is the same, or
// the file is refused.
func (s *soaking) saved(t *testing.T, r *oracle.Random, p *soaked, f *pare.Fitted) {
	t.Helper()
	if f == nil || f.Status != outcome.Converged {
		return
	}
	var file bytes.Buffer
	if err := f.Predictor().Write(&file); err != nil {
		t.Error(err)
	}
	text := file.Bytes()
	damaged := r.Intn(2) == 0
	if damaged {
		if at := r.Intn(len(text)); r.Intn(2) == 0 {
			text = text[:at]
		} else {
			text[at] ^= 1 << r.Intn(8)
		}
	}
	again, err := pare.Read(bytes.NewReader(text))
	if damaged != (err != nil) {
		t.Errorf("damaged %t, %v", damaged, err)
	}
	if s.ended(t, err); err != nil {
		return
	}
	was, err := f.Predictor().Predict(p.x)
	is, err2 := again.Predict(p.x)
	if err != nil || err2 != nil || !slices.Equal(was, is) {
		t.Errorf("predicts %v, %v, and did %v, %v", is, err2, was, err)
	}
}
