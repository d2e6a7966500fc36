//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package scratch

import "os"

// lock has nothing to do: on Windows a file that is open cannot be removed.
func lock(*os.File) error { return nil }

// abandoned removes a lock file that nobody has open, and reports whether there was one.
func abandoned(name string) bool { return os.Remove(name) == nil }
