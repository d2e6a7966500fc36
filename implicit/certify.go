package implicit

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/support"
)

// Certificate holds what is proved of the exact solution from a point near it. The hypergradient at the point
// is that of the solution, to its error bound, if the support is certified.
type Certificate struct {
	// Gap is the duality gap of the point, recomputed from X, at the unpenalised coefficients that are
	// optimal given the others; +Inf where these are not found.
	Gap float64
	KKT float64 // max ρⱼ of the point as it is
	// Support reports a proof that the exact solution has the support of the point, with its signs. False
	// disproves nothing.
	Support bool
	// Undecided is the number of columns proved neither in nor out of the support; copies of one another
	// count as one.
	Undecided int
	// Unique reports a proof that there is one solution, up to how copies of a
	// column share its coefficient.
	Unique bool
	// Shared reports that copies of a column share a coefficient of the point: where the support is
	// certified, the solution is then one of many, as the copies may split the coefficient otherwise.
	Shared bool
	// Dependent reports that the columns of the support and those on its edge, with a dual margin of rounding
	// size, depend on each other: the solution is not unique to working precision. This is checked only where
	// a column is on the edge, or where a gap of rounding size left uniqueness open.
	Dependent bool
	// DualMargin is min(1 − |zⱼ|/αⱼ) off the support: 0 where a column is about to
	// enter, so that only one-sided derivatives exist. 1 where there is no such
	// column.
	DualMargin float64
}

const (
	largestProof = 1000  // columns of the largest system that is factorised for a proof
	rowProof     = 2e9   // multiply–adds allowed for the rows' part of a proof for a curved loss
	edgeMargin   = 1e-10 // a dual margin up to which it may be 0 but for rounding
	roundingGap  = 1e3 * 0x1p-53

	mostFreeSteps = 10 // Newton steps of the unpenalised coefficients
)

// Certify proves what it can. Column j is out of the exact support if |zⱼ| + ‖X̃_j‖√(2L·gap/N) < αⱼ, L a
// bound of the loss's curvature; a self-concordant loss without L has another radius (see correlationRadius).
// Let E be the columns not proved out and A_E positive definite: then j is in if |βⱼ| > √(2·gap·(A_E⁻¹)ⱼⱼ).
// For a loss that is not quadratic the factor is 3·gap, provided that it is self-concordant and the gap is
// small against the curvature. Certify makes a pass over X and factorises A_E.
func (s *Solver) Certify(ctx context.Context, g model.Penalty, at Point) (Certificate, error) {
	_, p := s.view.Dims()
	s.ended, at = ctx.Err, at.withoutBound(g)
	if c := g.Columns(); c >= 0 && c != p {
		return Certificate{}, outcome.Errorf(outcome.Shape, "%d strengths for %d columns", c, p)
	}
	if err := check(g, at, p); err != nil {
		return Certificate{}, err
	}
	out := Certificate{DualMargin: 1}
	beta, z := s.correlateAll(&out, g, at)
	gap := out.Gap + float64(roundingGap*s.fit.Null())
	known := proofInputs{g, beta, z, s.correlationRadius(gap)}
	candidates := s.listCandidates(&out, known)
	if equal, opposite := g.Indifferent(); equal {
		candidates, out.Shared = mergeCopies(s.view.NewCopies(opposite), candidates, beta)
	}
	undecided, edge := known.split(&out, candidates)
	out.Undecided = len(undecided)
	out.Unique = len(undecided) == 0 || g.Ridge() > 0
	if len(undecided) == 0 {
		out.Support = true
		return out, nil
	}
	if g.Quadratic() {
		out.Support, out.Undecided = true, 0
		return out, nil
	}
	if len(undecided) <= largestProof && ctx.Err() == nil {
		s.prove(&out, g, undecided, beta, gap)
	}
	open := out.DualMargin < edgeMargin || !out.Unique && out.Gap <= roundingGap*s.fit.Null()
	out.Dependent = open && len(edge) <= largestProof && ctx.Err() == nil && s.dependent(g, edge)
	return out, nil
}

// proofInputs holds what a proof is made from: the coefficients, the correlations, and a bound of the distance of
// each correlation from that of the solution.
type proofInputs struct {
	g     model.Penalty
	beta  map[int32]float64
	z     []float64
	reach func(j int32) float64
}

// margin is the dual margin of a column.
func (p proofInputs) margin(j int32) float64 { return 1 - p.g.Pull(int(j), p.z[j])/p.g.Alpha(int(j)) }

// excluded reports that a column is proved out.
func (p proofInputs) excluded(j int32) bool {
	return p.g.Pull(int(j), p.z[j])+p.reach(j) < p.g.Alpha(int(j))
}

// listCandidates lists, ascending, the columns that are in the support or may be in that of the solution; the others
// update the dual margin.
func (s *Solver) listCandidates(out *Certificate, p proofInputs) (near []int32) {
	for _, j := range s.view.Matrix().Order() {
		alpha, b := p.g.Alpha(int(j)), p.beta[j]
		switch {
		case p.g.Held(int(j), b):
			if !out.proveAtBound(boundSlack(p.g, j, b, p.z[j]), p.z[j], p.reach(j)) {
				near = append(near, j)
			}
		case math.IsInf(alpha, 1), alpha == 0 && s.view.Norm(int(j)) == 0: // its coefficient is 0, or has no effect
		case b != 0, alpha == 0, p.margin(j) < edgeMargin, !p.excluded(j):
			near = append(near, j)
		default:
			out.DualMargin = min(out.DualMargin, p.margin(j))
		}
	}
	slices.Sort(near)
	return near
}

