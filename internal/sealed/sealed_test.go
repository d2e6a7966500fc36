package sealed_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-45b9a24c/pare/internal/sealed"
	"github.com/seed-45b9a24c/pare/outcome"
)

type body struct {
	X sealed.Number `json:"x"`
	V sealed.Vector `json:"v"`
}

var kind = sealed.Kind{Key: "test_kind", Noun: "test file", Version: 3}

func TestEveryNumberComesBack(t *testing.T) {
	in := body{sealed.Number(math.Copysign(0, -1)), sealed.Vector{math.Inf(1), math.Inf(-1), 5e-324, math.MaxFloat64, 0.1}}
	data, err := kind.Encode(in)
	if err != nil {
		t.Fatal(err)
	}
	var out body
	if err := kind.Read(bytes.NewReader(data), &out); err != nil {
		t.Fatal(err)
	}
	for i, v := range in.V {
		if math.Float64bits(v) != math.Float64bits(out.V[i]) {
			t.Errorf("%g came back as %g", v, out.V[i])
		}
	}
	if !math.Signbit(float64(out.X)) {
		t.Error("−0 came back as 0")
	}
	for _, other := range []sealed.Kind{{Key: "test_kind", Noun: "test file", Version: 4}, {Key: "other", Noun: "other file", Version: 3}} {
		if err := other.Read(bytes.NewReader(data), &out); outcome.KindOf(err) != outcome.Parse && !strings.Contains(err.Error(), other.Noun) {
			t.Errorf("%+v: %v", other, err)
		}
	}
}

// endless is a device of zeros. Reading it to the end would run out of memory.
type endless struct{ given int }

func (e *endless) Read(b []byte) (int, error) {
	e.given += len(b)
	return len(b), nil
}

// TestReadRefusesAtTheBeginning checks that a file of another kind is refused at its beginning.
func TestReadRefusesAtTheBeginning(t *testing.T) {
	var out body
	var zeros endless
	if err := kind.Read(&zeros, &out); outcome.KindOf(err) != outcome.Parse || zeros.given > 100 {
		t.Errorf("after %d bytes: %v", zeros.given, err)
	}
	for _, text := range []string{"", "{", `{"test_kind":`, "1 1:0.5 2:3\n1 2:4\n"} {
		if err := kind.Read(strings.NewReader(text), &out); outcome.KindOf(err) != outcome.Parse {
			t.Errorf("%q: %v", text, err)
		}
	}
	broken := errors.New("broken")
	if err := kind.Read(iotest.ErrReader(broken), &out); outcome.KindOf(err) != outcome.IO || !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// TestReplaceKeepsPermissions checks that a new file has the default permissions, and that a
// replaced file keeps its own.
func TestReplaceKeepsPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no such permissions here")
	}
	dir := t.TempDir()
	mode := func(name string) fs.FileMode {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	ordinary, err := os.Create(filepath.Join(dir, "any"))
	if err != nil {
		t.Fatal(err)
	}
	_ = ordinary.Close()
	path := filepath.Join(dir, "file")
	for _, want := range []fs.FileMode{mode("any"), 0o640} {
		if err := sealed.Replace(path, []byte("text")); err != nil || mode("file") != want {
			t.Errorf("%v, %v, want %v", err, mode("file"), want)
		}
		if err := os.Chmod(path, 0o640); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReplaceLeavesTheOldFile checks that a file that cannot be replaced is unchanged, and that
// nothing is left beside it.
func TestReplaceLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"one", "two"} {
		if err := sealed.Replace(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "taken", "x"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := sealed.Replace(filepath.Join(dir, "taken"), []byte("three")); err == nil {
		t.Error("a directory was replaced")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
