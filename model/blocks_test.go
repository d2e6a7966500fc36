package model_test

import (
	"math"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/model"
	"github.com/seed-45b9a24c/pare/outcome"
)

// penaltyOf makes a penalty at λ.
type penaltyOf func(l ...float64) (model.Blocks, error)

// blockPenalties returns all penalties on blocks, for blocks of three coefficients.
func blockPenalties() map[string]penaltyOf {
	w := []float64{1.3}
	of := func(g model.Grouped, err error) (model.Blocks, error) { return g, err }
	return map[string]penaltyOf{
		"group":        func(l ...float64) (model.Blocks, error) { return of(model.GroupLasso(w, l[0])) },
		"group_enet":   func(l ...float64) (model.Blocks, error) { return of(model.GroupNet(w, l[0], l[1])) },
		"sparse_group": func(l ...float64) (model.Blocks, error) { return of(model.SparseGroup(w, 0.4, l[0])) },
		"pair":         func(l ...float64) (model.Blocks, error) { return of(model.SparseGroupPair(w, l[0], l[1])) },
		"l1":           func(l ...float64) (model.Blocks, error) { return of(model.ScoresLasso(3, l[:1])) },
		"l1_per_class": func(l ...float64) (model.Blocks, error) { return of(model.ScoresLasso(3, l)) },
		"enet":         func(l ...float64) (model.Blocks, error) { return of(model.ScoresNet(3, l[0], l[1])) },
		"rows":         func(l ...float64) (model.Blocks, error) { return of(model.ScoresGroup(3, l[0])) },
		"mcp": func(l ...float64) (model.Blocks, error) {
			g, err := model.NewMCP(l[0], 2+l[1])
			return model.Elementwise{Of: g}, err
		},
		"scad": func(l ...float64) (model.Blocks, error) {
			g, err := model.NewSCAD(l[0], 2+l[1])
			return model.Elementwise{Of: g}, err
		},
	}
}

// TestBlockPenalties checks every penalty on blocks against its definition: the prox is a minimiser, satisfies the
// optimality conditions and has the derivatives that Curvature states, and Sensitivity is a derivative in λ.
func TestBlockPenalties(t *testing.T) {
	const step, h = 0.7, 1e-6
	for name, of := range blockPenalties() {
		r := oracle.NewRandom(7)
		for range 300 {
			l := []float64{0.5 * r.Normal(), 0.2 * r.Normal(), 0.5 * r.Normal()}
			g, err := of(l...)
			if err != nil {
				t.Fatal(err)
			}
			d := 3
			if g.Concavity() > 0 {
				d = 1
			}
			z, b, lack := make([]float64, d), make([]float64, d), make([]float64, d)
			for k := range z {
				z[k] = 3 * r.Normal()
			}
			g.Prox(0, z, step, b)
			value := func(x []float64) float64 {
				sum := step * g.Value(0, x)
				for k, v := range x {
					sum += (v - z[k]) * (v - z[k]) / 2
				}
				return sum
			}
			least := value(b)
			for range 20 {
				x := make([]float64, d)
				for k := range x {
					x[k] = b[k] + r.Pick(1e-3, 0.1, 1)*r.Normal()
				}
				if value(x) < least-1e-12 {
					t.Fatalf("%s: prox(%v) = %v is no minimum, %v is lower", name, z, b, x)
				}
			}
			slope := make([]float64, d) // in the subdifferential of g
			for k := range slope {
				slope[k] = (z[k] - b[k]) / step
			}
			g.Lack(0, b, slope, lack)
			for _, v := range lack {
				if math.Abs(v) > 1e-13*(1+math.Abs(z[0])) {
					t.Fatalf("%s: the prox of %v lacks %v", name, z, lack)
				}
			}
			checkDerivatives(t, name, of, g, l, b, h)
		}
	}
}

