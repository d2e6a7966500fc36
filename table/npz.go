package table

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// zipMagic begins a ZIP archive; an .npz file is one.
const zipMagic = "PK\x03\x04"

// archive is an .npz file: arrays by name.
type archive struct {
	name   string
	limits sparse.Limits
	arrays map[string]*zip.File
}

// openArchive opens a ZIP archive of arrays.
func openArchive(file *os.File, name string, room sparse.Limits) (*archive, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.IO, File: name, Message: "cannot be read", Err: err}
	}
	z, err := zip.NewReader(file, info.Size())
	if err != nil {
		return nil, &outcome.Error{Kind: outcome.Parse, File: name, Message: "the ZIP archive is damaged", Err: err}
	}
	a := &archive{name: name, limits: room, arrays: map[string]*zip.File{}}
	for _, f := range z.File {
		if short, ok := strings.CutSuffix(f.Name, ".npy"); ok {
			a.arrays[short] = f
		}
	}
	if len(a.arrays) == 0 {
		what := "a ZIP archive without arrays of numbers; unpack it and give the file inside"
		if slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.HasPrefix(f.Name, "xl/") }) {
			what = "an Excel workbook; save it as CSV"
		}
		return nil, refused(name, what)
	}
	return a, nil
}

// open opens an array; the caller must close its reader.
func (z *archive) open(name string) (*array, io.Closer, error) {
	r, err := z.arrays[name].Open()
	if err != nil {
		return nil, nil, &outcome.Error{Kind: outcome.Parse, File: z.name, Message: "the array " + name + " cannot be read", Err: err}
	}
	a, err := openArray(r, z.name, z.limits)
	if err != nil {
		_ = r.Close()
		return nil, nil, err
	}
	a.checksummed = true
	return a, r, nil
}

// numbers reads a whole array.
func (z *archive) numbers(name string) ([]float64, error) {
	a, closer, err := z.open(name)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	if a.kind == 'U' || a.kind == 'S' {
		return nil, refused(z.name, "an archive whose array "+name+" is text")
	}
	return a.numbers()
}

// indices reads an array of indices.
func (z *archive) indices(name string) ([]int32, error) {
	values, err := z.numbers(name)
	if err != nil {
		return nil, err
	}
	out := make([]int32, len(values))
	for k, v := range values {
		if !(v >= 0 && v <= math.MaxInt32 && v == math.Trunc(v)) {
			return nil, z.damaged("there is an invalid index, %g, in %s", v, name)
		}
		out[k] = int32(v)
	}
	return out, nil
}

func (z *archive) damaged(format string, args ...any) error {
	return &outcome.Error{Kind: outcome.Parse, File: z.name, Message: "the sparse matrix is damaged: " + fmt.Sprintf(format, args...)}
}

// isSparse reports whether scipy.sparse.save_npz wrote the archive.
func (z *archive) isSparse() bool {
	return z.arrays["format"] != nil && z.arrays["shape"] != nil && z.arrays["data"] != nil
}

// readSparse reads a SciPy sparse matrix: csr, csc or coo.
func (z *archive) readSparse(ctx context.Context) (*sparse.CSC, string, error) {
	format, err := z.format()
	if err != nil {
		return nil, "", err
	}
	n, p, err := z.dims()
	if err != nil {
		return nil, "", err
	}
	i, j, values, err := z.triplets(format, n, p)
	if err != nil {
		return nil, "", err
	}
	x, err := sparse.NewTriplets(ctx, n, p, i, j, values)
	return x, "a SciPy sparse matrix, " + format, named(err, z.name)
}

// dims returns the dimensions of a sparse matrix.
func (z *archive) dims() (n, p int, err error) {
	shape, err := z.numbers("shape")
	if err != nil {
		return 0, 0, err
	}
	if len(shape) != 2 || !(shape[0] >= 0 && shape[0] <= sparse.MaxDim && shape[1] >= 0 && shape[1] <= sparse.MaxDim) {
		return 0, 0, z.damaged("its shape is %v", shape)
	}
	return int(shape[0]), int(shape[1]), nil
}

// triplets returns the entries of a sparse n × p matrix.
func (z *archive) triplets(format string, n, p int) (i, j []int32, values []float64, err error) {
	rows, columns := "row", "col"
	switch format {
	case "csr":
		rows, columns = "indptr", "indices"
	case "csc":
		rows, columns = "indices", "indptr"
	case "coo":
	default:
		return nil, nil, nil, refused(z.name, fmt.Sprintf("a SciPy sparse matrix in the format %s; save X.tocsr()", format))
	}
	for _, name := range []string{rows, columns} {
		if z.arrays[name] == nil {
			return nil, nil, nil, z.damaged("it has no array %s", name)
		}
	}
	if err := z.fits(n, p); err != nil {
		return nil, nil, nil, err
	}
	if i, err = z.indices(rows); err == nil {
		j, err = z.indices(columns)
	}
	if err == nil {
		values, err = z.numbers("data")
	}
	switch {
	case err != nil:
	case format == "csr":
		i, err = z.expand(i, n, len(values))
	case format == "csc":
		j, err = z.expand(j, p, len(values))
	}
	return i, j, values, err
}

