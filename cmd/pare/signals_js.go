//go:build js || wasip1

package main

import (
	"os"
	"syscall"
)

// ending are the signals that ask the program to end; on this system there is no hangup signal.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM}
