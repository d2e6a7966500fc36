package exact

// SVM is the solution of the SVM's dual problem with bounds Cᵢ = C·sᵢ, with its derivative.
type SVM struct {
	q      *Problem
	rows   [][]*Number // yᵢxᵢ
	bound  []*Number
	beta   []*Number
	at     []int // −1: at 0, 1: at Cᵢ, 0: free
	free   []int
	w      []*Number
	margin []*Number
	factor factor
}

// SolveSVM returns the solution for C from a guess of the dual variables.
func (q *Problem) SolveSVM(c float64, guess []float64) (*SVM, error) {
	n, p := q.Dims()
	s := &SVM{q: q, w: vector(p), margin: vector(n), at: make([]int, n)}
	for i := range n {
		row := make([]*Number, p)
		for j := range row {
			row[j] = of(q.X[i][j] * q.Y[i])
		}
		s.rows = append(s.rows, row)
		s.bound = append(s.bound, zero().Mul(of(c), of(q.Weight(i))))
		s.beta = append(s.beta, of(guess[i]))
		switch {
		case s.beta[i].Sign() <= 0:
			s.pin(i, -1)
		case s.beta[i].Cmp(s.bound[i]) >= 0 || dot(row, row).Sign() == 0:
			s.pin(i, 1)
		}
	}
	for range 4 * mostSteps {
		s.predict()
		s.free = s.free[:0]
		for i, at := range s.at {
			if at == 0 {
				s.free = append(s.free, i)
			}
		}
		var regular bool
		if s.factor, regular = factorise(s.system()); !regular {
			null := s.factor.null(len(s.free))
			slope := zero()
			for _, v := range null {
				slope.Add(slope, v)
			}
			if slope.Sign() < 0 {
				for _, v := range null {
					v.Neg(v)
				}
			}
			if !s.move(null, nil) {
				return nil, ErrNotUnique
			}
			continue
		}
		if s.move(s.factor.solve(s.lack()), of(1)) {
			continue
		}
		s.predict()
		if !s.release() {
			return s, nil
		}
	}
	return nil, ErrTooLong
}

func (s *SVM) pin(i, at int) {
	s.at[i] = at
	if s.beta[i].SetInt64(0); at > 0 {
		s.beta[i].Set(s.bound[i])
	}
}

// predict computes w and the margins.
func (s *SVM) predict() {
	for _, v := range s.w {
		v.SetInt64(0)
	}
	for i, b := range s.beta {
		if b.Sign() != 0 {
			axpy(b, s.rows[i], s.w)
		}
	}
	for i, row := range s.rows {
		s.margin[i] = dot(row, s.w)
	}
}

func (s *SVM) system() [][]*Number {
	a := make([][]*Number, len(s.free))
	for k, i := range s.free {
		for _, other := range s.free[:k+1] {
			a[k] = append(a[k], dot(s.rows[i], s.rows[other]))
		}
	}
	return a
}

// lack returns 1 − m on the free samples.
func (s *SVM) lack() []*Number {
	out := vector(len(s.free))
	for k, i := range s.free {
		out[k].Sub(of(1), s.margin[i])
	}
	return out
}

// move goes along a direction, at most most, until a sample reaches a bound, and pins that sample there. It
// returns false if none does.
func (s *SVM) move(delta []*Number, most *Number) bool {
	length, pinned, to := most, -1, 0
	for k, i := range s.free {
		t, side := zero(), -1
		switch delta[k].Sign() {
		case 1:
			t.Quo(t.Sub(s.bound[i], s.beta[i]), delta[k])
			side = 1
		case -1:
			t.Quo(t.Neg(s.beta[i]), delta[k])
		default:
			continue
		}
		if length == nil || t.Cmp(length) < 0 {
			length, pinned, to = t, i, side
		}
	}
	if length == nil {
		return false
	}
	for k, i := range s.free {
		s.beta[i].Add(s.beta[i], zero().Mul(length, delta[k]))
	}
	if pinned >= 0 {
		s.pin(pinned, to)
	}
	return pinned >= 0
}

// release frees the pinned sample that violates its margin condition most.
func (s *SVM) release() bool {
	best, worst := -1, zero()
	for i, at := range s.at {
		if at == 0 || s.bound[i].Sign() == 0 {
			continue
		}
		wrong := zero().Sub(of(1), s.margin[i])
		if at > 0 {
			wrong.Neg(wrong)
		}
		if wrong.Sign() > 0 && !below(wrong, of(1), tie) && wrong.Cmp(worst) > 0 && dot(s.rows[i], s.rows[i]).Sign() > 0 {
			best, worst = i, wrong
		}
	}
	if best < 0 {
		return false
	}
	s.at[best] = 0
	return true
}

// Margin returns the least |1 − m| of the samples at a bound.
func (s *SVM) Margin() float64 {
	least := 1.0
	for i, at := range s.at {
		if at != 0 && s.bound[i].Sign() > 0 {
			off := zero().Sub(of(1), s.margin[i])
			least = min(least, float(off.Abs(off)))
		}
	}
	return least
}

// Judge returns the slope of the weighted mean of a criterion over held-out rows.
func (s *SVM) Judge(c Criterion, rows []int, weight func(int) float64) Slope {
	m := vector(len(s.margin))
	for i, v := range s.margin {
		m[i].Mul(v, of(s.q.Y[i]))
	}
	return judge(c, s.q, m, rows, weight)
}

// Gradient returns ∂L/∂ln C for the slope of a criterion.
func (s *SVM) Gradient(slope Slope) float64 {
	dw := vector(len(s.w))
	for i, at := range s.at {
		if at > 0 {
			axpy(s.bound[i], s.rows[i], dw)
		}
	}
	right := vector(len(s.free))
	for k, i := range s.free {
		right[k].Neg(dot(s.rows[i], dw))
	}
	for k, v := range s.factor.solve(right) {
		axpy(v, s.rows[s.free[k]], dw)
	}
	sum := zero()
	for i, g := range slope {
		if g.Sign() != 0 {
			sum.Add(sum, zero().Mul(zero().Mul(g, of(s.q.Y[i])), dot(s.rows[i], dw)))
		}
	}
	return float(sum)
}
