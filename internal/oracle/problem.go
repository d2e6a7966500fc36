// Package oracle is the reference that tests compare the library with: slow, scalar, dense and obvious code,
// written from the formulas, which shares nothing with the library.
package oracle

import "math"

// Problem is
//
//	min (1/2N)Σ sᵢ(yᵢ − xᵢβ − b)² + Σ αⱼ|βⱼ| + (α₂/2)‖β‖²,  N = Σs
//
// with a dense matrix stored by rows. b is 0 without Intercept. An αⱼ of +Inf excludes a column, 0 leaves it
// unpenalised. With Positive, β ≥ 0.
type Problem struct {
	X         [][]float64
	Y         []float64
	Weights   []float64 // nil: all 1
	Alpha     []float64
	Ridge     float64
	Intercept bool
	Positive  bool
}

// pull returns the quantity that must exceed αⱼ for a coefficient to leave 0.
func (q *Problem) pull(z float64) float64 {
	if q.Positive {
		return math.Max(z, 0)
	}
	return math.Abs(z)
}

// shrink returns the minimiser over b of ½b² − tb + α|b|, subject to b ≥ 0 with Positive.
func (q *Problem) shrink(t, alpha float64) float64 {
	return math.Copysign(math.Max(q.pull(t)-alpha, 0), t)
}

// Dims returns n and p.
func (q *Problem) Dims() (n, p int) { return len(q.Y), len(q.Alpha) }

// Weight returns sᵢ.
func (q *Problem) Weight(i int) float64 {
	if q.Weights == nil {
		return 1
	}
	return q.Weights[i]
}

// Total returns N.
func (q *Problem) Total() float64 {
	var sum Sum
	for i := range q.Y {
		sum.Add(q.Weight(i))
	}
	return sum.Value()
}

// Uniform sets every αⱼ.
func (q *Problem) Uniform(alpha float64) *Problem {
	for j := range q.Alpha {
		q.Alpha[j] = alpha
	}
	return q
}

// Clone copies the problem; X and y are shared.
func (q *Problem) Clone() *Problem {
	c := *q
	c.Alpha = append([]float64(nil), q.Alpha...)
	return &c
}

// ColumnMajor returns the matrix in the order of dense storage.
func (q *Problem) ColumnMajor() []float64 {
	n, p := q.Dims()
	out := make([]float64, 0, n*p)
	for j := range p {
		for i := range n {
			out = append(out, q.X[i][j])
		}
	}
	return out
}

// Columns returns the matrix in compressed columns, without zeros.
func (q *Problem) Columns() (pointers []int64, rows []int32, values []float64) {
	n, p := q.Dims()
	pointers = append(pointers, 0)
	for j := range p {
		for i := range n {
			if v := q.X[i][j]; v != 0 {
				rows, values = append(rows, int32(i)), append(values, v)
			}
		}
		pointers = append(pointers, int64(len(rows)))
	}
	return pointers, rows, values
}

// Mean returns the weighted mean of column j, or of y for j = −1.
func (q *Problem) Mean(j int) float64 {
	var sum Sum
	for i := range q.Y {
		v := q.Y[i]
		if j >= 0 {
			v = q.X[i][j]
		}
		sum.AddProduct(q.Weight(i), v)
	}
	return sum.Value() / q.Total()
}

// Residual returns y − Xβ − b.
func (q *Problem) Residual(beta []float64, b float64) []float64 {
	r := make([]float64, len(q.Y))
	for i, row := range q.X {
		var sum Sum
		sum.Add(q.Y[i])
		sum.Add(-b)
		for j, v := range row {
			sum.AddProduct(-v, beta[j])
		}
		r[i] = sum.Value()
	}
	return r
}

// BestIntercept returns the b that minimises the objective for β.
func (q *Problem) BestIntercept(beta []float64) float64 {
	if !q.Intercept {
		return 0
	}
	var sum Sum
	for i, v := range q.Residual(beta, 0) {
		sum.AddProduct(q.Weight(i), v)
	}
	return sum.Value() / q.Total()
}

// Objective returns Φ(β, b).
func (q *Problem) Objective(beta []float64, b float64) float64 {
	var sum Sum
	total := q.Total()
	for i, v := range q.Residual(beta, b) {
		sum.AddProduct(q.Weight(i)*v/(2*total), v)
	}
	for j, v := range beta {
		if v != 0 {
			sum.AddProduct(q.Alpha[j], math.Abs(v))
			sum.AddProduct(q.Ridge*v/2, v)
		}
	}
	return sum.Value()
}

// Null returns P₀.
func (q *Problem) Null() float64 {
	beta := make([]float64, len(q.Alpha))
	return q.Objective(beta, q.BestIntercept(beta))
}

