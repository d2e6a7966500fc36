package cd

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// reduction splits some columns into a basis, which is independent, and the remainders of the other columns
// after their projection on the basis.
type reduction struct {
	view  *sparse.View
	store *support.Columns

	known          []int32 // the columns
	basis          []int32 // the columns that are independent according to the Gram matrix
	basisPositions []int   // positions of the basis in known
	factor         support.Factor
	remainders     []remainder // of columns that nearly depend on the basis
	flat           []remainder // of columns that depend on the basis to working precision, without values
	alwaysFlat     []remainder // flat under the rows' own weights, and so under any weights: their values are rounding, even where they look larger
	part           []float64
	weighted       []float64 // by row: the values of the last remainder, times the weights
}

// remainder is a column less its projection on the columns on which it depends according to the Gram matrix. The pivots of
// the Gram matrix are squares of its norm; the remainder computed from the columns has twice as many digits (Björck,
// Numerical Methods for Least Squares Problems, 1996, section 2.4).
type remainder struct {
	at          int       // position of the column
	combination []float64 // coefficients of the columns, by position
	values      []float64 // X̃ times the combination, by row: orthogonal to the basis and to the earlier remainders
	square      float64   // ‖values‖²
}

const (
	// leastPivot is the least squared norm of a basis column after projection on the others, relative to its squared norm.
	leastPivot = 1e-8
	// roundingShare is the norm, relative to the terms of its combination, up to which a remainder is rounding.
	roundingShare = 0x1p-43
	// mostReductions bounds how often the projection is subtracted. The last projection is negligible.
	mostReductions = 8
)

// init prepares the reduction for columns of a view.
func (u *reduction) init(view *sparse.View) {
	u.factor.Kernels, u.factor.Floor = view.Kernels(), leastPivot
	u.view, u.store = view, support.NewColumns(view)
}

// reduce finds a basis of the columns under the weights of the store, and the remainders of the other columns. The weights
// of the rows are passed again, nil: all 1. It returns the cost.
func (u *reduction) reduce(columns []int32, weights []float64) (cost float64) {
	size, before := len(columns), u.store.Work()
	u.known = append(u.known[:0], columns...)
	u.factor.Reset(size)
	u.store.Hold(columns)
	gram := support.NewGram(u.store)
	gram.Hold(columns)
	a := make([]float64, size*size)
	gram.Submatrix(columns, 0, a)
	u.basis, u.basisPositions = u.basis[:0], u.basisPositions[:0]
	var rest []int
	row := make([]float64, size)
	for i, j := range columns {
		if slices.ContainsFunc(u.alwaysFlat, func(r remainder) bool { return r.at == i }) {
			continue
		}
		for k, other := range u.basisPositions {
			row[k] = a[i*size+other]
		}
		row[len(u.basisPositions)] = a[i*size+i]
		if u.factor.Append(row[:len(u.basisPositions)+1]) {
			u.basisPositions, u.basis = append(u.basisPositions, i), append(u.basis, j)
		} else {
			rest = append(rest, i)
		}
	}
	cost = u.computeRemainders(rest, weights)
	return cost + u.store.Work() - before + support.CholeskyCost(size)
}

// computeRemainders computes the remainders of the columns at some positions.
func (u *reduction) computeRemainders(positions []int, weights []float64) (cost float64) {
	u.remainders, u.flat = u.remainders[:0], append(u.flat[:0], u.alwaysFlat...)
	if len(positions) == 0 {
		return 0
	}
	n, _ := u.view.Dims()
	u.weighted, u.part = grow(u.weighted, n), grow(u.part, len(u.basis))
	for _, at := range positions {
		r := remainder{at: at, combination: make([]float64, len(u.known)), values: make([]float64, n)}
		if cost += u.reduceColumn(&r, weights); u.significant(&r) {
			u.remainders = append(u.remainders, r)
		} else {
			r.values = nil
			u.flat = append(u.flat, r)
		}
	}
	for l := range u.remainders {
		cost += u.combine(&u.remainders[l], weights)
	}
	return cost
}

