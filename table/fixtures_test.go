package table_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

func fixture(name string) string { return filepath.Join("testdata", name) }

// TestOtherProgramsWriteTheSameData checks that the same data, written by pandas, SciPy,
// scikit-learn and NumPy, are read with the same bits.
func TestOtherProgramsWriteTheSameData(t *testing.T) {
	want, err := table.Open(t.Context(), fixture("sklearn-one.svm"), table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, npy := fixture("target.csv"), fixture("target.npy")
	for _, c := range []struct {
		name  string
		o     table.Options
		names bool
	}{
		{"sklearn.svm", table.Options{}, false},
		{"pandas.csv", table.Options{Target: "target"}, true},
		{"pandas.tsv.gz", table.Options{Target: "-1"}, true},
		{"numpy.txt", table.Options{Target: "11"}, false},
		{"numpy.npy", table.Options{Target: "-1"}, false},
		{"numpy-fortran.npy", table.Options{Target: "-1"}, false},
		{"numpy.npz", table.Options{}, false},
		{"numpy.npz", table.Options{Target: "y"}, false},
		{"numpy-compressed.npz", table.Options{}, false},
		{"scipy-csr.npz", table.Options{Target: npy}, false},
		{"scipy-csc.npz", table.Options{Target: one}, false},
		{"scipy-coo.npz", table.Options{Target: npy}, false},
		{"scipy.mtx", table.Options{Target: one}, false},
		{"scipy-array.mtx", table.Options{Target: npy}, false},
	} {
		got, err := table.Open(t.Context(), fixture(c.name), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if same(got.X, want.X) != "" || !slices.Equal(got.Y, want.Y) {
			t.Errorf("%s: %s, or another target", c.name, same(got.X, want.X))
		}
		if c.names != (got.Names != nil) || c.names && (len(got.Names) != 10 || got.Names[2] != "bmi") {
			t.Errorf("%s: names %q", c.name, got.Names)
		}
	}
}

// same describes the difference between two matrices, and returns "" if there is none.
func same(a, b sparse.Matrix) string {
	n, p := a.Dims()
	if m, q := b.Dims(); m != n || p != q {
		return "another shape"
	}
	for j := range p {
		rowsA, valuesA := a.Column(j)
		rowsB, valuesB := b.Column(j)
		if !slices.Equal(rowsA, rowsB) || !slices.Equal(valuesA, valuesB) {
			return "another column"
		}
	}
	return ""
}

// TestMixedData checks that texts, missing values, booleans and integers are read correctly.
func TestMixedData(t *testing.T) {
	d, err := table.Open(t.Context(), fixture("mixed.csv"), table.Options{Target: "label", OneHot: true, Missing: table.Mean})
	if err != nil {
		t.Fatal(err)
	}
	const want = "n[1.5 -0.16666666666666666 -2 0] color=blue[0 1 0.3333333333333333 0] color=red[1 0 0.6666666666666666 1] flag[1 0 1 1] k[1 2 3 4] → [0 1 1 0][no yes]"
	if got := shown(d); got != want {
		t.Errorf("mixed.csv: %s\nwant %s", got, want)
	}
	d, err = table.Open(t.Context(), fixture("mixed.npz"), table.Options{})
	if err != nil || shown(d) != "[1 3 5 7] [2 4 6 8] → [0 1 1 0][no yes]" {
		t.Errorf("mixed.npz: %v", err)
	}
}

// TestRowsAreThoseOfTheMatrix checks that reading a file row by row gives the rows of the
// matrix, in every format.
func TestRowsAreThoseOfTheMatrix(t *testing.T) {
	for name, o := range map[string]table.Options{
		"sklearn.svm": {}, "sklearn-one.svm": {}, "pandas.csv": {Target: "target"}, "pandas.tsv.gz": {Target: "target"}, "numpy.txt": {Target: "-1"},
		"numpy.npy": {Target: "-1"}, "numpy-fortran.npy": {Target: "-1"}, "numpy.npz": {}, "scipy-csc.npz": {NoTarget: true}, "scipy.mtx": {NoTarget: true},
		"mixed.csv": {Target: "label", OneHot: true, Missing: table.Mean}, "mixed.npz": {},
	} {
		d, err := table.Open(t.Context(), fixture(name), o)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n, p := d.X.Dims()
		var b sparse.Builder
		for row, err := range d.Schema.Rows(t.Context(), fixture(name), nil, p, table.Options{}) {
			if err == nil {
				err = b.Row(row.Columns, row.Values)
			}
			if i := b.Rows() - 1; err == nil && d.Y != nil {
				want := strconv.FormatFloat(d.Y[i], 'g', -1, 64)
				if d.Labels != nil {
					want = d.Labels[int(d.Y[i])]
				}
				if !row.HasTarget || row.Target != want {
					t.Errorf("%s: the target of row %d is %q, not %s", name, row.Number, row.Target, want)
				}
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
		got, err := b.Matrix(t.Context(), p)
		if err != nil || b.Rows() != 0 {
			t.Fatal(err)
		}
		if m, _ := got.Dims(); m != n || same(got, d.X) != "" {
			t.Errorf("%s: %s", name, same(got, d.X))
		}
	}
}

// TestDamagedBinaryFiles checks that a binary file cut anywhere, or with a changed byte in its
// header, is refused or read completely: it is never read as another matrix without an error,
// and never causes a panic.
func TestDamagedBinaryFiles(t *testing.T) {
	for name, o := range map[string]table.Options{"numpy.npy": {Target: "-1"}, "scipy-csr.npz": {NoTarget: true}, "mixed.npz": {}, "numpy-fortran.npy": {Target: "1"}} {
		content, err := os.ReadFile(fixture(name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		try := func(content []byte) error {
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := table.Open(t.Context(), path, o)
			return err
		}
		for at := 1; at < len(content); at += 1 + at/40 {
			if try(content[:at]) == nil {
				t.Errorf("%s, cut to %d of %d bytes, is accepted", name, at, len(content))
			}
		}
		for at := range min(len(content), 128) {
			changed := slices.Clone(content)
			changed[at] ^= 0x11
			_ = try(changed) // must not panic
		}
	}
}
