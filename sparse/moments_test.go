package sparse_test

import (
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/fixture"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/team"
	"github.com/seed-45b9a24c/pare/kernels"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestIntroduceIsCorrelate checks that Introduce has the bits of Correlate, and that the means and norms from this pass
// equal those of a pass of their own. These are close to their definition even if a column cancels, is constant, or has
// held-out rows whose squares overflow.
func TestIntroduceIsCorrelate(t *testing.T) {
	k := fixture.Kernels(t)
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 2 + r.Intn(300), P: 1 + r.Intn(400), Density: r.Pick(0.05, 0.4, 1), Mean: r.Pick(0, 1, 1e6)})
		q.Intercept = seed%2 == 0
		n, p := q.Dims()
		if seed%4 != 0 {
			q.Weights = make([]float64, n)
			for i := range q.Weights {
				q.Weights[i] = float64(r.Intn(2))
			}
			q.Weights[0] = 1
		}
		for i := range n {
			q.X[i][0] = 3 // a constant column
			if seed%3 == 0 && q.Weights != nil && q.Weights[i] == 0 {
				q.X[i][0] = 1e200
			}
		}
		u := make([]float64, n)
		for i := range u {
			u[i] = r.Normal()
		}
		for name, x := range storages(t, q) {
			view := func() *sparse.View {
				v, err := sparse.NewView(k, x, q.Weights, q.Intercept)
				if err != nil && q.Weights == nil {
					t.Fatal(err)
				}
				return v
			}
			met, apart := view(), view()
			columns := len(x.Order())
			got, want := make([]float64, columns), make([]float64, columns)
			met.Introduce(u, got)
			apart.Correlate(0, columns, u, want)
			for c := range got {
				if got[c] != want[c] {
					t.Fatalf("seed %d, %s: correlation %d is %g, want %g", seed, name, c, got[c], want[c])
				}
			}
			for j := range p {
				if met.Norm(j) != apart.Norm(j) || met.Mean(j) != apart.Mean(j) {
					t.Fatalf("seed %d, %s: column %d: norm %g and mean %g after Introduce, %g and %g else", seed, name, j, met.Norm(j), met.Mean(j), apart.Norm(j), apart.Mean(j))
				}
				mean := 0.0
				if q.Intercept {
					mean = q.Mean(j)
				}
				if norm := math.Sqrt(q.Norm2(j)); math.Abs(met.Norm(j)-norm) > 1e-13*norm+1e-15*math.Sqrt(float64(n))*math.Abs(mean) {
					t.Errorf("seed %d, %s: norm of column %d is %.17g, want %.17g", seed, name, j, met.Norm(j), norm)
				}
			}
		}
	}
}

// TestSparseColumnsKeepTheirSpreadUnderWeights checks the norms of columns far from 0 with rows that are not stored:
// the total weight of those rows must not be replaced by rounding error.
func TestSparseColumnsKeepTheirSpreadUnderWeights(t *testing.T) {
	k := fixture.Kernels(t)
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		n, far := 3+r.Intn(40), r.Pick(1, 1e6, 1e8)
		q := r.Problem(oracle.Shape{N: n, P: 4, Density: 1})
		q.Weights, q.Intercept = make([]float64, n), true
		for i := range n {
			q.Weights[i] = r.Pick(0.1, 0.3, 0.7)
			for j := range 3 {
				q.X[i][j] += far
			}
		}
		switch last := n - 1; seed % 3 {
		case 1: // almost no weight and almost all of the spread
			q.X[last][1], q.Weights[last] = 0, 1e-12
		case 2: // the same in many rows
			for i := range n - 2 {
				q.X[i][1], q.Weights[i] = 0, 1e-18
			}
		}
		for name, x := range storages(t, q) {
			v, err := sparse.NewView(k, x, q.Weights, true)
			if err != nil {
				t.Fatal(err)
			}
			for j := range 4 {
				mean := new(big.Float).SetPrec(300)
				total := new(big.Float).SetPrec(300)
				number := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
				for i, s := range q.Weights {
					total.Add(total, number(s))
					mean.Add(mean, number(s).Mul(number(s), number(q.X[i][j])))
				}
				mean.Quo(mean, total)
				spread := number(0)
				for i, s := range q.Weights {
					off := number(0).Sub(number(q.X[i][j]), mean)
					spread.Add(spread, off.Mul(off, off).Mul(off, number(s)))
				}
				square, _ := spread.Float64()
				if want := math.Sqrt(square); !(math.Abs(v.Norm(j)-want) <= 1e-7*want) {
					t.Errorf("seed %d, %s: norm of column %d is %.17g, want %.17g", seed, name, j, v.Norm(j), want)
				}
			}
		}
	}
}

