package cd

import (
	"math"
	"sort"

	"github.com/seed-45b9a24c/pare/sparse"
)

// screening measures the path of the residual as columns can notice it. A column sees
// the rows where it has entries and no others: with m of them, and with Δ the change of
// the residual, its correlation changes by no more than
//
//	‖X̃_j‖ₛ · min(‖Δ‖ₛ, √m·max √sᵢ|Δᵢ|),
//
// by the Cauchy–Schwarz inequality on all rows and on its own. Most columns of text are
// short, and the second is far less for them. Under centred columns the entries have the
// norm ‖X_j‖ₛ, where ‖X̃_j‖ₛ² ≥ (1 − m·max sᵢ/N)‖X_j‖ₛ².
type screening []columnRange

// columnRange is a range of places whose columns have about as many entries.
type columnRange struct {
	from, to int
	gap      int     // columns that are cheaper to compute than a call
	root     float64 // √m of the longest, divided by √(1 − m·max sᵢ/N) under centred columns
	length   float64 // of the path, as these columns see it
}

// lengths is the share by which columns of a range may have more entries than the first.
const lengths = 0.25

// The cost of a call that computes correlations, in entries of sparse and of dense columns, and of
// a column in one.
const (
	callCost   = 64
	denseCall  = 300
	columnCost = 5
)

// newScreening divides the columns of a view up by their entries.
func newScreening(view *sparse.View) (w screening) {
	x := view.Matrix()
	order := x.Order()
	entries := func(place int) float64 {
		first, end := x.Stored(place, place+1)
		return float64(end - first)
	}
	call := float64(callCost)
	if _, dense := x.(*sparse.Dense); dense {
		call = denseCall
	}
	heaviest := 0.0
	if view.Centred() {
		heaviest = 1
		if weights := view.Weights(); weights != nil {
			heaviest = view.Kernels().MaxAbs(weights)
		}
	}
	for from := 0; from < len(order); {
		most := (1 + lengths) * entries(from)
		to := from + sort.Search(len(order)-from, func(k int) bool { return entries(from+k) > most })
		m, root := entries(to-1), unbounded
		if rest := 1 - m*heaviest/view.Total(); rest >= 0.5 { // else centring may leave little of the norm
			root = math.Sqrt(m / rest)
		}
		w = append(w, columnRange{from: from, to: to, gap: int(call / (m + columnCost)), root: root})
		from = to
	}
	return w
}

// restart makes the path one of length 0.
func (w screening) restart() {
	for i := range w {
		w[i].length = 0
	}
}

// beyondRounding times a path bounds what rounding has made of bounds: they are correlations less, and plus, its products with norms.
const beyondRounding = 1 + 0x1p-49

// farthest is the longest path whose product with a norm is a number.
const farthest = 1e150

// step goes on by a change of the residual, given ‖Δ‖ₛ² and max sᵢΔᵢ², and reports whether the path is one that tells anything: a step
// that was far too long has residuals that are no numbers.
func (w screening) step(square, largest float64) (tells bool) {
	norm, highest := math.Sqrt(square), math.Sqrt(largest)
	tells = true
	for i := range w {
		w[i].length += min(norm, w[i].root*highest)
		tells = tells && w[i].length <= farthest
	}
	return tells
}
