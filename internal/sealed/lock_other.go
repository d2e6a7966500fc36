//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sealed

import "os"

// lock does nothing: there are no locks.
func lock(*os.File) bool { return true }

// lockAbandoned returns false: without locks, no file can be told to be abandoned.
func lockAbandoned(*os.File) bool { return false }
