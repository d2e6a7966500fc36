package model

import "math"

// Dual accumulates, column by column, the sums for the duality gap and the KKT
// residual of a point, from its correlations zⱼ = X_jᵀ(s⊙r)/N. Columns that a
// bound proves to have |zⱼ − α₂βⱼ| < αⱼ and βⱼ = 0 may be left out: they
// change nothing. [NewDual] makes one.
//
// An unpenalised column must have zⱼ = 0 for the dual point to be feasible: its
// coefficient must be optimal given the other coefficients, as an intercept is. A
// zⱼ that is not 0 by rounding adds the gain of one step along the column to the gap.
//
// The sums are arranged so that near the optimum every term vanishes by
// itself: even a gap of 1e-15·P₀ is accurate to a few digits.
type Dual struct {
	Penalty  Penalty
	Total    float64 // N
	Steepest float64 // [Datafit.Steepest], for the KKT residual; 0 means 1
	Loss     float64 // f(β)

	worst       float64     // max |aⱼ|/αⱼ, aⱼ = zⱼ − α₂βⱼ
	kkt         float64     // max ρⱼ
	l1, l2      float64     // Σ αⱼ|βⱼ|, Σ α₂βⱼ²
	unpenalised float64     // Σ zⱼ²N/2‖X̃_j‖² of unpenalised columns
	product     float64     // Σ aⱼβⱼ
	slack       float64     // Σ αⱼ|βⱼ| − aⱼβⱼ
	unscaled    float64     // the gap at the unscaled dual point, α₂ > 0
	violations  []violation // columns with a finite bound whose dual constraint is violated
}

// NewDual returns an empty Dual for the dual point of a state.
func NewDual(f Datafit, g Penalty, s *State) Dual {
	return Dual{Penalty: g, Total: f.View().Total(), Steepest: f.Steepest(s), Loss: s.Loss}
}

// Add adds column j: its correlation z, coefficient b and norm ‖X̃_j‖ₛ.
func (d *Dual) Add(j int, z, b, norm float64) {
	alpha := d.Penalty.Alpha(j)
	pull := d.Penalty.Pull(j, z)
	switch {
	case b == 0 && pull <= alpha: // inside its constraint: it can affect only the scale
		if pull > d.worst*alpha {
			d.worst = pull / alpha
		}
	case d.Penalty.box.isBounded(j):
		d.addBounded(j, z, b, norm)
	case math.IsInf(alpha, 1): // excluded: β is 0 and z is free
	case b == 0 && d.Penalty.ridge == 0 && alpha > 0:
		if !(pull <= d.worst*alpha) { // keeps NaN
			d.worst = pull / alpha
		}
		d.kkt = max(d.kkt, pull-alpha)
	default:
		d.addFree(j, z, b, norm, alpha, pull-alpha)
	}
}

// addFree is [Dual.Add] for a column that is not at 0, or that is at 0 but exceeds its threshold under a ridge, or that is
// unpenalised. over is |z| − α.
func (d *Dual) addFree(j int, z, b, norm, alpha, over float64) {
	ridge := d.Penalty.ridge
	a := z - float64(ridge*b)
	switch {
	case alpha > 0:
		d.worst = max(d.worst, d.Penalty.Pull(j, a)/alpha) // max keeps NaN
	case a != 0 && ridge > 0:
		d.worst = math.Inf(1) // under a ridge alone no scaling makes it feasible
	}
	lipschitz := d.lipschitz(norm)
	if lipschitz > 0 {
		moved := b - d.Penalty.Prox(j, b+z/lipschitz, 1/lipschitz)
		d.kkt = max(d.kkt, lipschitz*math.Abs(moved))
	}
	switch {
	case alpha == 0 && ridge == 0:
		if lipschitz > 0 {
			d.unpenalised = math.FMA(z/(2*lipschitz), z, d.unpenalised)
		}
	case b == 0:
		if over > 0 {
			d.unscaled = math.FMA(over/(2*ridge), over, d.unscaled)
		}
	default:
		d.addSums(z, a, b, alpha, over)
	}
}

