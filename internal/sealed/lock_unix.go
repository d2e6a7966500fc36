//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package sealed

import (
	"errors"
	"os"
	"syscall"
)

// lock locks a file as long as it is open. It returns false where another one has the lock,
// not where the file system has no locks.
func lock(f *os.File) bool {
	return !errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// orphan reports that nobody has the lock of a file, and takes it.
func orphan(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
