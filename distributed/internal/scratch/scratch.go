// Package scratch makes temporary directories that do not outlive their process for long: if a process is
// killed, the next one removes its directories. It also locks directories that stay.
package scratch

import (
	"cmp"
	"os"
	"path/filepath"

	"github.com/seed-45b9a24c/pare/outcome"
)

// lockName is the name of a file in every directory that the process keeps locked. The system releases
// the lock however the process ends, and unlike a process id the lock is valid across containers.
const lockName = "lock"

// attempts is the number of tries to make a directory. A try fails if another process takes the new
// directory for an abandoned one before it is locked.
const attempts = 10

// Directory makes a directory whose name begins with prefix, in the directory given ("" means the system's
// temporary directory). It also removes directories with this prefix whose processes are gone. remove removes
// the directory; the caller must keep it while the directory is in use, because it holds the lock. The error
// is of kind IO.
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
				_ = lock.Close() // first, since some systems do not remove open files
				_ = os.RemoveAll(path)
			}, nil
		}
		_ = os.RemoveAll(path)
	}
	return "", nil, &outcome.Error{Kind: outcome.IO, File: in, Message: "no directory can be made there", Err: err}
}

// Lock locks a directory that stays, and makes it if there is none. The error is of kind Usage if another process
// has locked the directory, else of kind IO.
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
		_, err = os.Stat(name) // fails if another process removed it before it was locked
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// sweep removes abandoned directories. Directories that cannot be removed stay, as they may belong to
// another user.
func sweep(in, prefix string) {
	all, _ := filepath.Glob(filepath.Join(in, prefix+"*")) // a faulty pattern finds none
	for _, path := range all {
		if abandoned(filepath.Join(path, lockName)) {
			_ = os.RemoveAll(path)
		}
	}
}
