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

// held keeps the lock of the process that is killed: a file to which nothing refers is closed.
var held func()

// TestMain is also the process that is killed: it makes a directory, says where, and waits.
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

// temporary makes directories of a test go elsewhere.
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

// A directory stays while its process lives, whoever else makes some, and is removed by the
// next one after its process was killed.
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
	_ = holder.Wait() // killed
	_, again, err := scratch.Directory("", prefix)
	if err != nil {
		t.Fatal(err)
	}
	defer again()
	if exists(theirs) || !exists(own) {
		t.Errorf("after the kill: theirs is there: %v, own: %v", exists(theirs), exists(own))
	}
}

// What others have put there under such a name, without a lock, is nobody's to remove.
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

// Many that begin at once do not take one another's.
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

// TestLockedDirectoriesHaveOneUser, at a time.
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
