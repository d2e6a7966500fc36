package inner_test

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/cd"
	"github.com/seed-45b9a24c/pare/criterion"
	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/inner"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

const (
	rows    = 40
	columns = 6
)

// kind is a kind of inner problem with one of its models.
type kind struct {
	make   func(*inner.Statement) (inner.Problem, error)
	target func(score float64) float64
	say    func(*inner.Statement) // completes the statement for the model
	at     []float64              // λ, below ln αmax if the model has one
	top    bool                   // the model has an αmax above which no column is used
}

func kinds() map[string]kind {
	number := func(m float64) float64 { return m }
	sign := func(m float64) float64 { return math.Copysign(1, m) }
	three := func(m float64) float64 { return math.Round(min(max(m, -1), 1)) }
	squared := func(f inner.Form) func(*inner.Statement) {
		return func(s *inner.Statement) { s.Loss, s.Form = loss.Squared{}, f }
	}
	return map[string]kind{
		"lasso":          {inner.OnColumns, number, squared(inner.L1()), []float64{-2}, true},
		"lasso, β ≥ 0":   {inner.OnColumns, number, func(s *inner.Statement) { squared(inner.L1())(s); s.Positive = true }, []float64{-2}, true},
		"lasso, factors": {inner.OnColumns, number, func(s *inner.Statement) { squared(inner.L1())(s); s.Factors = []float64{1, 2, 0.5, 1, 3, 1} }, []float64{-2}, true},
		"enet":           {inner.OnColumns, number, squared(inner.ElasticNet()), []float64{-2, -2}, true},
		"enet, factors":  {inner.OnColumns, number, func(s *inner.Statement) { squared(inner.ElasticNet())(s); s.Factors = []float64{1, 4, 0.5, 1, 3, 1} }, []float64{-2, -2}, true},
		"weighted lasso": {inner.OnColumns, number, squared(inner.WeightedL1()), slices.Repeat([]float64{-2}, columns), true},
		"ridge":          {inner.OnColumns, number, squared(inner.Ridge()), []float64{-2}, false},
		"logreg":         {inner.OnColumns, sign, func(s *inner.Statement) { s.Loss, s.Form = loss.Logistic{}, inner.L1() }, []float64{-3}, true},
		"multiclass": {inner.OnClasses, three, func(s *inner.Statement) {
			s.Loss, s.Form, s.Classes = loss.Logistic{}, inner.L1OfClasses(), true
		}, []float64{-3, -3, -3}, true},
		"svm":         {inner.OnSamples, sign, func(s *inner.Statement) { s.Form, s.Intercept = inner.Cost(), false }, []float64{-1}, false},
		"svm with b":  {inner.OnSamples, sign, func(s *inner.Statement) { s.Form = inner.Cost() }, []float64{-1}, false},
		"svr":         {inner.OnSamples, number, func(s *inner.Statement) { s.Form, s.Tube = inner.CostAndTube(), true }, []float64{-1, -2}, false},
		"group":       {inner.OnBlocks, number, func(s *inner.Statement) { squared(inner.Groups())(s); s.Groups = []int{0, 0, 1, 1, 2, 2} }, []float64{-3}, true},
		"sparse pair": {inner.OnBlocks, number, squared(inner.SparseGroupPair()), []float64{-3, -3}, true},
		"mcp":         {inner.OnBlocks, number, func(s *inner.Statement) { squared(inner.MCP())(s); s.Parameter = 3 }, []float64{-2}, true},
		"multinomial": {inner.OnBlocks, three, func(s *inner.Statement) { s.Loss, s.Form, s.Classes = loss.Logistic{}, inner.Scores(), true }, []float64{-3}, true},
		"multinomial, per class": {inner.OnBlocks, three, func(s *inner.Statement) {
			s.Loss, s.Form, s.Classes = loss.Logistic{}, inner.ScoresEach(), true
		}, []float64{-3, -3, -3}, true},
	}
}

