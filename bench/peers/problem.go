package peers

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"

	"github.com/seed-45b9a24c/pare/sparse"
)

// Model is an inner problem, without intercept.
type Model string

// The models. The penalty is ℓ1 unless the name says otherwise; enet is ℓ1 and ridge. Group penalties and
// penalties that are not convex go with the squared loss.
const (
	Lasso         Model = "lasso"
	WeightedLasso Model = "wlasso" // a strength for each column
	ElasticNet    Model = "enet"
	Group         Model = "group"
	SparseGroup   Model = "sparse_group"
	MCP           Model = "mcp"
	SCAD          Model = "scad"
	Huber         Model = "huber"

	Logistic          Model = "logreg"
	LogisticNet       Model = "logreg_enet"
	LogisticRidge     Model = "logreg_ridge"
	SquaredHinge      Model = "squared_hinge"
	SquaredHingeRidge Model = "squared_hinge_ridge"
	SVM               Model = "svm"
	SVR               Model = "svr"

	Multinomial      Model = "multinomial"
	MultinomialGroup Model = "multinomial_group"

	Poisson      Model = "poisson"
	PoissonRidge Model = "poisson_ridge"
	Gamma        Model = "gamma"
	GammaRidge   Model = "gamma_ridge"
	Tweedie      Model = "tweedie"
	TweedieRidge Model = "tweedie_ridge"
)

// Problem is one fit:
//
//	(1/n)Σ ℓ(yᵢ, xᵢβ) + Alpha‖β‖₁ + (Ridge/2)‖β‖²
//	svm  ½‖β‖² + AlphaΣ(1 − yᵢxᵢβ)₊,  y = ±1
//	svr  ½‖β‖² + AlphaΣ(|yᵢ − xᵢβ| − 0.1)₊
//
// where Alpha or Ridge may be 0. The norm of groups is Σ√p_g‖β_g‖₂, and that of columns for all classes
// together Σ‖βⱼ‖₂; the norm of sparse groups is the mean of the group norm and ‖β‖₁. MCP and SCAD, with γ = 3
// and a = 3.7, replace the norm; columns then have a mean square of 1. For a multinomial model β has an entry
// for each column and class, by column.
type Problem struct {
	X            sparse.Matrix
	Y            []float64
	Model        Model
	Alpha, Ridge float64
	Groups       []int // group of each column, from 0 in order; nil without column groups
	// Plain and Weights are for wlasso. X has the columns of Plain divided by their weights: a Lasso in bⱼ =
	// wⱼβⱼ, with the same objective and gap, which the other programs solve. We solve Σ Alpha·wⱼ|βⱼ| on Plain.
	Plain   sparse.Matrix
	Weights []float64
	// Bound is a proven lower bound of the objective of support vectors; see [Problem.ProveBound]. Other models
	// do not need it.
	Bound float64
}

// Weigh makes a Lasso a weighted Lasso: every column gets a weight between ½ and 2, the same in every run.
func (p *Problem) Weigh() error {
	_, columns := p.X.Dims()
	random := rand.New(rand.NewPCG(0, 3))
	p.Model, p.Plain, p.Weights = WeightedLasso, p.X, make([]float64, columns)
	for j := range p.Weights {
		p.Weights[j] = math.Exp2(2*random.Float64() - 1)
	}
	return p.divide(p.Weights)
}

// standardise scales columns to a mean square of 1; otherwise a nonconvex penalty may be more concave than the
// loss is convex.
func (p *Problem) standardise() error {
	n, columns := p.X.Dims()
	by := make([]float64, columns)
	p.each(func(j int, _ []int32, v []float64) {
		for _, x := range v {
			by[j] += x * x / float64(n)
		}
		by[j] = math.Sqrt(by[j])
	})
	return p.divide(by)
}

// divide divides each column by a number of its own.
func (p *Problem) divide(by []float64) error {
	n, columns := p.X.Dims()
	starts, rows, values := make([]int64, 1, columns+1), []int32(nil), []float64(nil)
	p.each(func(j int, i []int32, v []float64) {
		rows = append(rows, i...)
		for _, x := range v {
			values = append(values, x/by[j])
		}
		starts = append(starts, int64(len(rows)))
	})
	x, err := sparse.NewCSC(n, columns, starts, rows, values)
	if err != nil {
		return err
	}
	p.X = sparse.Compact(x)
	return nil
}

// dot returns X_jᵀu, computed in a plain loop.
func dot(x sparse.Matrix, j int, u []float64) float64 {
	rows, values := x.Column(j)
	sum := 0.0
	if rows == nil {
		for i, v := range values {
			sum += v * u[i]
		}
		return sum
	}
	for k, i := range rows {
		sum += values[k] * u[i]
	}
	return sum
}

// dense reports whether other programs should get the matrix in dense form: if a quarter of it or more is
// nonzero, that is faster for all of them.
func dense(x sparse.Matrix) bool {
	n, p := x.Dims()
	return float64(nonzeros(x)) >= 0.25*float64(n)*float64(p)
}

func nonzeros(x sparse.Matrix) (count int64) {
	_, p := x.Dims()
	for j := range p {
		rows, values := x.Column(j)
		if rows != nil {
			count += int64(len(rows))
			continue
		}
		for _, v := range values {
			if v != 0 {
				count++
			}
		}
	}
	return count
}

// Write writes X and y for other programs, little-endian: n, p, the number of nonzeros and, as 1 or 0, whether
// the dense form is better, as int32; then the p+1 starts of the columns (int32), the rows from 0 (int32), the
// values and y (float64), and, if columns have groups, the p group numbers (int32).
func (p *Problem) Write(w io.Writer) error {
	b := bufio.NewWriterSize(w, 1<<20)
	n, columns := p.X.Dims()
	full := int32(0)
	if dense(p.X) {
		full = 1
	}
	put := func(v any) {
		// The buffer keeps the first error for Flush.
		_ = binary.Write(b, binary.LittleEndian, v)
	}
	put([]int32{int32(n), int32(columns), int32(nonzeros(p.X)), full})
	starts := make([]int32, 1, columns+1)
	p.each(func(_ int, rows []int32, _ []float64) {
		starts = append(starts, starts[len(starts)-1]+int32(len(rows)))
	})
	put(starts)
	p.each(func(_ int, rows []int32, _ []float64) { put(rows) })
	p.each(func(_ int, _ []int32, values []float64) { put(values) })
	put(p.Y)
	for _, g := range p.Groups {
		put(int32(g))
	}
	return b.Flush()
}

// each calls f with the nonzeros of every column.
func (p *Problem) each(f func(j int, rows []int32, values []float64)) {
	_, columns := p.X.Dims()
	var someRows []int32
	var someValues []float64
	for j := range columns {
		rows, values := p.X.Column(j)
		if rows != nil {
			f(j, rows, values)
			continue
		}
		someRows, someValues = someRows[:0], someValues[:0]
		for i, v := range values {
			if v != 0 {
				someRows, someValues = append(someRows, int32(i)), append(someValues, v)
			}
		}
		f(j, someRows, someValues)
	}
}
