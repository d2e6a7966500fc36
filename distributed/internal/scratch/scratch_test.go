package scratch_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/seed-45b9a24c/pare/distributed/internal/scratch"
	"github.com/seed-45b9a24c/pare/outcome"
)

const prefix = "pare-scratch-"

// held keeps the lock file of the process to be killed referenced; an unreferenced file would
// be closed.
var held func()

// TestMain also runs the process to be killed, which makes a directory, prints its path, and
// waits.
func TestMain(m *testing.M) {
	if os.Getenv("PARE_TEST_ROLE") == "" {
		os.Exit(m.Run())
	}
	path, remove, err := scratch.Directory("", prefix)
	if err != nil {
		panic(err)
	}
	held = remove
	fmt.Println(path)
	select {}
}

// temporary redirects temporary directories into one of the test.
func temporary(t *testing.T) {
	t.Helper()
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, t.TempDir())
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TestKilledProcessesLeaveNothing checks that a directory stays while its process lives, even
// if other processes make directories, and that the next process removes it after its process
// was killed.
func TestKilledProcessesLeaveNothing(t *testing.T) {
	temporary(t)
	t.Setenv("PARE_TEST_ROLE", "holder")
	holder := exec.Command(os.Args[0])
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(out)
	if !said.Scan() {
		t.Fatal("the other process has made no directory")
	}
	theirs := said.Text()
	if err := os.WriteFile(filepath.Join(theirs, "data"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	own, remove, err := scratch.Directory("", prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	if !exists(theirs) {
		t.Error("the directory of a process that lives was removed")
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait() // the error says that it was killed
	_, again, err := scratch.Directory("", prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer again()
	if exists(theirs) || !exists(own) {
		t.Errorf("after the kill: theirs is there: %v, own: %v", exists(theirs), exists(own))
	}
}

// TestOtherDirectoriesStay checks that a directory of another origin with such a name, which
// has no lock, is not removed.
func TestOtherDirectoriesStay(t *testing.T) {
	temporary(t)
	other := filepath.Join(os.TempDir(), prefix+"other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	path, remove, err := scratch.Directory("", prefix)
	if err != nil {
		t.Fatal(err)
	}
	remove()
	if !exists(other) || exists(path) {
		t.Errorf("the other's is there: %v, own after its end: %v", exists(other), exists(path))
	}
}

// TestManyAtOnce checks that many processes that start at once do not remove one another's
// directories.
func TestManyAtOnce(t *testing.T) {
	temporary(t)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			path, remove, err := scratch.Directory("", prefix)
			if err != nil {
				t.Error(err)
				return
			}
			if !exists(path) {
				t.Errorf("%s was removed", path)
			}
			remove()
		})
	}
	all.Wait()
}

// TestLockedDirectoriesHaveOneUser checks that a locked directory has only one user at a time.
func TestLockedDirectoriesHaveOneUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for range 2 {
		unlock, err := scratch.Lock(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scratch.Lock(path); runtime.GOOS != "windows" && outcome.KindOf(err) != outcome.Usage {
			t.Errorf("a second user: %v", err)
		}
		unlock()
	}
}
