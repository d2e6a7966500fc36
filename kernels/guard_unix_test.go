//go:build linux || darwin

package kernels_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/guard"
	"github.com/seed-45b9a24c/pare/kernels"
)

// guarded makes copies of slices that lie flush against a forbidden page. Pages
// are mapped once per operand and used for every length.
type guarded struct {
	edge   guard.Edge
	floats [10][]float64
	rows   []int32
	bytes  []uint8
	single []float32
	longs  [2][]int64

	live      []int32
	variables []kernels.BoxVariable
}

const guardedMax = 3200

func newGuarded(t *testing.T, edge guard.Edge) *guarded {
	g := &guarded{
		edge: edge, rows: guard.Slice[int32](t, guardedMax, edge), bytes: guard.Slice[uint8](t, guardedMax, edge),
		single: guard.Slice[float32](t, guardedMax, edge), live: guard.Slice[int32](t, guardedMax, edge),
		variables: guard.Slice[kernels.BoxVariable](t, guardedMax, edge),
	}
	for i := range g.floats {
		g.floats[i] = guard.Slice[float64](t, guardedMax, edge)
	}
	for i := range g.longs {
		g.longs[i] = guard.Slice[int64](t, guardedMax, edge)
	}
	return g
}

func flush[T any](edge guard.Edge, region, v []T) []T {
	at := region[:len(v):len(v)]
	if edge == guard.End {
		at = region[len(region)-len(v):]
	}
	copy(at, v)
	return at
}

func (g *guarded) operands(o operands) operands {
	for i, v := range []*[]float64{&o.x, &o.y, &o.values, &o.target, &o.out, &o.lanes} {
		*v = flush(g.edge, g.floats[i], *v)
	}
	o.single = flush(g.edge, g.single, o.single)
	o.rows, o.mask = flush(g.edge, g.rows, o.rows), flush(g.edge, g.bytes, o.mask)
	o.colPtr = flush(g.edge, g.longs[0], o.colPtr)
	return o
}

func (g *guarded) tiles(c tileCase) tileCase {
	for i, v := range []*[]float64{&c.vector, &c.x, &c.y, &c.l, &c.t} {
		*v = flush(g.edge, g.floats[i], *v)
	}
	return c
}

func (g *guarded) epoch(e *kernels.Epoch) *kernels.Epoch {
	c := *e
	for i, v := range []*[]float64{&c.Values, &c.Residual, &c.Coef, &c.Square, &c.Threshold, &c.Mean, &c.Grad} {
		*v = flush(g.edge, g.floats[i], *v)
	}
	c.Rows = flush(g.edge, g.rows, c.Rows)
	c.From, c.To = flush(g.edge, g.longs[0], c.From), flush(g.edge, g.longs[1], c.To)
	return &c
}

func (g *guarded) gram(e *kernels.GramEpoch) *kernels.GramEpoch {
	c := *e
	for i, v := range []*[]float64{&c.Gram, &c.Correlation, &c.Coef, &c.Square, &c.Inverse, &c.Threshold, &c.Grad} {
		*v = flush(g.edge, g.floats[i], *v)
	}
	c.Slot = flush(g.edge, g.rows, c.Slot)
	return &c
}

func (g *guarded) dense(e *kernels.DenseEpoch) *kernels.DenseEpoch {
	c := *e
	for i, v := range []*[]float64{&c.Values, &c.Residual, &c.Coef, &c.Square, &c.Inverse, &c.Threshold, &c.Grad} {
		*v = flush(g.edge, g.floats[i], *v)
	}
	c.From = flush(g.edge, g.longs[0], c.From)
	return &c
}

func (g *guarded) box(e *kernels.BoxEpoch) *kernels.BoxEpoch {
	c := *e
	c.Values, c.W = flush(g.edge, g.floats[0], c.Values), flush(g.edge, g.floats[1], c.W)
	c.At = flush(g.edge, g.variables, c.At)
	c.Features, c.Live = flush(g.edge, g.rows, c.Features), flush(g.edge, g.live, c.Live)
	c.From, c.To = flush(g.edge, g.longs[0], c.From), flush(g.edge, g.longs[1], c.To)
	return &c
}