// split returns the columns in the support or not proved out, and the columns in the support or on its edge.
func (p proofInputs) split(out *Certificate, near []int32) (undecided, edge []int32) {
	for _, j := range near {
		in := p.beta[j] != 0 || p.g.Alpha(int(j)) == 0
		if !in {
			out.DualMargin = min(out.DualMargin, p.margin(j))
		}
		if in || p.margin(j) < edgeMargin {
			edge = append(edge, j)
		}
		if in || !p.excluded(j) {
			undecided = append(undecided, j)
		}
	}
	return undecided, edge
}

// dependent reports that columns depend on each other to working precision.
func (s *Solver) dependent(g model.Penalty, columns []int32) bool {
	_, size, rows := s.factorise(g, columns)
	return rows < size
}

// correlateAll passes over X: it returns the coefficients and the correlations zⱼ of a point, and sets its gap
// and KKT residual. Unpenalised coefficients are first made optimal given the others, like the intercept, as
// the dual point does not account for their residuals.
func (s *Solver) correlateAll(out *Certificate, g model.Penalty, at Point) (beta map[int32]float64, z []float64) {
	beta = make(map[int32]float64, len(at.Support))
	columns, coef := at.withBound()
	for k, j := range columns {
		beta[j] = coef[k]
	}
	s.setState(at)
	_, p := s.view.Dims()
	z = make([]float64, p)
	null, last := s.fit.Null(), math.Inf(1)
	for step := 0; ; step++ {
		dual := model.NewDual(s.fit, g, s.state)
		var free []int32
		gain := 0.0 // the gain of steps along the free columns
		for _, j := range s.view.Matrix().Order() {
			norm := s.view.Norm(int(j))
			z[j] = s.view.Dot(int(j), s.state.Weighted) / s.view.Total()
			dual.Add(int(j), z[j], beta[j], norm)
			if g.Ridge() == 0 && g.Smooth(int(j)) && norm > 0 && !g.Held(int(j), beta[j]) {
				free = append(free, j)
				gain = math.FMA(z[j]*s.view.Total()/norm, z[j]/norm, gain)
			}
		}
		if out.Gap = s.fit.Gap(&dual, s.state); step == 0 {
			out.KKT = dual.KKT()
		}
		if gain <= float64(roundingGap*roundingGap*null) || gain <= roundingGap*null && gain >= 0.5*last { // the rest is rounding
			return beta, z
		}
		last = gain
		slices.Sort(free)
		if step == mostFreeSteps || !s.newtonUnpenalised(g, free, beta, z) {
			out.Gap = math.Inf(1)
			return beta, z
		}
	}
}

// newtonUnpenalised takes a Newton step in the coefficients of the free columns. It returns false where these columns
// depend on one another or a coefficient reaches a bound.
func (s *Solver) newtonUnpenalised(g model.Penalty, free []int32, beta map[int32]float64, z []float64) bool {
	f, size, rows := s.factorise(g, free)
	if rows < size {
		return false
	}
	step := make([]float64, size)
	for k, j := range free {
		step[k] = z[j]
	}
	support.CholeskySolve(s.k, f.l, size, step)
	for k, j := range free {
		if beta[j] += step[k]; g.Clip(int(j), beta[j]) != beta[j] {
			return false
		}
	}
	columns := slices.Sorted(maps.Keys(beta))
	coef := make([]float64, len(columns))
	for k, j := range columns {
		coef[k] = beta[j]
	}
	s.fitOwn(columns, coef)
	return true
}

// mergeCopies drops copies from ascending columns, adds their coefficients to those of their representatives, and
// reports whether copies share a coefficient.
func mergeCopies(copies *sparse.Copies, columns []int32, beta map[int32]float64) (rest []int32, shared bool) {
	for _, j := range copies.Find(columns) {
		rep := copies.Representative(j)
		beta[rep.Column] = math.FMA(rep.Sign, beta[j], beta[rep.Column])
		delete(beta, j)
	}
	rest = slices.DeleteFunc(columns, copies.Redundant)
	return rest, slices.ContainsFunc(rest, func(j int32) bool { return beta[j] != 0 && copies.Of(j) != nil })
}

// factored is the system of a set of columns, factorised.
type factored struct {
	columns *support.Columns
	l       []float64
}

// factorise returns the Cholesky factor of A_E, its size, and the number of rows that could be factorised.
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
	if s.losesDigits(f.columns, e, g.Ridge()) {
		s.centredProducts(f, e, g.Ridge())
	} else {
		gram.Submatrix(e, g.Ridge(), f.l)
	}
	return f, size, support.Cholesky(s.k, f.l, size)
}

// prove factorises the system of the columns E and decides which of them are in the support.
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
		concordance, ok := s.curved.Concordance()
		if !ok || float64(concordance*concordance)*s.leverage(columns, e, a)*gap > 0.1 {
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
		b, moved := beta[j], math.Sqrt(factor*gap*inverse[k])
		if !g.Smooth(int(j)) && !(math.Abs(b) > moved) || !(g.DistanceToBound(int(j), b, 1) > moved) || !(g.DistanceToBound(int(j), b, -1) > moved) {
			out.Support = false
			out.Undecided++
		}
	}
}

// pollRows is the number of rows between two checks of the context.
const pollRows = 64

// leverage returns κ² = max xᵢᵀA⁻¹xᵢ over the rows, restricted to E and with the intercept's 1, which bounds
// how fast the curvature can change with β. It is +Inf where the context has ended.
func (s *Solver) leverage(columns *support.Columns, e []int32, l []float64) float64 {
	size := len(e)
	rows := columns.Unweighted(e)
	var largest float64
	for i := range columns.Rows() {
		if i%pollRows == 0 && s.ended() != nil {
			return math.Inf(1)
		}
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