// fits refuses a sparse matrix of n × p whose size exceeds the limits.
func (z *archive) fits(n, p int) error {
	a, closer, err := z.open("data")
	if err != nil {
		return err
	}
	defer closer.Close()
	product := 1.0
	for _, length := range a.shape {
		product *= float64(length)
	}
	entries := int64(min(product, 1<<40))
	if err := checkClaimedShape(z.name, n, p, int(min(entries, math.MaxInt))); err != nil {
		return err
	}
	return named(checkCollected(z.limits, n, p, entries), z.name)
}

// format reads the name of the SciPy format.
func (z *archive) format() (string, error) {
	a, closer, err := z.open("format")
	if err != nil {
		return "", err
	}
	defer closer.Close()
	if len(a.shape) != 0 || a.kind != 'S' && a.kind != 'U' {
		return "", z.damaged("its format is not text")
	}
	b, err := a.next(1)
	if err != nil {
		return "", err
	}
	return a.text(b, 0), a.readToEnd()
}

// expand turns pointers to the starts of n rows or columns into an index for each entry.
func (z *archive) expand(starts []int32, n, entries int) ([]int32, error) {
	if len(starts) != n+1 || starts[0] != 0 || int(starts[n]) != entries || !slices.IsSorted(starts) {
		return nil, z.damaged("its indptr does not fit %d entries in %d rows or columns", entries, n)
	}
	out := make([]int32, entries)
	for k := range n {
		for e := starts[k]; e < starts[k+1]; e++ {
			out[e] = int32(k)
		}
	}
	return out, nil
}

// named adds the name of the file to an error that has none.
func named(err error, name string) error {
	if e, ok := err.(*outcome.Error); ok && e.File == "" { //nolint:errorlint // ours, not wrapped
		own := *e
		own.File = name
		return &own
	}
	return err
}

// matrix returns the name of the array that is the design matrix: one called X or the like, or else the only
// array of two dimensions.
func (z *archive) matrix() (string, error) {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(z.arrays)) {
		a, closer, err := z.open(name)
		if err != nil {
			return "", err
		}
		_ = closer.Close()
		if len(a.shape) == 2 {
			found = append(found, name)
		}
	}
	for _, usual := range []string{"X", "x", "data", "features"} {
		if slices.Contains(found, usual) {
			return usual, nil
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return "", refused(z.name, fmt.Sprintf("an archive of %d arrays, of which %d are matrices; name the design matrix X", len(z.arrays), len(found)))
}

// target returns the name of the array that is the target, "" if there is none.
func (z *archive) target(o Options) string {
	if o.Target != "" {
		if z.arrays[o.Target] != nil {
			return o.Target
		}
		return ""
	}
	for _, usual := range []string{"y", "Y", "target", "targets", "label", "labels"} {
		if z.arrays[usual] != nil {
			return usual
		}
	}
	return ""
}

// readDense reads an archive of dense arrays: the design matrix, and the target if the archive has one.
func (z *archive) readDense(ctx context.Context, o Options) (*Data, error) {
	rows, closer, err := z.rows()
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	own, target := o, z.target(o)
	if target != "" {
		own.Target, own.NoTarget = "", true
	}
	d, err := collect(ctx, rows, "a NumPy archive", own)
	if err != nil || target == "" {
		return d, err
	}
	y, err := z.readTarget(ctx, target, d.Rows)
	if err != nil {
		return nil, err
	}
	d.setTarget(y.Y, y.Labels)
	d.Schema.Target = target
	return d, nil
}

// readTarget reads the target, which must have the given number of rows.
func (z *archive) readTarget(ctx context.Context, target string, rows int) (*Data, error) {
	a, last, err := z.open(target)
	if err != nil {
		return nil, err
	}
	defer last.Close()
	column, err := newArrayRows(a)
	if err != nil {
		return nil, err
	}
	if column.p != 1 || column.n != rows {
		return nil, &outcome.Error{Kind: outcome.Shape, File: z.name, Message: fmt.Sprintf("the array %s is %d × %d, but there are %d rows", target, column.n, column.p, rows)}
	}
	column.names = []string{target}
	return collect(ctx, column, "", Options{Name: z.name, Target: "1"})
}

// rows opens the design matrix for reading by rows.
func (z *archive) rows() (*arrayRows, io.Closer, error) {
	name, err := z.matrix()
	if err != nil {
		return nil, nil, err
	}
	a, closer, err := z.open(name)
	if err != nil {
		return nil, nil, err
	}
	rows, err := newArrayRows(a)
	if err != nil {
		_ = closer.Close()
		return nil, nil, err
	}
	return rows, closer, nil
}
