package cd

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/support"
)

// localBlock is a block of the working set in the quadratic model of the loss.
type localBlock struct {
	columns        []int32
	hessian        []float64 // ∇²f on the block, d × d
	curvatureBound float64   // at least the largest eigenvalue of hessian
	z              []float64 // −∇f at the point
	start          []float64 // coefficients at the point
	beta           []float64 // coefficients of the model
	violation      []float64 // violations at the point
	fixed          []int     // entries that are 0 and violate nothing at the point
}

const (
	modelSteps    = 30    // quadratic models on a working set
	modelLack     = 0.1   // of the violation at the point: what may be left in the model
	modelSweeps   = 40    // over a model
	writtenSweeps = 400   // over a model whose Hessian is written out
	writtenLack   = 0.01  // modelLack for such a model
	leastAlone    = 10    // sweeps over such a model before a Newton step on it
	leastLeaving  = 20    // coefficients that may leave 0 at once, at the least
	blockSteps    = 20    // within a block
	armijo        = 1e-4  // of the predicted decrease
	blockHalvings = 30    // of a step
	leastLack     = 1e-15 // relative to the null model: less is rounding
	mostRise      = 1e-9  // of the objective: attributed to rounding
)

// improve minimises over the working set until the largest violation of its blocks is a tenth of the certified
// one. It returns false if sweeps were too slow to minimise a model.
func (s *Blocks) improve(ctx context.Context, g model.Blocks, most int) bool {
	target := float64(blockShare * s.out.KKT)
	columns := s.workingColumns()
	bounded, concave := s.fit.Majorant(nil, &s.metric), g.Concavity() > 0
	for step := range modelSteps {
		worst := s.loadBlocks(g, columns, step == 0)
		if step > 0 && worst <= max(target, leastLack*s.scale) || ctx.Err() != nil || s.out.Epochs >= most {
			return true
		}
		share, sweeps := modelLack, modelSweeps
		s.prepare(g, columns)
		if !concave && bounded && s.damping < 1 && s.hasFlatViolation(modelLack*worst) {
			s.damping = 1
			s.prepare(g, columns)
		}
		if s.hessian.Written() {
			share, sweeps = writtenLack, writtenSweeps
		}
		done := s.sweeps(ctx, g, max(share*worst, leastLack*s.scale), sweeps, most)
		exact := concave || s.damping == 1 || s.fit.Quadratic()
		length := s.accept(g, exact)
		if length == 0 && (exact || !bounded) {
			return true
		}
		if bounded {
			s.damping.adapt(length)
		}
		if !done && !(bounded && length <= untrustedLength) {
			return false
		}
	}
	return true
}

func (s *Blocks) workingColumns() (columns []int32) {
	for _, b := range s.working {
		columns = append(columns, s.part.Columns(b)...)
	}
	return columns
}

// loadBlocks sets up the local blocks of the working set at the point, and returns the largest violation. certified
// says that the correlations are those of the certificate.
func (s *Blocks) loadBlocks(g model.Blocks, columns []int32, certified bool) (worst float64) {
	if !certified {
		s.correlate(columns)
		s.drift.forget(columns)
	}
	s.movable, s.locals, s.leaving = s.movable[:0], s.locals[:0], s.leaving[:0]
	for _, b := range s.working {
		l := s.local[b]
		if l == nil {
			d := len(s.part.Columns(b)) * s.q
			l = &localBlock{columns: s.part.Columns(b), z: make([]float64, d), start: make([]float64, d), beta: make([]float64, d), violation: make([]float64, d)}
			s.local[b] = l
		}
		s.locals = append(s.locals, l)
		model.Gather(s.part, b, s.q, s.z, l.z)
		model.Gather(s.part, b, s.q, s.beta, l.start)
		copy(l.beta, l.start)
		g.Lack(b, l.beta, l.z, l.violation)
		l.fixed = l.fixed[:0]
		for k, v := range l.violation {
			switch {
			case l.beta[k] != 0 || !g.Kinked(b, k):
				s.movable = append(s.movable, int(l.columns[k/s.q])*s.q+k%s.q)
			case v != 0:
				s.leaving = append(s.leaving, leaving{len(s.locals) - 1, k, math.Abs(v)})
			default:
				l.fixed = append(l.fixed, k)
			}
		}
	}
	s.openLeaving()
	for _, l := range s.locals {
		worst = max(worst, s.norm(l.violation))
	}
	return worst
}

