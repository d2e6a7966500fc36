// Package scratch makes temporary directories that do not outlive their process for long: what
// a process has left behind that was killed, the next one removes.
package scratch

import (
	"os"
	"path/filepath"

	"github.com/seed-45b9a24c/pare/outcome"
)

// lockName is a file in every directory that its process keeps locked. The system lets go of the
// lock however the process ends, and unlike a process id it means the same in every container.
const lockName = "lock"

// attempts are made when others take a directory for one left behind before it is locked.
const attempts = 10

// Directory makes a directory of the system's temporary ones whose name begins with a prefix,
// and removes those of this prefix whose processes are gone. remove removes it, and has to be kept for as
// long as it is in use. The error is of kind IO.
func Directory(prefix string) (path string, remove func(), err error) {
	sweep(prefix)
	for range attempts {
		if path, err = os.MkdirTemp("", prefix); err != nil {
			break
		}
		var lock *os.File
		if lock, err = claim(path); err == nil {
			return path, func() {
				_ = lock.Close() // some systems remove no file that is open
				_ = os.RemoveAll(path)
			}, nil
		}
		_ = os.RemoveAll(path)
	}
	return "", nil, &outcome.Error{Kind: outcome.IO, File: os.TempDir(), Message: "no temporary directory can be made", Err: err}
}

// claim locks a new directory.
func claim(path string) (*os.File, error) {
	name := filepath.Join(path, lockName)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err = lock(file); err == nil {
		_, err = os.Stat(name) // nobody has removed it before it was locked
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// sweep removes directories that nobody has locked. What cannot be removed stays: it may be
// another user's.
func sweep(prefix string) {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // no pattern of ours is faulty
	for _, path := range all {
		if abandoned(filepath.Join(path, lockName)) {
			_ = os.RemoveAll(path)
		}
	}
}
