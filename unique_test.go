package pare_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare"
	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/loss"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestUniqueness checks that uniqueness is proved if the columns are independent or there is a ridge, disproved if
// copies share a coefficient or a column with |z| = α depends on the support, and left open if the gap is too large to
// decide.
func TestUniqueness(t *testing.T) {
	const yes, no, unknown = "yes", "no", "unknown"
	r := oracle.NewRandom(4)
	plain := r.Problem(oracle.Shape{N: 40, P: 8, Active: 4})
	twins, between := r.Problem(oracle.Shape{N: 40, P: 8}), r.Problem(oracle.Shape{N: 40, P: 8})
	wide := r.Problem(oracle.Shape{N: 20, P: 200, Active: 15})
	for i := range twins.X {
		row := twins.X[i]
		row[5] = -row[0]
		twins.Y[i] = row[0] + 0.1*r.Normal()
		// z of the last column is the mean of those of the first two, so that all three have |z| = α.
		row = between.X[i]
		row[7] = (row[0] + row[1]) / 2
		between.Y[i] = row[0] + row[1] + 0.1*r.Normal()
	}
	for _, c := range []struct {
		name   string
		q      *oracle.Problem
		config pare.Config
		want   string
	}{
		{"independent columns", plain, pare.Config{}, yes},
		{"independent columns, β ≥ 0", plain, pare.Config{Positive: true}, yes},
		{"copies", twins, pare.Config{Tol: 1e-12}, no},
		{"copies and a ridge", twins, pare.Config{Model: pare.ElasticNet}, yes},
		{"copies, β ≥ 0", twins, pare.Config{Positive: true, Tol: 1e-12}, yes},
		{"a ridge alone", wide, pare.Config{Model: pare.Ridge}, yes},
		{"a column between others", between, pare.Config{Tol: 1e-15}, no},
		{"more columns than rows", wide, pare.Config{Tol: 0.1}, unknown},
		{"more columns than rows, solved", wide, pare.Config{Tol: 1e-13}, yes},
	} {
		_, p := c.q.Dims()
		x := matrixOf(t, c.q.X, p, false)
		c.config.Certify = true
		lambda := somewhere(t, x, c.q.Y, c.config)
		f, err := pare.Fit(context.Background(), x, c.q.Y, lambda, c.config)
		if err != nil {
			t.Fatal(err)
		}
		got := unknown
		if f.Unique != nil {
			if got = no; *f.Unique {
				got = yes
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s: %+v", c.name, got, c.want, f)
		}
	}
	x, y := load(t)
	f, err := pare.Fit(context.Background(), x, y, []float64{-2}, pare.Config{Certify: true, Tol: 1e-10})
	if err != nil || f.Unique == nil || !*f.Unique || !f.SupportCertified || !(f.DualMargin > 0) || math.IsNaN(f.SecondsCertify) {
		t.Errorf("%v, %+v", err, f)
	}
}

// TestUniquenessOfClasses checks that one class with several solutions makes the whole not unique, and that one
// undecided class leaves the whole undecided.
func TestUniquenessOfClasses(t *testing.T) {
	x, y := flowers(t)
	seen := map[bool]bool{}
	for _, tol := range []float64{0.3, 0.1, 1e-2, 1e-4, 1e-12} {
		c := pare.Config{Model: pare.Multiclass, Certify: true, Tol: tol}
		f, err := pare.Fit(context.Background(), x, y, somewhere(t, x, y, c), c)
		if err != nil {
			t.Fatal(err)
		}
		open, others := false, false
		for _, one := range f.PerClass {
			open = open || one.Unique == nil
			others = others || one.Unique != nil && !*one.Unique
		}
		if (f.Unique == nil) != (open && !others) || f.Unique != nil && *f.Unique == others {
			t.Errorf("tolerance %g: unique %v, of the classes open %t, with others %t", tol, f.Unique, open, others)
		}
		seen[open] = true
	}
	if len(seen) != 2 {
		t.Errorf("open: %v", seen)
	}
}

// TestGradientsSettleTheSupport checks that a gradient tightens a tolerance that leaves the support undecided until the
// support is proved.
func TestGradientsSettleTheSupport(t *testing.T) {
	r := oracle.NewRandom(4)
	wide := r.Problem(oracle.Shape{N: 20, P: 200, Active: 15})
	x := matrixOf(t, wide.X, 200, false)
	c := pare.Config{Certify: true, Tol: 3e-3}
	g, err := pare.Gradient(context.Background(), x, wide.Y, somewhere(t, x, wide.Y, c), pare.Validation{InOrder: true}, c)
	if err != nil {
		t.Fatal(err)
	}
	if !g.SupportCertified || g.Status != outcome.Converged || g.RelativeGap > 1e-2*c.Tol {
		t.Errorf("certified %t, %s, gap %.1e", g.SupportCertified, g.Status, g.RelativeGap)
	}
}

// TestCopiesStayOneWhereAStepOverflows checks that merged copies and zero columns stay out of a solve in which e^m
// overflows during a step: the coefficients of two copies then sum to that of a single column.
func TestCopiesStayOneWhereAStepOverflows(t *testing.T) {
	const n = 697
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = r.NormFloat64()
			y[i] = math.Floor(math.Exp(min(2*x[i]+2*r.NormFloat64(), 12)) * 3 * r.Float64())
		}
		c := pare.Config{Loss: loss.Poisson{}, NoIntercept: true}
		one, err := sparse.NewDense(n, 1, x)
		if err != nil {
			t.Fatal(err)
		}
		three, err := sparse.NewDense(n, 3, slices.Concat(x, make([]float64, n), x))
		if err != nil {
			t.Fatal(err)
		}
		top, err := pare.LogLambdaMax(one, y, c)
		if err != nil {
			t.Fatal(err)
		}
		at := []float64{top[0] - 3}
		want, err := pare.Fit(t.Context(), one, y, at, c)
		if err != nil {
			t.Fatal(err)
		}
		got, err := pare.Fit(t.Context(), three, y, at, c)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status != outcome.Converged || !slices.Equal(got.Support, []int32{0, 2}) || math.Abs(got.Coef[0]+got.Coef[1]-want.Coef[0]) > 1e-6 {
			t.Errorf("seed %d: %s, %v %g, want %g", seed, got.Status, got.Support, got.Coef, want.Coef)
		}
	}
}
