package sealed

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The data are on the disk before the file has its name, and the name is after: a power cut
// leaves the old file or the new one. Where the disk refuses the data, the old file stays.
func TestReplaceSyncs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := Replace(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	content := func() string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	var seen []string // what the name stood for at each sync
	err := replace(path, []byte("new"), func(f *os.File) error {
		seen = append(seen, filepath.Base(f.Name())+" while "+content())
		return f.Sync()
	})
	synced := len(seen) == 2 && strings.HasPrefix(seen[0], "model.tmp") && strings.HasSuffix(seen[0], " while old") && seen[1] == filepath.Base(filepath.Dir(path))+" while new"
	if err != nil || !synced || content() != "new" {
		t.Errorf("%v, synced %q, left %s", err, seen, content())
	}
	full := errors.New("no space left")
	if err := replace(path, []byte("newer"), func(*os.File) error { return full }); !errors.Is(err, full) || content() != "new" {
		t.Errorf("%v, left %s", err, content())
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || !slices.EqualFunc(entries, []string{"model"}, func(e os.DirEntry, name string) bool { return e.Name() == name }) {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}
