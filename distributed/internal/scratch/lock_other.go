//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package scratch

import "os"

// lock does nothing: on Windows an open file cannot be removed.
func lock(*os.File) error { return nil }

// abandoned removes a lock file that no process has open, and reports whether it did.
func abandoned(name string) bool { return os.Remove(name) == nil }