// checkDerivatives compares Curvature and Sensitivity with differences of the gradient of g, which is −Lack at z =
// 0, on entries that are not 0.
func checkDerivatives(t *testing.T, name string, of penaltyOf, g model.Blocks, l, b []float64, h float64) {
	t.Helper()
	d := len(b)
	gradient := func(g model.Blocks, x []float64) []float64 {
		out := make([]float64, d)
		g.Lack(0, x, make([]float64, d), out)
		for k := range out {
			out[k] = -out[k]
		}
		return out
	}
	curve, shift := make([]float64, d*d), make([]float64, d)
	for i := range curve {
		curve[i] = 0.25
	}
	g.Curvature(0, b, curve) // adds to curve
	for i := range curve {
		curve[i] -= 0.25
	}
	compare := func(what string, k int, up, down []float64, want func(k int) float64) {
		for k2 := range d {
			if b[k2] == 0 {
				continue
			}
			if got := (up[k2] - down[k2]) / (2 * h); math.Abs(got-want(k2)) > 1e-5*(1+math.Abs(got)) {
				t.Fatalf("%s, %s %d at %v: %g, differences %g", name, what, k, b, want(k2), got)
			}
		}
	}
	for k, v := range b {
		if v == 0 {
			for l := range d {
				if math.Abs(curve[k*d+l]) > 1e-15 {
					t.Fatalf("%s: curvature %g in row %d of %v", name, curve[k*d+l], k, b)
				}
			}
		}
		if math.Abs(v) < 1e-3 {
			continue
		}
		x := append([]float64(nil), b...)
		x[k] = v + h
		up := gradient(g, x)
		x[k] = v - h
		compare("curvature", k, up, gradient(g, x), func(k2 int) float64 { return curve[k2*d+k] })
	}
	for i := range g.Hyperparameters() {
		g.Sensitivity(0, i, b, shift)
		moved := append([]float64(nil), l...)
		moved[i] += h
		up, _ := of(moved...)
		moved[i] -= 2 * h
		down, _ := of(moved...)
		for k := range b {
			if b[k] == 0 && shift[k] != 0 {
				t.Fatalf("%s, λ %d at %v: %g where b is 0", name, i, b, shift[k])
			}
		}
		compare("λ", i, gradient(up, b), gradient(down, b), func(k int) float64 { return -shift[k] })
	}
}

// TestReach checks that the conjugate is finite up to the reach and not beyond it, and that αmax is where the null
// model ceases to be the solution.
func TestReach(t *testing.T) {
	r := oracle.NewRandom(11)
	for name, of := range blockPenalties() {
		g, err := of(-0.3, 0.2, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		convex, ok := g.(model.ConvexBlocks)
		if !ok {
			continue
		}
		for range 200 {
			a, lack := make([]float64, 3), make([]float64, 3)
			for k := range a {
				a[k] = r.Pick(0.1, 1, 10) * r.Normal()
			}
			c := convex.Reach(0, a)
			at := func(scale float64) (size float64) {
				z := make([]float64, 3)
				for k, v := range a {
					z[k] = c * scale * v
				}
				g.Lack(0, make([]float64, 3), z, lack)
				for _, v := range lack {
					size += math.Abs(v)
				}
				return size
			}
			if at(1-1e-12) != 0 || at(1+1e-9) == 0 {
				t.Fatalf("%s: reach %g of %v", name, c, a)
			}
		}
	}
}

// TestClearanceIsHowFarABlockIsFromLeavingZero checks the clearance of a block of zeros under a norm against the
// scale of z at which zeros violate the optimality conditions, found by bisection, and that of an entry that an ℓ1
// term alone holds at 0 against its threshold.
func TestClearanceIsHowFarABlockIsFromLeavingZero(t *testing.T) {
	r := oracle.NewRandom(12)
	for name, of := range blockPenalties() {
		g, err := of(0.1, 0.2, 0.3)
		if err != nil {
			t.Fatal(err)
		}
		grouped, ok := g.(model.Grouped)
		if !ok {
			continue
		}
		if grouped.Concavity() != 0 {
			t.Errorf("%s is convex, concavity %g", name, grouped.Concavity())
		}
		leaves := func(z []float64) float64 { // the scale of z at which zeros violate the optimality conditions
			low, high := 0.0, 1e6
			for range 200 {
				scale, size := (low+high)/2, 0.0
				at, lack := make([]float64, len(z)), make([]float64, len(z))
				for k, v := range z {
					at[k] = scale * v
				}
				g.Lack(0, make([]float64, len(z)), at, lack)
				for _, v := range lack {
					size += math.Abs(v)
				}
				if size > 0 {
					high = scale
				} else {
					low = scale
				}
			}
			return low
		}
		for range 20 {
			z := []float64{r.Normal(), r.Normal(), r.Normal()}
			if want := 1 - 1/leaves(z); math.Abs(g.Clearance(0, make([]float64, 3), z)-math.Min(1, want)) > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%s: clearance %g of %v, want %g", name, g.Clearance(0, make([]float64, 3), z), z, want)
			}
		}
		if name == "sparse_group" || name == "pair" {
			// In a block that is not 0: the least 1 − |z|/α₁ over its zero entries.
			alpha := math.Exp(0.1)
			if name == "sparse_group" {
				alpha *= 0.4
			}
			want := 1 - 0.3/alpha
			if got := g.Clearance(0, []float64{1, 0, 0}, []float64{9, 0.1, -0.3}); math.Abs(got-want) > 1e-15 {
				t.Errorf("%s: clearance %g beside an entry that is not 0, want %g", name, got, want)
			}
		}
	}
}

