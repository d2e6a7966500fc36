package sparse_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// mapped writes a matrix and maps it.
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

// What is mapped is what was written, whatever its form and however many columns are empty.
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

// A header with any bit changed, a file of any other length, another body under Verify: all
// are refused; without Verify a changed body is refused or a valid matrix.
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
	try := func(content []byte, o sparse.MapOptions) error {
		changed := filepath.Join(t.TempDir(), "changed")
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
		if err := try(changed, sparse.MapOptions{Verify: true}); outcome.KindOf(err) != outcome.Parse {
			t.Fatalf("a changed body under Verify: %v", err)
		}
		if err := try(changed, sparse.MapOptions{}); err != nil && outcome.KindOf(err) != outcome.Parse {
			t.Fatalf("a changed body: %v", err)
		}
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
