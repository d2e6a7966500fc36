package sparse_test

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// mapped writes a matrix to a file and maps it.
func mapped(t *testing.T, x sparse.Matrix, y []float64) (*sparse.Mapped, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.pare")
	if err := sparse.WriteMapped(path, x, y, []byte("about")); err != nil {
		t.Fatal(err)
	}
	m, err := sparse.Map(path, sparse.MapOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m, path
}

// TestMapGivesWhatWasWritten checks that mapping returns the written matrix, dense or sparse,
// with any number of empty columns.
func TestMapGivesWhatWasWritten(t *testing.T) {
	texts := []string{"", "1\n2\n", "1 1:0.5 3:2\n-1 2:1.25 3:-4\n", "1 5:1 60000000:2\n-1 1000000:3 60000000:4\n"}
	for _, text := range texts {
		x, y, err := read(text, sparse.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		m, _ := mapped(t, x, y)
		got := m.Matrix().(*sparse.CSC)
		if err := checkInvariants(got); err != nil {
			t.Error(err)
		}
		n, p := x.Dims()
		if a, b := got.Dims(); a != n || b != p || !slices.Equal(m.Target(), y) || string(m.About()) != "about" {
			t.Errorf("%q: %d × %d, %v", text, a, b, m.Target())
		}
		if p < 1000 && write(t, got, y) != write(t, x, y) {
			t.Errorf("%q: another matrix", text)
		}
		for _, j := range x.Order() {
			rows, values := x.Column(int(j))
			if a, b := got.Column(int(j)); !slices.Equal(a, rows) || !slices.Equal(b, values) {
				t.Errorf("%q: column %d", text, j)
			}
		}
	}
	dense, err := sparse.NewDense(2, 3, []float64{1, 2, 0, 4, 5, -6})
	if err != nil {
		t.Fatal(err)
	}
	m, _ := mapped(t, dense, nil)
	if _, values := m.Matrix().(*sparse.Dense).Arrays(); !slices.Equal(values, []float64{1, 2, 0, 4, 5, -6}) || m.Target() != nil {
		t.Errorf("dense: %v, %v", values, m.Target())
	}
}

// TestMapRefusesDamage checks that a header with any changed bit, a file of another length, and
// a changed body are refused. Only if the file is trusted may a changed body be mapped.
func TestMapRefusesDamage(t *testing.T) {
	x, y, err := read("1 1:0.5 3:2\n-1 2:1.25 3:-4\n2 4:1\n", sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, path := mapped(t, x, y)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed")
	try := func(content []byte, o sparse.MapOptions) error {
		if err := os.WriteFile(changed, content, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := sparse.Map(changed, o)
		if err == nil {
			if csc, ok := m.Matrix().(*sparse.CSC); ok && !o.Trust {
				if err := checkInvariants(csc); err != nil {
					t.Error(err)
				}
			}
			_ = m.Close()
		}
		return err
	}
	for bit := range 8 * 512 {
		if oracle.Fewest() && bit%13 > 0 {
			continue
		}
		changed := slices.Clone(content)
		changed[bit/8] ^= 1 << (bit % 8)
		if err := try(changed, sparse.MapOptions{}); outcome.KindOf(err) != outcome.Parse {
			t.Fatalf("bit %d of the header: %v", bit, err)
		}
	}
	for size := range content {
		if err := try(content[:size], sparse.MapOptions{Trust: true}); outcome.KindOf(err) != outcome.Parse {
			t.Fatalf("cut to %d bytes: %v", size, err)
		}
	}
	if err := try(append(slices.Clone(content), 0), sparse.MapOptions{}); outcome.KindOf(err) != outcome.Parse {
		t.Errorf("a byte more: %v", err)
	}
	r := rand.New(rand.NewPCG(1, 9))
	for range 500 {
		changed := slices.Clone(content)
		changed[512+r.IntN(len(content)-512)] ^= 1 << r.IntN(8)
		for _, o := range []sparse.MapOptions{{}, {Threads: 1}, {Verify: true}, {Verify: true, Trust: true}} {
			if err := try(changed, o); outcome.KindOf(err) != outcome.Parse {
				t.Fatalf("a changed body under %+v: %v", o, err)
			}
		}
		if err := try(changed, sparse.MapOptions{Trust: true}); err != nil && outcome.KindOf(err) != outcome.Parse {
			t.Fatalf("a changed body, trusted: %v", err)
		}
		if err := try(firstVersion(changed), sparse.MapOptions{}); outcome.KindOf(err) != outcome.Parse {
			t.Fatalf("a changed body of version 1: %v", err)
		}
	}
	if err := try(firstVersion(content), sparse.MapOptions{}); err != nil {
		t.Errorf("version 1: %v", err)
	}
	if _, err := sparse.Map(filepath.Join(t.TempDir(), "none"), sparse.MapOptions{}); outcome.KindOf(err) != outcome.IO {
		t.Errorf("no file: %v", err)
	}
	if err := sparse.WriteMapped(filepath.Join(t.TempDir(), "no", "dir"), x, y, nil); outcome.KindOf(err) != outcome.IO {
		t.Errorf("no directory: %v", err)
	}
	if err := sparse.WriteMapped(path, x, y[1:], nil); outcome.KindOf(err) != outcome.Shape {
		t.Errorf("a short target: %v", err)
	}
}

// firstVersion returns a file in the first version of the format.
func firstVersion(content []byte) []byte {
	content = slices.Clone(content)
	binary.LittleEndian.PutUint32(content[8:], 1)
	clear(content[184:480])
	sum := sha256.Sum256(content[:480])
	copy(content[480:], sum[:])
	return content
}

// TestMapFindsDamageAnywhere checks that damage anywhere in a file of many pieces is found, by
// any number of threads.
func TestMapFindsDamageAnywhere(t *testing.T) {
	const n, p = 5000, 60
	values := make([]float64, n*p)
	for i := range values {
		values[i] = math.Sin(float64(i))
	}
	x, err := sparse.NewDense(n, p, values)
	if err != nil {
		t.Fatal(err)
	}
	_, path := mapped(t, x, nil)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed")
	for at := 512; at < len(content); at += len(content) / 9 {
		content[at] ^= 1
		if err := os.WriteFile(changed, content, 0o600); err != nil {
			t.Fatal(err)
		}
		content[at] ^= 1
		for _, threads := range []int{0, 1, 2, 5} {
			m, err := sparse.Map(changed, sparse.MapOptions{Threads: threads})
			if outcome.KindOf(err) != outcome.Parse {
				t.Errorf("byte %d, %d threads: %v", at, threads, err)
			}
			if err == nil {
				_ = m.Close()
			}
		}
	}
}