// TestReachOfZeroIsUnlimited checks that the reach of a zero block is infinite, and that of a unit vector finite.
func TestReachOfZeroIsUnlimited(t *testing.T) {
	for name, of := range blockPenalties() {
		g, err := of(0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if convex, ok := g.(model.ConvexBlocks); ok {
			if at0, at1 := convex.Reach(0, make([]float64, 3)), convex.Reach(0, []float64{0, 1, 0}); !math.IsInf(at0, 1) || math.IsInf(at1, 1) {
				t.Errorf("%s: reach %g of 0 and %g of a unit vector", name, at0, at1)
			}
		}
	}
}

// TestJudgeIsLackAndClearance checks Judge against Lack and Clearance, column by column.
func TestJudgeIsLackAndClearance(t *testing.T) {
	r := oracle.NewRandom(14)
	mcp, err := model.NewMCP(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := model.Elementwise{Of: mcp}
	for _, b := range []float64{-0.5, 0, 0.5, 1, 2} {
		for i := range 2 {
			out := []float64{77}
			if g.Sensitivity(0, i, []float64{b}, out); out[0] != mcp.Shift(0, i, b) {
				t.Errorf("sensitivity %d at %g: %g, want %g", i, b, out[0], mcp.Shift(0, i, b))
			}
		}
	}
	for range 200 {
		columns := []int32{0, 2, 3}
		b, z, lack, one := make([]float64, 5), make([]float64, 5), make([]float64, 5), make([]float64, 1)
		for j := range z {
			b[j], z[j], lack[j] = r.Pick(0, 0, 2*r.Normal()), r.Pick(0.3, 2)*r.Normal(), 77
		}
		worst, clearance := g.Judge(columns, b, z, lack)
		wantWorst, wantClearance := 0.0, 1.0
		for _, j := range columns {
			g.Lack(int(j), b[j:j+1], z[j:j+1], one)
			if lack[j] != math.Abs(one[0]) {
				t.Fatalf("column %d with %g and %g: lacks %g, want %g", j, b[j], z[j], lack[j], math.Abs(one[0]))
			}
			wantWorst = math.Max(wantWorst, lack[j])
			if b[j] == 0 {
				wantClearance = math.Min(wantClearance, 1-math.Abs(z[j])/mcp.Strength())
			}
		}
		if worst != wantWorst || clearance != wantClearance || lack[1] != 77 || lack[4] != 77 {
			t.Fatalf("worst %g, want %g; clearance %g, want %g; others %g and %g", worst, wantWorst, clearance, wantClearance, lack[1], lack[4])
		}
	}
}

// TestEntriesThatAShiftLeavesAreNoKink checks scores that are determined up to a common shift: with an even number
// of classes an entry at its threshold is merely at the end of a range of equivalent solutions; with an odd number
// it is about to leave 0.
func TestEntriesThatAShiftLeavesAreNoKink(t *testing.T) {
	for scores, want := range map[int]float64{2: 0.5, 3: 1e-12, 4: 0.5} {
		g, err := model.ScoresLasso(scores, []float64{0})
		if err != nil {
			t.Fatal(err)
		}
		z := make([]float64, scores)
		z[0], z[1] = 1-1e-12, 0.5
		if got := g.Clearance(0, make([]float64, scores), z); math.Abs(got-want) > 1e-15 {
			t.Errorf("%d classes: clearance %g, want %g", scores, got, want)
		}
	}
	g, err := model.GroupLasso(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Clearance(0, make([]float64, 2), []float64{1 - 1e-12, 0}); math.Abs(got-1e-12) > 1e-15 {
		t.Errorf("one score: clearance %g", got)
	}
}

// TestPartitionsAreByNumberInTheOrderOfColumns checks that groups are numbered in the order of their first
// columns, and that the entries of a group are gathered column by column.
func TestPartitionsAreByNumberInTheOrderOfColumns(t *testing.T) {
	part, err := model.NewPartition([]int{7, 0, 7, 2, 0, 7})
	if err != nil {
		t.Fatal(err)
	}
	blocks := [][]int32{{0, 2, 5}, {1, 4}, {3}}
	if part.Count() != 3 || part.Largest() != 3 || !slices.Equal(part.All(), []int32{0, 2, 5, 1, 4, 3}) {
		t.Errorf("%d blocks, the largest of %d, columns %v", part.Count(), part.Largest(), part.All())
	}
	values := make([]float64, 12) // two scores per column
	for i := range values {
		values[i] = float64(i)
	}
	for b, want := range blocks {
		if !slices.Equal(part.Columns(b), want) {
			t.Errorf("block %d: %v, want %v", b, part.Columns(b), want)
		}
		var entries []float64
		for _, j := range want {
			if part.Of(j) != b {
				t.Errorf("column %d is in block %d", j, part.Of(j))
			}
			entries = append(entries, float64(2*j), float64(2*j+1))
		}
		room := make([]float64, 6)
		if got := model.Gather(part, b, 2, values, room); !slices.Equal(got, entries) {
			t.Errorf("block %d: gathered %v, want %v", b, got, entries)
		}
		if got := model.Entries(part, b, 2, values, room); !slices.Equal(got, entries) {
			t.Errorf("block %d: entries %v, want %v", b, got, entries)
		}
	}
	roots := model.RootSizes(part)
	if want := []float64{math.Sqrt(3), math.Sqrt2, 1}; !slices.Equal(roots, want) {
		t.Errorf("roots %v", roots)
	}
	unit, err := model.GroupLasso(roots, 0)
	if err != nil {
		t.Fatal(err)
	}
	z := []float64{3, 1, 0, 9, 2, -4} // group norms 5, √5 and 9
	if got := model.BlockMax(unit, part, 1, z); math.Abs(got-9) > 1e-14 {
		t.Errorf("αmax %g, want 9", got)
	}
	z[3] = 0
	if got := model.BlockMax(unit, part, 1, z); math.Abs(got-5/math.Sqrt(3)) > 1e-14 {
		t.Errorf("αmax %g, want 5/√3", got)
	}
	if _, err := model.NewPartition([]int{0, -1}); outcome.KindOf(err) != outcome.BadParameter {
		t.Errorf("a negative number: %v", err)
	}
	one := model.Singletons(3)
	for j := range int32(3) {
		if one.Count() != 3 || one.Of(j) != int(j) || !slices.Equal(one.Columns(int(j)), []int32{j}) {
			t.Errorf("column %d of its own: %v", j, one.Columns(int(j)))
		}
	}
	for weights, ok := range map[[3]float64]bool{{1, 2, 3}: true, {1, 0, 3}: false, {1, 2, math.Inf(1)}: false, {-1, 2, 3}: false} {
		if err := model.CheckGroupWeights(weights[:], part); (err == nil) != ok {
			t.Errorf("weights %v: %v", weights, err)
		}
	}
	if err := model.CheckGroupWeights([]float64{1, 2}, part); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("two weights: %v", err)
	}
}
