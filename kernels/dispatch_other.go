//go:build purego || (!amd64 && !arm64)

package kernels

// native lists the assembly sets: none here.
func native() []*Set { return nil }