// addSums adds a nonzero coefficient to the sums.
func (d *Dual) addSums(z, a, b, alpha, over float64) {
	ridge, size := d.Penalty.ridge, math.Abs(b)
	lack := alpha - float64(math.Copysign(1, b)*a) // 0 at the optimum
	d.l1 = math.FMA(alpha, size, d.l1)
	d.l2 = math.FMA(ridge*b, b, d.l2) // β² may overflow where this does not
	d.product = math.FMA(a, b, d.product)
	d.slack = math.FMA(lack, size, d.slack)
	switch {
	case ridge == 0:
	case math.Signbit(z) == math.Signbit(b) && over > 0:
		d.unscaled = math.FMA(lack/(2*ridge), lack, d.unscaled)
	default:
		over = max(0, over)
		d.unscaled += float64(lack*size) - float64(0.5*float64(ridge*b)*b) + float64(over/(2*ridge)*over)
	}
}

// AddRidge is [Dual.Add] for a column under a ridge alone.
func (d *Dual) AddRidge(z, b, norm float64) {
	ridge := d.Penalty.ridge
	a := z - float64(ridge*b)
	if a != 0 {
		d.worst = math.Inf(1) // under a ridge alone no scaling makes it feasible
	}
	if lipschitz := d.lipschitz(norm); lipschitz > 0 { // the prox of a ridge is a multiplication
		d.kkt = max(d.kkt, math.Abs(a)*(lipschitz/(lipschitz+ridge)))
	}
	d.l2 = math.FMA(ridge*b, b, d.l2)
	d.product = math.FMA(a, b, d.product)
	d.slack -= float64(a * b)
	d.unscaled = math.FMA(a/(2*ridge), a, d.unscaled)
}

// lipschitz returns Lⱼ of a column.
func (d *Dual) lipschitz(norm float64) float64 {
	lipschitz := float64(norm*norm) / d.Total
	if d.Steepest != 0 {
		lipschitz *= d.Steepest
	}
	return lipschitz
}

// Inside returns a factor t: a column with βⱼ = 0 whose correlation is below t·αⱼ changes nothing
// but rounding.
func (d *Dual) Inside() float64 {
	if d.Penalty.alphas == nil && d.Penalty.ridge == 0 && d.Penalty.box == nil {
		return d.worst // a smaller violation changes neither the scale nor the largest ρⱼ
	}
	return min(1, d.worst)
}

// Scale returns the factor c ≤ 1 that makes the residual dual feasible.
func (d *Dual) Scale() float64 {
	c := 1.0
	if d.worst > 1 {
		c = 1 / d.worst
	}
	if len(d.violations) > 0 {
		c = d.shrinkScale(c)
	}
	return c
}

// Widen allows for unpenalised columns to which the residual is not exactly orthogonal. left bounds how much the objective can
// still fall along these columns; making the residual orthogonal to them moves each |aⱼ| by √(2Lⱼ·left) at most. longest is the
// largest ‖X̃_j‖ₛ/αⱼ of the penalised columns.
func (d *Dual) Widen(left, longest float64) {
	if left > 0 {
		d.worst = max(1, d.worst) + math.Sqrt(float64(2*left)*d.lipschitz(longest))
	}
}

// Reach returns the largest c ≤ 1 at which no |c·aⱼ| exceeds αⱼ, also for columns with bounds. At β = 0 this is α/αmax.
func (d *Dual) Reach() float64 {
	c := d.Scale()
	for _, o := range d.violations {
		c = min(c, o.alpha/o.a)
	}
	return c
}

// Gap returns the duality gap: the contribution of the penalty, plus the Fenchel–Young gap of the
// loss, which the datafit gives at the scaled and at the unscaled dual point. With a ridge the smaller
// of the two gaps counts.
func (d *Dual) Gap(scaled, unscaled float64) float64 {
	c, ridge := d.Scale(), d.Penalty.ridge
	rest := 1 - c
	for _, o := range d.violations {
		scaled += o.gapAt(c)
	}
	gap := d.unpenalised + scaled + float64(0.5*rest*rest*d.l2) + max(0, math.FMA(rest, d.product, d.slack))
	if ridge > 0 {
		gap = min(gap, unscaled+max(0, d.unscaled))
	}
	return gap
}

// Value returns g(β).
func (d *Dual) Value() float64 { return d.l1 + float64(0.5*d.l2) }

// KKT returns max ρⱼ, ρⱼ = Lⱼ|βⱼ − prox_{g/Lⱼ}(βⱼ + zⱼ/Lⱼ)|: the fixed-point
// residual of the optimality conditions. ρⱼ ≤ √(2Lⱼ·gap) holds where the loss has a bound
// on its curvature.
func (d *Dual) KKT() float64 { return d.kkt }