// leaving is a coefficient at 0 that violates optimality.
type leaving struct {
	at, k     int // index of its block in the working set, and its index in the block
	violation float64
}

// openLeaving opens the coefficients that violate optimality at 0. Of several scores it opens only the largest
// violations, half as many as coefficients are open already: the others stay at 0 until a later call, as if they violated
// nothing. A Hessian between all of them would be far larger than that of the solution.
func (s *Blocks) openLeaving() {
	s.postponed = s.postponed[:0]
	if room := max(leastLeaving, len(s.movable)/2); s.q > 1 && room < len(s.leaving) {
		slices.SortFunc(s.leaving, func(a, b leaving) int {
			return cmp.Or(cmp.Compare(b.violation, a.violation), cmp.Compare(a.at, b.at), cmp.Compare(a.k, b.k))
		})
		for _, e := range s.leaving[room:] {
			l := s.locals[e.at]
			s.postponed = append(s.postponed, postponed{l, e.k, l.z[e.k], l.violation[e.k]})
			l.z[e.k], l.violation[e.k] = 0, 0
		}
		s.leaving = s.leaving[:room]
	}
	for _, e := range s.leaving {
		s.movable = append(s.movable, int(s.locals[e.at].columns[e.k/s.q])*s.q+e.k%s.q)
	}
}

// postponed is a coefficient that stays at 0, with its correlation and its violation.
type postponed struct {
	l            *localBlock
	k            int
	z, violation float64
}

// restorePostponed restores the correlations and violations that openLeaving has set to 0. A Hessian that is not written out
// would move those coefficients along with others, away from where their correlations draw them, and steps
// would lower the model but not the loss.
func (s *Blocks) restorePostponed() {
	for _, e := range s.postponed {
		e.l.z[e.k], e.l.violation[e.k] = e.z, e.violation
	}
	s.postponed = s.postponed[:0]
}

// correlate sets the correlations of some columns at the point.
func (s *Blocks) correlate(columns []int32) {
	if len(columns) > 0 {
		model.Correlate(s.view, columns, s.point.Weighted, s.z)
	}
	s.chargeVisit(columns)
}

// chargeVisit charges a visit to columns.
func (s *Blocks) chargeVisit(columns []int32) { s.chargeEntries(s.entries(columns)) }

// entries returns the number of entries that columns store.
func (s *Blocks) entries(columns []int32) (entries float64) {
	for _, j := range columns {
		from, to := s.view.Matrix().Span(int(j))
		entries += float64(to - from)
	}
	return entries
}

// prepare builds the quadratic model at the point, damped after models that have misled. With full damping the
// model lies nowhere below the loss, so that steps on it always lower the objective. Where it pays, the Hessian
// is written out between the coefficients that are not 0 or may leave it.
func (s *Blocks) prepare(g model.Blocks, columns []int32) {
	if g.Concavity() > 0 { // the same step size at every point
		s.fit.Majorant(nil, &s.metric)
	} else {
		s.fit.Metric(s.point, &s.metric)
		s.damp()
	}
	s.hessian.Reset(&s.metric, columns, s.fit.Quadratic())
	cost := s.hessian.JointCost(s.movable)
	writes := cost <= modelSweeps*s.hessian.VisitCost(columns)
	if !writes {
		s.restorePostponed()
	}
	if writes && s.q > 1 { // with one score, curves come first: they are of all columns of a block, and may be kept
		s.hessian.Write(s.movable)
		s.work += float64(cost)
	}
	s.computeCurvatures()
	if writes && s.q == 1 {
		s.hessian.Write(s.movable)
	}
}

// damp raises the curvature of a model of one score to the damping's share of a majorant's.
func (s *Blocks) damp() {
	if s.damping == 0 || !s.fit.Majorant(s.point, &s.majorant) {
		return
	}
	pace := s.view.Kernels().Pace()
	for i, w := range s.majorant.Weight {
		pace.Did(1)
		s.metric.Weight[i] = max(s.metric.Weight[i], float64(s.damping)*w)
	}
}

