//go:build !linux

package machine

import "runtime"

// Counted runs f. Events are counted on Linux only.
func Counted(f func() error) ([]Count, error) {
	return []Count{{Name: "cycles", Unavailable: "not on " + runtime.GOOS}}, f()
}
