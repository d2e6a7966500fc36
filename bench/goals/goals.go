// Package goals measures the performance goals of the library: rows of seconds, ours and another program's, on
// the same problem in the same run if the other program is installed. If it is not, its recorded seconds are
// scaled by the ratio of scikit-learn's time here to its time there, and the row says so.
//
//	paths.go           S6, S7  a hundred λ on five folds; two threads
//	loading.go         S8      reading svmlight text
//	tables.go          S11     reading tables and matrices of text
//	growing.go         S9      ten and a hundred times the data
//	cores.go           S10     a model of 1 to 64 cores
//	again.go           S12     selections that go on from earlier ones
//	hypergradients.go  H1–H4   a value and its gradient
//	choosing.go        O1–O4   the choice of one λ or two
//	many.go            O5, O6  the choice of many
//	quality.go         O8      choices beside a grid of 200 points
//	families.go        O10     the same of other losses and penalties
package goals

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/bench/peers"
	"github.com/seed-45b9a24c/pare/bench/studies"
)

// All lists the goals; the names are those of the project's list.
func All() []studies.Study {
	return []studies.Study{
		{Name: "S6", About: "a path of 100 λ to αmax/100 on 5 folds, each point to a gap of 1e-6, beside glmnet", Run: Paths},
		{Name: "S7", About: "two threads against one on cross-validation", Run: Threads},
		{Name: "S8", About: "reading svmlight text, beside scikit-learn", Run: Loading},
		{Name: "S11", About: "reading tables and matrices of text, processor seconds, beside pandas, SciPy and scikit-learn", Run: Tables},
		{Name: "S9", About: "growth: rows, columns and nonzeros ten times each", Run: Growing},
		{Name: "S10", About: "1 to 64 cores by a model of counted work, and those here", Run: Cores},
		{Name: "S12", About: "a selection that goes on from an earlier one, with 1, 5 and 20 % new rows, beside one from nothing", Run: Again},
		{Name: "H1", About: "value and hypergradient, cold, beside sparse-ho's recorded seconds; H2: gradient against solve", Run: Hypergradients},
		{Name: "H3", About: "one λ per column: seconds and memory of a hypergradient", Run: WeightedHypergradients},
		{Name: "H4", About: "an epoch of backward coordinate descent against a forward one", Run: Epochs},
		{Name: "O1", About: "Lasso by 5 folds, beside sparse-ho's recorded seconds and value", Run: ChooseLasso},
		{Name: "O2", About: "the same beside glmnet's warm grid of 100", Run: ChooseLassoBesideGrid},
		{Name: "O3", About: "elastic net by 5 folds, beside sparse-ho's record and glmnet's 10 × 10 grid", Run: ChooseElasticNet},
		{Name: "O4", About: "logistic by 5 folds, SVM by hold-out", Run: ChooseClassifiers},
		{Name: "O5", About: "one λ per column on three splits", Run: ChooseWeighted},
		{Name: "O7", About: "the whole job, λ by 5 folds with one-SE and refit, beside cv.glmnet at its defaults", Run: WholeJob},
		{Name: "O8", About: "quality: select's choice on random problems of a --seed beside the best of 200 points and the null model", Run: Quality},
		{Name: "O9", About: "precision: what digits below a hundredth of the standard error cost and gain, and a choice in cold evaluations", Run: Precision},
		{Name: "O10", About: "quality of the other families: select's choice beside the best of 200 points on three data sets", Run: Families},
		{Name: "O6", About: "one λ per class: evaluations, an outer step against its inner solves, two threads", Run: ChooseClasses},
	}
}

// table collects the rows of a goal. Every row compares our seconds with another's.
type table struct {
	studies.Options
	rows studies.Table
}

func newTable(o studies.Options) *table {
	return &table{o, studies.Table{Columns: []string{"data", "what", "seconds", "beside", "seconds_beside", "ratio", "goal", "note"}}}
}

func (t *table) say(format string, args ...any) {
	if t.Progress != nil {
		t.Progress(fmt.Sprintf(format, args...))
	}
}

// add adds a row with our seconds and another program's. goal is "" if there is none.
func (t *table) add(data, what string, ours float64, beside string, theirs float64, goal, note string) {
	var ratio any = ""
	if !math.IsNaN(theirs) && ours > 0 {
		ratio = theirs / ours
	}
	t.rows.Add(data, what, ours, beside, blank(theirs), ratio, goal, note)
}

// note adds a row without another program.
func (t *table) note(data, what string, ours float64, goal, note string) {
	t.add(data, what, ours, "", math.NaN(), goal, note)
}

func blank(v float64) any {
	if math.IsNaN(v) {
		return ""
	}
	return v
}

func (t *table) result(name string) *studies.Result {
	return &studies.Result{Tables: map[string]studies.Table{name: t.rows}, Charts: map[string]chart.Drawing{}}
}

// each loads sets by name, unprepared, and leaves out those that do not exist.
func (t *table) each(ctx context.Context, names []string, f func(d studies.Data) error) error {
	for _, name := range names {
		t.say("reading %s", name)
		d, err := t.Raw(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			t.rows.Add(name, "left out", "", "", "", "", "", err.Error())
			continue
		}
		if err == nil {
			err = f(d)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// within returns the set as a list if it is among those chosen, else nil.
func within(chosen []string, name string) []string {
	if slices.Contains(chosen, name) {
		return []string{name}
	}
	return nil
}

// rounds is the number of timed repetitions.
func (t *table) rounds() int {
	if t.Quick {
		return 3
	}
	return 5
}

// seconds returns the median time of f.
func (t *table) seconds(f func() error) (float64, error) {
	var all []float64
	for range t.rounds() {
		began := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		all = append(all, time.Since(began).Seconds())
	}
	return median(all), nil
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

// factor returns the factor that scales recorded seconds to this machine. note says how it was determined, or
// why it is NaN.
func (t *table) factor(ctx context.Context) (factor float64, note string, err error) {
	factor, rows, err := peers.MeasureFactor(ctx, t.Dir, func(what string) { t.say("%s", what) })
	if rows == 0 {
		return math.NaN(), "recorded seconds cannot be scaled: no scikit-learn or no data", err
	}
	return factor, fmt.Sprintf("recorded seconds × %.3g, scikit-learn's here over there on %d rows", factor, rows), err
}

// fifths assigns rows to five folds as scikit-learn and sparse-ho do: contiguous runs of equal length, the
// first ones a row longer.
func fifths(n int) []int {
	const k = 5
	ids := make([]int, n)
	row := 0
	for fold := range k {
		size := n / k
		if fold < n%k {
			size++
		}
		for range size {
			ids[row] = fold
			row++
		}
	}
	return ids
}

// halves is a hold-out of every second row.
func halves(n int) []int {
	ids := make([]int, n)
	for i := range ids {
		ids[i] = -(i % 2)
	}
	return ids
}