// TestNoAccessOutsideOfOperands puts every operand flush against a page that
// faults, at its end and at its start, for every length.
func TestNoAccessOutsideOfOperands(t *testing.T) {
	for edge, name := range map[guard.Edge]string{guard.End: "end", guard.Start: "start"} {
		t.Run(name, func(t *testing.T) {
			g := newGuarded(t, edge)
			eachSet(t, func(t *testing.T, k *kernels.Set) {
				for n := range 131 {
					rng := rand.New(rand.NewPCG(uint64(n), 7))
					o := newOperands(rng, kinds[0].fill, n, 0)
					for _, op := range operations {
						var got []float64
						if guard.Faults(func() { got = op.run(k, g.operands(o)) }) {
							t.Fatalf("%s: n = %d: access outside of the operands", op.name, n)
						}
						compare(t, op.name, got, op.run(reference, o.clone()))
					}
					c := newTileCase(rng, kinds[0].fill, n, max(8, n%23), 0)
					for _, op := range tileOperations {
						got, want := g.tiles(c), c.clone()
						if guard.Faults(func() { op.run(k, got) }) {
							t.Fatalf("%s: n = %d: access outside of the operands", op.name, n)
						}
						op.reference(nil, want)
						compare(t, op.name, got.t, want.t)
					}
					quadratic := newGramEpoch(rng, n%50+1, n%7)
					expected := cloneGram(quadratic)
					at := g.gram(quadratic)
					if guard.Faults(func() { k.GramEpoch(at) }) {
						t.Fatalf("gram epoch: n = %d: access outside of the operands", n)
					}
					referenceGram(expected)
					compareGram(t, at, expected)
					dense := newDenseEpoch(rng, n, 4)
					wanted := cloneDense(dense)
					there := g.dense(dense)
					if guard.Faults(func() { k.DenseEpoch(there) }) {
						t.Fatalf("dense epoch: n = %d: access outside of the operands", n)
					}
					referenceDense(wanted)
					compareDense(t, there, wanted)
					e := newEpoch(rng, n+1, []int{n / 2, n % 7, n / 3, 0, min(n, 5)})
					want := cloneEpoch(e)
					got := g.epoch(e)
					if guard.Faults(func() { k.Epoch(got) }) {
						t.Fatalf("epoch: n = %d: access outside of the operands", n)
					}
					referenceEpoch(want)
					compareEpochs(t, got, want)
					box := newBoxEpoch(rng, n+1, []int{n / 2, n % 7, n / 3, 0, min(n, 5)})
					clipped := cloneBox(box)
					inside := g.box(box)
					if guard.Faults(func() { k.BoxEpoch(inside) }) {
						t.Fatalf("box epoch: n = %d: access outside of the operands", n)
					}
					referenceBox(clipped)
					compareBoxes(t, inside, clipped)
				}
			})
		})
	}
}

// TestGuardPagesCatchAssembly shows that the test above can fail: assembly, which has no
// bounds checks, does read an index one past the end.
func TestGuardPagesCatchAssembly(t *testing.T) {
	y := guard.Slice[float64](t, 64, guard.End)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		if k.Name == "purego" {
			return // the compiler's bounds check panics first
		}
		if raceEnabled {
			t.Skip("the race annotations touch the operands first")
		}
		if !guard.Faults(func() { sink = k.DotIndexed([]float64{1}, []int32{64}, y) }) {
			t.Error("an access behind the end went unnoticed")
		}
	})
}

