package cd

import (
	"math"
	"sort"

	"github.com/seed-45b9a24c/pare/sparse"
)

// screening measures the length of the path of the residual, separately for ranges of columns of
// similar length. A column depends only on the rows where it has entries: with m such rows, and
// with Δ the change of the residual, its correlation changes by no more than
//
//	‖X̃_j‖ₛ · min(‖Δ‖ₛ, √m·max √sᵢ|Δᵢ|),
//
// by the Cauchy–Schwarz inequality on all rows and on the rows of the column. Most columns of text
// are short, and the second bound is far smaller for them. Under centred columns the entries have
// the norm ‖X_j‖ₛ, where ‖X̃_j‖ₛ² ≥ (1 − m·max sᵢ/N)‖X_j‖ₛ².
type screening []columnRange

// columnRange is a range of places whose columns have similar numbers of entries.
type columnRange struct {
	from, to int
	gap      int     // the number of columns that are cheaper to compute than another call
	root     float64 // √m of the longest column, divided by √(1 − m·max sᵢ/N) under centred columns
	length   float64 // of the path, by the bound for these columns
}

// lengths is how many more entries, relatively, a column of a range may have than the first one.
const lengths = 0.25

// The costs of a call that computes correlations, of sparse and of dense columns, and of each column
// in a call, all in entries.
const (
	callCost   = 64
	denseCall  = 300
	columnCost = 5
)

// newScreening divides the columns of a view into ranges by their numbers of entries.
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
		if rest := 1 - m*heaviest/view.Total(); rest >= 0.5 { // otherwise centring may leave little of the norm
			root = math.Sqrt(m / rest)
		}
		w = append(w, columnRange{from: from, to: to, gap: int(call / (m + columnCost)), root: root})
		from = to
	}
	return w
}

// restart sets the lengths of the path to 0.
func (w screening) restart() {
	for i := range w {
		w[i].length = 0
	}
}

// beyondRounding multiplies the length of the path to cover rounding in the stored bounds: ‖X̃_j‖ₛ times the length is subtracted when
// a bound is stored, and added again when it is compared.
const beyondRounding = 1 + 0x1p-49

// farthest is the longest path whose product with a norm does not overflow.
const farthest = 1e150

// step extends the path by a change Δ of the residual, given ‖Δ‖ₛ² and max sᵢΔᵢ², and reports whether its length can still be used: after
// a step that was far too long, residuals may be infinite or NaN.
func (w screening) step(square, largest float64) (tells bool) {
	norm, highest := math.Sqrt(square), math.Sqrt(largest)
	tells = true
	for i := range w {
		w[i].length += min(norm, w[i].root*highest)
		tells = tells && w[i].length <= farthest
	}
	return tells
}
