//go:build purego || (!amd64 && !arm64)

package kernels

// native lists the assembly sets: none here.
func native() []*Set { return nil }

// relax waits for a moment.
func relax() {
	for range 32 { //nolint:revive // the loop is what waits
	}
}
