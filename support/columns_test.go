package support_test

import (
	"math"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/support"
)

// TestReweighedColumns checks columns after changes of the weights of all rows, or to a sample of the rows, whatever
// was held before: they must be √w(x − x̄), sparse ones without the centring, with the norm of √w(x − x̄), and the
// Gram matrix must be theirs.
func TestReweighedColumns(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 3 + r.Intn(30), P: 6, Density: r.Pick(0.4, 1), Mean: r.Pick(0, 2), Weights: seed%2 == 0})
		q.Intercept = seed%4 < 2
		n, p := q.Dims()
		dense := seed%3 == 0
		view := fixture.View(t, q, dense)
		c := support.NewColumns(view)
		gram := support.NewGram(c)
		d := make([]float64, n)
		for range 4 {
			thin := r.Intn(2) == 0
			for i := range d {
				d[i] = q.Weight(i) * (0.1 + r.Float64())
				if thin && i > 0 && r.Intn(2) == 0 {
					d[i] = 0
				}
			}
			if thin {
				var rows []int32
				var theirs []float64
				for i, w := range d {
					if w > 0 {
						rows, theirs = append(rows, int32(i)), append(theirs, w)
					}
				}
				c.Subsample(rows, theirs)
			} else {
				c.Reweigh(d)
			}
			cols := pick(r, p)
			c.Hold(cols)
			gram.Hold(cols)
			packed := map[int32][]float64{}
			for _, j := range cols {
				var total, first, second oracle.Sum
				for i, w := range d {
					total.Add(w)
					first.AddProduct(w, q.X[i][j])
				}
				mean := 0.0
				if q.Intercept {
					mean = first.Value() / total.Value()
				}
				want := make([]float64, 0, n)
				for i, w := range d {
					if q.Weight(i) > 0 && (w > 0 || !thin) {
						second.AddProduct(w*(q.X[i][j]-mean), q.X[i][j]-mean)
						shift := 0.0
						if dense {
							shift = mean
						}
						want = append(want, math.Sqrt(w)*(q.X[i][j]-shift))
					}
				}
				got := make([]float64, len(want))
				rows, values := c.Column(j)
				for k, v := range values {
					if rows == nil {
						got[k] = v
					} else {
						got[rows[k]] = v
					}
				}
				for k := range want {
					if math.Abs(got[k]-want[k]) > 1e-13*(1+math.Abs(want[k])) {
						t.Fatalf("seed %d, column %d, row %d: %g, want %g", seed, j, k, got[k], want[k])
					}
				}
				packed[j] = got
				if square := second.Value(); math.Abs(c.Square(j)-square) > 1e-12*(1+square) {
					t.Errorf("seed %d, column %d: ‖x‖² = %g, want %g", seed, j, c.Square(j), square)
				}
			}
			for _, a := range cols {
				for _, b := range cols {
					var product oracle.Sum
					for k, v := range packed[a] {
						product.AddProduct(v, packed[b][k])
					}
					want := math.FMA(-c.Total()*c.Mean(a), c.Mean(b), product.Value())
					if got := gram.Row(gram.Slot(a))[gram.Slot(b)]; math.Abs(got-want) > 1e-12*float64(n) {
						t.Errorf("seed %d, columns %d and %d: %g in the Gram matrix, want %g", seed, a, b, got, want)
					}
				}
			}
		}
	}
}

// TestNormsOfNearlyConstantColumns checks a sparse column whose entries differ little from their mean: its weighted
// norm, which is that of the differences, must be accurate to as many digits as the entries allow.
func TestNormsOfNearlyConstantColumns(t *testing.T) {
	q := &oracle.Problem{Alpha: []float64{1}, Intercept: true}
	d := make([]float64, 40)
	for i := range d {
		q.X = append(q.X, []float64{1e6 + float64(i%7)})
		q.Y = append(q.Y, float64(i%2))
		d[i] = 0.1 + float64(i%3)
	}
	c := support.NewColumns(fixture.View(t, q, false))
	c.Reweigh(d)
	c.Hold([]int32{0})
	var total, first, square oracle.Sum
	for i, w := range d {
		total.Add(w)
		first.AddProduct(w, q.X[i][0])
	}
	for i, w := range d {
		off := q.X[i][0] - first.Value()/total.Value()
		square.AddProduct(w*off, off)
	}
	if got, want := c.Square(0), square.Value(); math.Abs(got-want) > 1e-9*want {
		t.Errorf("‖x‖² = %.15g, want %.15g", got, want)
	}
}

// TestPredictionsRegained checks the change of the predictions that is recovered from a working residual. After
// columns times δ were subtracted from that, it must be X̃δ in the rows that the store has. Nothing may be recovered
// if the slope of some row is too steep for its curvature.
func TestPredictionsRegained(t *testing.T) {
	for seed := range oracle.Cases(40) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 5 + r.Intn(30), P: 6, Density: r.Pick(0.4, 1), Mean: r.Pick(0, 2), Weights: seed%2 == 0})
		q.Intercept = seed%4 < 2
		n, p := q.Dims()
		view := fixture.View(t, q, seed%3 == 0)
		c := support.NewColumns(view)
		d := make([]float64, n)
		for i := range d {
			d[i] = q.Weight(i) * (0.1 + r.Float64())
		}
		c.Reweigh(d)
		all := make([]int32, p)
		for j := range all {
			all[j] = int32(j)
		}
		c.Hold(all)
		v := make([]float64, n)
		for i := range v {
			v[i] = d[i] * r.Normal()
		}
		var left []float64
		c.Own(v, &left)
		delta, offset := make([]float64, p), 0.0
		for j := range delta {
			delta[j] = r.Normal()
			rows, values := c.Column(all[j])
			for k, value := range values {
				i := k
				if rows != nil {
					i = int(rows[k])
				}
				left[i] -= delta[j] * value
			}
			offset += delta[j] * c.Mean(all[j])
		}
		u := make([]float64, n)
		if c.Regain(v, left, offset, 1e-9, u) {
			t.Errorf("seed %d: a steep row was not refused", seed)
		}
		if !c.Regain(v, left, offset, 1e9, u) {
			t.Fatalf("seed %d: refused", seed)
		}
		for i, got := range u {
			want := 0.0
			if q.Weight(i) > 0 {
				for j, d := range delta {
					want += d * (q.X[i][j] - c.Centre(all[j]))
				}
			}
			if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
				t.Errorf("seed %d: prediction %d has moved by %g, want %g", seed, i, got, want)
			}
		}
	}
}
