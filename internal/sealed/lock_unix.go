//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sealed

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file until it is closed. It returns false if the file is locked already, and true if the file
// system has no locks.
func lock(f *os.File) bool {
	return !errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// lockAbandoned reports whether the lock of a file was free, and takes it.
func lockAbandoned(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
