package machine

import (
	"fmt"
	"time"
)

// Ceilings are the best measured rates of one core.
type Ceilings struct {
	// Instructions is the instruction set of the loops: "avx512", "avx2" or "go".
	Instructions string  `json:"instructions"`
	GFLOPs       float64 `json:"gflops"` // fused multiply–adds from registers, two operations each
	Levels       []Level `json:"levels"` // from the nearest level out
}

// Level is a level of memory, with the rates at which it can be read and written.
type Level struct {
	Name  string  `json:"name"`  // L1, L2, L3, memory
	Bytes int     `json:"bytes"` // the size of the working set that was measured
	Holds int     `json:"holds"` // the largest working set that is attributed to this level
	Read  float64 `json:"read"`  // GB/s of loads alone
	Triad float64 `json:"triad"` // GB/s of a ← b + s·c, 24 bytes an element
}

// At returns the level from which a working set of that many bytes streams.
func (c Ceilings) At(bytes int) Level {
	for _, l := range c.Levels[:len(c.Levels)-1] {
		if bytes <= l.Holds {
			return l
		}
	}
	return c.Levels[len(c.Levels)-1]
}

// loops are the measuring loops of one instruction set. The length of a vector is a multiple of 64 elements,
// and at most piece.
type loops struct {
	name  string
	fma   func(iterations int) // flops operations per iteration
	flops int
	read  func(x []float64)
	triad func(a, b, c []float64)
}

const piece = 4096

// MeasureCeilings takes about a second. Other work on the machine lowers the rates; it keeps the best of many
// short runs.
func MeasureCeilings() Ceilings {
	l := fastest()
	c := Ceilings{Instructions: l.name}
	c.GFLOPs = float64(1000*l.flops) / best(func() { l.fma(1000) })
	type level struct {
		name         string
		bytes, holds int
	}
	found := caches()
	levels := make([]level, 0, len(found)+1)
	for _, cache := range found {
		// Half of a cache, so that the working set surely fits; of a shared cache larger than 16 MiB only a
		// part may be available.
		levels = append(levels, level{fmt.Sprintf("L%d", cache.Level), min(cache.Bytes/2, 16<<20), cache.Bytes})
	}
	outer := 64 << 20
	if n := len(levels); n > 0 {
		outer = min(max(outer, 3*levels[n-1].holds), 512<<20)
	}
	levels = append(levels, level{"memory", outer, 0})
	for _, v := range levels {
		c.Levels = append(c.Levels, measureLevel(l, v.name, v.bytes, v.holds))
	}
	return c
}

func measureLevel(l loops, name string, bytes, holds int) Level {
	n := bytes / 8 / 3 / 64 * 64
	all := make([]float64, 3*n)
	for i := range all {
		all[i] = 1
	}
	a, b, c := all[:n], all[n:2*n], all[2*n:]
	level := Level{Name: name, Bytes: 24 * n, Holds: holds}
	level.Read = float64(24*n) / best(func() {
		for from := 0; from < len(all); from += piece {
			l.read(all[from:min(from+piece, len(all))])
		}
	})
	level.Triad = float64(24*n) / best(func() {
		for from := 0; from < n; from += piece {
			to := min(from+piece, n)
			l.triad(a[from:to], b[from:to], c[from:to])
		}
	})
	return level
}

// best returns the least time of a call in nanoseconds. Runs take at least 20 µs; there are runs for a
// twentieth of a second, and at least two.
func best(f func()) float64 {
	f()
	calls, least := 1, 0.0
	for began, runs := time.Now(), 0; time.Since(began) < 50*time.Millisecond || runs < 2; {
		start := time.Now()
		for range calls {
			f()
		}
		took := time.Since(start)
		if took < 20*time.Microsecond {
			calls *= 2
			continue
		}
		if each := float64(took.Nanoseconds()) / float64(calls); least == 0 || each < least {
			least = each
		}
		runs++
	}
	return least
}

// portable returns loops compiled by Go, one element at a time: a lower bound of what the processor can do.
func portable() loops {
	return loops{
		name:  "go",
		flops: 16,
		fma:   goFMA,
		read:  goRead,
		triad: goTriad,
	}
}
