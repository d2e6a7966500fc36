//go:build purego || !amd64

package kernels

// native lists the assembly sets: none here.
func native() []*Set { return nil }
