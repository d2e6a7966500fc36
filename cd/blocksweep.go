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
	columns []int32
	curve   []float64 // ∇²f on the block, d × d
	steep   float64   // at least the largest eigenvalue of curve
	z       []float64 // −∇f at the point
	start   []float64 // coefficients at the point
	beta    []float64 // coefficients of the model
	lack    []float64 // violations at the point
	shut    []int     // entries that are 0 and violate nothing at the point
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
		worst := s.take(g, columns, step == 0)
		if step > 0 && worst <= max(target, leastLack*s.scale) || ctx.Err() != nil || s.out.Epochs >= most {
			return true
		}
		share, sweeps := modelLack, modelSweeps
		s.prepare(g, columns)
		if !concave && bounded && s.damping < 1 && s.stranded(modelLack*worst) {
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
		if !done && !(bounded && length <= misled) {
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

// take sets up the local blocks of the working set at the point, and returns the largest violation. certified
// says that the correlations are those of the certificate.
func (s *Blocks) take(g model.Blocks, columns []int32, certified bool) (worst float64) {
	if !certified {
		s.correlate(columns)
		s.drift.forget(columns)
	}
	s.open, s.at, s.leaving = s.open[:0], s.at[:0], s.leaving[:0]
	for _, b := range s.working {
		l := s.local[b]
		if l == nil {
			d := len(s.part.Columns(b)) * s.q
			l = &localBlock{columns: s.part.Columns(b), z: make([]float64, d), start: make([]float64, d), beta: make([]float64, d), lack: make([]float64, d)}
			s.local[b] = l
		}
		s.at = append(s.at, l)
		model.Gather(s.part, b, s.q, s.z, l.z)
		model.Gather(s.part, b, s.q, s.beta, l.start)
		copy(l.beta, l.start)
		g.Lack(b, l.beta, l.z, l.lack)
		l.shut = l.shut[:0]
		for k, v := range l.lack {
			switch {
			case l.beta[k] != 0 || !g.Kinked(b, k):
				s.open = append(s.open, int(l.columns[k/s.q])*s.q+k%s.q)
			case v != 0:
				s.leaving = append(s.leaving, leaving{len(s.at) - 1, k, math.Abs(v)})
			default:
				l.shut = append(l.shut, k)
			}
		}
	}
	s.leave()
	for _, l := range s.at {
		worst = max(worst, s.length(l.lack))
	}
	return worst
}

// leaving is a coefficient at 0 that violates optimality.
type leaving struct {
	at, k int // index of its block in the working set, and its index in the block
	lack  float64
}

// leave opens the coefficients that violate optimality at 0. Of several scores it opens only the largest
// violations, half as many as coefficients are open already: the others stay at 0 for now, as if they violated
// nothing. A Hessian between all of them would be far larger than that of the solution.
func (s *Blocks) leave() {
	s.left = s.left[:0]
	if room := max(leastLeaving, len(s.open)/2); s.q > 1 && room < len(s.leaving) {
		slices.SortFunc(s.leaving, func(a, b leaving) int {
			return cmp.Or(cmp.Compare(b.lack, a.lack), cmp.Compare(a.at, b.at), cmp.Compare(a.k, b.k))
		})
		for _, e := range s.leaving[room:] {
			l := s.at[e.at]
			s.left = append(s.left, left{l, e.k, l.z[e.k], l.lack[e.k]})
			l.z[e.k], l.lack[e.k] = 0, 0
		}
		s.leaving = s.leaving[:room]
	}
	for _, e := range s.leaving {
		s.open = append(s.open, int(s.at[e.at].columns[e.k/s.q])*s.q+e.k%s.q)
	}
}

// left is a coefficient that stays at 0, with its correlation and its violation.
type left struct {
	l       *localBlock
	k       int
	z, lack float64
}

// openAll restores the correlations and violations that leave has set to 0. A Hessian that is not written out
// would move those coefficients along with others, away from where their correlations draw them, and steps
// would lower the model but not the loss.
func (s *Blocks) openAll() {
	for _, e := range s.left {
		e.l.z[e.k], e.l.lack[e.k] = e.z, e.lack
	}
	s.left = s.left[:0]
}

// correlate sets the correlations of some columns at the point.
func (s *Blocks) correlate(columns []int32) {
	if len(columns) > 0 {
		model.Correlate(s.view, columns, s.point.Weighted, s.z)
	}
	s.count(columns)
}

// count charges a visit to columns.
func (s *Blocks) count(columns []int32) { s.spend(s.entries(columns)) }

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
	cost := s.hessian.JointCost(s.open)
	writes := cost <= modelSweeps*s.hessian.VisitCost(columns)
	if !writes {
		s.openAll()
	}
	if writes && s.q > 1 { // with one score, curves come first: they are of all columns of a block, and may be kept
		s.hessian.Write(s.open)
		s.work += float64(cost)
	}
	s.curves()
	if writes && s.q == 1 {
		s.hessian.Write(s.open)
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

// curves computes the curvature of each block.
func (s *Blocks) curves() {
	for _, l := range s.at {
		if l.curve != nil && s.fit.Quadratic() {
			continue
		}
		d := len(l.z)
		if l.curve == nil {
			l.curve = make([]float64, d*d)
		}
		s.hessian.Block(l.columns, l.curve)
		l.steep = steepest(s.view.Kernels(), l.curve, d)
		if !s.hessian.Written() {
			s.count(l.columns)
		}
	}
	s.hessian.Clear()
}

// stranded reports whether a block that violates optimality by more than tol has no curvature in the model,
// which leaves it where it is: the loss is linear in all rows where the block has entries.
func (s *Blocks) stranded(tol float64) bool {
	return slices.ContainsFunc(s.at, func(l *localBlock) bool { return l.steep == 0 && s.length(l.lack) > tol })
}

// steepest returns a bound of the largest eigenvalue of a symmetric positive semidefinite matrix: the least of
// the largest row sum, the trace and, for small matrices, the sixteenth root of the trace of the sixteenth
// power, which exceeds the eigenvalue by a factor of d^(1/16) at most.
func steepest(kernel *kernels.Set, a []float64, d int) float64 {
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
	size := len(s.own) / 4
	columns := s.workingColumns()
	alone, settles := s.sweepsAlone(columns), s.hessian.Written() && g.Concavity() == 0
	next, steps := alone-1, max(fewSettled, s.step.row)
	s.step.rounder = 0
	for sweep := range times {
		if settles && sweep == next {
			next += alone * max(1, s.settle(g, steps))
			steps = min(2*steps, mostSettled)
		}
		worst := 0.0
		for k, b := range s.working {
			worst = max(worst, s.visit(g, b, s.at[k], size))
		}
		s.out.Epochs++
		s.countSweep(columns)
		if worst <= tol || s.out.Epochs >= most || ctx.Err() != nil {
			return true
		}
	}
	return false
}

// sweepsAlone returns the number of sweeps over columns that cost as much as a Newton step on the model, or
// more.
func (s *Blocks) sweepsAlone(columns []int32) int {
	return max(leastAlone, int(math.Ceil(support.CholeskyCost(len(s.open))/s.hessian.VisitCost(columns))))
}

// countSweep charges a sweep over columns.
func (s *Blocks) countSweep(columns []int32) {
	if s.hessian.Written() {
		s.work += s.hessian.VisitCost(columns)
		return
	}
	s.count(columns)
	s.count(columns)
}

// visit minimises the model over a block, and returns its violation before.
func (s *Blocks) visit(g model.Blocks, b int, l *localBlock, size int) float64 {
	if l.steep == 0 {
		return 0
	}
	d := len(l.z)
	slope, lack, moved := s.modelSlope(l), s.own[size:][:d], s.own[2*size:][:d]
	g.Lack(b, l.beta, slope, lack)
	worst := s.length(lack)
	if worst == 0 {
		return 0
	}
	copy(moved, l.beta)
	step := 1 / l.steep
	next := s.own[3*size:][:d]
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
				s.view.Kernels().Axpy(-change, l.curve[k*d:][:d], slope)
			}
		}
		if s.hessian.Written() { // the matrix has no rows for the shut entries, so these must not move
			for _, k := range l.shut {
				slope[k] = l.z[k]
			}
		}
		g.Lack(b, l.beta, slope, lack)
		if s.length(lack) <= 0.1*worst {
			break
		}
	}
	for k, v := range l.beta {
		moved[k] = v - moved[k]
	}
	s.follow(l, moved)
	return worst
}

// modelSlope returns −∇ of the model, without the penalty, on a block. It is valid until the next call.
func (s *Blocks) modelSlope(l *localBlock) []float64 {
	slope := s.own[:len(l.z)]
	for c, j := range l.columns {
		s.hessian.Product(j, slope[c*s.q:][:s.q])
	}
	for k, v := range l.z {
		slope[k] = v - slope[k]
	}
	return slope
}

// follow passes a move of a block's coefficients to the Hessian.
func (s *Blocks) follow(l *localBlock, moved []float64) {
	for c, j := range l.columns {
		if change := moved[c*s.q:][:s.q]; !zero(change) {
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
		l := s.at[k]
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
			l := s.at[at]
			now := s.own[:len(l.z)]
			for k, v := range l.beta {
				if now[k] = v; length != 1 {
					now[k] = math.FMA(length, v-l.start[k], l.start[k])
				}
			}
			s.put(b, now)
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
		s.put(b, s.at[k].start)
	}
	s.refitFrom(s.shift)
	return 0
}

// put sets the coefficients of a block.
func (s *Blocks) put(b int, beta []float64) {
	for c, j := range s.part.Columns(b) {
		copy(s.beta[int(j)*s.q:][:s.q], beta[c*s.q:])
	}
}
