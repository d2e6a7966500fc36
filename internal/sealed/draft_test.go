package sealed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// trouble is a disk on which the operation with the number failing fails, and which records
// what happens.
type trouble struct {
	disk
	failing int
	done    []string
}

var errTrouble = errors.New("no space left on device")

// at counts an operation and returns its error.
func (d *trouble) at(operation string) error {
	d.done = append(d.done, operation)
	if len(d.done) == d.failing {
		return errTrouble
	}
	return nil
}

func newTrouble(failing int) *trouble {
	d, working := &trouble{failing: failing}, osDisk()
	d.disk = disk{
		create: func(name string) (file, error) {
			if err := d.at("create"); err != nil {
				return nil, err
			}
			f, err := working.create(name)
			return troubled{f, d}, err
		},
		rename: func(from, to string) error {
			if err := d.at("rename"); err != nil {
				return err
			}
			return working.rename(from, to)
		},
		remove: func(name string) error {
			if err := d.at("remove"); err != nil {
				return err
			}
			return working.remove(name)
		},
		sync: func(directory string) error {
			if err := d.at("sync directory"); err != nil {
				return err
			}
			return working.sync(directory)
		},
	}
	return d
}

type troubled struct {
	file
	disk *trouble
}

// Write writes half of b and fails.
func (f troubled) Write(b []byte) (int, error) {
	if f.disk.at("write") != nil {
		n, _ := f.file.Write(b[:len(b)/2])
		if len(f.disk.done)%2 == 0 {
			return n, nil // violates the contract of io.Writer, as some writers do
		}
		return n, errTrouble
	}
	return f.file.Write(b)
}

func (f troubled) Chmod(m fs.FileMode) error {
	return errors.Join(f.disk.at("chmod"), f.file.Chmod(m))
}
func (f troubled) Sync() error { return errors.Join(f.disk.at("sync"), f.file.Sync()) }

func (f troubled) Close() error {
	err := f.disk.at("close")
	return errors.Join(err, f.file.Close())
}

// TestEveryOperationFailsOnce lets each operation of replacing a file fail once: the file must
// be the old one, with an error, or the new one, without. No temporary file is left behind
// unless its removal is the operation that fails. The data must be on the disk before the file
// gets its name, and the name afterwards.
func TestEveryOperationFailsOnce(t *testing.T) {
	pieces := [][]byte{bytes.Repeat([]byte("new"), 1000), []byte("end")}
	whole := slices.Concat(pieces...)
	for _, existing := range []bool{true, false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "model")
		for failing := 0; ; failing++ {
			_ = os.Remove(path)
			if existing {
				if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
					t.Fatal(err)
				}
			}
			d := newTrouble(failing)
			err := replaceWith(d.disk, path, func(w io.Writer) error {
				for _, piece := range pieces {
					_, _ = w.Write(piece) // a writer that ignores the error
				}
				return nil
			})
			name := fmt.Sprintf("existing %t, failing %d of %q", existing, failing, d.done)
			got, _ := os.ReadFile(path)
			switch old := existing && string(got) == "old" || !existing && got == nil; {
			case failing == 0:
				want := []string{"create", "chmod", "write", "write", "sync", "close", "rename", "sync directory"}
				if !existing {
					want = slices.Delete(want, 1, 2)
				}
				if err != nil || !slices.Equal(d.done, want) {
					t.Fatalf("%s: %v", name, err)
				}
			case err != nil && !old, err == nil && !bytes.Equal(got, whole):
				t.Errorf("%s: %v, left %q", name, err, got)
			case err == nil && d.done[failing-1] != "sync directory":
				t.Errorf("%s: no error", name)
			}
			left, _ := os.ReadDir(dir)
			names := 0
			if got != nil {
				names = 1
			}
			if len(left) != names {
				t.Errorf("%s: left behind %v", name, left)
			}
			if failing > 0 && failing >= len(d.done) {
				break
			}
		}
	}
}

// TestSweep checks that a file which could not be removed is swept later, once no process uses
// it.
func TestSweep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := Replace(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	atWork, err := NewDraft(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.OpenFile(atWork.file.Name(), os.O_WRONLY, 0); err != nil || lockAbandoned(again) {
		t.Skip("no locks here: nothing is swept")
	} else if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tmp1-0", ".tmp99999999-3", ".tmp", ".tmp1-0x", ".tmp-1-0", "x.tmp1-0"} {
		if err := os.WriteFile(path+name, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path, path+".tmp2-2"); err != nil {
		t.Skip("no links here")
	}
	Sweep(path)
	var left []string
	entries, err := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	kept := []string{"model", "model.tmp", "model.tmp-1-0", "model.tmp1-0x", "model.tmp2-2", filepath.Base(atWork.file.Name()), "modelx.tmp1-0"}
	slices.Sort(kept)
	if err != nil || !slices.Equal(left, kept) {
		t.Errorf("%v, left %q, want %q", err, left, kept)
	}
	if err := atWork.Keep(); err != nil {
		t.Error(err)
	}
}

// TestReplaceThroughLinks checks that symbolic links are kept: relative ones, chains, and links
// to files that do not exist yet.
func TestReplaceThroughLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.Mkdir(at("there"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"one": "two", "two": at("there/model"), "round": "about", "about": "round", "there/back": "../plain"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Skip("no links here")
		}
	}
	for _, data := range []string{"first", "second"} {
		if err := Replace(at("one"), []byte(data)); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(at("there/model"))
		if err != nil || string(got) != data {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := Replace(at("there/back"), []byte("plain")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(at("plain")); err != nil || string(got) != "plain" {
		t.Errorf("%q, %v", got, err)
	}
	for _, link := range []string{"one", "two", "there/back"} {
		if info, err := os.Lstat(at(link)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", link, err)
		}
	}
	if err := Replace(at("round"), nil); err == nil {
		t.Error("links in a circle were followed")
	}
}
