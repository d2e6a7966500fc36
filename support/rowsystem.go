package support

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// RowSystem solves systems with A = X̃_Sᵀdiag(w)X̃_S/N + α₂I, α₂ > 0, for more columns than
// there are rows:
//
//	A⁻¹ = (I − X̂ᵀ(I + X̂X̂ᵀ/Nα₂)⁻¹X̂/Nα₂)/α₂,  X̂ = diag(√w)X̃_S.
//
// X̂X̂ᵀ is computed once, a factor for every α₂. Callers have to refine solutions, since the
// formula cancels where α₂ is small. Not safe for concurrent use.
type RowSystem struct {
	columns *Columns
	k       *kernels.Set
	list    []int32
	alpha   float64
	scale   float64   // Nα₂
	product []float64 // X̂X̂ᵀ, lower triangle
	factor  []float64
	t       []float64 // rows
	outer   Outer
}

// NewRowSystem computes X̂X̂ᵀ for the columns listed (kept, not copied), which the store
// must hold, now and in all calls.
func NewRowSystem(columns *Columns, list []int32) *RowSystem {
	size := columns.m
	r := &RowSystem{
		columns: columns, k: columns.view.Kernels(), list: list, t: make([]float64, size),
		product: make([]float64, size*size), factor: make([]float64, size*size),
	}
	r.Update()
	return r
}

// Update computes X̂X̂ᵀ anew, after the weights of the store have changed.
func (r *RowSystem) Update() {
	columns, list, size := r.columns, r.list, r.columns.m
	columns.work += columns.RowSystemCost(list)
	if columns.dense {
		r.outer.Sum(r.k, len(list), size, func(k int) (float64, []float64) {
			_, values := columns.Column(list[k])
			return 1, values
		}, r.product)
		return
	}
	clear(r.product)
	clear(r.t)
	h := r.t
	var square float64
	for _, j := range list {
		index, values := columns.Column(j)
		for i, v := range values {
			r.k.AxpyIndexed(v, values[:i+1], index[:i+1], r.product[int(index[i])*size:][:size])
		}
		if mean := columns.Mean(j); mean != 0 {
			r.k.AxpyIndexed(mean, values, index, h)
			square = math.FMA(mean, mean, square)
		}
	}
	if square == 0 {
		return
	}
	// Sparse columns are not centred in the store: X̂ is X̌ − u·x̄ᵀ, u = √w, and X̂X̂ᵀ is
	// X̌X̌ᵀ − h·uᵀ − u·hᵀ + ‖x̄‖²u·uᵀ, h = X̌x̄.
	for i := range size {
		u, row := columns.rootOf(i), r.product[i*size:][:i+1]
		for k := range row {
			v := columns.rootOf(k)
			row[k] = math.FMA(square*u, v, math.FMA(-h[i], v, math.FMA(-u, h[k], row[k])))
		}
	}
}

// RowSystemCost returns the cost of [NewRowSystem] for columns that the store holds.
func (c *Columns) RowSystemCost(list []int32) float64 {
	if c.dense {
		return OuterCost(len(list), c.m)
	}
	var pairs float64
	for _, j := range list {
		length := float64(c.Length(j))
		pairs = math.FMA(0.5*length, length, pairs)
	}
	return SparseValue * pairs
}

// rootOf returns √w of compact row k.
func (c *Columns) rootOf(k int) float64 {
	if c.root == nil {
		return 1
	}
	return c.root[k]
}

// Factorise computes the factor for α₂ = alpha. It returns false where alpha is zero to
// working precision.
func (r *RowSystem) Factorise(alpha float64) bool {
	size := r.columns.m
	r.columns.work += CholeskyCost(size)
	r.alpha, r.scale = alpha, r.columns.view.Total()*alpha
	for i := range size {
		row := r.factor[i*size:][:size]
		for k, v := range r.product[i*size:][:i+1] {
			row[k] = v / r.scale
		}
		row[i]++
	}
	return Cholesky(r.k, r.factor, size) == size
}

// Solve sets x = A⁻¹b, one entry for each column of the list. x may be b.
func (r *RowSystem) Solve(b, x []float64) {
	c := r.columns
	c.work += c.ProductCost(r.list) + float64(2*DenseValue*float64(c.m)*float64(c.m))
	// In units of about the largest entry of b, so that no product overflows or underflows.
	_, exponent := math.Frexp(r.k.MaxAbs(b))
	for k, v := range b {
		x[k] = math.Ldexp(v, -exponent)
	}
	clear(r.t)
	var shift float64
	for k, j := range r.list {
		index, values := c.Column(j)
		if index == nil {
			r.k.Axpy(x[k], values, r.t)
			continue
		}
		r.k.AxpyIndexed(x[k], values, index, r.t)
		shift = math.FMA(x[k], c.Mean(j), shift)
	}
	for i, t := range r.t {
		r.t[i] = math.FMA(-shift, c.rootOf(i), t) / r.scale
	}
	CholeskySolve(r.k, r.factor, c.m, r.t)
	var sum float64
	for i, t := range r.t {
		sum = math.FMA(c.rootOf(i), t, sum)
	}
	for k, j := range r.list {
		index, values := c.Column(j)
		var product float64
		if index == nil {
			product = r.k.Dot(values, r.t)
		} else {
			product = math.FMA(-c.Mean(j), sum, r.k.DotIndexed(values, index, r.t))
		}
		x[k] = math.Ldexp((x[k]-product)/r.alpha, exponent)
	}
}
