// Package studies repeats the experiments of Bertrand et al., "Implicit Differentiation for Fast Hyperparameter
// Selection in Non-Smooth Convex Learning" (JMLR 23, 2022) with this library: the numbers as tables, and charts
// of them. Each file holds one experiment.
//
//	paths.go         figure 2       regularisation paths
//	validation.go    figures 1, 7   cross-validation of the Lasso
//	elasticnet.go    figures 1, 8   cross-validation of the elastic net, with level sets
//	convergence.go   figures 3, 10, 11   linear convergence of iterates and Jacobians
//	growth.go        figures 4, 12  time of a hypergradient against the number of columns
//	precision.go     figures 5, 6   error of a hypergradient against time
//	multiclass.go    figure 9       one λ for each class
//	costs.go         table 4        how costs grow
package studies

import (
	"context"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
)

// Study is a named experiment.
type Study struct {
	Name  string
	About string // its place in the paper, and what it shows
	Run   func(ctx context.Context, o Options) (*Result, error)
}

// Options are the options of all studies. The zero value asks for the full size.
type Options struct {
	Library
	Quick    bool     // fewer and smaller sets, fewer points
	Sets     []string // only these sets, by the names that studies give them; nil: all
	Seed     uint64   // of random problems
	Threads  int      // inner problems solved at once, if a study solves several; 0: all cores
	Progress func(what string)
}

// Choose returns the sets to use: those asked for, or the first few if the run should be quick, or all.
func (o Options) Choose(all []string, quick int) []string {
	if len(o.Sets) > 0 {
		var chosen []string
		for _, name := range all {
			if slices.Contains(o.Sets, name) {
				chosen = append(chosen, name)
			}
		}
		return chosen
	}
	if o.Quick {
		return all[:quick]
	}
	return all
}

// say reports progress.
func (o Options) say(what string) {
	if o.Progress != nil {
		o.Progress(what)
	}
}

// All lists the studies, quick ones first.
func All() []Study {
	return []Study{
		{"paths", "figure 2: regularisation paths", runPaths},
		{"costs", "table 4: how the cost of a hypergradient grows, by method", Costs},
		{"convergence-lasso", "figure 10: linear convergence of the Lasso's iterates and Jacobians", convergenceOf(pare.Lasso)},
		{"convergence-logreg", "figure 11: the same for sparse logistic regression", convergenceOf(pare.Logistic)},
		{"convergence-svm", "figure 3: the same for the SVM", convergenceOf(pare.SVM)},
		{"time-lasso", "figure 4: time of a hypergradient against the number of columns, Lasso", TimeLasso},
		{"time-wlasso", "figure 12: the same for the weighted Lasso", TimeWeighted},
		{"error-lasso", "figure 5: error of a hypergradient against time, Lasso", ErrorLasso},
		{"error-svm", "figure 6: the same for the SVM", ErrorSVM},
		{"cv-lasso", "figures 1 (top) and 7: cross-validation of the Lasso", runValidation},
		{"cv-enet", "figures 1 (bottom) and 8: cross-validation of the elastic net", ElasticNet},
		{"multiclass", "figure 9: one λ for each class", MulticlassHoldOut},
	}
}

// Result is the output of a study, by file names without extensions.
type Result struct {
	Tables map[string]Table
	Charts map[string]chart.Drawing
}

func newResult() *Result {
	return &Result{Tables: map[string]Table{}, Charts: map[string]chart.Drawing{}}
}

// Table holds a study's numbers: a heading and rows of words and numbers.
type Table struct {
	Columns []string
	Rows    [][]any // of string, int and float64
}

// Add appends a row.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cells) }

// Text renders a cell; numbers keep all their digits.
func Text(cell any) string {
	switch v := cell.(type) {
	case string:
		return v
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

// CSV writes the table.
func (t Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.Columns); err != nil {
		return err
	}
	for _, row := range t.Rows {
		fields := make([]string, len(row))
		for i, v := range row {
			fields[i] = Text(v)
		}
		if err := out.Write(fields); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