// TestWholePassIsShared checks that the bits do not depend on the number of threads that share a pass over all columns.
func TestWholePassIsShared(t *testing.T) {
	k := fixture.Kernels(t)
	threads := team.NewThreads(4, nil)
	r := oracle.NewRandom(1)
	q := r.Problem(oracle.Shape{N: 300, P: 500, Density: 0.9})
	q.Intercept = true
	u := make([]float64, 300)
	for i := range u {
		u[i] = r.Normal()
	}
	for _, weighted := range []bool{false, true} {
		if weighted {
			q.Weights = make([]float64, 300)
			for i := range q.Weights {
				q.Weights[i] = float64(r.Intn(3))
			}
		}
		for name, x := range storages(t, q) {
			alone, err := sparse.NewView(k, x, q.Weights, true)
			if err != nil {
				t.Fatal(err)
			}
			together, err := sparse.NewView(k, x, q.Weights, true)
			if err != nil {
				t.Fatal(err)
			}
			shared := together.With(threads.Team())
			for range 2 { // with and without the moments
				want, got := make([]float64, len(x.Order())), make([]float64, len(x.Order()))
				alone.Introduce(u, want)
				shared.Introduce(u, got)
				if !slices.Equal(got, want) || !slices.Equal(shared.Norms(), alone.Norms()) {
					t.Errorf("%s, weights %v: other bits", name, weighted)
				}
			}
			want, got := make([]float64, len(x.Order())), make([]float64, len(x.Order()))
			alone.Dots(x.Order(), u, want)
			shared.Dots(x.Order(), u, got)
			for k, j := range x.Order() {
				if got[k] != want[k] || got[k] != alone.Dot(int(j), u) {
					t.Errorf("%s, weights %v, column %d: other bits", name, weighted, j)
				}
			}
			shared.Team().Rest()
			if runtime.GOMAXPROCS(0) > 1 && !(shared.Team().Shared() > 0) {
				t.Errorf("%s, weights %v: nothing was shared", name, weighted)
			}
		}
	}
}

// TestWholeCountsHeldOutRows checks the squared norm of a column over all rows with equal weight: exact if rows are
// either in or out, otherwise an upper bound, and scaled like the view.
func TestWholeCountsHeldOutRows(t *testing.T) {
	for seed := range oracle.Cases(60) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 2 + r.Intn(50), P: 1 + r.Intn(20), Density: r.Pick(0.2, 1), Mean: r.Pick(0, 3)})
		q.Intercept = seed%2 == 0
		n, p := q.Dims()
		kind := r.Intn(3)
		if kind > 0 {
			q.Weights = make([]float64, n)
			for i := range q.Weights {
				q.Weights[i] = r.Pick(0, 1)
				if kind == 2 {
					q.Weights[i] *= 2.5
				}
			}
			q.Weights[0] = 1
		}
		for name, x := range storages(t, q) {
			v, err := sparse.NewView(fixture.Kernels(t), x, q.Weights, q.Intercept)
			if err != nil {
				t.Fatal(err)
			}
			if r.Intn(2) == 0 {
				v = v.Standardised()
			}
			for j := range p {
				a := 0.0
				if q.Intercept {
					a = v.Mean(j) + r.Pick(0, 0.1)
				}
				var sum oracle.Sum
				for i := range n {
					d := q.X[i][j]*v.Scale(j) - a
					sum.AddProduct(d, d)
				}
				got, want := v.Whole(j, a), sum.Value()
				if got < want*(1-1e-10) || kind < 2 && got > want*(1+1e-10) {
					t.Errorf("seed %d, %s: column %d is %g over all rows, want %g", seed, name, j, got, want)
				}
			}
		}
	}
}

// TestNormsInStorageOrder checks that norms in storage order are those of the columns, however the view was made.
func TestNormsInStorageOrder(t *testing.T) {
	for seed := range oracle.Cases(20) {
		r := oracle.NewRandom(seed)
		q := r.Problem(oracle.Shape{N: 30, P: 12, Density: r.Pick(0.2, 1), Mean: r.Pick(0, 2), Weights: seed%2 == 0})
		for i := range q.X {
			q.X[i][3] = 1 // constant, so that its norm is 0 with an intercept
		}
		q.Intercept = seed%4 < 2
		view := fixture.View(t, q, seed%3 == 0)
		some, err := view.Standardised().Rows([]int32{0, 2, 3, 5, 7, 11, 12, 13, 19})
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []*sparse.View{view, view.Standardised(), some} {
			norms := v.Norms()
			for k, j := range v.Matrix().Order() {
				if norms[k] != v.Norm(int(j)) {
					t.Errorf("seed %d: ‖X̃_%d‖ₛ is %g, in storage order %g", seed, j, v.Norm(int(j)), norms[k])
				}
			}
		}
	}
}

// TestMomentsAfterACancel checks that data which a matrix caches for all its views are computed again if the call that
// was computing them was cancelled.
func TestMomentsAfterACancel(t *testing.T) {
	n := 3 << 16
	column := make([]float64, 2*n)
	for i := range column {
		column[i] = math.Sin(float64(i))
	}
	k := kernels.Available()[0]
	matrix := func() sparse.Matrix {
		x, err := sparse.NewDense(n, 2, column)
		if err != nil {
			t.Fatal(err)
		}
		return sparse.Compressed(x)
	}
	weights := slices.Repeat([]float64{1}, n)
	want, err := sparse.NewView(k, matrix(), weights, true)
	if err != nil {
		t.Fatal(err)
	}
	x := matrix()
	step := 1
	if oracle.Few() {
		step = 13
	}
	for looks := 0; ; looks += step {
		l := oracle.LooksOf(t.Context(), looks)
		var ended error
		func() {
			defer kernels.Caught(&ended)
			_, err = sparse.NewView(k.Until(l), x, weights, true)
		}()
		if ended == nil {
			if err != nil || looks == 0 {
				t.Fatalf("after %d looks: %v", looks, err)
			}
			break
		}
		got, err := sparse.NewView(k, x, weights, true)
		if err != nil {
			t.Fatal(err)
		}
		for j := range 2 {
			if got.Norm(j) != want.Norm(j) || got.Mean(j) != want.Mean(j) {
				t.Fatalf("ended after %d looks: norm %g, mean %g, want %g and %g", looks, got.Norm(j), got.Mean(j), want.Norm(j), want.Mean(j))
			}
		}
		x = matrix()
	}
}
