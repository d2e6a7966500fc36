package sparse

import (
	"math"

	"github.com/seed-45b9a24c/pare/kernels"
)

// trained computes the moments of dense columns on rows that have weight 1, where the others
// have weight 0, and their products with u, where it is not nil. What is held out is not read: it
// does not change a bit.
//
// Entries are taken less a, the one in the first row where columns are centred, else 0: it is as
// large as the mean, mostly, so that with d = x − a little cancels in
//
//	x̄ = a + Σd/N,  Σ(x − x̄)² = Σd² − (Σd)²/N.
type trained struct {
	v              *View
	u, out         []float64
	squares, means []float64 // by column; no means where nothing is centred
	rows           []int32   // of weight 1
}

// mostOff is the share of Σd² that (Σd)²/N may have for the difference to be exact enough.
const mostOff = 0.9

// pieceEntries is how many rows are summed up to a look.
const pieceEntries = 1 << 14

// train returns the task that computes the moments of dense columns on rows of weight 0 and 1, nil
// for other columns and weights.
func (v *View) train(u, out, squares []float64) *trained {
	if _, dense := v.x.(*Dense); !dense || v.weights == nil || v.all == nil {
		return nil
	}
	t := &trained{v: v, u: u, out: out, squares: squares, means: v.moments.means, rows: make([]int32, 0, v.positive)}
	pace := v.k.Pace()
	for i, s := range v.weights {
		pace.Did(1)
		if s > 0 {
			t.rows = append(t.rows, int32(i))
		}
	}
	return t
}

// Part implements [team.Task].
func (t *trained) Part(k, of int) {
	v := t.v
	from, to := portion(v.x, k, of), portion(v.x, k+1, of)
	if t.u != nil {
		v.Correlate(from, to, t.u, t.out[from:to])
	}
	pace := v.k.Pace()
	for j := from; j < to; j += 4 { // in storage order, which is that of the columns
		t.columns(j, min(j+4, to), &pace)
	}
}

// columns computes the moments of up to four columns together, whose sums do not wait for one another.
func (t *trained) columns(from, to int, pace *kernels.Pace) {
	var x [4][]float64
	var a, sum, square [4]float64
	for l := range x {
		_, x[l] = t.v.x.Column(min(from+l, to-1))
		if t.means != nil {
			a[l] = x[l][t.rows[0]]
		}
	}
	for rows := t.rows; len(rows) > 0; {
		piece := rows[:min(len(rows), pieceEntries)]
		deviations(&x, &a, piece, &sum, &square)
		pace.Did(4 * len(piece))
		rows = rows[len(piece):]
	}
	for j := from; j < to; j++ {
		t.settle(j, a[j-from], sum[j-from], square[j-from])
	}
}

// deviations adds x − a and its square to the sums of four columns, over some rows.
func deviations(x *[4][]float64, a *[4]float64, rows []int32, sum, square *[4]float64) {
	x0, x1, x2, x3 := x[0], x[1], x[2], x[3]
	x1, x2, x3 = x1[:len(x0)], x2[:len(x0)], x3[:len(x0)]
	a0, a1, a2, a3 := a[0], a[1], a[2], a[3]
	s0, s1, s2, s3 := sum[0], sum[1], sum[2], sum[3]
	q0, q1, q2, q3 := square[0], square[1], square[2], square[3]
	for _, i := range rows {
		d0, d1, d2, d3 := x0[i]-a0, x1[i]-a1, x2[i]-a2, x3[i]-a3
		s0, s1, s2, s3 = s0+d0, s1+d1, s2+d2, s3+d3
		q0, q1, q2, q3 = q0+float64(d0*d0), q1+float64(d1*d1), q2+float64(d2*d2), q3+float64(d3*d3)
	}
	*sum, *square = [4]float64{s0, s1, s2, s3}, [4]float64{q0, q1, q2, q3}
}

// settle makes the moments of a column of its sums.
func (t *trained) settle(j int, a, sum, square float64) {
	v := t.v
	if t.means == nil {
		t.squares[j] = square
		return
	}
	mean := a + sum/v.total
	off := float64(sum * (sum / v.total))
	switch {
	case 0 < square && square <= math.MaxFloat64 && off <= mostOff*square:
		t.means[j], t.squares[j] = mean, square-off
		return
	case square == 0:
		_, values := v.x.Column(j)
		if constant, ok := v.constant(nil, values); ok { // and no deviation that is too small to be squared
			t.means[j], t.squares[j] = constant, nothing
			return
		}
	}
	t.means[j], t.squares[j] = mean, v.spread(j, mean)
}