// Correlations returns zⱼ = Σ sᵢrᵢxᵢⱼ/N.
func (q *Problem) Correlations(r []float64) []float64 {
	z := make([]float64, len(q.Alpha))
	total := q.Total()
	for j := range z {
		var sum Sum
		for i, row := range q.X {
			sum.AddProduct(q.Weight(i)*r[i], row[j])
		}
		z[j] = sum.Value() / total
	}
	return z
}

// AlphaMax returns the smallest α whose solution is 0.
func (q *Problem) AlphaMax() float64 {
	beta := make([]float64, len(q.Alpha))
	largest := 0.0
	for _, z := range q.Correlations(q.Residual(beta, q.BestIntercept(beta))) {
		largest = math.Max(largest, q.pull(z))
	}
	return largest
}

// Norm2 returns ‖X_j − x̄_j‖ₛ², or ‖X_j‖ₛ² without an intercept.
func (q *Problem) Norm2(j int) float64 {
	mean := 0.0
	if q.Intercept {
		mean = q.Mean(j)
	}
	var sum Sum
	for i, row := range q.X {
		d := row[j] - mean
		sum.AddProduct(q.Weight(i)*d, d)
	}
	return sum.Value()
}

// Gaps returns the duality gap of (β, b), computed directly as primal minus dual: at the residual scaled to be
// feasible and, with a ridge, at the unscaled residual (+Inf without). b must be the best intercept. If columns
// are unpenalised and there is no ridge, the residual is first made orthogonal to them.
func (q *Problem) Gaps(beta []float64, b float64) (scaled, unscaled float64) {
	r := q.project(q.Residual(beta, b))
	z := q.Correlations(r)
	total, c := q.Total(), 1.0
	for j, a := range z {
		a -= q.Ridge * beta[j]
		if a = q.pull(a); a != 0 && (q.Alpha[j] != 0 || q.Ridge != 0) {
			c = math.Min(c, q.Alpha[j]/a)
		}
	}
	mean := 0.0
	if q.Intercept {
		mean = q.Mean(-1) // ⟨r, y⟩ = ⟨r, y − ȳ⟩ as Σ sᵢrᵢ = 0
	}
	primal := q.Objective(beta, b)
	dual := func(c float64, ridge func(*Sum)) float64 {
		var sum Sum
		for i, v := range r {
			s := q.Weight(i)
			sum.AddProduct(c*s*v/total, q.Y[i]-mean)
			sum.AddProduct(-c*s*v/(2*total), c*v)
		}
		ridge(&sum)
		return sum.Value()
	}
	scaled = primal - dual(c, func(sum *Sum) {
		for _, v := range beta {
			sum.AddProduct(-c*c*q.Ridge*v/2, v)
		}
	})
	unscaled = math.Inf(1)
	if q.Ridge > 0 {
		unscaled = primal - dual(1, func(sum *Sum) {
			for j, v := range z {
				if over := q.pull(v) - q.Alpha[j]; over > 0 {
					sum.AddProduct(-over/(2*q.Ridge), over)
				}
			}
		})
	}
	return scaled, unscaled
}

// project returns r after making it orthogonal to the unpenalised columns.
func (q *Problem) project(r []float64) []float64 {
	var free []int32 // those that are linearly independent
	var rhs, d []float64
	z := q.Correlations(r)
	for j, alpha := range q.Alpha {
		if alpha != 0 || q.Ridge != 0 {
			continue
		}
		if x, ok := SolveDense(q.Gram(append(free, int32(j))), append(rhs, z[j])); ok {
			free, rhs, d = append(free, int32(j)), append(rhs, z[j]), x
		}
	}
	if len(free) == 0 {
		return r
	}
	out := append([]float64(nil), r...)
	for k, j := range free {
		mean := 0.0
		if q.Intercept {
			mean = q.Mean(int(j))
		}
		for i := range out {
			out[i] -= d[k] * (q.X[i][j] - mean)
		}
	}
	return out
}

// Gap returns the smaller value of [Problem.Gaps].
func (q *Problem) Gap(beta []float64, b float64) float64 {
	scaled, unscaled := q.Gaps(beta, b)
	return math.Min(scaled, unscaled)
}

// KKT returns ρⱼ = Lⱼ|βⱼ − prox(βⱼ + zⱼ/Lⱼ)| and Lⱼ for every column, both 0 if the column is constant or
// excluded.
func (q *Problem) KKT(beta []float64, b float64) (rho, lipschitz []float64) {
	z := q.Correlations(q.Residual(beta, b))
	rho, lipschitz = make([]float64, len(z)), make([]float64, len(z))
	for j := range z {
		l := q.Norm2(j) / q.Total()
		if l == 0 || math.IsInf(q.Alpha[j], 1) {
			continue
		}
		t := beta[j] + z[j]/l
		moved := beta[j] - q.shrink(t, q.Alpha[j]/l)/(1+q.Ridge/l)
		rho[j], lipschitz[j] = l*math.Abs(moved), l
	}
	return rho, lipschitz
}
