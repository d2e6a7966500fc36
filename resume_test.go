package pare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// times matches the fields in which two identical runs differ.
var times = regexp.MustCompile(`"(Seconds\w*|seconds)":[^,}]*`)

// resultOf returns the result of a search and of its log, in all bits but without times.
func resultOf(t *testing.T, s *pare.Selection, log *search.Log) string {
	t.Helper()
	var b bytes.Buffer
	if err := log.Write(&b); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Body json.RawMessage `json:"body"`
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b.Bytes(), &body)
	}
	if err != nil {
		t.Fatal(err)
	}
	return times.ReplaceAllString(string(text)+"\n"+string(body.Body), `"$1":0`)
}

// resumesAnywhere interrupts a search after each of its evaluations (in short mode after every fourth), by its
// context or softly, and resumes it with only what a new process would have: the data, the options and the log.
// It returns the number of evaluations.
func resumesAnywhere(t *testing.T, name string, x sparse.Matrix, y []float64, o pare.SelectOptions, c pare.Config, softly bool) (evaluations int) {
	t.Helper()
	whole := search.NewLog("key")
	o.Log = whole
	s, err := pare.Select(context.Background(), x, y, o, c)
	if err != nil {
		t.Logf("%s: %v", name, err)
		return 0
	}
	want := resultOf(t, s, whole)
	for k := 1; k <= whole.Len(); k++ {
		if !oracle.Turn(whole.Len()-k, 4) {
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		cut := o
		cut.Log = search.NewLog("key")
		end := cancel
		if softly {
			stop := make(chan struct{})
			cut.Stop, end = stop, func() { close(stop) }
		}
		cut.Progress = func(search.Evaluation) {
			if cut.Log.Len() == k {
				end()
			}
		}
		_, err := pare.Select(ctx, x, y, cut, c)
		cancel()
		var file bytes.Buffer
		if err == nil {
			err = cut.Log.Write(&file)
		}
		again := o
		if err == nil {
			again.Log, err = search.ReadLog(&file, "key")
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s, err := pare.Select(context.Background(), x, y, again, c)
		if err != nil {
			t.Fatalf("%s, cut after %d: %v", name, k, err)
		}
		if got := resultOf(t, s, again.Log); got != want {
			t.Fatalf("%s: cut after %d of %d evaluations, ended as\n%s\nwant\n%s", name, k, whole.Len(), got, want)
		}
	}
	return whole.Len()
}

// TestResumedSearchesHaveTheSameBits checks that resumed searches give the bits of uninterrupted ones, for every
// model, criterion, method and search.
func TestResumedSearchesHaveTheSameBits(t *testing.T) {
	evaluations := 0
	triples, draws := 7*5*len(pare.Models()), oracle.Cases(12*len(pare.Models()))
	for draw := range draws {
		r := oracle.NewRandom(97 * draw)
		c := drawCombination(r, 11*draw%uint64(triples))
		x, y := c.data(t, r)
		config := c.config(r, len(y))
		config.Tol, config.Certify = r.Pick(0, 1e-8), false
		o := pare.SelectOptions{Validation: c.validation(len(y)), Search: c.search, PerClass: c.perClass, OneSE: c.oneSE, Evaluations: 9}
		evaluations += resumesAnywhere(t, fmt.Sprintf("draw %d, %+v", draw, c), x, y, o, config, draw%2 == 1)
	}
	if evaluations < int(draws) {
		t.Errorf("only %d evaluations", evaluations)
	}
}

// TestResumedSearchesOnWideData checks the same on wide data, where solvers accumulate state during the search:
// packed columns, Gram matrices, the last pass, sampled rows.
func TestResumedSearchesOnWideData(t *testing.T) {
	evaluations, n, wide, blocks := 0, 80, 250, 40
	if oracle.Few() {
		n, wide, blocks = 50, 120, 12
	}
	for draw := range max(uint64(len(pare.Models())), oracle.Cases(18)) {
		if oracle.Few() && draw%3 != 0 {
			continue
		}
		r := oracle.NewRandom(13 + draw)
		model := pare.Models()[draw%uint64(len(pare.Models()))]
		kind, p := combination{model: model}, wide
		if traits := model.Traits(); !traits.Certified && !traits.Samples {
			p = blocks // the only state here is packed columns
		}
		q := r.Problem(oracle.Shape{N: n, P: p, Density: r.Pick(0.05, 0.3, 1), Correlation: r.Pick(0, 0.7), Active: 15})
		y := kind.targets(r, q)
		o := pare.SelectOptions{Precision: r.Intn(2) == 0, Evaluations: 12}
		if draw%3 == 2 {
			o.Search, o.Precision = pare.GradientStep, false
		}
		c := pare.Config{Model: model, Standardize: !model.Traits().Convex}
		if draw%4 == 1 && model.Traits().Factors && p > 90 {
			c.PenaltyFactors = slices.Repeat([]float64{1}, p)
			c.PenaltyFactors[3], c.PenaltyFactors[7], c.PenaltyFactors[90] = 0.5, 0.25, 3
			if model == pare.Lasso || model == pare.Logistic || model == pare.Huber {
				c.PenaltyFactors[3], c.PenaltyFactors[7] = 0, 0
			}
		}
		x := matrixOf(t, q.X, p, r.Intn(2) == 0)
		if draw%5 == 3 && o.Search == "" && !model.Traits().Samples && model != pare.WeightedLasso {
			var err error
			if o.From, err = pare.Select(t.Context(), x, y, o, c); err != nil {
				t.Fatalf("draw %d, %s: nothing to go on from: %v", draw, model, err)
			}
		}
		name := fmt.Sprintf("draw %d, %s", draw, model)
		if one := resumesAnywhere(t, name, x, y, o, c, draw%2 == 1); one == 0 {
			t.Errorf("%s: refused", name)
		} else {
			evaluations += one
		}
	}
	if least := 36; evaluations < least {
		t.Errorf("only %d evaluations", evaluations)
	}
}

// TestStoppedSearchesGoOnToTheSameBits checks that the work done after a search was stopped, such as the
// one-standard-error choice from the best λ so far, does not influence the resumed search.
func TestStoppedSearchesGoOnToTheSameBits(t *testing.T) {
	r := oracle.NewRandom(5)
	for k, model := range []pare.Model{pare.Lasso, pare.Logistic, pare.Multiclass} {
		q := r.Problem(oracle.Shape{N: 60, P: 20, Density: 1, Active: 5})
		x, y := matrixOf(t, q.X, 20, false), combination{model: model}.targets(r, q)
		for _, method := range []pare.Search{pare.Auto, pare.Grid, pare.Random, pare.TPE} {
			o := pare.SelectOptions{Search: method, OneSE: true, TakeOneSE: k == 0, Evaluations: 12}
			if method == pare.Grid {
				o.Points = 12
			}
			if resumesAnywhere(t, fmt.Sprint(model, " ", method), x, y, o, pare.Config{Model: model}, true) < 3 {
				t.Errorf("%s, %s: hardly an evaluation", model, method)
			}
		}
	}
}

// TestSearchesWithUnpenalisedColumnsResume checks that searches with unpenalised columns can be resumed: lanes
// start from the null model with those columns, which a new process must compute again.
func TestSearchesWithUnpenalisedColumnsResume(t *testing.T) {
	for _, model := range []pare.Model{pare.Lasso, pare.Logistic, pare.Poisson} {
		q := oracle.NewRandom(6).Problem(oracle.Shape{N: 90, P: 40, Mean: 2, Density: 0.3, Active: 9, Noise: 2})
		factors := slices.Repeat([]float64{1}, 40)
		factors[3], factors[17] = 0, 0
		if resumesAnywhere(t, string(model), matrixOf(t, q.X, 40, false), targetsFor(model, q.Y), pare.SelectOptions{}, pare.Config{Model: model, PenaltyFactors: factors}, false) < 3 {
			t.Errorf("%s: nothing to resume", model)
		}
	}
}