// TestWritesStayWhereTheyBelong checks that rows that no index names keep their bits,
// even those of a signalling NaN, and so does everything around a slice that is written.
func TestWritesStayWhereTheyBelong(t *testing.T) {
	const border = 40
	canary := math.Float64frombits(0x7FF0000000BADBAD)
	fenced := func(v []float64) (inner, all []float64) {
		all = make([]float64, len(v)+2*border)
		for i := range all {
			all[i] = canary
		}
		inner = all[border : border+len(v)]
		copy(inner, v)
		return inner, all
	}
	intact := func(t *testing.T, what string, all []float64, written func(i int) bool) {
		t.Helper()
		for i, v := range all {
			if !written(i-border) && math.Float64bits(v) != math.Float64bits(canary) {
				t.Fatalf("%s: element %d was overwritten", what, i-border)
			}
		}
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for n := range 131 {
			o := newOperands(rand.New(rand.NewPCG(uint64(n), 9)), kinds[0].fill, n, n%4)
			inside := func(i int) bool { return 0 <= i && i < n }

			y, all := fenced(o.y)
			k.Axpy(o.a, o.x, y)
			intact(t, "axpy", all, inside)
			k.Scal(o.a, y)
			intact(t, "scal", all, inside)
			k.Product(y, o.x, o.y)
			intact(t, "product", all, inside)
			k.Margin(y, o.a, o.x, o.y, 1, slices.Repeat([]uint64{^uint64(0)}, (n+63)/64))
			intact(t, "margin", all, inside)
			k.Divergence(y, o.x, o.y, o.x, 0.5, [2]float64{-1, -2}, [2]float64{-1, -2})
			intact(t, "divergence", all, inside)
			k.Bell(y, o.x)
			intact(t, "bell", all, inside)

			bits := slices.Repeat([]uint64{0xbadbad}, 2*border+(n+63)/64)
			k.Reach(o.a, o.x, o.y, 0, bits[border:len(bits)-border])
			for i, word := range bits {
				if (i < border || i >= len(bits)-border) && word != 0xbadbad {
					t.Fatalf("reach: word %d was overwritten", i-border)
				}
			}

			out, all := fenced(o.out)
			k.DotColumns(o.colPtr, o.rows, o.values, o.target, out)
			intact(t, "dotcolumns", all, func(i int) bool { return 0 <= i && i < len(o.out) })
			out, all = fenced(o.out)
			k.DotDense(slices.Repeat(o.x, len(out)), o.y, out)
			intact(t, "dotdense", all, func(i int) bool { return 0 <= i && i < len(o.out) })
			k.DotDenseSingle(slices.Repeat(o.single, len(out)), o.y, out)
			intact(t, "dotdensesingle", all, func(i int) bool { return 0 <= i && i < len(o.out) })
			k.SquaresDense(slices.Repeat(o.x, len(out)), o.y, out)
			intact(t, "squaresdense", all, func(i int) bool { return 0 <= i && i < len(o.out) })
			for at, what := range []string{"squares", "sums", "dots"} {
				outs := [3][]float64{slices.Clone(o.out), slices.Clone(o.out), slices.Clone(o.out)}
				outs[at], all = fenced(o.out)
				k.Moments(o.colPtr, o.rows, o.values, o.lanes, outs[0], outs[1], outs[2])
				intact(t, "moments: "+what, all, func(i int) bool { return 0 <= i && i < len(o.out) })
			}

			touched := map[int]bool{}
			target, all := fenced(o.target)
			for i := range target {
				target[i] = canary
			}
			for _, row := range o.rows {
				touched[int(row)] = true
				target[row] = 1
			}
			k.AxpyIndexed(o.a, o.values, o.rows, target)
			intact(t, "axpyindexed", all, func(i int) bool { return touched[i] })
			scaled, around := fenced(o.values)
			k.ScaleIndexed(o.values, o.rows, o.target, scaled)
			intact(t, "scaleindexed", around, func(i int) bool { return 0 <= i && i < n })
			k.AxpySpans([]float64{1, 2}, []int64{0, 0}, []int64{int64(n), int64(n / 2)}, o.rows, o.values, target)
			intact(t, "axpyspans", all, func(i int) bool { return touched[i] })

			wide, all2 := fenced(o.lanes)
			for i := range wide {
				wide[i] = canary
			}
			for _, row := range o.rows {
				copy(wide[kernels.Lanes*int(row):], make([]float64, kernels.Lanes))
			}
			k.AxpyLanes(&[kernels.Lanes]float64{1, 2, 3, 4, 5, 6, 7, 8}, o.values, o.rows, wide)
			intact(t, "axpylanes", all2, func(i int) bool { return i >= 0 && touched[i/kernels.Lanes] })

			e := &kernels.Epoch{
				From: []int64{0}, To: []int64{int64(n)}, Rows: o.rows, Values: o.values, Residual: target,
				Square: []float64{1}, Threshold: []float64{0}, Mean: []float64{0}, Total: 1, Ridge: 1,
			}
			coef, allCoef := fenced([]float64{1})
			grad, allGrad := fenced([]float64{1})
			e.Coef, e.Grad = coef, grad
			k.Epoch(e)
			first := func(i int) bool { return i == 0 }
			intact(t, "epoch, residual", all, func(i int) bool { return touched[i] })
			intact(t, "epoch, coef", allCoef, first)
			intact(t, "epoch, grad", allGrad, first)

			k.BoxEpoch(&kernels.BoxEpoch{
				From: []int64{0}, To: []int64{int64(n)}, Features: o.rows, Values: o.values, W: target,
				At: []kernels.BoxVariable{{Sign: -1, Inverse: 1, Bound: 1, Margin: 1}}, Live: []int32{0},
			})
			intact(t, "box epoch, w", all, func(i int) bool { return touched[i] })
		}
	})
}
