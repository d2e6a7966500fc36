package oracle

import "math"

// Loss is a loss ℓ(y, m) given by its definition, convex in m and with infimum 0.
type Loss struct {
	Draw         func(r *Random) float64       // draws a target
	Value, Slope func(y, m float64) float64    // ℓ and −∂ℓ/∂m
	Conjugate    func(y, dual float64) float64 // ℓ*(y, −ρ)
	Kinks        func(y float64) []float64     // predictions where ∂²ℓ/∂m² jumps; nil: none
}

func label(r *Random) float64 { return math.Copysign(1, r.Normal()) }

// PositiveTarget draws targets above 0.
func PositiveTarget(r *Random) float64 { return math.Exp(r.Normal()) }

// ZeroTarget draws targets, half of which are 0.
func ZeroTarget(r *Random) float64 { return math.Max(0, math.Exp(r.Normal())-0.7) }

func xlogx(x float64) float64 {
	if x == 0 {
		return 0
	}
	return x * math.Log(x)
}

// quadratic is the conjugate of losses that are quadratic where their slope is not constant.
func quadratic(y, d float64) float64 { return d*d/2 - y*d }

// SquaredLoss is (y − m)²/2.
func SquaredLoss() Loss {
	return Loss{
		Draw:      (*Random).Normal,
		Value:     func(y, m float64) float64 { return (y - m) * (y - m) / 2 },
		Slope:     func(y, m float64) float64 { return y - m },
		Conjugate: quadratic,
	}
}

// LogisticLoss is ln(1 + e^−ym), y = ±1.
func LogisticLoss() Loss {
	return Loss{
		Draw:  label,
		Value: func(y, m float64) float64 { return softplus(-y * m) },
		Slope: func(y, m float64) float64 { return y * sigmoid(-y*m) },
		Conjugate: func(y, d float64) float64 {
			t := y * d
			if !(t > 0 && t < 1) {
				return 0
			}
			return t*math.Log(t) + (1-t)*math.Log1p(-t)
		},
	}
}

// PoissonLoss is e^m − ym − y + y ln y, for counts y.
func PoissonLoss() Loss {
	return Loss{
		Draw:      func(r *Random) float64 { return float64(r.Intn(4)) },
		Value:     func(y, m float64) float64 { return math.Exp(m) - y*m - y + xlogx(y) },
		Slope:     func(y, m float64) float64 { return y - math.Exp(m) },
		Conjugate: func(y, d float64) float64 { return xlogx(y-d) - (y - d) - (xlogx(y) - y) },
	}
}

// GammaLoss is ye^−m + m − 1 − ln y, y > 0.
func GammaLoss() Loss {
	return Loss{
		Draw:      PositiveTarget,
		Value:     func(y, m float64) float64 { return y*math.Exp(-m) + m - 1 - math.Log(y) },
		Slope:     func(y, m float64) float64 { return y*math.Exp(-m) - 1 },
		Conjugate: func(y, d float64) float64 { return xlogx(1+d) - (1+d)*math.Log(y) - (1 + d) + 1 + math.Log(y) },
	}
}

// TweedieLoss is half the unit deviance of a power between 1 and 2, y ≥ 0. Its conjugate at a dual point is
// −(ρm + ℓ) at the m where the slope is the dual point, found by bisection.
func TweedieLoss(power float64, draw func(*Random) float64) Loss {
	a, q := 2-power, power-1
	value := func(y, m float64) float64 {
		return math.Exp(a*m)/a + y*math.Exp(-q*m)/q - math.Pow(y, a)/(a*q)
	}
	slope := func(y, m float64) float64 { return y*math.Exp(-q*m) - math.Exp(a*m) }
	return Loss{
		Draw: draw, Value: value, Slope: slope,
		Conjugate: func(y, d float64) float64 {
			if y == 0 {
				if d == 0 {
					return 0
				}
				return (-d*math.Log(-d) + d) / a
			}
			lower, upper := -100.0, 100.0
			for range 200 {
				if m := (lower + upper) / 2; slope(y, m) > d {
					lower = m
				} else {
					upper = m
				}
			}
			return -d*lower - value(y, lower)
		},
	}
}

// SquaredHingeLoss is (1 − ym)₊²/2, y = ±1.
func SquaredHingeLoss() Loss {
	return Loss{
		Draw:      label,
		Value:     func(y, m float64) float64 { return math.Pow(math.Max(0, 1-y*m), 2) / 2 },
		Slope:     func(y, m float64) float64 { return y * math.Max(0, 1-y*m) },
		Conjugate: quadratic,
		Kinks:     func(y float64) []float64 { return []float64{y} },
	}
}

