package model

import (
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Datafit is a smooth loss f(β, b) = (1/N)Σ sᵢℓ(yᵢ, mᵢ) of the predictions
// m = Xβ + b. If the view is centred there is an intercept b, which is eliminated:
// every state has the best b for its β, so that weighted residuals sum to zero. A
// Datafit is immutable and safe for any number of goroutines.
type Datafit interface {
	View() *sparse.View
	// Target returns y. Read only.
	Target() []float64
	// Null returns P₀, the objective of the null model: the scale of every
	// relative duality gap.
	Null() float64
	// Smoothness returns a bound of ℓ″, if there is one: ∇f is bound·‖X‖ₛ²/N-Lipschitz.
	Smoothness() (bound float64, ok bool)
	// Steepest returns the bound of Smoothness or, if there is none, twice the largest ℓ″ on the
	// rows of positive weight at a state. It is the scale of KKT residuals.
	Steepest(s *State) float64
	// Fit moves a state to the coefficients b of the columns cols. For a loss that is not
	// quadratic, the iterations for the intercept start from that of the state; the result is
	// the same, to rounding, from any start.
	Fit(cols []int32, b []float64, s *State)
	// Gap returns the duality gap of the state that d was accumulated from: an upper
	// bound of Φ(β, b) − Φ*.
	Gap(d *Dual, s *State) float64
}

// Curved is a Datafit whose curvature depends on the predictions.
type Curved interface {
	Datafit
	// Curvature sets d[i] = sᵢℓ″(yᵢ, mᵢ) on all rows, to full relative accuracy, however small it is.
	Curvature(s *State, d []float64)
	// Third sets d[i] = sᵢℓ‴(yᵢ, mᵢ) on all rows.
	Third(s *State, d []float64)
	// Concordance returns an M with |ℓ‴| ≤ M·ℓ″, if there is one.
	Concordance() (m float64, ok bool)
	// Dampen raises d[i] to at least a share, in (0, 1], of the curvature of a parabola that
	// touches sᵢℓ(yᵢ, ·) at mᵢ and lies above it or, if the loss has no such parabola, of
	// one that keeps a step short.
	Dampen(s *State, share float64, d []float64)
	// Move computes all of the state to, except Linear, from to.Linear. The intercept of from
	// is the first guess.
	Move(from, to *State)
	// Rows returns the same loss on the rows listed; view is a view of these rows. It returns
	// an error if no model can be fitted to their target.
	Rows(view *sparse.View, list []int32) (Curved, error)
}

// State has the row vectors of a point of an inner problem. Vectors have one
// entry per row, held-out rows included.
type State struct {
	Linear     []float64 // X̃β plus the offset; nil for a quadratic loss
	Prediction []float64 // m = Xβ + b plus the offset
	Residual   []float64 // −ℓ′(yᵢ, mᵢ): y − m for the squared loss
	Weighted   []float64 // s⊙Residual, the slice Residual itself without weights; it sums to 0 if there is an intercept
	Intercept  float64   // the intercept for centred columns: b + x̄ᵀβ
	Loss       float64   // f(β, b)

	square    float64    // ‖Residual‖ₛ²
	balance   [2]float64 // factors that the positive and the negative residuals were multiplied by, see rebalance
	scratch   []float64  // n entries; nil where Linear is
	k         *kernels.Set
	loop      rowLoop
	blockSums [][3]float64 // sums over blocks of rows; only for many rows
	signSums  [2]float64   // sums of the positive and of the negative entries of Weighted before rebalance; only for many rows
}

// NewState returns a state for a datafit, and for other datafits of its type on the same view.
func NewState(f Datafit) *State {
	view := f.View()
	n, _ := view.Dims()
	s := &State{Prediction: view.Floats(n), Residual: view.Floats(n), k: view.Kernels()}
	if s.Weighted = s.Residual; view.Weights() != nil {
		s.Weighted = view.Floats(n)
	}
	if _, curved := f.(Curved); curved {
		s.Linear, s.scratch = view.Floats(n), view.Floats(n)
	}
	return s
}

// Assign copies the point of o to s; both must be states of the same datafit.
func (s *State) Assign(o *State) {
	s.k.Copy(s.Linear, o.Linear)
	s.k.Copy(s.Prediction, o.Prediction)
	s.k.Copy(s.Residual, o.Residual)
	s.k.Copy(s.Weighted, o.Weighted)
	s.Intercept, s.Loss, s.square, s.balance = o.Intercept, o.Loss, o.square, o.balance
}

// UncentredIntercept returns b for the coefficients of a state fitted on view.
func (s *State) UncentredIntercept(view *sparse.View, cols []int32, b []float64) float64 {
	if !view.Centred() {
		return 0
	}
	intercept, means := s.Intercept, view.Means()
	for k, j := range cols {
		intercept = math.FMA(-b[k], means[j], intercept)
	}
	return intercept
}

// Null is the null model, β = 0, with the correlations of its residual with the columns.
// They give αmax, and are the start of a solve from β = 0.
type Null struct {
	Fit         Datafit
	State       *State
	Correlation []float64 // X_jᵀ(s⊙r), in storage order
}

// NewNull returns the null model of a datafit. It makes one pass over X.
func NewNull(f Datafit) *Null {
	view := f.View()
	columns := len(view.Matrix().Order())
	null := &Null{State: NewState(f), Correlation: view.Floats(columns)}
	null.Use(f)
	return null
}

// Use makes z the null model of another datafit of the same type on the same view. It makes one pass over X.
func (z *Null) Use(f Datafit) {
	z.Fit, z.State.Intercept = f, 0
	f.Fit(nil, nil, z.State)
	view := f.View()
	view.Introduce(z.State.Weighted, z.Correlation)
	if view.Centred() {
		for k, norm := range view.Norms() {
			if norm == 0 { // a constant column: its correlation is rounding
				z.Correlation[k] = 0
			}
		}
	}
}

// Clone returns a copy of z that shares only the datafit with z.
func (z *Null) Clone() *Null {
	own := &Null{Fit: z.Fit, State: NewState(z.Fit), Correlation: slices.Clone(z.Correlation)}
	own.State.Assign(z.State)
	return own
}

// Weighted returns the null model for a penalty with weighted ℓ1 strengths (see [Penalty.Weighted]),
// for [Null.AlphaMax]: it divides the correlations by the weights.
func (z *Null) Weighted(weights []float64) *Null {
	w := *z
	w.Correlation = make([]float64, len(z.Correlation))
	for k, j := range z.Fit.View().Matrix().Order() {
		if weights[j] > 0 {
			w.Correlation[k] = z.Correlation[k] / weights[j]
		}
	}
	return &w
}

// AlphaMax returns the smallest α₁ whose solution is β = 0: max |X_jᵀ(s⊙r)|/N
// (table 1).
func (z *Null) AlphaMax() float64 {
	view := z.Fit.View()
	if largest := view.Kernels().MaxAbs(z.Correlation); !math.IsNaN(largest) {
		return largest / view.Total()
	}
	return z.alphaMax(Penalty{})
}

// AlphaMaxNonNegative is [Null.AlphaMax] with the constraint β ≥ 0: the largest
// positive part of X_jᵀ(s⊙r)/N.
func (z *Null) AlphaMaxNonNegative() float64 { return z.alphaMax(Penalty{positive: true}) }

func (z *Null) alphaMax(g Penalty) float64 {
	var largest float64
	for _, c := range z.Correlation {
		if pull := g.Pull(0, c); pull > largest {
			largest = pull
		}
	}
	return largest / z.Fit.View().Total()
}

// RidgeMax returns L·Σ‖X̃_j‖ₛ²/N, where L is [Datafit.Steepest]. This is at least the largest
// curvature of the loss in β. A ridge makes no coefficient zero, but from this strength on it
// shrinks the unpenalised fit to half or less in every direction.
func (z *Null) RidgeMax() float64 {
	view := z.Fit.View()
	var sum float64
	for _, j := range view.Matrix().Order() {
		norm := view.Norm(int(j))
		sum = math.FMA(norm, norm, sum)
	}
	return z.Fit.Steepest(z.State) * sum / view.Total()
}

// AlphaMax returns [Null.AlphaMax] of the null model of a datafit. It makes one pass over X.
func AlphaMax(f Datafit) float64 { return NewNull(f).AlphaMax() }
