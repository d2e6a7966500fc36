package kernels_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	tests "github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/kernels"
)

// longestPause is how long a kernel may delay a garbage collection.
const longestPause = 200 * time.Microsecond

// TestTheWorldStopsQuickly runs every kernel on long operands in two goroutines and
// measures how long garbage collections wait for them, compared with a loop in plain Go,
// which the runtime can interrupt anywhere. Other load on the machine makes some waits
// longer, but a kernel that cannot be interrupted makes nearly all of them longer: so the
// lower quartile decides, and the longest is shown.
func TestTheWorldStopsQuickly(t *testing.T) {
	if !*long || raceEnabled {
		t.Skip("needs -kernels.long and some minutes")
	}
	const size, collections = 1 << 20, 60
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	var both [2]operands
	for i := range both {
		both[i] = newOperands(rand.New(rand.NewPCG(1, uint64(i))), kinds[0].fill, size, 0)
		both[i].a = 0
	}
	control := tests.PausesBeside(2, collections, func(i int) { sink = plainLoops.Dot(both[i].x, both[i].y) })
	t.Logf("plain Go: %s", control)
	eachSet(t, func(t *testing.T, k *kernels.Set) {
		check := func(name string, work func(i int)) {
			t.Helper()
			got := tests.PausesBeside(2, collections, work)
			t.Logf("%s: %s", name, got)
			if got.Quartile > max(longestPause, 2*control.Quartile) {
				t.Errorf("%s: three collections in four waited for %v or longer", name, got.Quartile)
			}
		}
		for _, op := range operations {
			check(op.name, func(i int) { op.run(k, both[i]) })
		}
		var sweeps [2]struct {
			epoch *kernels.Epoch
			gram  *kernels.GramEpoch
			dense *kernels.DenseEpoch
			box   *kernels.BoxEpoch
		}
		for i := range sweeps {
			rng, s := rand.New(rand.NewPCG(2, uint64(i))), &sweeps[i]
			s.epoch = newEpoch(rng, 20_000, slices.Repeat([]int{1000}, 500))
			s.gram = newGramEpoch(rng, 2000, 2000)
			s.dense = newDenseEpoch(rng, 4000, 200)
			s.box = newBoxEpoch(rng, 20_000, slices.Repeat([]int{1000}, 500))
		}
		live := len(sweeps[0].box.Live)
		check("epoch", func(i int) { k.Epoch(sweeps[i].epoch) })
		check("gram epoch", func(i int) { k.GramEpoch(sweeps[i].gram) })
		check("dense epoch", func(i int) { k.DenseEpoch(sweeps[i].dense) })
		check("box epoch", func(i int) {
			box := sweeps[i].box
			box.Live = box.Live[:0]
			for s := range min(live, len(box.At)) {
				box.Live = append(box.Live, int32(s))
			}
			k.BoxEpoch(box)
		})
		check("addtile", func(i int) {
			var x [8][]float64
			var t [64]float64
			for c := range x {
				x[c] = both[i].x[:size/8]
			}
			k.AddTile(&x, both[i].lanes[:size], 8, t[:])
		})
		check("subpanel", func(i int) {
			var t [8]float64
			k.SubPanel(both[i].x[:size/8], both[i].lanes[:size], 8, t[:])
		})
	})
}
