//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package scratch

import (
	"os"
	"syscall"
)

// lock locks a file for as long as it is open.
func lock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }

// abandoned reports whether a lock file exists and no process has locked it.
func abandoned(name string) bool {
	file, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return lock(file) == nil
}
