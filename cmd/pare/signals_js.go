//go:build js || wasip1

package main

import (
	"os"
	"syscall"
)

// ending are the signals that ask the program to end; here no terminal hangs up.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM}
