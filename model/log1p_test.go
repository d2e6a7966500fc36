package model

import (
	"math"
	"testing"
)

// TestLogOfOneAndALittle checks ln(1 + x) to the last digits, however small x is.
func TestLogOfOneAndALittle(t *testing.T) {
	for x := 1e-18; x < 1e3; x *= 1.37 {
		if got, want := log1p(x), math.Log1p(x); math.Abs(got-want) > 4e-16*want {
			t.Errorf("at %g: %.17g, want %.17g", x, got, want)
		}
	}
}
