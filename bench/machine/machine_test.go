package machine

import (
	"errors"
	"slices"
	"testing"
)

func TestDescribeNamesTheActiveSet(t *testing.T) {
	m := Describe()
	if m.Cores < 1 || m.Go == "" || !slices.Contains(m.Sets, "purego") || !slices.Contains(m.Sets, m.Active) {
		t.Errorf("%+v", m)
	}
}

// TestTriadsWriteEveryElement checks the values that triads write: a loop that skips elements
// would measure too high a bandwidth.
func TestTriadsWriteEveryElement(t *testing.T) {
	for _, l := range []loops{fastest(), portable()} {
		a, b, c := make([]float64, 192), make([]float64, 192), make([]float64, 192)
		for i := range a {
			a[i], b[i] = -1, float64(i)
		}
		l.triad(a[64:128], b[64:128], c[64:128])
		for i, v := range a {
			if want := float64(i); i >= 64 && i < 128 && v != want || (i < 64 || i >= 128) && v != -1 {
				t.Errorf("%s: element %d is %g", l.name, i, v)
			}
		}
		l.read(b[:64])
		l.fma(2)
	}
}

func TestCeilingsFallFromLevelToLevel(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for a second")
	}
	c := MeasureCeilings()
	t.Logf("%+v", c)
	if !(c.GFLOPs > 0) || len(c.Levels) == 0 {
		t.Fatal("nothing measured")
	}
	for _, l := range c.Levels {
		if !(l.Read > 0 && l.Triad > 0) {
			t.Errorf("%+v", l)
		}
	}
	if got := c.At(1 << 30); got.Name == "" {
		t.Error("no level for a GiB")
	}
}

func TestCountedReturnsTheErrorAndSaysWhatIsMissing(t *testing.T) {
	oops := errors.New("oops")
	counts, err := Counted(func() error { goFMA(1_000_000); return oops })
	if !errors.Is(err, oops) || len(counts) == 0 {
		t.Fatalf("%v, %v", counts, err)
	}
	for _, c := range counts {
		t.Logf("%+v", c)
	}
}
