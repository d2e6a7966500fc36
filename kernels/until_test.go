package kernels_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// looked is a context that counts calls of Err and ends after a number of them.
type looked struct {
	context.Context
	looks, ends int
}

func (l *looked) Err() error {
	if l.looks++; l.looks > l.ends {
		return context.Canceled
	}
	return nil
}

// until runs an operation in a call whose context ends after a number of looks, and returns how
// often it looked.
func until(k *kernels.Set, ends int, run func(k *kernels.Set)) (looks int, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	l := &looked{ctx, 0, ends}
	func() {
		defer kernels.Caught(&err)
		run(k.Until(l))
	}()
	return l.looks, err
}

// TestOperationsEndBetweenBlocks checks that operations look at their context between blocks, and
// end at once when it has ended. Operands of one block need no look, and results have the same
// bits.
func TestOperationsEndBetweenBlocks(t *testing.T) {
	const blocks, always = 5, 1 << 30
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		long := newOperands(rand.New(rand.NewPCG(3, 1)), kinds[0].fill, blocks*kernels.Block, 0)
		short := newOperands(rand.New(rand.NewPCG(3, 2)), kinds[0].fill, kernels.Block/16, 0)
		for _, op := range operations {
			want := op.run(k, long.clone())
			looks, err := until(k, always, func(k *kernels.Set) {
				if got := op.run(k, long.clone()); !slices.EqualFunc(got, want, sameBits) {
					t.Errorf("%s: other bits", op.name)
				}
			})
			if err != nil || looks < blocks-1 {
				t.Errorf("%s: %d looks in %d blocks, %v", op.name, looks, blocks, err)
			}
			for _, ends := range []int{0, looks / 2, looks - 1} {
				used, err := until(k, ends, func(k *kernels.Set) { op.run(k, long.clone()) })
				if !errors.Is(err, context.Canceled) || used != ends+1 {
					t.Errorf("%s: ended at look %d of %d: %d looks, %v", op.name, ends, looks, used, err)
				}
			}
			if looks, err := until(k, 0, func(k *kernels.Set) { op.run(k, short.clone()) }); err != nil || looks > 0 {
				t.Errorf("%s: %d looks in less than a block, %v", op.name, looks, err)
			}
		}
	})
}

// TestLoopsInPieces checks that Pieces covers every element once, in order, and ends with the
// context between two pieces, as copies do, and that a pace looks once in as many elements as a
// piece has, whatever its steps.
func TestLoopsInPieces(t *testing.T) {
	k := kernels.Available()[0]
	for _, n := range []int{0, 1, kernels.Block - 1, kernels.Block, kernels.Block + 1, 300_000} {
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		loop := func(k *kernels.Set) {
			next := 0
			for from, to := range k.Pieces(n) {
				if from != next || to <= from || to > n {
					t.Fatalf("%d elements: from %d to %d after %d", n, from, to, next)
				}
				next = to
			}
			if next != n {
				t.Fatalf("%d of %d elements", next, n)
			}
		}
		looks, err := until(k, 1<<30, loop)
		if want := max(0, (n-1)/kernels.Block); err != nil || looks != want {
			t.Errorf("%d elements: %d looks, want %d; %v", n, looks, want, err)
		}
		if used, err := until(k, 0, loop); looks > 0 && (err == nil || used != 1) {
			t.Errorf("%d elements: went on after its end, %d looks, %v", n, used, err)
		}
		if _, err := until(k, 1<<30, func(k *kernels.Set) { k.Copy(y, x) }); err != nil || !slices.Equal(x, y) {
			t.Errorf("copy of %d elements: %v", n, err)
		}
		if got, want := k.Sum(x), float64(n)*float64(n-1)/2; got != want {
			t.Errorf("the sum of %d elements is %v, want %v", n, got, want)
		}
		if k.Clear(y); !slices.Equal(y, make([]float64, n)) {
			t.Errorf("%d elements are not cleared", n)
		}
	}
	for _, step := range []int{1, 125, 16 * kernels.Block} {
		steps := 0
		looks, err := until(k, 1<<30, func(k *kernels.Set) {
			for pace := k.Pace(); steps*step < 64*kernels.Block; steps++ {
				pace.Did(step)
			}
		})
		if err != nil || looks > steps || looks < min(steps, 60) || looks > 64 {
			t.Errorf("steps of %d: %d looks in %d, %v", step, looks, steps, err)
		}
	}
}

// TestCaughtLetsOtherPanicsGo checks that Caught turns the end of a call into its error, and lets
// other panics go on.
func TestCaughtLetsOtherPanicsGo(t *testing.T) {
	defer func() {
		if cause := recover(); cause != "a fault" {
			t.Errorf("recovered %v", cause)
		}
	}()
	var err error
	defer kernels.Caught(&err)
	panic("a fault")
}

// TestRangesInPieces checks that Range and Each give what range gives, may be left anywhere, and
// look between pieces.
func TestRangesInPieces(t *testing.T) {
	for _, n := range []int{0, 1, kernels.Block, kernels.Block + 1, 3*kernels.Block - 1} {
		x := make([]int32, n)
		next := 0
		for i := range (*kernels.Set)(nil).Range(n) {
			if i != next {
				t.Fatalf("%d elements: %d follows %d", n, i, next-1)
			}
			x[i], next = int32(n-i), next+1
		}
		sum, count := 0, 0
		for i, v := range kernels.Each(nil, x) {
			sum, count = sum+i+int(v), count+1
			if count == kernels.Block+1 {
				break
			}
		}
		if visited := min(n, kernels.Block+1); next != n || count != visited || sum != visited*n {
			t.Errorf("%d elements: %d, then %d of %d, sum %d", n, next, count, visited, sum)
		}
		_, err := until(nil, 0, func(k *kernels.Set) {
			for range k.Range(n) {
			}
		})
		if ends := err != nil; ends != (n > kernels.Block) {
			t.Errorf("%d elements under an ended context: %v", n, err)
		}
	}
}

// TestCloneAndFill checks that a clone is a copy, nil for nil, and that Fill sets every element.
func TestCloneAndFill(t *testing.T) {
	var k *kernels.Set
	x := make([]float64, 1<<16+3)
	k.Fill(x, 2.5)
	own := k.Clone(x)
	x[0] = 1
	if own[0] != 2.5 || own[len(own)-1] != 2.5 || len(own) != len(x) || k.Clone(nil) != nil {
		t.Errorf("a clone of %d elements has %d, %g first and %g last", len(x), len(own), own[0], own[len(own)-1])
	}
}

// TestSubtract checks that Subtract rounds each difference once, whatever the length.
func TestSubtract(t *testing.T) {
	for _, k := range testedSets() {
		for _, n := range []int{0, 1, 7, 511, 512, 513, 1025, kernels.Block + 3} {
			x, by := make([]float64, n), 1.0/3
			for i := range x {
				x[i] = float64(i*i)*1e-3 - 7.1
			}
			want := slices.Clone(x)
			for i := range want {
				want[i] -= by
			}
			k.Subtract(by, x)
			for i := range x {
				if math.Float64bits(x[i]) != math.Float64bits(want[i]) {
					t.Fatalf("%s: %d elements: %d is %g, want %g", k.Name, n, i, x[i], want[i])
				}
			}
		}
	}
}
