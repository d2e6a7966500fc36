package oracle

import "math"

// Solution is a minimiser of a [Problem].
type Solution struct {
	Beta      []float64
	Intercept float64
	Objective float64
	Gap       float64 // computed directly, may be slightly negative
	// Exact reports whether β solves the optimality conditions on its support to working precision, and has the
	// signs and the slack off the support that they require.
	Exact bool
}

// Support returns the columns with βⱼ ≠ 0, ascending.
func (s *Solution) Support() (columns []int32, coef []float64) {
	for j, b := range s.Beta {
		if b != 0 {
			columns, coef = append(columns, int32(j)), append(coef, b)
		}
	}
	return columns, coef
}

// Predictions returns Xβ + b on all rows.
func (q *Problem) Predictions(s *Solution) []float64 {
	m := q.Residual(s.Beta, s.Intercept)
	for i := range m {
		m[i] = q.Y[i] - m[i]
	}
	return m
}

// Gram returns X̃ᵀdiag(s)X̃/N for the columns listed, without the ridge.
func (q *Problem) Gram(columns []int32) [][]float64 {
	means := make([]float64, len(columns))
	if q.Intercept {
		for k, j := range columns {
			means[k] = q.Mean(int(j))
		}
	}
	g := make([][]float64, len(columns))
	total := q.Total()
	for k := range g {
		g[k] = make([]float64, len(columns))
		for l := range k + 1 {
			var sum Sum
			for i, row := range q.X {
				sum.AddProduct(q.Weight(i)*(row[columns[k]]-means[k]), row[columns[l]]-means[l])
			}
			g[k][l] = sum.Value() / total
			g[l][k] = g[k][l]
		}
	}
	return g
}

// System returns A = X̃_Sᵀdiag(s)X̃_S/N + α₂I.
func (q *Problem) System(columns []int32) [][]float64 {
	a := q.Gram(columns)
	for k := range a {
		a[k][k] += q.Ridge
	}
	return a
}

// Solve minimises by cyclic coordinate descent on the Gram matrix. From time to time it solves the linear
// system of the support. It stops when that solution is exact or when nothing moves.
func (q *Problem) Solve() *Solution { return q.SolveFrom(nil) }

// SolveFrom is Solve from a starting point; nil is 0.
func (q *Problem) SolveFrom(start []float64) *Solution {
	_, p := q.Dims()
	all := make([]int32, p)
	for j := range all {
		all[j] = int32(j)
	}
	g := q.Gram(all)
	zero := make([]float64, p)
	c := q.Correlations(q.Residual(zero, q.BestIntercept(zero)))
	if q.Intercept { // removes what a large mean would leave
		r := q.Residual(zero, q.BestIntercept(zero))
		var sum Sum
		for i := range r {
			sum.AddProduct(q.Weight(i), r[i])
		}
		for j := range c {
			c[j] -= q.Mean(j) * sum.Value() / q.Total()
		}
	}
	beta := make([]float64, p)
	copy(beta, start)
	z := append([]float64(nil), c...)
	for j, b := range beta {
		if b != 0 {
			for k := range z {
				z[k] -= g[k][j] * b
			}
		}
	}
	exact := false
	for epoch := 1; epoch <= 30_000; epoch++ {
		moved, size := 0.0, 0.0
		for j := range beta {
			if g[j][j] == 0 || math.IsInf(q.Alpha[j], 1) {
				continue
			}
			t := z[j] + g[j][j]*beta[j]
			b := q.shrink(t, q.Alpha[j]) / (g[j][j] + q.Ridge)
			if b == 0 {
				b = 0 // not −0
			}
			if d := b - beta[j]; d != 0 {
				for k := range z {
					z[k] -= g[k][j] * d
				}
				beta[j] = b
				moved = math.Max(moved, math.Abs(d)*math.Sqrt(g[j][j]))
			}
			size = math.Max(size, math.Abs(b)*math.Sqrt(g[j][j]))
		}
		if epoch&(epoch-1) == 0 || epoch%64 == 0 || moved <= 1e-15*size {
			if exact = q.polish(beta, g, c); exact || moved <= 1e-15*size {
				break
			}
		}
	}
	out := &Solution{Beta: beta, Intercept: q.BestIntercept(beta), Exact: exact}
	out.Objective = q.Objective(beta, out.Intercept)
	out.Gap = q.Gap(beta, out.Intercept)
	return out
}

