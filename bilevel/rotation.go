package bilevel

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/search"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// Rotation is a factorisation X̃ = L·Qᵀ of a dense matrix with fewer rows than columns, where Q has
// orthonormal columns. X̃ is X, with centred columns if there is an intercept. Under a ridge penalty
// alone, β̂ is a linear combination of the rows, so that β̂ = Qγ̂ with ‖β̂‖ = ‖γ̂‖ and X̃β̂ = Lγ̂: γ̂
// solves the same problem with L in the place of X, for any loss, any rows left out and any λ, and L
// has no more columns than rows (Hastie and Tibshirani, Biostatistics 5, 2004, section 2).
//
// L is the Cholesky factor of X̃X̃ᵀ, with pivots. It loses directions along which rows differ by less
// than 1e-8 of their differences along others; predictions change by about 1e-16·αmax/α.
type Rotation struct {
	// L has a row for each row of X, and as many columns as X̃ has independent rows.
	L *sparse.Dense

	k       *kernels.Set
	x       *sparse.Dense
	rows    []int32   // the rows of positive weight; X̃ has zeros in all other rows
	mean    []float64 // the means of the columns of X; zeros without an intercept
	varying int       // the number of non-zero columns of X̃
	pivots  []int32   // for each column of L, the pivot row of X̃
}

// Rotate returns the rotation of a matrix with the given row weights, nil for all 1. It returns nil where an entry of X̃
// overflows, and where X̃ is 0.
func Rotate(k *kernels.Set, x *sparse.Dense, weights []float64, intercept bool) (*Rotation, error) {
	n, p := x.Dims()
	r := &Rotation{k: k, x: x, mean: make([]float64, p)}
	for i := range n {
		if weights == nil || weights[i] > 0 {
			r.rows = append(r.rows, int32(i))
		}
	}
	largest := r.centre(intercept)
	if r.varying == 0 || math.IsInf(largest, 0) {
		return nil, nil
	}
	// In units of the largest entry, so that no product overflows.
	_, exponent := math.Frexp(largest)
	scratch, product := make([]float64, n), make([]float64, n*n)
	var outer support.Outer
	pace := k.Pace()
	outer.Sum(k, p, n, func(j int) (float64, []float64) {
		pace.Did(n * n)
		_, values := x.Column(j)
		for _, i := range r.rows {
			scratch[i] = math.Ldexp(values[i]-r.mean[j], -exponent)
		}
		return 1, scratch
	}, product)
	rows := r.factorise(product)
	columns := make([]float64, n*len(r.pivots))
	for i := range n {
		for c := range r.pivots {
			columns[c*n+i] = math.Ldexp(rows[i*n+c], exponent)
		}
	}
	var err error
	r.L, err = sparse.NewDense(n, len(r.pivots), columns)
	return r, err
}

// Columns returns the size of the support of solutions on X: all columns that vary.
func (r *Rotation) Columns() int { return r.varying }

// centre sets the means, counts the columns that vary, and returns the largest entry of X̃.
func (r *Rotation) centre(intercept bool) (largest float64) {
	n, p := r.x.Dims()
	pace := r.k.Pace()
	for j := range p {
		pace.Did(n)
		_, values := r.x.Column(j)
		if intercept {
			r.mean[j] = values[r.rows[0]]
		}
		if !slices.ContainsFunc(r.rows, func(i int32) bool { return values[i] != r.mean[j] }) {
			continue
		}
		r.varying++
		if intercept {
			r.mean[j] = 0
			for _, i := range r.rows {
				r.mean[j] += values[i] / float64(len(r.rows))
			}
		}
		for _, i := range r.rows {
			largest = max(largest, math.Abs(values[i]-r.mean[j]))
		}
	}
	return largest
}

// independenceTol times the number of rows is the share of a square up to which the remainder of a row, after elimination
// of the pivot rows, may be rounding: of the largest square of a row here, of the row's own in [pivotedCholesky].
const independenceTol = 0x1p-50

// factorise returns the rows of L, n entries each, from the lower triangle of X̃X̃ᵀ. Each step pivots on
// the row with the largest remainder.
func (r *Rotation) factorise(product []float64) []float64 {
	n, _ := r.x.Dims()
	l, left, pace := make([]float64, n*n), make([]float64, n), r.k.Pace()
	for i := range left {
		left[i] = product[i*n+i]
	}
	least := float64(n) * independenceTol * slices.Max(left)
	for c := range n {
		pivot := 0
		for i, square := range left {
			if square > left[pivot] {
				pivot = i
			}
		}
		if !(left[pivot] > least) {
			break
		}
		pace.Did(c * n)
		r.pivots = append(r.pivots, int32(pivot))
		root, row := math.Sqrt(left[pivot]), l[pivot*n:][:c]
		for i := range n {
			if left[i] < 0 { // a pivot row already
				continue
			}
			entry := (product[max(i, pivot)*n+min(i, pivot)] - r.k.Dot(l[i*n:][:c], row)) / root
			l[i*n+c] = entry
			left[i] = max(0, left[i]-float64(entry*entry))
		}
		l[pivot*n+c] = root
		left[pivot] = -1
	}
	return l
}

