package kernels_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/kernels"
)

// exactDot returns Σ x_i·y_i and Σ |x_i·y_i|, exactly: 4400 bits hold every product of
// float64 numbers and their sums.
func exactDot(x, y []float64) (sum, size *big.Float) {
	number := func() *big.Float { return new(big.Float).SetPrec(4400) }
	sum, size = number(), number()
	for i := range x {
		p := number().Mul(number().SetFloat64(x[i]), number().SetFloat64(y[i]))
		sum.Add(sum, p)
		size.Add(size, p.Abs(p))
	}
	return sum, size
}

// overflows reports whether a product of elements is not finite.
func overflows(x, y []float64) bool {
	for i, v := range x {
		if p := float64(v * y[i]); p-p != 0 {
			return true
		}
	}
	return false
}

// TestErrorBound checks every reduction against exact arithmetic: the error may be at
// most γ_n·Σ|x_i·y_i| + n·2⁻¹⁰⁷⁴.
func TestErrorBound(t *testing.T) {
	rounds, sizes := 3, []int{0, 1, 2, 3, 4, 5, 7, 8, 15, 31, 32, 33, 63, 64, 65, 100, 257, 1025, 8193}
	if *long {
		rounds = 100
	}
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		for round := range rounds {
			for _, n := range sizes {
				for _, kind := range kinds[:4] {
					o := newOperands(rand.New(rand.NewPCG(uint64(n), uint64(round))), kind.fill, n, 0)
					gathered, absolute, ones, weighted := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
					for i := range o.rows {
						gathered[i] = o.target[o.rows[i]]
						absolute[i], ones[i] = math.Abs(o.x[i]), 1
						weighted[i] = float64(o.x[i] * o.y[i])
					}
					var square [1]float64
					k.SquaresDense(o.x, o.y, square[:])
					for _, c := range []struct {
						name string
						got  float64
						x, y []float64
					}{
						{"dot", k.Dot(o.x, o.y), o.x, o.y},
						{"dotindexed", k.DotIndexed(o.values, o.rows, o.target), o.values, gathered},
						{"asum", k.Asum(o.x), absolute, ones},
						{"squaresdense", square[0], o.x, weighted},
					} {
						if overflows(c.x, c.y) || math.IsInf(c.got, 0) {
							continue
						}
						sum, size := exactDot(c.x, c.y)
						gamma := float64(n) * 0x1p-53 / (1 - float64(n)*0x1p-53)
						bound := size.Mul(size, big.NewFloat(gamma))
						bound.Add(bound, big.NewFloat(float64(n)*math.SmallestNonzeroFloat64))
						if sum.Sub(sum, new(big.Float).SetPrec(4400).SetFloat64(c.got)); sum.Abs(sum).Cmp(bound) > 0 {
							t.Fatalf("%s, %s, n = %d: the error %v exceeds the bound %v", c.name, kind.name, n, sum, bound)
						}
					}
				}
			}
		}
	})
}

// TestTypicalError checks that 32 partial sums keep the usual error far below the bound.
func TestTypicalError(t *testing.T) {
	const n, rounds = 100_000, 5
	k, err := kernels.Active()
	if err != nil {
		t.Fatal(err)
	}
	ratios := make([]float64, rounds)
	for round := range ratios {
		o := newOperands(rand.New(rand.NewPCG(uint64(round), 5)), kinds[0].fill, n, 0)
		// Exact enough and quick: products split in two, sums compensated.
		var sum, rest, size float64
		for i := range o.x {
			p := o.x[i] * o.y[i]
			rest += math.FMA(o.x[i], o.y[i], -p)
			s := sum + p
			z := s - sum
			rest += (sum - (s - z)) + (p - z)
			sum = s
			size += math.Abs(p)
		}
		ratios[round] = math.Abs((k.Dot(o.x, o.y)-sum)-rest) / (0x1p-53 * size)
	}
	slices.Sort(ratios)
	if median := ratios[rounds/2]; median > 16 {
		t.Errorf("median error %.1f u·Σ|x·y|, want at most 16", median)
	}
}

// TestManyRandomCases compares every set with pure Go, bit for bit, on random data of
// every kind, subnormal numbers included: 10⁶ cases per kernel in the long version.
func TestManyRandomCases(t *testing.T) {
	cases := 500
	if raceEnabled {
		cases = 50
	}
	if *long {
		cases = 1_000_000
	}
	pure := kernels.Available()[0]
	for _, k := range testedSets() {
		if k.Name == pure.Name {
			continue
		}
		t.Run(k.Name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(77, 78))
			var ours, theirs operands
			for range cases {
				fill, n, offset := kinds[rng.IntN(len(kinds))].fill, rng.IntN(258), rng.IntN(16)
				o := newOperands(rng, fill, n, offset)
				for _, op := range operations {
					compare(t, op.name, op.run(k, o.in(&ours, offset)), op.run(pure, o.in(&theirs, 0)))
				}
				compareSweeps(t, rng, k, pure, n)
			}
		})
	}
}

// compareSweeps does one epoch of each kind, and one of each operation on tiles,
// with two sets.
func compareSweeps(t *testing.T, rng *rand.Rand, k, pure *kernels.Set, n int) {
	t.Helper()
	lengths := []int{n / 2, n % 7, n / 3, 0, min(n, 5)}
	e := newEpoch(rng, n+1, lengths)
	f := cloneEpoch(e)
	k.Epoch(e)
	pure.Epoch(f)
	compareEpochs(t, e, f)

	gram := newGramEpoch(rng, n%50+1, n%7)
	gram2 := cloneGram(gram)
	k.GramEpoch(gram)
	pure.GramEpoch(gram2)
	compareGram(t, gram, gram2)

	dense := newDenseEpoch(rng, n, 4)
	dense2 := cloneDense(dense)
	k.DenseEpoch(dense)
	pure.DenseEpoch(dense2)
	compareDense(t, dense, dense2)

	box := newBoxEpoch(rng, n+1, lengths)
	box2 := cloneBox(box)
	kept, kept2 := k.BoxEpoch(box), pure.BoxEpoch(box2)
	if !slices.Equal(box.Live[:kept], box2.Live[:kept2]) {
		t.Fatalf("box epoch: %v remain live, want %v", box.Live[:kept], box2.Live[:kept2])
	}
	compareBoxes(t, box, box2)

	tile := newTileCase(rng, kinds[0].fill, n, max(8, n%23), 0)
	for _, op := range tileOperations {
		got, want := tile.clone(), tile.clone()
		op.run(k, got)
		op.run(pure, want)
		compare(t, op.name, got.t, want.t)
	}
}
