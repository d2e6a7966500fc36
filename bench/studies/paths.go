package studies

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/bench/chart"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
)

// The names of the columns, in the order of the files.
var (
	diabetesColumns = []string{"age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"}
	tumourColumns   = []string{"radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave p.", "symmetry", "fractal dim."}
)

// runPaths draws the paper's three paths. The breast cancer data have their first ten columns, scaled to unit
// norm, since coefficients in so different units would not fit one chart.
func runPaths(ctx context.Context, o Options) (*Result, error) {
	d, err := Diabetes(ctx)
	if err != nil {
		return nil, err
	}
	r, err := Paths(ctx, d.Name, diabetesColumns, sparse.Compact(d.X.(*sparse.CSC)), d.Y, pare.Lasso, pare.ElasticNet)
	if err != nil {
		return nil, err
	}
	d, err = o.Raw(ctx, "breast_cancer")
	if errors.Is(err, fs.ErrNotExist) {
		o.say(err.Error())
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	ten, err := Columns(d.X, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
	if err != nil {
		return nil, err
	}
	if d.X, _, err = (sparse.Preparation{UnitColumns: true}).Apply(ten); err != nil {
		return nil, err
	}
	more, err := Paths(ctx, d.Name, tumourColumns, d.X, d.Y, pare.Logistic)
	if err != nil {
		return nil, err
	}
	maps.Copy(r.Tables, more.Tables)
	maps.Copy(r.Charts, more.Charts)
	return r, nil
}

// Paths is figure 2: the coefficients as functions of λ, which are smooth except at the knots, where a column
// enters or leaves. The elastic net has a ridge as strong as its ℓ1 part. Columns are named beside their lines.
func Paths(ctx context.Context, name string, columns []string, x sparse.Matrix, y []float64, models ...pare.Model) (*Result, error) {
	const points, minRatio = 200, 1e-3
	r := newResult()
	_, p := x.Dims()
	for _, m := range models {
		c := pare.Config{Model: m, NoIntercept: true, Tol: 1e-10}
		top, err := pare.LogLambdaMax(x, y, c)
		if err != nil {
			return nil, err
		}
		grid := search.Geometric(top[0], kernels.Log(minRatio), points)
		for i := range grid {
			for len(grid[i]) < len(top) {
				grid[i] = append(grid[i], grid[i][0])
			}
		}
		t := Table{Columns: []string{"log_lambda", "ratio"}}
		lines := make([]chart.Series, p)
		for j := range p {
			t.Columns = append(t.Columns, fmt.Sprintf("coefficient_%d", j+1))
			lines[j] = chart.Series{Line: true, Colour: j, Beside: columns[j]}
		}
		for f, err := range pare.Path(ctx, x, y, grid, c) {
			if err != nil {
				return nil, err
			}
			beta := make([]float64, p)
			for k, j := range f.Support {
				beta[j] = f.Coef[k]
			}
			ratio := kernels.Exp(f.LogLambda[0] - top[0])
			row := []any{f.LogLambda[0], ratio}
			for j, b := range beta {
				row = append(row, b)
				lines[j].X, lines[j].Y = append(lines[j].X, ratio), append(lines[j].Y, b)
			}
			t.Rows = append(t.Rows, row)
		}
		file := fmt.Sprintf("path-%s-%s", m, name)
		r.Tables[file] = t
		r.Charts[file] = chart.Chart{
			Title: fmt.Sprintf("Regularisation path: %s, %s", m, name), X: "strength as a share of its maximum", Y: "coefficient",
			LogX: true, Series: lines,
		}
	}
	return r, nil
}
