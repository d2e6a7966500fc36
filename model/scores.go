package model

import (
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// Scores is a smooth loss f(B, b) = (1/N)Σ sᵢℓ(yᵢ, mᵢ) of q scores mᵢ = Bᵀxᵢ + b for each row.
// Matrices of scores are stored row by row, q entries per row. If the view is centred there are
// intercepts b, which are eliminated as in a [Datafit]. A Scores is immutable and safe for any
// number of goroutines.
type Scores interface {
	View() *sparse.View
	// Count returns q.
	Count() int
	// Null returns P₀, the objective of the null model.
	Null() float64
	// NewPoint returns a point for [Scores.Fit].
	NewPoint() *ScorePoint
	// Fit moves a point to the coefficients b of the columns cols, q for each column. The
	// iterations for the intercepts start from those of the point.
	Fit(cols []int32, b []float64, at *ScorePoint)
	// Metric sets m to the curvature of the loss at a point, row by row.
	Metric(at *ScorePoint, m *Metric)
	// Majorant sets m to the curvature of a parabola that touches the loss at a point and is nowhere
	// below the loss. If at is nil, it sets m to an upper bound of the curvature at all points. ok is
	// false if there is no such majorant.
	Majorant(at *ScorePoint, m *Metric) (ok bool)
	// Divergence returns the Fenchel–Young gap of the loss between a point and c times its dual
	// point, 0 ≤ c ≤ 1.
	Divergence(at *ScorePoint, c float64) float64
	// Quadratic reports whether the curvature is constant.
	Quadratic() bool
	// Concordance returns an M with |D³f[u,v,v]| ≤ M·range(u)·D²f[v,v], if there is one.
	Concordance() (m float64, ok bool)
}

// ScorePoint has the row vectors of a point of an inner problem: n × q numbers, row by row.
type ScorePoint struct {
	Prediction []float64 // scores, of held-out rows too
	Weighted   []float64 // s⊙(−ℓ′); its columns sum to 0 if there are intercepts
	Intercept  []float64 // the intercepts for centred columns
	Loss       float64   // f

	state       *State    // the state of the datafit, for a single score
	probability []float64 // probabilities of the classes, for a softmax
}

// Metric is the curvature of a loss at a point, row by row: w for one score, and w(diag p − ppᵀ) for
// several.
type Metric struct {
	Count  int       // q
	Weight []float64 // w, n entries
	Share  []float64 // p, n × q; nil for one score
}

// OneScore returns a datafit of this package as a [Scores] with q = 1. For any other datafit the error
// is an [outcome.Error] of kind Usage.
func OneScore(fit Datafit) (Scores, error) {
	d, ok := fit.(divergenceFit)
	if !ok {
		return nil, outcome.Errorf(outcome.Usage, "penalties on blocks need a datafit of package model")
	}
	return oneScore{d}, nil
}

type oneScore struct{ divergenceFit }

// divergenceFit is a datafit with the method [Scores.Divergence] for its states.
type divergenceFit interface {
	Datafit
	divergence(s *State, c float64) float64
}

func (f *Squared) divergence(s *State, c float64) float64 {
	rest := 1 - c
	return float64(rest*rest*s.square) / (2 * f.view.Total())
}

func (f oneScore) Count() int { return 1 }

func (f oneScore) NewPoint() *ScorePoint {
	s := NewState(f.divergenceFit)
	return &ScorePoint{Prediction: s.Prediction, Weighted: s.Weighted, Intercept: make([]float64, 1), state: s}
}

func (f oneScore) Fit(cols []int32, b []float64, at *ScorePoint) {
	at.state.Intercept = at.Intercept[0]
	f.divergenceFit.Fit(cols, b, at.state)
	at.Intercept[0], at.Loss = at.state.Intercept, at.state.Loss
}

func (f oneScore) Metric(at *ScorePoint, m *Metric) {
	if curved, ok := f.divergenceFit.(Curved); ok {
		m.reset(f, nil)
		curved.Curvature(at.state, m.Weight)
		return
	}
	f.Majorant(nil, m)
}

func (f oneScore) Majorant(at *ScorePoint, m *Metric) bool {
	bound, ok := f.Smoothness()
	m.reset(f, nil)
	if curved, is := f.divergenceFit.(Curved); is && ok && at != nil {
		f.View().Kernels().Clear(m.Weight)
		curved.Dampen(at.state, 1, m.Weight)
		return true
	}
	for i := range m.Weight {
		m.Weight[i] = bound
	}
	f.View().Weigh(m.Weight, m.Weight)
	return ok
}

// reset allocates the weights of the rows and sets the other fields.
func (m *Metric) reset(f Scores, share []float64) {
	n, _ := f.View().Dims()
	m.Count, m.Share = f.Count(), share
	if len(m.Weight) != n {
		m.Weight = make([]float64, n)
	}
}

func (f oneScore) Divergence(at *ScorePoint, c float64) float64 {
	return f.divergence(at.state, c)
}

func (f oneScore) Quadratic() bool {
	_, curved := f.divergenceFit.(Curved)
	return !curved
}

func (f oneScore) Concordance() (float64, bool) {
	if curved, ok := f.divergenceFit.(Curved); ok {
		return curved.Concordance()
	}
	return 0, true
}

// CurvatureRange is [Rowwise.CurvatureRange]; it returns false for other datafits.
func (f oneScore) CurvatureRange(at *ScorePoint, reach float64, first int, lowest, highest []float64) bool {
	fit, ok := f.divergenceFit.(*Rowwise)
	return ok && fit.CurvatureRange(at.state, reach, first, lowest, highest)
}

// NullScores returns the point of the null model, and its correlations X_jᵀ(s⊙ρ)/N by column and score.
func NullScores(f Scores) (at *ScorePoint, z []float64) {
	_, p := f.View().Dims()
	at, z = f.NewPoint(), make([]float64, p*f.Count())
	f.Fit(nil, nil, at)
	Correlate(f.View(), nil, at.Weighted, z)
	return at, z
}

// Correlate sets z[j·q + k] = X_jᵀu_k/N for the columns listed, nil for all. u has n × q numbers row by row,
// and z has p × q. If the view is centred, the columns of u must sum to 0; constant columns then get 0.
func Correlate(view *sparse.View, columns []int32, u, z []float64) {
	correlate(view, columns, u, z)
	if !view.Centred() {
		return
	}
	if columns == nil {
		columns = view.Matrix().Order()
	}
	_, p := view.Dims()
	q := len(z) / max(p, 1)
	for _, j := range columns {
		if view.Norm(int(j)) == 0 { // the computed correlation is rounding
			clear(z[int(j)*q:][:q])
		}
	}
}

func correlate(view *sparse.View, columns []int32, u, z []float64) {
	n, p := view.Dims()
	q, total := len(z)/max(p, 1), view.Total()
	all := columns == nil
	if all {
		columns = view.Matrix().Order()
	}
	_, dense := view.Matrix().(*sparse.Dense)
	out := make([]float64, len(columns))
	for k := 0; k < q; k++ {
		if width := min(kernels.Lanes, q-k); width > 1 && !dense {
			correlateLanes(view, columns, u, z, k, width)
			k += width - 1
			continue
		}
		one := u
		if q > 1 {
			one = make([]float64, n)
			for from, to := range view.Kernels().Pieces(n) {
				for i := from; i < to; i++ {
					one[i] = u[i*q+k]
				}
			}
		}
		if all {
			view.Correlate(0, len(columns), one, out)
		} else {
			view.Dots(columns, one, out)
		}
		for at, j := range columns {
			z[int(j)*q+k] = out[at] / total
		}
	}
}

// correlateLanes is correlate for sparse columns and width scores from the first on, which one pass over
// the entries takes together; width is at most [kernels.Lanes].
func correlateLanes(view *sparse.View, columns []int32, u, z []float64, first, width int) {
	n, p := view.Dims()
	q, total := len(z)/max(p, 1), view.Total()
	lanes, out := make([]float64, kernels.Lanes*n), new([kernels.Lanes]float64)
	for i := range n {
		copy(lanes[kernels.Lanes*i:][:width], u[i*q+first:])
	}
	for _, j := range columns {
		rows, values := view.Matrix().Column(int(j))
		view.Kernels().DotLanes(values, rows, lanes, 0, out)
		scale := view.Scale(int(j))
		for k, v := range out[:width] {
			z[int(j)*q+first+k] = float64(v*scale) / total
		}
	}
}