// HuberLoss is quadratic up to a residual of δ, linear beyond.
func HuberLoss(delta float64) Loss {
	return Loss{
		Draw: (*Random).Normal,
		Value: func(y, m float64) float64 {
			if r := math.Abs(y - m); r > delta {
				return delta*r - delta*delta/2
			}
			return (y - m) * (y - m) / 2
		},
		Slope:     func(y, m float64) float64 { return math.Max(-delta, math.Min(delta, y-m)) },
		Conjugate: quadratic,
		Kinks:     func(y float64) []float64 { return []float64{y - delta, y + delta} },
	}
}

// SmoothedHingeLoss is ½ − ym up to a margin ym of 0, (1 − ym)²/2 up to 1, and 0 beyond.
func SmoothedHingeLoss() Loss {
	return Loss{
		Draw: label,
		Value: func(y, m float64) float64 {
			switch t := y * m; {
			case t <= 0:
				return 0.5 - t
			case t < 1:
				return (1 - t) * (1 - t) / 2
			default:
				return 0
			}
		},
		Slope:     func(y, m float64) float64 { return y * math.Max(0, math.Min(1, 1-y*m)) },
		Conjugate: quadratic,
		Kinks:     func(y float64) []float64 { return []float64{0, y} },
	}
}

// Draw draws targets in the domain of a loss.
func (q *Problem) Draw(r *Random, l Loss) *Problem {
	for i := range q.Y {
		q.Y[i] = l.Draw(r)
	}
	return q
}

// predictions returns xᵢβ + b.
func (q *Problem) predictions(beta []float64, b float64) []float64 {
	m := make([]float64, len(q.Y))
	for i, row := range q.X {
		var sum Sum
		sum.Add(b)
		for j, v := range row {
			sum.AddProduct(v, beta[j])
		}
		m[i] = sum.Value()
	}
	return m
}

// LossObjective returns Φ(β, b) with another loss in place of the squared one.
func (q *Problem) LossObjective(l Loss, beta []float64, b float64) float64 {
	var sum Sum
	total := q.Total()
	for i, m := range q.predictions(beta, b) {
		sum.AddProduct(q.Weight(i)/total, l.Value(q.Y[i], m))
	}
	for j, v := range beta {
		if v != 0 {
			sum.AddProduct(q.Alpha[j], math.Abs(v))
			sum.AddProduct(q.Ridge/2, v*v)
		}
	}
	return sum.Value()
}

// LossGap returns primal minus dual. With an intercept, the residuals of the heavier sign are first scaled
// down; then all residuals are scaled to be feasible. With a ridge it also tries the unscaled residuals, and
// returns the smaller gap.
func (q *Problem) LossGap(l Loss, beta []float64, b float64) float64 {
	r := q.predictions(beta, b)
	for i, m := range r {
		r[i] = l.Slope(q.Y[i], m)
	}
	if q.Intercept {
		q.balance(r)
	}
	z, c := q.Correlations(r), 1.0
	for j, a := range z {
		if a -= q.Ridge * beta[j]; a != 0 {
			c = math.Min(c, q.Alpha[j]/q.pull(a))
		}
	}
	total, primal := q.Total(), q.LossObjective(l, beta, b)
	conjugate := func(c float64) float64 {
		var sum Sum
		for i, v := range r {
			sum.AddProduct(q.Weight(i)/total, l.Conjugate(q.Y[i], c*v))
		}
		return sum.Value()
	}
	scaled := primal + conjugate(c)
	for _, v := range beta {
		scaled += c * c * q.Ridge * v * v / 2
	}
	if q.Ridge == 0 {
		return scaled
	}
	unscaled := primal + conjugate(1)
	for j, v := range z {
		if over := q.pull(v) - q.Alpha[j]; over > 0 {
			unscaled += over * over / (2 * q.Ridge)
		}
	}
	return math.Min(scaled, unscaled)
}

// balance scales the residuals of the heavier sign down so that all residuals sum to 0.
func (q *Problem) balance(r []float64) {
	var plus, minus Sum
	for i, v := range r {
		if v > 0 {
			plus.AddProduct(q.Weight(i), v)
		} else {
			minus.AddProduct(q.Weight(i), -v)
		}
	}
	ratio := plus.Value() / minus.Value()
	for i, v := range r {
		if v > 0 && ratio > 1 {
			r[i] = v / ratio
		} else if v < 0 && ratio < 1 {
			r[i] = v * ratio
		}
	}
}
