//go:build !linux

package main

// memoryLeft is not implemented on other systems.
func memoryLeft() (bytes int64, known bool) { return 0, false }
