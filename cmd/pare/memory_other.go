//go:build !linux

package main

// memoryLeft reports that the memory left is not known: only Linux states it.
func memoryLeft() (bytes int64, known bool) { return 0, false }
