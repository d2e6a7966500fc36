package cd

import (
	"math"
	"slices"
)

// dependenceTol is the share of the largest [newton.squaredLength] of a dependence up to which an entry of it
// is attributed to rounding.
const dependenceTol = 1e-8

// removeDependence makes the columns of the support independent without raising the objective. Columns join a
// Cholesky factor in descending order of their coefficients. A column that depends on those before it gives a
// direction along which predictions stay the same. Coefficients move along it, in the sense that lowers the
// penalty, until one of them is zero or at a bound, and that column leaves. A column that depends on
// unpenalised columns alone stays where it is. It returns false if no coefficient moved.
func (nw *newton) removeDependence() (changed bool) {
	in, s := nw.in, len(nw.columns)
	nw.gather()
	nw.basis.slopes(nw.rho)
	nw.null, nw.row = grow(nw.null, s+1), grow(nw.row, s+1)
	b := nw.d // the coefficients as they move
	copy(b, nw.from)
	nw.order, nw.independent = nw.order[:0], nw.independent[:0]
	for i := range s {
		nw.order = append(nw.order, i)
	}
	slices.SortStableFunc(nw.order, func(i, j int) int {
		switch x, y := math.Abs(nw.from[i]), math.Abs(nw.from[j]); {
		case x > y:
			return -1
		case x < y:
			return 1
		default:
			return 0
		}
	})
	nw.independent = append(nw.independent, nw.order[:nw.factor.Take(nw.a, s, nw.order)]...)
	for _, i := range nw.order[len(nw.independent):] {
		for !nw.isFixed(i, b[i]) {
			for at, j := range nw.independent {
				nw.row[at] = nw.a[i*s+j]
			}
			nw.row[len(nw.independent)] = nw.a[i*s+i]
			if nw.factor.Append(nw.row[:len(nw.independent)+1]) {
				nw.independent = append(nw.independent, i)
				break
			}
			if !nw.dropDependent(i, b) {
				break
			}
		}
	}
	if len(nw.basis.remainders) > 0 {
		nw.k.Axpy(-1, nw.from, b)
		nw.basis.direction(b)
		nw.k.Axpy(1, nw.from, b)
	}
	for i, k := range nw.position {
		if d := b[i] - in.coef[k]; d != 0 {
			in.coef[k] = b[i]
			in.engine.move(int(k), d)
			changed = true
		}
	}
	return changed
}

// renumber collects the support that removeDependence has left, renumbers the factor's columns, and updates the
// residual.
func (nw *newton) renumber() {
	number := nw.order // number of each remaining column among the remaining ones
	kept := 0
	for i, k := range nw.position {
		number[i] = kept
		if !nw.isFixed(i, nw.in.coef[k]) {
			kept++
		}
	}
	for at, i := range nw.independent {
		nw.independent[at] = number[i]
	}
	nw.collect()
	nw.updateResidual()
	nw.basis.find(nw.columns)
	nw.basis.slopes(nw.rho)
}

// solveOrdered solves for d by the factor that removeDependence has left. A new factorisation could fail:
// columns that are independent in descending order of their coefficients may seem dependent in the order of the
// set, and some may have been set aside, whose part the others take.
func (nw *newton) solveOrdered() {
	clear(nw.d)
	x := nw.row[:len(nw.independent)]
	for at, i := range nw.independent {
		x[at] = nw.rho[i]
	}
	nw.factor.Solve(x)
	for at, i := range nw.independent {
		nw.d[i] = x[at]
	}
	nw.basis.direction(nw.d)
}

// dropDependent moves b along the dependence of column i on the independent columns until a penalised coefficient is zero or
// some coefficient is at a bound. If that is one of the block, its column leaves the block. It returns false if
// no coefficient gets there.
func (nw *newton) dropDependent(i int, b []float64) bool {
	v := nw.null[:len(nw.independent)+1]
	nw.factor.Null(v)
	member := func(at int) int {
		if at == len(nw.independent) {
			return i
		}
		return nw.independent[at]
	}
	var slope, largest float64
	for at, d := range v {
		j := member(at)
		slope = math.FMA(nw.rho[j], d, slope)
		largest = max(largest, nw.squaredLength(j, d))
	}
	if slope < 0 {
		nw.k.Scal(-1, v)
	}
	length, first, end := math.Inf(1), -1, 0.0
	for at, d := range v {
		j := member(at)
		if nw.squaredLength(j, d) > dependenceTol*largest {
			if distance, stop := nw.breakpoint(j, b[j], d); distance < length {
				length, first, end = distance, at, stop
			}
		}
	}
	if first < 0 {
		return false
	}
	for at, d := range v {
		j := member(at)
		sign := math.Signbit(b[j])
		b[j] = nw.in.pen.Clip(int(nw.columns[j]), math.FMA(length, d, b[j]))
		switch {
		case at == first:
			b[j] = end
		case nw.kinked(j) && math.Signbit(b[j]) != sign:
			b[j] = 0
		}
	}
	for at, j := range slices.Backward(nw.independent) {
		if nw.isFixed(j, b[j]) {
			nw.factor.Remove(at)
			nw.independent = slices.Delete(nw.independent, at, at+1)
		}
	}
	return true
}

// isFixed reports whether the coefficient b of column i stays while others move: it is zero or at a bound.
func (nw *newton) isFixed(i int, b float64) bool {
	return b == 0 || nw.in.pen.Held(int(nw.columns[i]), b)
}

// breakpoint returns the length along d at which the coefficient b of column i is zero or at a bound, and its value
// there, or +Inf if it gets to neither.
func (nw *newton) breakpoint(i int, b, d float64) (length, end float64) {
	if nw.kinked(i) && math.Signbit(d) != math.Signbit(b) {
		return -b / d, 0
	}
	if !nw.in.pen.Bounded() {
		return math.Inf(1), 0
	}
	j := int(nw.columns[i])
	return nw.in.pen.DistanceToBound(j, b, d) / math.Abs(d), nw.in.pen.Clip(j, math.Copysign(math.Inf(1), d))
}

// squaredLength returns the squared length of column i times d, its entry in a dependence.
func (nw *newton) squaredLength(i int, d float64) float64 { return d * d * nw.a[i*len(nw.columns)+i] }
