// Package scratch makes temporary directories that do not outlive their process for long: what
// a process has left behind that was killed, the next one removes. It also locks directories that stay.
package scratch

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/seed-45b9a24c/pare/outcome"
)

// lockName is a file in every directory that its process keeps locked. The system lets go of the
// lock however the process ends, and unlike a process id it means the same in every container.
const lockName = "lock"

// attempts are made when others take a directory for one left behind before it is locked.
const attempts = 10

// Directory makes a directory in another one, "" for the system's temporary one, whose name begins with a
// prefix, and removes those of this prefix whose processes are gone. remove removes it, and has to be kept for
// as long as it is in use. The error is of kind IO.
func Directory(in, prefix string) (path string, remove func(), err error) {
	in = cmp.Or(in, os.TempDir())
	sweep(in, prefix)
	for range attempts {
		if path, err = os.MkdirTemp(in, prefix); err != nil {
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
	return "", nil, &outcome.Error{Kind: outcome.IO, File: in, Message: "no directory can be made there", Err: err}
}

// Lock locks a directory that stays, and makes it where there is none. The error is of kind Usage where another
// process has locked it.
func Lock(path string) (unlock func(), err error) {
	amiss := &outcome.Error{Kind: outcome.IO, File: path, Message: "cannot be used"}
	if amiss.Err = os.MkdirAll(path, 0o700); amiss.Err != nil {
		return nil, amiss
	}
	file, err := os.OpenFile(filepath.Join(path, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if amiss.Err = err; err != nil {
		return nil, amiss
	}
	if err := lock(file); err != nil {
		_ = file.Close()
		return nil, &outcome.Error{Kind: outcome.Usage, File: path, Message: "is in use by another process; give each a directory of its own"}
	}
	return func() { _ = file.Close() }, nil
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
func sweep(in, prefix string) {
	all, _ := filepath.Glob(filepath.Join(in, prefix+"*")) // a pattern that is faulty finds none
	for _, path := range all {
		if abandoned(filepath.Join(path, lockName)) {
			_ = os.RemoveAll(path)
		}
	}
}