// problem makes a problem of this kind on random data. The target depends on three columns, most strongly on one with a
// negative coefficient.
func (k kind) problem(t *testing.T, change func(*inner.Statement)) inner.Problem {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 1))
	values, y := make([]float64, rows*columns), make([]float64, rows)
	for i := range values {
		values[i] = r.NormFloat64()
	}
	for i := range y {
		y[i] = k.target(values[i]/2 - values[rows+i] + values[2*rows+i]*3/4 + r.NormFloat64()/2)
	}
	x, err := sparse.NewDense(rows, columns, values)
	if err != nil {
		t.Fatal(err)
	}
	set, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	s := &inner.Statement{
		Name: "the model", Judge: func(loss.Loss) criterion.Criterion { return criterion.MeanSquaredError{} },
		Kernels: set, X: x, Y: y, Intercept: true, Count: len(k.at), Threads: 1,
		Solver: func() cd.Options { return cd.Options{Tol: 1e-9} },
		Turn:   func(context.Context) func() { return func() {} },
		Team:   func() *team.Team { return nil },
	}
	k.say(s)
	if change != nil {
		change(s)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	p, err := k.make(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// solve returns a copy of the solution at one λ.
func solve(t *testing.T, p inner.Problem, logLambda []float64) inner.Solution {
	t.Helper()
	s, err := p.Solve(t.Context(), logLambda)
	if err != nil {
		t.Fatal(err)
	}
	if s.Status != outcome.Converged && s.Status != outcome.Stationary {
		t.Fatalf("%s at %g", s.Status, logLambda)
	}
	c := *s
	c.Support, c.Coef = slices.Clone(s.Support), slices.Clone(s.Coef)
	if math.IsNaN(c.Gap) { // no gap is known, and NaN does not equal itself
		c.Gap, c.RelativeGap = -1, -1
	}
	return c
}

func moved(logLambda []float64, by float64) []float64 {
	to := slices.Clone(logLambda)
	for i := range to {
		to[i] += by
	}
	return to
}

// TestSolvesTakeTurns checks that a solve waits for its turns among other calls and gives them back: one turn or, with
// one predictor per class, one per class.
func TestSolvesTakeTurns(t *testing.T) {
	for name, k := range kinds() {
		taken, held := 0, 0
		p := k.problem(t, func(s *inner.Statement) {
			s.Turn = func(context.Context) func() {
				taken++
				held++
				return func() { held-- }
			}
		})
		if s := solve(t, p, k.at); taken == 0 || taken > max(1, len(s.PerClass)) || held != 0 {
			t.Errorf("%s: %d turns, %d of them not given back", name, taken, held)
		}
		if one, ok := p.(inner.LeavesOut); ok {
			taken = 0
			if _, err := one.LeaveOneOut(t.Context(), k.at, 0); err != nil || taken != 1 || held != 0 {
				t.Errorf("%s, without a row: %d turns, %d of them not given back, %v", name, taken, held, err)
			}
		}
	}
}

// TestRestartForgets checks that after Restart a solve has the bits of the first one, whatever was solved in between,
// and that without it the solution is the same.
func TestRestartForgets(t *testing.T) {
	for name, k := range kinds() {
		p := k.problem(t, nil)
		first := solve(t, p, k.at)
		if len(first.Support) == 0 {
			t.Errorf("%s: no column is used", name)
		}
		solve(t, p, moved(k.at, -1))
		warm := solve(t, p, k.at)
		if !slices.Equal(warm.Support, first.Support) || !(math.Abs(warm.Objective-first.Objective) <= 1e-8*math.Abs(first.Objective)) {
			t.Errorf("%s: %g with columns %d from another λ, first %g with %d", name, warm.Objective, warm.Support, first.Objective, first.Support)
		}
		p.Restart()
		if again := solve(t, p, k.at); !reflect.DeepEqual(again, first) {
			t.Errorf("%s: after Restart\n%+v, first\n%+v", name, again, first)
		}
	}
}

// TestMaxIsWhereTheFirstColumnEnters checks that Max is NaN or the least strength at which no column is used: a
// hundredth below it in λ, one is.
func TestMaxIsWhereTheFirstColumnEnters(t *testing.T) {
	for name, k := range kinds() {
		p := k.problem(t, nil)
		top := p.AppendMax(nil)
		if len(top) != len(k.at) {
			t.Errorf("%s: %d numbers for %d λ's", name, len(top), len(k.at))
		}
		if !k.top {
			if name != "ridge" && !math.IsNaN(top[0]) {
				t.Errorf("%s: %g", name, top)
			}
			continue
		}
		for _, l := range top[1:] { // for classes on their own each has its own maximum
			if name != "multiclass" && l != top[0] {
				t.Errorf("%s: %g", name, top)
			}
		}
		if above := solve(t, p, moved(top, 1e-9)); len(above.Support) != 0 {
			t.Errorf("%s: columns %d above αmax", name, above.Support)
		}
		if below := solve(t, p, moved(top, -0.01)); len(below.Support) == 0 {
			t.Errorf("%s: no column below αmax", name)
		}
	}
}

// TestAcceptsIsWhatSolveTakes checks that Accepts refuses what Solve refuses, with the same error.
func TestAcceptsIsWhatSolveTakes(t *testing.T) {
	for name, k := range kinds() {
		p := k.problem(t, nil)
		for _, l := range []float64{-2, 0, math.NaN(), math.Inf(1), math.Inf(-1), 1000, -1000} {
			at := slices.Clone(k.at)
			at[len(at)-1] = l
			refused := p.Accepts(at)
			_, err := p.Solve(t.Context(), at)
			if (refused == nil) != (err == nil) || refused != nil && refused.Error() != err.Error() {
				t.Errorf("%s at %g: Accepts says %v, Solve %v", name, at, refused, err)
			}
			if math.IsNaN(l) && err == nil {
				t.Errorf("%s: NaN is accepted", name)
			}
		}
	}
}

// TestKeptResults checks that results in kept memory equal those in new memory, and that the next result overwrites
// them.
func TestKeptResults(t *testing.T) {
	for _, name := range []string{"lasso", "enet", "ridge", "logreg", "svm", "group"} {
		k := kinds()[name]
		kept := k.problem(t, func(s *inner.Statement) { s.Keep = true })
		one, err := kept.Solve(t.Context(), moved(k.at, -1))
		if err != nil {
			t.Fatal(err)
		}
		kept.Restart()
		two := solve(t, kept, k.at)
		if want := solve(t, k.problem(t, nil), k.at); !reflect.DeepEqual(two, want) || !reflect.DeepEqual(one.Coef, want.Coef) {
			t.Errorf("%s: kept %+v, the first then %+v, want %+v", name, two, one, want)
		}
	}
}

// noTurns has no turns besides the caller's own.
type noTurns struct{}

func (noTurns) Enter(context.Context) error { return nil }
func (noTurns) TryEnter() bool              { return false }
func (noTurns) Wanted() bool                { return true }
func (noTurns) Leave()                      {}

// TestNullModelsOfClassesTakeTurns checks that, if other calls have all the turns, the caller computes the null models
// one after another.
func TestNullModelsOfClassesTakeTurns(t *testing.T) {
	var made atomic.Int64
	var crowd fixture.Crowd
	kinds()["multiclass"].problem(t, func(s *inner.Statement) {
		s.Threads = 3
		threads := team.NewThreads(3, noTurns{}).Team()
		s.Team = func() *team.Team { return threads }
		top := s.Form.Max
		s.Form.Max = func(null *model.Null) float64 {
			crowd.Enter()
			defer crowd.Leave()
			made.Add(1)
			time.Sleep(time.Millisecond) // gives other goroutines time to arrive
			return top(null)
		}
	})
	if made.Load() != 3 || crowd.Most() != 1 {
		t.Errorf("%d of 3 null models are made, %d at once", made.Load(), crowd.Most())
	}
}