// reduceColumn makes r the remainder of its column.
func (u *reduction) reduceColumn(r *remainder, weights []float64) (cost float64) {
	k := u.view.Kernels()
	r.combination[r.at] = 1
	u.view.AddColumns(u.known[r.at:r.at+1], r.combination[r.at:r.at+1], r.values)
	u.weigh(r, weights)
	for range mostReductions {
		for i, j := range u.basis {
			u.part[i] = -u.view.Dot(int(j), u.weighted) / u.view.Total()
		}
		u.factor.Solve(u.part)
		u.view.AddColumns(u.basis, u.part, r.values)
		for i, at := range u.basisPositions {
			r.combination[at] += u.part[i]
		}
		for _, other := range u.remainders {
			times := -k.Dot(other.values, u.weighted) / other.square
			k.Axpy(times, other.values, r.values)
			k.Axpy(times, other.combination, r.combination)
		}
		cost += u.store.ProductCost(u.basis) + support.DenseCost(2*len(r.values)*(1+len(u.remainders)))
		before := r.square
		if u.weigh(r, weights); r.square > before/4 || !u.significant(r) {
			break
		}
	}
	return cost
}

// combine recomputes the values from the combination, accurate to a unit in their last place, since the certificate of a point takes
// slopes from them. Products and sums are compensated (Ogita, Rump and Oishi, SIAM Journal on Scientific Computing 26, 2005).
func (u *reduction) combine(r *remainder, weights []float64) (cost float64) {
	k, entries := u.view.Kernels(), 0
	k.Clear(r.values)
	low := make([]float64, len(r.values))
	for at, c := range r.combination {
		if c == 0 {
			continue
		}
		j := int(u.known[at])
		times := float64(c * u.view.Scale(j))
		rows, values := u.view.Matrix().Column(j)
		for from, to := range k.Pieces(len(values)) {
			for l, x := range values[from:to] {
				i := from + l
				if rows != nil {
					i = int(rows[i])
				}
				product, before := float64(times*x), r.values[i]
				sum := before + product
				added := sum - before
				low[i] += (before - (sum - added)) + (product - added) + math.FMA(times, x, -product)
				r.values[i] = sum
			}
		}
		entries += len(values)
	}
	if u.view.Centred() { // a part common to all rows would cost digits
		k.Subtract(r.values[u.first(weights)], r.values)
	}
	k.Axpy(1, low, r.values)
	u.weigh(r, weights)
	return support.DenseCost(6*entries + 3*len(low))
}

// first returns the first row of positive weight.
func (u *reduction) first(weights []float64) int {
	return max(0, slices.IndexFunc(weights, func(w float64) bool { return w > 0 }))
}

// significant reports whether a remainder is more than rounding.
func (u *reduction) significant(r *remainder) bool {
	size := 0.0
	for i, c := range r.combination {
		j := u.known[i]
		centre := math.Abs(u.store.Centre(j)) + math.Abs(u.view.Mean(int(j))) // both have been subtracted
		size += float64(math.Abs(c) * math.Sqrt(u.store.Square(j)+float64(centre*centre*u.store.Total())))
	}
	return math.Sqrt(r.square) > roundingShare*size
}

// length returns ‖X_j‖ₛ, not centred.
func (u *reduction) length(j int32) float64 {
	norm, mean := u.view.Norm(int(j)), u.view.Mean(int(j))
	return math.Sqrt(float64(norm*norm) + float64(mean*mean*u.view.Total()))
}

// weigh centres the values of a remainder, where the view is centred, and sets their square and their products with the
// weights.
func (u *reduction) weigh(r *remainder, weights []float64) {
	k := u.view.Kernels()
	if weights == nil {
		if u.view.Centred() {
			k.Subtract(k.Sum(r.values)/float64(len(r.values)), r.values)
		}
		k.Copy(u.weighted, r.values)
	} else {
		if u.view.Centred() {
			k.Subtract(k.Dot(r.values, weights)/k.Sum(weights), r.values)
		}
		k.Product(u.weighted, weights, r.values)
	}
	r.square = k.Dot(r.values, u.weighted)
}

// flatOrthogonal reports whether the residual is orthogonal to the flat combinations of unpenalised columns: along these, no Newton step
// can be determined.
func (s *Solver) flatOrthogonal() bool {
	u := &s.unpenalised
	if len(u.flat) == 0 {
		return true
	}
	norm := math.Sqrt(s.k.Dot(s.state.Weighted, s.state.Residual)) // ‖r‖ₛ
	dots := make([]float64, len(u.columns))
	for k, j := range u.columns {
		dots[k] = s.view.Dot(int(j), s.state.Weighted)
	}
	s.payDots(s.entries(u.columns))
	for _, r := range u.flat {
		size := s.view.Norm(int(u.columns[r.at])) * norm
		if !(math.Abs(s.k.Dot(r.combination, dots)) <= orthogonal*size) {
			return false
		}
	}
	return true
}
