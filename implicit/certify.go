package implicit

import (
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// Certificate is what is proved of the exact solution from a point near it. The
// hypergradient at the point is that of the solution, to its error bound, if the
// support is certified.
type Certificate struct {
	Gap float64 // duality gap of the point, recomputed from X
	KKT float64 // max ρⱼ
	// Support reports a proof that the exact solution has the support of the point,
	// with its signs. Where it is false nothing is disproved.
	Support bool
	// Undecided is the number of columns proved neither in nor out, counting copies
	// of one another as one.
	Undecided int
	// Unique reports a proof that there is one solution, up to how copies of a
	// column share its coefficient.
	Unique bool
	// Shared reports that copies of a column share a coefficient of the point: where
	// the support is certified, the solution is one of many, as copies may share
	// otherwise.
	Shared bool
	// Dependent reports that the columns of the support and those on its edge, with
	// a dual margin of rounding size, depend on each other: the solution is not
	// unique to working precision. It is looked for where a column is on the edge, and
	// where a gap of rounding size left uniqueness open.
	Dependent bool
	// DualMargin is min(1 − |zⱼ|/αⱼ) off the support: 0 where a column is about to
	// enter, so that only one-sided derivatives exist. 1 where there is no such
	// column.
	DualMargin float64
}

const (
	largestProof = 1000  // columns of the system to factorise for a proof
	rowProof     = 2e9   // multiply–adds allowed for the rows' part of a logistic one
	edgeMargin   = 1e-10 // dual margin that rounding can make of 0
	roundingGap  = 1e3 * 0x1p-53
)

// Certify proves what it can: column j is out of the exact support if
// |zⱼ| + ‖X̃_j‖√(2·gap·smoothness/N) < αⱼ; and, E the columns not proved out and
// A_E positive definite, j is in if |βⱼ| > √(2·gap·(A_E⁻¹)ⱼⱼ), for the logistic
// loss with 3·gap and where gap is small against the curvature. It makes a pass
// over X and factorises A_E.
func (s *Solver) Certify(ctx context.Context, g model.Penalty, at Point) (Certificate, error) {
	_, p := s.view.Dims()
	if c := g.Columns(); c >= 0 && c != p {
		return Certificate{}, outcome.Errorf(outcome.Shape, "%d strengths for %d columns", c, p)
	}
	if err := check(g, at, p); err != nil {
		return Certificate{}, err
	}
	beta, copies := s.represent(g, at)
	s.fit.Fit(at.Support, at.Coef, s.state)
	total := s.view.Total()
	dual := &model.Dual{Penalty: g, Total: total, Smoothness: s.fit.Smoothness()}
	order := s.view.Matrix().Order()
	z := make([]float64, p)
	out := Certificate{DualMargin: 1, Shared: s.shared(copies, at)}
	for _, j := range order {
		if copies != nil && copies.Redundant(j) {
			continue
		}
		z[j] = s.view.Dot(int(j), s.state.Weighted) / total
		dual.Add(int(j), z[j], beta[j], s.view.Norm(int(j)))
		if alpha := g.Alpha(int(j)); beta[j] == 0 && alpha != 0 && !math.IsInf(alpha, 1) {
			out.DualMargin = min(out.DualMargin, 1-g.Pull(z[j])/alpha)
		}
	}
	out.Gap, out.KKT = s.fit.Gap(dual, s.state), dual.KKT()
	gap := out.Gap + float64(roundingGap*s.fit.Null())
	radius := math.Sqrt(2 * gap * s.fit.Smoothness() / total)
	var undecided, edge []int32
	for _, j := range order {
		if (copies != nil && copies.Redundant(j)) || math.IsInf(g.Alpha(int(j)), 1) {
			continue
		}
		alpha, norm := g.Alpha(int(j)), s.view.Norm(int(j))
		if alpha == 0 && norm == 0 {
			continue // it cannot matter
		}
		pull, in := g.Pull(z[j]), beta[j] != 0 || alpha == 0
		if in || 1-pull/alpha < edgeMargin {
			edge = append(edge, j)
		}
		if in || !(pull+float64(norm*radius) < alpha) {
			undecided = append(undecided, j)
		}
	}
	slices.Sort(undecided)
	out.Undecided = len(undecided)
	if len(undecided) == 0 {
		out.Support, out.Unique = true, true
		return out, nil
	}
	slices.Sort(edge)
	if g.Ridge() > 0 {
		out.Unique = true
	}
	if g.Quadratic() {
		out.Support, out.Undecided = true, 0
		return out, nil
	}
	if len(undecided) <= largestProof && ctx.Err() == nil {
		s.prove(&out, g, undecided, beta, gap)
	}
	open := out.DualMargin < edgeMargin || !out.Unique && out.Gap <= roundingGap*s.fit.Null()
	if open && len(edge) <= largestProof && ctx.Err() == nil {
		_, size, rows := s.factorise(g, edge)
		out.Dependent = rows < size
	}
	return out, nil
}

// shared reports whether copies share a coefficient of a point.
func (s *Solver) shared(copies *sparse.Copies, at Point) bool {
	return copies != nil && slices.ContainsFunc(at.Support, func(j int32) bool { return copies.Of(copies.Home(j).Column) != nil })
}

// represent lays β out by column, copies at the column that stands for them.
func (s *Solver) represent(g model.Penalty, at Point) (map[int32]float64, *sparse.Copies) {
	copies := g.Copies(s.view)
	beta := make(map[int32]float64, len(at.Support))
	for k, j := range at.Support {
		home := sparse.Signed{Column: j, Sign: 1}
		if copies != nil {
			home = copies.Home(j)
		}
		beta[home.Column] = math.FMA(home.Sign, at.Coef[k], beta[home.Column])
	}
	return beta, copies
}

// factored is the system of a set of columns, factorised.
type factored struct {
	columns *support.Columns
	l       []float64
}

// factorise returns the Cholesky factor of A_E, its size, and the rows that could
// be factorised.
func (s *Solver) factorise(g model.Penalty, e []int32) (f factored, size, rows int) {
	gram := s.gram
	if s.curved != nil || !gram.FitsWith(e) {
		gram = support.NewGram(support.NewColumns(s.view))
	}
	f.columns = gram.Columns()
	if s.curved != nil {
		s.curved.Curvature(s.state, s.d)
		f.columns.Reweigh(s.d)
	}
	f.columns.Hold(e)
	gram.Hold(e)
	size = len(e)
	f.l = make([]float64, size*size)
	gram.Submatrix(e, g.Ridge(), f.l)
	return f, size, support.Cholesky(s.k, f.l, size)
}

// prove factorises the system of the columns E and decides which are in.
func (s *Solver) prove(out *Certificate, g model.Penalty, e []int32, beta map[int32]float64, gap float64) {
	f, size, rows := s.factorise(g, e)
	if rows < size {
		return
	}
	a, columns := f.l, f.columns
	factor := 2.0
	if s.curved != nil {
		if float64(columns.Rows())*float64(size)*float64(size) > rowProof {
			return
		}
		if s.leverage(columns, e, a)*gap > 0.1 {
			return
		}
		factor = 3
	}
	out.Unique = true
	out.Support = true
	out.Undecided = 0
	inverse := make([]float64, size)
	support.InverseDiagonal(s.k, a, size, inverse, make([]float64, size))
	for k, j := range e {
		if b := beta[j]; !g.Smooth(int(j)) && !(math.Abs(b) > math.Sqrt(factor*gap*inverse[k])) {
			out.Support = false
			out.Undecided++
		}
	}
}

// leverage returns κ² = max xᵢᵀA⁻¹xᵢ over the rows, restricted to E and with the
// intercept's 1: what bounds how fast the curvature can change with β.
func (s *Solver) leverage(columns *support.Columns, e []int32, l []float64) float64 {
	size := len(e)
	rows := columns.Unweighted(e)
	var largest float64
	for i := range columns.Rows() {
		row := rows[i*size:][:size]
		for k := range row {
			row[k] = (row[k] - s.k.Dot(l[k*size:][:k], row[:k])) / l[k*size+k]
		}
		largest = max(largest, s.k.Dot(row, row))
	}
	if s.view.Centred() {
		largest += s.view.Total() / columns.Total()
	}
	return largest
}