// computeCurvatures computes the curvature of each block.
func (s *Blocks) computeCurvatures() {
	for _, l := range s.locals {
		if l.hessian != nil && s.fit.Quadratic() {
			continue
		}
		d := len(l.z)
		if l.hessian == nil {
			l.hessian = make([]float64, d*d)
		}
		s.hessian.Block(l.columns, l.hessian)
		l.curvatureBound = eigenvalueBound(s.view.Kernels(), l.hessian, d)
		if !s.hessian.Written() {
			s.chargeVisit(l.columns)
		}
	}
	s.hessian.Clear()
}

// hasFlatViolation reports whether a block that violates optimality by more than tol has no curvature in the model,
// which leaves it where it is: the loss is linear in all rows where the block has entries.
func (s *Blocks) hasFlatViolation(tol float64) bool {
	return slices.ContainsFunc(s.locals, func(l *localBlock) bool { return l.curvatureBound == 0 && s.norm(l.violation) > tol })
}

// eigenvalueBound returns a bound of the largest eigenvalue of a symmetric positive semidefinite matrix: the least of
// the largest row sum, the trace and, for small matrices, the sixteenth root of the trace of the sixteenth
// power, which exceeds the eigenvalue by a factor of d^(1/16) at most.
func eigenvalueBound(kernel *kernels.Set, a []float64, d int) float64 {
	var trace, rows float64
	for k := range d {
		trace += a[k*d+k]
		var sum float64
		for _, v := range a[k*d:][:d] {
			sum += math.Abs(v)
		}
		rows = max(rows, sum)
	}
	bound := min(trace, rows)
	if d == 1 || d > 64 || !(bound > 0) {
		return bound
	}
	power, next := make([]float64, d*d), make([]float64, d*d)
	for k, v := range a {
		power[k] = v / bound
	}
	for range 4 {
		for i := range d {
			for j := range i + 1 {
				sum := kernel.Dot(power[i*d:][:d], power[j*d:][:d])
				next[i*d+j], next[j*d+i] = sum, sum
			}
		}
		power, next = next, power
	}
	trace = 0
	for k := range d {
		trace += power[k*d+k]
	}
	for range 4 {
		trace = math.Sqrt(trace)
	}
	return min(bound, bound*trace*(1+1e-12))
}

// sweeps minimises the model over the working set, block by block, until no violation exceeds tol or the epochs
// or ctx end. It returns false if the number of sweeps given was too small.
func (s *Blocks) sweeps(ctx context.Context, g model.Blocks, tol float64, times, most int) (done bool) {
	size := len(s.scratch) / 4
	columns := s.workingColumns()
	alone, settles := s.sweepsAlone(columns), s.hessian.Written() && g.Concavity() == 0
	next, steps := alone-1, max(fewStepsInRow, s.step.nextSteps)
	s.step.normDamping = 0
	for sweep := range times {
		if settles && sweep == next {
			next += alone * max(1, s.newtonStepsOnModel(g, steps))
			steps = min(2*steps, mostStepsInRow)
		}
		worst := 0.0
		for k, b := range s.working {
			worst = max(worst, s.visit(g, b, s.locals[k], size))
		}
		s.out.Epochs++
		s.chargeSweep(columns)
		if worst <= tol || s.out.Epochs >= most || ctx.Err() != nil {
			return true
		}
	}
	return false
}

// sweepsAlone returns the number of sweeps over columns that cost as much as a Newton step on the model, or
// more.
func (s *Blocks) sweepsAlone(columns []int32) int {
	return max(leastAlone, int(math.Ceil(support.CholeskyCost(len(s.movable))/s.hessian.VisitCost(columns))))
}

// chargeSweep charges a sweep over columns.
func (s *Blocks) chargeSweep(columns []int32) {
	if s.hessian.Written() {
		s.work += s.hessian.VisitCost(columns)
		return
	}
	s.chargeVisit(columns)
	s.chargeVisit(columns)
}