// toOriginal returns β = Qγ.
func (r *Rotation) toOriginal(s *Solution) *Solution {
	n, p := r.x.Dims()
	u := make([]float64, n) // β = X̃ᵀu, with zeros except for pivot rows
	for k, c := range s.Support {
		u[r.pivots[c]] = s.Coef[k]
	}
	var sum float64
	for c, i := range slices.Backward(r.pivots) {
		_, column := r.L.Column(c)
		for _, later := range r.pivots[c+1:] {
			u[i] -= float64(column[later] * u[later])
		}
		u[i] /= column[i]
		sum += u[i]
	}
	out, pace := &Solution{Support: make([]int32, p), Coef: make([]float64, p)}, r.k.Pace()
	for j := range p {
		pace.Did(n)
		_, column := r.x.Column(j)
		out.Support[j], out.Coef[j] = int32(j), r.k.Dot(column, u)-float64(r.mean[j]*sum)
	}
	return out
}

// toRotated returns γ = Qᵀβ.
func (r *Rotation) toRotated(s *Solution) *Solution {
	n, _ := r.x.Dims()
	u, pace := make([]float64, n), r.k.Pace() // X̃β, less L times the entries of γ known so far
	var shift float64
	for k, j := range s.Support {
		pace.Did(n)
		_, column := r.x.Column(int(j))
		r.k.Axpy(s.Coef[k], column, u)
		shift += float64(r.mean[j] * s.Coef[k])
	}
	for i := range u {
		u[i] -= shift
	}
	out := &Solution{Support: make([]int32, len(r.pivots)), Coef: make([]float64, len(r.pivots))}
	for c, i := range r.pivots {
		_, column := r.L.Column(c)
		out.Support[c], out.Coef[c] = int32(c), u[i]/column[i]
		r.k.Axpy(-out.Coef[c], column, u)
	}
	return out
}

// Rotated is a problem on the columns of a rotation's L whose solutions are in the columns of X.
type Rotated struct {
	*Problem
	rotation *Rotation
}

// NewRotated returns the problem on X for a problem p on the L of its rotation.
func NewRotated(p *Problem, by *Rotation) *Rotated { return &Rotated{p, by} }

// Eval implements [search.Objective].
func (p *Rotated) Eval(ctx context.Context, r search.Request) (search.Evaluation, error) {
	return evalOnSide(ctx, p, r)
}

// Evaluate is [Problem.Evaluate].
func (p *Rotated) Evaluate(ctx context.Context, r search.Request) (Report, error) {
	report, err := p.Problem.Evaluate(ctx, r)
	report.Support = p.rotation.varying
	return report, err
}

// Path is [Problem.Path].
func (p *Rotated) Path(ctx context.Context, path [][]float64) iter.Seq2[Report, error] {
	return func(yield func(Report, error) bool) {
		for report, err := range p.Problem.Path(ctx, path) {
			report.Support = p.rotation.varying
			if !yield(report, err) {
				return
			}
		}
	}
}

// Mean is [Problem.Mean].
func (p *Rotated) Mean(ctx context.Context, logLambda []float64) (columns []int32, coef []float64, err error) {
	return p.toOriginal(p.Problem.Mean(ctx, logLambda))
}

// MeanBefore is [Problem.MeanBefore].
func (p *Rotated) MeanBefore(ctx context.Context, logLambda []float64) (columns []int32, coef []float64, err error) {
	return p.toOriginal(p.Problem.MeanBefore(ctx, logLambda))
}

func (p *Rotated) toOriginal(columns []int32, coef []float64, err error) ([]int32, []float64, error) {
	if err != nil || len(columns) == 0 {
		return nil, nil, err
	}
	s := p.rotation.toOriginal(&Solution{columns, coef})
	return s.Support, s.Coef, nil
}

// Solutions is [Problem.Solutions].
func (p *Rotated) Solutions(ctx context.Context, logLambda []float64) ([]*Solution, error) {
	all, err := p.Problem.Solutions(ctx, logLambda)
	return mapSolutions(all, p.rotation.toOriginal), err
}

// Begin is [Problem.Begin].
func (p *Rotated) Begin(at []*Solution) { p.Problem.Begin(mapSolutions(at, p.rotation.toRotated)) }

// BeginEach is [Problem.BeginEach].
func (p *Rotated) BeginEach(at []*Solution) {
	p.Problem.BeginEach(mapSolutions(at, p.rotation.toRotated))
}

func mapSolutions(all []*Solution, convert func(*Solution) *Solution) []*Solution {
	if all == nil { // no solutions are known
		return nil
	}
	out := make([]*Solution, len(all))
	for i, s := range all {
		out[i] = convert(s)
	}
	return out
}
