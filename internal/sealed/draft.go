package sealed

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Draft is a file that replaces the file at a path, or creates it, once the draft is complete. Until then the
// draft lies in the same directory, as NAME.tmpPROCESS-NUMBER.
type Draft struct {
	disk disk
	file file
	path string // the path to replace, with symbolic links followed
	err  error  // of the first write that failed
}

// disk has the operations of a file system that drafts use; tests have one that fails.
type disk struct {
	create func(name string) (file, error) // a new file, locked as long as it is open
	rename func(from, to string) error
	remove func(name string) error
	sync   func(directory string) error
}

type file interface {
	io.WriteCloser
	Name() string
	Chmod(fs.FileMode) error
	Sync() error
}

func osDisk() disk {
	return disk{
		create: func(name string) (file, error) {
			f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
			if err != nil {
				return nil, err
			}
			if !lock(f) || !isFileOf(name, f) { // Sweep has removed it already
				_ = f.Close()
				return nil, fs.ErrExist
			}
			return f, nil
		},
		rename: os.Rename,
		remove: os.Remove,
		sync: func(directory string) error {
			d, err := os.Open(directory)
			if err != nil {
				return err
			}
			return errors.Join(d.Sync(), d.Close())
		},
	}
}

// isFileOf reports that the name is still that of the file.
func isFileOf(name string, f *os.File) bool {
	there, err := os.Stat(name)
	if err != nil {
		return false
	}
	here, err := f.Stat()
	return err == nil && os.SameFile(there, here)
}

// NewDraft begins a draft for the file at path, with the permissions of the file that is there. A symbolic
// link is kept: the file it points to is replaced.
func NewDraft(path string) (*Draft, error) { return newDraft(osDisk(), path) }

func newDraft(on disk, path string) (*Draft, error) {
	path, err := resolveLinks(path)
	if err != nil {
		return nil, err
	}
	old, err := os.Stat(path)
	if err == nil && !old.Mode().IsRegular() {
		return nil, errors.New("the path exists and is not a regular file")
	}
	const most = 1000 // drafts of one process at a time, with those of killed processes of the same id
	d := &Draft{disk: on, path: path}
	for k := range most {
		d.file, err = on.create(fmt.Sprintf("%s.tmp%d-%d", path, os.Getpid(), k))
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if old != nil {
		if err = d.file.Chmod(old.Mode().Perm()); err != nil {
			return nil, errors.Join(err, d.Abandon())
		}
	}
	return d, nil
}

// mostLinks is the length of a chain of symbolic links that is followed.
const mostLinks = 40

// resolveLinks returns the path that a symbolic link leads to, and any other path as it is.
func resolveLinks(path string) (string, error) {
	for range mostLinks {
		info, err := os.Lstat(path)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return path, nil // a path that cannot be inspected cannot be written either, which gives the error
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("too many levels of symbolic links")
}

// Write implements [io.Writer]. After a failed write, Keep removes the draft.
func (d *Draft) Write(b []byte) (int, error) {
	n, err := d.file.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if d.err == nil {
		d.err = err
	}
	return n, err
}

// Keep syncs the draft to disk and renames it to its path. Whatever happens, the file is the old one or the
// new one: the new one where the error is nil, the old one otherwise.
func (d *Draft) Keep() error {
	err := errors.Join(d.err, d.file.Sync(), d.file.Close())
	if err == nil {
		err = d.disk.rename(d.file.Name(), d.path)
	}
	if err != nil {
		return errors.Join(err, d.disk.remove(d.file.Name()))
	}
	_ = d.disk.sync(filepath.Dir(d.path)) // makes the rename durable; not every system can do it
	return nil
}

// Abandon removes the draft.
func (d *Draft) Abandon() error {
	return errors.Join(d.file.Close(), d.disk.remove(d.file.Name()))
}

// Replace replaces the file at path by data, keeping its permissions, or creates it. Whatever happens, the
// file is the old one or the new one.
func Replace(path string, data []byte) error { return replace(osDisk(), path, data) }

func replace(on disk, path string, data []byte) error {
	return replaceWith(on, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// ReplaceWith is [Replace] with the data that write writes.
func ReplaceWith(path string, write func(io.Writer) error) error {
	return replaceWith(osDisk(), path, write)
}

func replaceWith(on disk, path string, write func(io.Writer) error) error {
	d, err := newDraft(on, path)
	if err != nil {
		return err
	}
	if err := write(d); err != nil {
		return errors.Join(err, d.Abandon())
	}
	return d.Keep()
}

// Replaceable returns the error with which [Replace] would fail at its start, nil if there is none. It sweeps
// the path first.
func Replaceable(path string) error {
	Sweep(path)
	d, err := NewDraft(path)
	if err != nil {
		return err
	}
	return d.Abandon()
}

// Sweep removes the drafts for a path that killed processes have left behind. Drafts in use are locked; on
// systems without locks Sweep removes nothing.
func Sweep(path string) {
	path, err := resolveLinks(path)
	if err != nil {
		return
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return
	}
	for _, entry := range left {
		var process, number int
		if tail, ok := strings.CutPrefix(entry.Name(), filepath.Base(path)+".tmp"); !ok || !entry.Type().IsRegular() {
			continue
		} else if n, err := fmt.Sscanf(tail, "%d-%d", &process, &number); n != 2 || err != nil || process < 0 || tail != fmt.Sprintf("%d-%d", process, number) {
			continue
		}
		name := filepath.Join(filepath.Dir(path), entry.Name())
		if f, err := os.OpenFile(name, os.O_WRONLY, 0); err == nil {
			if lockAbandoned(f) {
				_ = os.Remove(name)
			}
			_ = f.Close()
		}
	}
}
