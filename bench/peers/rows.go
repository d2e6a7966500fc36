package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-45b9a24c/pare/sparse"
)

// Row is a problem by name: a data set, a model, a share of αmax.
type Row struct {
	Suite string // lasso, enet, wlasso, logreg, svm, or check: rows that nothing was tuned on
	Data  string // the name of a file, without .svm.gz
	Model Model
	Ratio float64 // α/αmax; for an SVM C itself
}

// Name is a row's own.
func (r Row) Name() string { return fmt.Sprintf("%s %s %g", r.Model, r.Data, r.Ratio) }

// Rows lists the standing comparisons.
func Rows() []Row {
	var rows []Row
	add := func(suite string, m Model, data []string, ratios ...float64) {
		for _, d := range data {
			for _, ratio := range ratios {
				rows = append(rows, Row{suite, d, m, ratio})
			}
		}
	}
	five := []string{"rcv1_dev", "leukemia", "reuters_places", "gina_like", "imdb"}
	add("lasso", Lasso, five, 0.1, 0.01)
	add("enet", ElasticNet, five, 0.1, 0.01)
	add("wlasso", WeightedLasso, five, 0.1, 0.01)
	add("logreg", Logistic, []string{"a9a", "reuters_places", "imdb"}, 0.05, 0.01)
	add("svm", SVM, []string{"a9a", "reuters_places", "imdb"}, 0.1, 1)
	others := []string{"w8a", "rcv1_vw", "usps", "mnist"}
	add("check", Lasso, others, 0.1, 0.01)
	add("check", Logistic, others, 0.05, 0.01)
	return rows
}

// File returns the row's file in a directory; the error says where it is not.
func (r Row) File(dir string) (string, error) {
	path := filepath.Join(dir, r.Data+".svm.gz")
	_, err := os.Stat(path)
	return path, err
}

// Load reads a file and states the problem: no intercept, no scaling, the ridge
// of the elastic net as strong as its ℓ1 part. Where labels are classes the
// first is told from the others.
func (r Row) Load(ctx context.Context, path string) (*Problem, error) {
	x, y, err := sparse.OpenSVMLight(ctx, path, sparse.ReadOptions{})
	if err != nil {
		return nil, err
	}
	labels := sparse.Summarise(x, y).Labels
	if labels.Kind == sparse.Classes || (r.Model == Logistic || r.Model == SVM) && labels.Kind == sparse.TwoClasses {
		first := labels.Classes[0].Value
		binary := labels.Kind == sparse.TwoClasses
		for i, v := range y {
			// Of two classes the larger is +1, as labels ±1 are already.
			if (v == first) != binary {
				y[i] = 1
			} else {
				y[i] = -1
			}
		}
	}
	p := &Problem{X: sparse.Compact(x), Y: y, Model: r.Model}
	if r.Model == SVM {
		p.Alpha = r.Ratio
		return p, nil
	}
	if r.Model == WeightedLasso {
		if err := p.Weigh(); err != nil {
			return nil, err
		}
	}
	p.Alpha = r.Ratio * AlphaMax(p.X, y, r.Model)
	if r.Model == ElasticNet {
		p.Ridge = p.Alpha
	}
	return p, nil
}

// Choose returns the rows of the words, separated by commas: a suite, or words
// of a name, the last one perhaps unfinished. "" chooses all.
func Choose(words string) []Row {
	if words == "" {
		return Rows()
	}
	suites := map[string]bool{}
	for _, r := range Rows() {
		suites[r.Suite] = true
	}
	var chosen []Row
	for _, r := range Rows() {
		for word := range strings.SplitSeq(words, ",") {
			word = strings.TrimSpace(word)
			if word == r.Suite || !suites[word] && strings.Contains(" "+r.Name(), " "+word) {
				chosen = append(chosen, r)
				break
			}
		}
	}
	return chosen
}
