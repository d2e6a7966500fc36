package support

import (
	"context"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// rounding is the relative rounding error of a sum, for each of its terms.
const rounding = 0x1p-52

// nearlySingular is the √κ from which a system counts as singular to working precision.
const nearlySingular = 3e6

// Bordered solves the optimality conditions of a support vector machine on some rows S,
//
//	[A 1; 1ᵀ 0]·[a; b] = [r; t],  A = X̃_S·X̃_Sᵀ,
//
// or A·a = r where there is no intercept, by conjugate gradients. With an intercept these use PAP,
// P = I − 11ᵀ/|S|, the matrix of the rows less their mean. Ready once Kernels is set; not safe for concurrent use.
type Bordered struct {
	Kernels *kernels.Set
	Centred bool // there is an intercept

	cg          CG
	normal      Normal
	diagonal    []float64
	v, residual []float64
}

// Take makes S the rows listed, which are columns of samples (the list is kept, not copied). square has ‖x̃ᵢ‖²
// for all rows, and scale the scales of the features; nil: all 1.
func (m *Bordered) Take(samples sparse.Matrix, rows []int32, square, scale []float64) {
	size := len(rows)
	m.cg.Kernels, m.normal.Kernels = m.Kernels, m.Kernels
	m.cg.Growth = nearlySingular
	m.diagonal, m.v, m.residual = resize(m.diagonal, size), resize(m.v, size), resize(m.residual, size)
	var mean float64
	for k, i := range rows {
		m.diagonal[k] = square[i]
		mean += square[i] / float64(size)
	}
	if mean == 0 {
		mean = 1
	}
	for k, d := range m.diagonal {
		if d == 0 { // a row of zeros
			m.diagonal[k] = mean
		}
	}
	m.normal.scaled(samples, rows, scale)
}

// Work returns the modelled cost, in nanoseconds, of what has been done with the rows taken.
func (m *Bordered) Work() float64 { return m.normal.Work() }

// Apply sets out = PAP·v, or A·v without an intercept; see [Operator].
func (m *Bordered) Apply(v, out []float64) {
	if !m.Centred {
		m.normal.Apply(v, out)
		return
	}
	copy(m.v, v)
	m.centre(m.v)
	m.normal.Apply(m.v, out)
	m.centre(out)
}

// Diagonal sets out to the diagonal of A; see [Operator].
func (m *Bordered) Diagonal(out []float64) { copy(out, m.diagonal) }

// centre subtracts the mean of v, and returns it.
func (m *Bordered) centre(v []float64) (mean float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for k := range v {
		v[k] -= mean
	}
	return mean
}

// Solve sets a and returns b; without an intercept it ignores t, and b = 0. The residual of the report
// is computed anew from a and b.
func (m *Bordered) Solve(ctx context.Context, r []float64, t float64, a []float64, tol float64, maxIterations int) (b float64, report Report) {
	size := len(r)
	copy(m.residual, r)
	even := 0.0 // the mean of a, so that a sums to t
	if m.Centred {
		if even = t / float64(size); even != 0 {
			for k := range m.v {
				m.v[k] = even
			}
			m.normal.Apply(m.v, a)
			m.Kernels.Axpy(-1, a, m.residual)
		}
		least := float64(float64(size)*rounding) * m.Kernels.MaxAbs(m.residual)
		if m.centre(m.residual); m.Kernels.MaxAbs(m.residual) <= least { // b alone solves it
			clear(m.residual)
		}
	}
	clear(a)
	report = m.cg.Solve(ctx, m, m.residual, a, tol, maxIterations)
	if m.Centred {
		m.centre(a)
		for k := range a {
			a[k] += even
		}
	}
	m.normal.Apply(a, m.v)
	copy(m.residual, r)
	m.Kernels.Axpy(-1, m.v, m.residual)
	if m.Centred {
		b = m.centre(m.residual)
	}
	report.Residual = m.cg.Norm(m.residual)
	return b, report
}

// Gram sets q to the lower triangle of A, see [Normal.Gram].
func (m *Bordered) Gram(q []float64) { m.normal.Gram(q) }

// Ritz is [CG.Ritz] of the last solve.
func (m *Bordered) Ritz() (smallest, largest float64) { return m.cg.Ritz() }
