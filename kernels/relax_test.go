package kernels_test

import (
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/kernels"
)

// TestAMomentIsShort checks that Relax takes little of the time of a part of a loop.
func TestAMomentIsShort(t *testing.T) {
	least := time.Hour
	for range 100 {
		began := time.Now()
		for range 100 {
			kernels.Relax()
		}
		least = min(least, time.Since(began))
	}
	if each := least / 100; each <= 0 || each > 5*time.Microsecond {
		t.Errorf("a moment is %v", each)
	}
}