// visit minimises the model over a block, and returns its violation before.
func (s *Blocks) visit(g model.Blocks, b int, l *localBlock, size int) float64 {
	if l.curvatureBound == 0 {
		return 0
	}
	d := len(l.z)
	slope, lack, moved := s.modelSlope(l), s.scratch[size:][:d], s.scratch[2*size:][:d]
	g.Lack(b, l.beta, slope, lack)
	worst := s.norm(lack)
	if worst == 0 {
		return 0
	}
	copy(moved, l.beta)
	step := 1 / l.curvatureBound
	next := s.scratch[3*size:][:d]
	for range blockSteps {
		for k, v := range slope {
			next[k] = math.FMA(v, step, l.beta[k])
		}
		g.Prox(b, next, step, next)
		if d == 1 {
			l.beta[0] = next[0]
			break
		}
		for k := range next {
			change := next[k] - l.beta[k]
			l.beta[k] = next[k]
			if change != 0 {
				s.view.Kernels().Axpy(-change, l.hessian[k*d:][:d], slope)
			}
		}
		if s.hessian.Written() { // the matrix has no rows for the fixed entries, so these must not move
			for _, k := range l.fixed {
				slope[k] = l.z[k]
			}
		}
		g.Lack(b, l.beta, slope, lack)
		if s.norm(lack) <= 0.1*worst {
			break
		}
	}
	for k, v := range l.beta {
		moved[k] = v - moved[k]
	}
	s.moveHessian(l, moved)
	return worst
}

// modelSlope returns −∇ of the model, without the penalty, on a block. It is valid until the next call.
func (s *Blocks) modelSlope(l *localBlock) []float64 {
	slope := s.scratch[:len(l.z)]
	for c, j := range l.columns {
		s.hessian.Product(j, slope[c*s.q:][:s.q])
	}
	for k, v := range l.z {
		slope[k] = v - slope[k]
	}
	return slope
}

// moveHessian passes a move of a block's coefficients to the Hessian.
func (s *Blocks) moveHessian(l *localBlock, moved []float64) {
	for c, j := range l.columns {
		if change := moved[c*s.q:][:s.q]; !allZero(change) {
			s.hessian.Move(j, change)
		}
	}
}

// accept moves towards the minimum of the model as far as that lowers the objective, and returns the share of
// the way, 0 for none. exact says that the model is nowhere below the loss: the objective then rises only by
// rounding, either its own or, more, that of a curvature of which little is left.
func (s *Blocks) accept(g model.Blocks, exact bool) (length float64) {
	before, predicted := s.point.Loss, 0.0
	moving := false
	for k, b := range s.working {
		l := s.locals[k]
		before += g.Value(b, l.start)
		predicted += g.Value(b, l.beta) - g.Value(b, l.start)
		for k, v := range l.z {
			predicted = math.FMA(-v, l.beta[k]-l.start[k], predicted)
			moving = moving || l.beta[k] != l.start[k]
		}
	}
	rounding := float64(1e-14 * max(before, s.fit.Null()))
	if !moving || !(predicted <= rounding) || math.IsInf(predicted, 0) { // next to no curvature, or only rounding of it: the model has no minimum nearby
		return 0
	}
	length = 1
	s.shift = append(s.shift[:0], s.point.Intercept...)
	for range blockHalvings {
		after := 0.0
		for at, b := range s.working {
			l := s.locals[at]
			now := s.scratch[:len(l.z)]
			for k, v := range l.beta {
				if now[k] = v; length != 1 {
					now[k] = math.FMA(length, v-l.start[k], l.start[k])
				}
			}
			s.setBlock(b, now)
			after += g.Value(b, now)
		}
		s.refitFrom(s.shift)
		after += s.point.Loss
		if exact && after-before <= float64(mostRise*max(before, s.fit.Null())) || after <= before+float64(armijo*length*predicted) || -predicted <= 1e-14*before {
			return length
		}
		length *= 0.5
	}
	for k, b := range s.working {
		s.setBlock(b, s.locals[k].start)
	}
	s.refitFrom(s.shift)
	return 0
}

// setBlock sets the coefficients of a block.
func (s *Blocks) setBlock(b int, beta []float64) {
	for c, j := range s.part.Columns(b) {
		copy(s.beta[int(j)*s.q:][:s.q], beta[c*s.q:])
	}
}
