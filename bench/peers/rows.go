package peers

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare/sparse"
)

// Row is a named problem: a data set, a model and a fraction of αmax.
type Row struct {
	Suite string // lasso, enet, wlasso, logreg, svm, deep: weak penalties on text, families: all other models, or check: problems on which nothing was tuned
	Data  string // the name of a file, without .svm.gz
	Model Model
	Ratio float64 // α/αmax; for ridge alone relative to the αmax of ℓ1; for support vectors C itself
}

// Name returns the name of the row, which is unique.
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
	add("deep", Lasso, []string{"imdb"}, 0.003, 0.002, 0.001, 0.0003)
	add("deep", Logistic, []string{"imdb"}, 0.003)
	add("deep", Lasso, []string{"reuters_places", "rcv1_dev"}, 0.001)
	add("deep", Logistic, []string{"reuters_places"}, 0.001)
	texts := []string{"a9a", "w8a", "reuters_places", "imdb"}
	add("families", LogisticNet, texts, 0.05, 0.01)
	add("families", LogisticRidge, texts, 0.01, 0.001)
	add("families", SquaredHinge, texts[:3], 0.05, 0.01)
	add("families", SquaredHingeRidge, texts[:3], 0.01)
	for _, m := range []Model{Poisson, Gamma, Tweedie} {
		add("families", m, []string{"a9a", "reuters_places"}, 0.1, 0.01)
	}
	for _, m := range []Model{PoissonRidge, GammaRidge, TweedieRidge} {
		add("families", m, []string{"a9a", "reuters_places"}, 0.01)
	}
	add("families", Huber, []string{"a9a", "reuters_places"}, 0.1, 0.01)
	classes := []string{"usps", "mnist", "reuters_multi53"}
	add("families", Multinomial, classes, 0.5, 0.1)
	add("families", MultinomialGroup, classes, 0.5, 0.1)
	for _, m := range []Model{Group, SparseGroup} {
		add("families", m, []string{"a9a", "w8a"}, 0.1, 0.01)
	}
	for _, m := range []Model{MCP, SCAD} {
		add("families", m, []string{"leukemia"}, 0.5, 0.1)
	}
	add("families", SVR, []string{"a9a", "w8a"}, 0.1, 1)
	others := []string{"w8a", "rcv1_vw", "usps", "mnist"}
	add("check", Lasso, others, 0.1, 0.01)
	add("check", Logistic, others, 0.05, 0.01)
	return rows
}

// File returns the path of the row's file in a directory; the error says that it does not exist.
func (r Row) File(dir string) (string, error) {
	path := filepath.Join(dir, r.Data+".svm.gz")
	_, err := os.Stat(path)
	return path, err
}

// Load reads svmlight text and states the problem; see [Row.On].
func (r Row) Load(ctx context.Context, path string) (*Problem, error) {
	x, y, err := sparse.OpenSVMLight(ctx, path, sparse.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return r.On(sparse.Compact(x), y)
}

// On states the problem on data: no intercept, no scaling, the ridge of an elastic net as strong as its ℓ1
// part. If labels are classes, the first class is separated from the rest, unless the model treats all classes
// together; for models of counts or amounts, targets are drawn ([Problem.Draw]). The problem keeps y.
func (r Row) On(x sparse.Matrix, y []float64) (*Problem, error) {
	of := r.Model.family()
	p := &Problem{X: x, Y: y, Model: r.Model}
	switch labels := sparse.Summarise(x, y).Labels; {
	case of.draw != nil:
		p.Draw(of.draw)
	case of.together:
		if labels.Kind != sparse.Classes && labels.Kind != sparse.TwoClasses {
			return nil, fmt.Errorf("%s: labels are not those of classes", r.Data)
		}
		for i, v := range y {
			y[i] = float64(slices.IndexFunc(labels.Classes, func(c sparse.ClassCount) bool { return c.Value == v }))
		}
	case labels.Kind == sparse.Classes || of.classes && labels.Kind == sparse.TwoClasses:
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
	return p, p.State(r.Ratio)
}

// State sets the strengths: Alpha to a fraction of αmax, or Ridge if there is no ℓ1 part, or both equally; for
// support vectors, Alpha is the ratio itself. Column groups are those of one-hot attributes.
func (p *Problem) State(ratio float64) error {
	kind := p.Model.family().kind
	switch {
	case kind == ofVectors:
		p.Alpha = ratio
		return nil
	case kind == eachColumn:
		if err := p.Weigh(); err != nil {
			return err
		}
	case kind == concave:
		if err := p.standardise(); err != nil {
			return err
		}
	case p.Model == Group || kind == ofSparseGroups:
		p.Groups = p.OneHot()
	}
	p.Alpha = ratio * p.AlphaMax()
	if kind == l1AndRidge || kind == ridgeAlone {
		p.Ridge = p.Alpha
	}
	if kind == ridgeAlone {
		p.Alpha = 0
	}
	return nil
}

// Choose returns the rows that match words, separated by commas: each is a suite, or words of a name, of which
// the last may be incomplete. "" chooses all rows.
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