// polish replaces β by the solution of A β_S = c_S − α sign(β_S) if that keeps the signs and satisfies the
// conditions off the support. It reports whether it did.
func (q *Problem) polish(beta []float64, g [][]float64, c []float64) bool {
	var columns []int
	for j, b := range beta {
		if b != 0 {
			columns = append(columns, j)
		}
	}
	a, rhs := make([][]float64, len(columns)), make([]float64, len(columns))
	for k, j := range columns {
		a[k] = make([]float64, len(columns))
		for l, i := range columns {
			a[k][l] = g[j][i]
		}
		a[k][k] += q.Ridge
		rhs[k] = c[j] - math.Copysign(q.Alpha[j], beta[j])
	}
	x, ok := SolveDense(a, rhs)
	if !ok {
		return false
	}
	for k, j := range columns {
		if x[k]*beta[j] <= 0 && q.Alpha[j] > 0 {
			return false
		}
	}
	for j := range beta {
		if beta[j] != 0 {
			continue
		}
		z := c[j]
		for k, i := range columns {
			z -= g[j][i] * x[k]
		}
		if q.pull(z) > q.Alpha[j]*(1+1e-11) {
			return false
		}
	}
	for k, j := range columns {
		beta[j] = x[k]
	}
	return true
}

// Margins returns how far the solution is from a change of its support: the least 1 − |zⱼ|/αⱼ off the support,
// and the least |βⱼ| on it relative to the largest. Both are 1 if there is nothing to compare.
func (q *Problem) Margins(s *Solution) (out, in float64) {
	out, in = 1, 1
	z := q.Correlations(q.Residual(s.Beta, s.Intercept))
	largest := 0.0
	for _, b := range s.Beta {
		largest = math.Max(largest, math.Abs(b))
	}
	for j, b := range s.Beta {
		switch {
		case b != 0:
			in = math.Min(in, math.Abs(b)/largest)
		case !math.IsInf(q.Alpha[j], 1):
			out = math.Min(out, 1-q.pull(z[j])/q.Alpha[j])
		}
	}
	return out, in
}

// MeanSquaredError returns the mean of (yᵢ − mᵢ)² over the rows listed, and its slope in m over all rows.
func (q *Problem) MeanSquaredError(m []float64, rows []int) (value float64, slope []float64) {
	slope = make([]float64, len(q.Y))
	var sum Sum
	count := float64(len(rows))
	for _, i := range rows {
		d := m[i] - q.Y[i]
		sum.AddProduct(d/count, d)
		slope[i] = 2 * d / count
	}
	return sum.Value(), slope
}

// Hypergradient returns ∂C/∂lnα for a common shift of all αⱼ, ∂C/∂lnα₂ (0 without a ridge) and ∂C/∂lnαⱼ for
// every j, at any β with its support, by dense solves with the system of [X_S 1], bordered by the intercept;
// rows of the Jacobian off S are 0. slope is ∂C/∂m. ok is false if the system is singular.
func (q *Problem) Hypergradient(beta, slope []float64) (common, ridge float64, each []float64, ok bool) {
	var columns []int32
	for j, b := range beta {
		if b != 0 {
			columns = append(columns, int32(j))
		}
	}
	each = make([]float64, len(beta))
	if len(columns) == 0 {
		return 0, 0, each, true
	}
	size := len(columns)
	border := size
	if q.Intercept {
		border++
	}
	entry := func(i, k int) float64 { // of [X_S 1]
		if k == size {
			return 1
		}
		return q.X[i][columns[k]]
	}
	a, rhs := make([][]float64, border), make([]float64, border)
	total := q.Total()
	for k := range a {
		a[k] = make([]float64, border)
		for l := range a[k] {
			var sum Sum
			for i := range q.Y {
				sum.AddProduct(q.Weight(i)*entry(i, k)/total, entry(i, l))
			}
			a[k][l] = sum.Value()
		}
		if k < size {
			a[k][k] += q.Ridge
		}
		var sum Sum
		for i := range q.Y {
			sum.AddProduct(slope[i], entry(i, k))
		}
		rhs[k] = sum.Value()
	}
	v, ok := SolveDense(a, rhs)
	if !ok {
		return 0, 0, nil, false
	}
	for k, j := range columns {
		each[j] = -q.Alpha[j] * math.Copysign(v[k], v[k]*beta[j])
		common += each[j]
		ridge -= q.Ridge * beta[j] * v[k]
	}
	return common, ridge, each, true
}
