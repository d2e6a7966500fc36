package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare/bench/synthetic"
	"github.com/seed-45b9a24c/pare/bilevel"
	"github.com/seed-45b9a24c/pare/internal/embedded"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Data is a data set ready for a study.
type Data struct {
	Name string // name of what was loaded, for titles and tables
	X    sparse.Matrix
	Y    []float64
}

// Library finds data sets by the names of the paper: the paper's own files if the directory has them, else
// substitutes.
type Library struct {
	Dir  string // also compressed
	File string // if set, the svmlight file that replaces every text set
}

// standIns maps the paper's names to file names without extensions, in order of preference: the paper's own
// file, then other files, then a seeded set of the same size.
var standIns = map[string][]string{
	"diabetes":      {"diabetes"},
	"breast_cancer": {"breast_cancer"},
	"leukemia":      {"leukemia", "leu"},
	"gina":          {"gina_agnostic", "gina_like"},
	"rcv1":          {"rcv1_train.binary", "syn_rcv1"},
	"real-sim":      {"real-sim", "syn_realsim"},
	"news20":        {"news20.binary", "syn_news20"},
	"mnist":         {"mnist"},
	"usps":          {"usps"},
	"rcv1mc":        {"rcv1_train.multiclass", "reuters_multi53", "syn_rcv1mc"},
	"aloi":          {"aloi", "syn_aloi"},
}

// texts are the names that [Library].File replaces.
var texts = []string{"rcv1", "real-sim", "news20"}

// texts returns the text sets to use: only one if a file replaces all of them.
func (o Options) texts() []string {
	if o.File != "" {
		return texts[:1]
	}
	return o.Choose(texts, 1)
}

var endings = []string{"", ".svm", ".svm.gz", ".bz2", ".gz", ".zst"}

// Load reads a set and prepares it as the paper does: columns with fewer than 3 nonzeros are dropped, columns
// are scaled to unit norm, and for news20 rows too. A name that is not in the paper is that of a file or of a
// seeded set. The error is [fs.ErrNotExist] if there is neither a file nor a seeded set.
func (l Library) Load(ctx context.Context, name string) (Data, error) {
	d, err := l.Raw(ctx, name)
	if err != nil {
		return d, err
	}
	return d.prepare(true)
}

// prepare prepares a set as the paper does; unitColumns says whether columns are scaled.
func (d Data) prepare(unitColumns bool) (Data, error) {
	prepare := sparse.Preparation{MinNNZ: 3, UnitColumns: unitColumns, UnitRows: strings.Contains(d.Name, "news20")}
	x, _, err := prepare.Apply(d.X.(*sparse.CSC))
	if err != nil {
		return d, err
	}
	d.X = sparse.Compact(x)
	return d, nil
}

// Raw is [Library.Load] without preparation; the matrix is a [sparse.CSC].
func (l Library) Raw(ctx context.Context, name string) (Data, error) {
	if l.File != "" && slices.Contains(texts, name) {
		return open(ctx, l.File)
	}
	candidates := standIns[name]
	if candidates == nil {
		candidates = []string{name}
	}
	for _, c := range candidates {
		if set, err := synthetic.Named(c); err == nil {
			x, y, err := set.Generate(ctx)
			return Data{c, x, y}, err
		}
		for _, ending := range endings {
			d, err := open(ctx, filepath.Join(l.Dir, c+ending))
			if !errors.Is(err, fs.ErrNotExist) {
				return d, err
			}
		}
	}
	if name == "diabetes" {
		return Diabetes(ctx)
	}
	return Data{}, fmt.Errorf("%s: neither %s in %s: %w", name, strings.Join(candidates, " nor "), l.Dir, fs.ErrNotExist)
}

// open reads a file and names the data after it.
func open(ctx context.Context, path string) (Data, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return Data{}, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	x, y, err := sparse.OpenSVMLight(ctx, path, sparse.ReadOptions{})
	name := filepath.Base(path)
	for _, ending := range endings[1:] {
		name = strings.TrimSuffix(name, ending)
	}
	return Data{name, x, y}, err
}

// Diabetes returns the data embedded in pare, unprepared.
func Diabetes(ctx context.Context) (Data, error) {
	x, y, err := embedded.Diabetes(ctx, sparse.ReadOptions{})
	return Data{"diabetes", x, y}, err
}

// Split is a hold-out: fold ids, weights that select the training rows, and the validation rows.
type Split struct {
	Folds bilevel.Folds // 0 validates, −1 trains
	Train []float64     // 1 for training rows, 0 for others
	Held  []int32
}

// half holds out a random half of the rows, as the paper does.
func half(n int) (Split, error) {
	folds, err := bilevel.HoldOut(nil, n, 2, true, 0)
	s := Split{Folds: folds, Train: make([]float64, n)}
	for i, f := range folds {
		if f == 0 {
			s.Held = append(s.Held, int32(i))
		} else {
			s.Train[i] = 1
		}
	}
	return s, err
}

// Signs returns ±1 for a target: −1 for the smallest label and 1 for the others.
func Signs(y []float64) []float64 {
	least := slices.Min(y)
	signs := make([]float64, len(y))
	for i, v := range y {
		signs[i] = 1
		if v == least {
			signs[i] = -1
		}
	}
	return signs
}

// Rows returns the rows of a set for which keep is true, in their order.
func Rows(x sparse.Matrix, y []float64, keep func(i int) bool) (sparse.Matrix, []float64) {
	var list []int32
	var kept []float64
	for i, v := range y {
		if keep(i) {
			list, kept = append(list, int32(i)), append(kept, v)
		}
	}
	return sparse.Rows(nil, x, list), kept
}

// Columns returns some columns of a matrix, in the order given.
func Columns(x sparse.Matrix, columns []int) (*sparse.CSC, error) {
	n, _ := x.Dims()
	ptr, rows, values := make([]int64, 1, len(columns)+1), []int32(nil), []float64(nil)
	for _, j := range columns {
		old, v := x.Column(j)
		for k := range v {
			if v[k] == 0 {
				continue
			}
			i := int32(k)
			if old != nil {
				i = old[k]
			}
			rows, values = append(rows, i), append(values, v[k])
		}
		ptr = append(ptr, int64(len(rows)))
	}
	return sparse.NewCSC(n, len(columns), ptr, rows, values)
}
