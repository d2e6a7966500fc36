package main

import (
	"archive/zip"
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestEveryFormatSelectsTheSame checks that the same data in any format give a selection with the
// same bits: λ, the criterion at every evaluation, coefficients and certificates.
func TestEveryFormatSelectsTheSame(t *testing.T) {
	t.Run("diabetes", func(t *testing.T) {
		selectInEveryFormat(t, writeFile(t, "diabetes.svm", readDiabetes(t)), "--model=lasso")
	})
	t.Run("words", func(t *testing.T) {
		selectInEveryFormat(t, writeFile(t, "words.svm", counts(t, 80, 30)), "--model=logreg", "--folds=3")
	})
}

// TestEveryFormatOfSharedDataSelectsTheSame checks the same on data of other sizes and shapes, if
// they are present. The long form has a matrix of 18,398 × 41,695, whose dense forms take
// gigabytes; -run selects a single format.
func TestEveryFormatOfSharedDataSelectsTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("short: the embedded data are in every format all the same")
	}
	for _, name := range []string{"breast_cancer", "diabetes", "a9a", "reuters_places"} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("..", "..", "..", "shared", "data", name+".svm.gz")
			if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
				t.Skip("no " + file)
			}
			selectInEveryFormat(t, file)
		})
		if !oracle.Long() {
			return
		}
	}
}

// counts returns svmlight text of n rows of two classes and p columns, whose values are mostly
// zeros and small integers.
func counts(t *testing.T, n, p int) string {
	t.Helper()
	r := oracle.NewRandom(17)
	var text strings.Builder
	for i := range n {
		fmt.Fprint(&text, 2*(i%2)-1)
		for j := range p {
			switch {
			case j == 0 || r.Intn(5) == 0:
				fmt.Fprintf(&text, " %d:%d", j+1, 1+r.Intn(3)+i%2)
			case r.Intn(20) == 0:
				fmt.Fprintf(&text, " %d:%v", j+1, r.Normal())
			}
		}
		text.WriteString("\n")
	}
	return text.String()
}

// selectInEveryFormat writes the data of a file in each format in turn, and compares the
// selections.
func selectInEveryFormat(t *testing.T, file string, flags ...string) {
	t.Helper()
	x, y, err := sparse.OpenSVMLight(t.Context(), file, sparse.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d := spelled{x: sparse.Transpose(x), y: y, columns: x}
	d.n, d.p = x.Dims()
	args := append([]string{"select", "--json", "--coef"}, flags...)
	want := choiceOf(pareRun(t, append(args, file)...))
	if !strings.HasPrefix(want, "{") {
		t.Fatal(want)
	}
	targets := filepath.Join(t.TempDir(), "target.csv")
	keep(t, targets, d.targets)
	for k, f := range d.formats("--target=" + targets) {
		if !oracle.Turn(k, 3) {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			if got := f.choice(t, args); got != want {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				t.Errorf("…%.200s\nwant\n…%.200s", got[at:], want[at:])
			}
		})
	}
}

// choice returns the selection on the data in one format.
func (f written) choice(t *testing.T, args []string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	keep(t, path, f.write)
	if f.pack != "" {
		pack(t, f.pack, path)
	}
	if f.mapped {
		if o := pareRun(t, append([]string{"convert", path, path + ".pare"}, f.args...)...); o.code != exitOK {
			t.Fatal(o.stderr)
		}
		path, f.args = path+".pare", nil
	}
	if !f.stdin {
		return choiceOf(pareRun(t, slices.Concat(args, f.args, []string{path})...))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return choiceOf(pareRunWith(t.Context(), string(text), slices.Concat(args, f.args, []string{"-"})...))
}

// choiceOf returns the output of a selection without seconds, and without the names that only some
// formats have.
func choiceOf(o outcomeOf) string {
	var r selectResult
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || o.code != exitOK || o.stderr != "" {
		return fmt.Sprintf("exit %d, %v\n%s%s", o.code, err, o.stdout, o.stderr)
	}
	r.Seconds, r.Final.Seconds, r.Final.Coef.Name = selectSeconds{}, fitSeconds{}, nil
	for k := range r.Evaluations {
		r.Evaluations[k].Seconds = 0
	}
	for k := range r.Warnings { // warnings name columns
		r.Warnings[k].Message = ""
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// spelled holds data to be written in all formats, without any writer of this project.
type spelled struct {
	n, p       int
	x, columns sparse.Matrix // x is stored by rows
	y          []float64
}

// written is a format, and the arguments that tell the command where the target is.
type written struct {
	name   string
	write  func(io.Writer)
	args   []string
	pack   string // the program that compresses it
	stdin  bool
	mapped bool
}

// formats returns the formats that keep the target in a column, and others, for which the argument
// target says where it is.
func (d spelled) formats(target string) []written {
	table := func(separator string, header bool) func(io.Writer) {
		return func(w io.Writer) { d.table(w, separator, header) }
	}
	commas := func(w io.Writer) {
		var b strings.Builder
		d.table(&b, ";", true)
		_, _ = io.WriteString(w, strings.ReplaceAll(b.String(), ".", ","))
	}
	lines := func(base int) func(io.Writer) { return func(w io.Writer) { d.svmlight(w, base) } }
	array := func(fortran bool) func(io.Writer) { return func(w io.Writer) { d.npy(w, fortran, d.p+1) } }
	matrix := func(format string) func(io.Writer) { return func(w io.Writer) { d.npz(w, format) } }
	last, named := []string{"--target=-1"}, []string{"--target=y"}
	beside := []string{target}
	return []written{
		{name: "svmlight from 0", write: lines(0)},
		{name: "svmlight said to be from 0", write: lines(0), args: []string{"--zero-based"}},
		{name: "svmlight from 1", write: lines(1)},
		{name: "svmlight, gzip", write: lines(1), pack: "gzip"},
		{name: "svmlight, bzip2", write: lines(0), pack: "bzip2"},
		{name: "svmlight, zstd", write: lines(1), pack: "zstd"},
		{name: "svmlight from a pipe", write: lines(0), stdin: true},
		{name: "CSV", write: table(",", true), args: named},
		{name: "CSV without names", write: table(",", false), args: last},
		{name: "TSV", write: table("\t", true), args: named},
		{name: "semicolons", write: table(";", true), args: named},
		{name: "semicolons and decimal commas", write: commas, args: []string{"--target=y", "--decimal-comma"}},
		{name: "blanks", write: table(" ", false), args: last},
		{name: "CSV, gzip, from a pipe", write: table(",", true), args: named, pack: "gzip", stdin: true},
		{name: "TSV, zstd", write: table("\t", false), args: last, pack: "zstd"},
		{name: "npy", write: array(false), args: last},
		{name: "npy in columns", write: array(true), args: last},
		{name: "npz of arrays", write: matrix("")},
		{name: "npz, csc", write: matrix("csc"), args: beside},
		{name: "npz, csr", write: matrix("csr"), args: beside},
		{name: "npz, coo", write: matrix("coo"), args: beside},
		{name: "Matrix Market, coordinate", write: d.coordinates, args: beside},
		{name: "Matrix Market, coordinate, gzip", write: d.coordinates, args: beside, pack: "gzip"},
		{name: "Matrix Market, array", write: d.array, args: beside},
		{name: "Parquet", write: d.parquet, args: named},
		{name: "mapped from svmlight", write: lines(0), mapped: true},
		{name: "mapped from CSV", write: table(",", false), args: last, mapped: true},
	}
}

func keep(t *testing.T, path string, write func(io.Writer)) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	write(w)
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
}

// pack compresses a file in place. Go cannot write bzip2; without the program bzip2 the file stays
// as it is.
func pack(t *testing.T, with, path string) {
	t.Helper()
	if with == "bzip2" {
		if program, err := exec.LookPath(with); err == nil {
			if err := exec.Command(program, path).Run(); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".bz2", path); err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	from, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	keep(t, path+".packed", func(w io.Writer) {
		var z io.WriteCloser = gzip.NewWriter(w)
		if with == "zstd" {
			z, err = zstd.NewWriter(w)
		}
		_, failed := io.Copy(z, from)
		if err := errors.Join(err, failed, z.Close(), from.Close()); err != nil {
			t.Fatal(err)
		}
	})
	if err := os.Rename(path+".packed", path); err != nil {
		t.Fatal(err)
	}
}

func number17(v float64) string { return strconv.FormatFloat(v, 'g', 17, 64) }

// say writes text to a writer that remembers its error, as the writer of keep does.
func say(w io.Writer, text string) { _, _ = io.WriteString(w, text) }

// row returns the values of a row and its target.
func (d spelled) row(i int, values []float64) []float64 {
	values = values[:d.p+1]
	clear(values)
	d.entries(i, func(j int, v float64) { values[j] = v })
	values[d.p] = d.y[i]
	return values
}

// entries calls visit for each nonzero of a row.
func (d spelled) entries(i int, visit func(j int, v float64)) {
	columns, values := d.x.Column(i)
	for k, v := range values {
		j := k
		if columns != nil {
			j = int(columns[k])
		}
		if v != 0 {
			visit(j, v)
		}
	}
}

func (d spelled) targets(w io.Writer) {
	for _, v := range d.y {
		fmt.Fprintln(w, number17(v))
	}
}

func (d spelled) svmlight(w io.Writer, base int) {
	for i := range d.n {
		say(w, number17(d.y[i]))
		d.entries(i, func(j int, v float64) { say(w, " "+strconv.Itoa(j+base)+":"+number17(v)) })
		say(w, "\n")
	}
}

// name returns the name of a column.
func (d spelled) name(j int) string {
	if j == d.p {
		return "y"
	}
	return fmt.Sprintf("x%06d", j)
}

func (d spelled) table(w io.Writer, separator string, header bool) {
	line := func(cell func(j int) string) {
		for j := range d.p + 1 {
			if j > 0 {
				say(w, separator)
			}
			say(w, cell(j))
		}
		say(w, "\n")
	}
	if header {
		line(d.name)
	}
	row := make([]float64, d.p+1)
	for i := range d.n {
		row = d.row(i, row)
		line(func(j int) string {
			if row[j] == 0 {
				return "0"
			}
			return number17(row[j])
		})
	}
}

// header writes the header of a NumPy array.
func header(w io.Writer, descr string, fortran bool, shape string) {
	order := map[bool]string{false: "False", true: "True"}[fortran]
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, order, shape)
	text += strings.Repeat(" ", 63-(10+len(text))%64) + "\n"
	fmt.Fprintf(w, "\x93NUMPY\x01\x00%s%s", binary.LittleEndian.AppendUint16(nil, uint16(len(text))), text)
}

// npy writes the first columns as a NumPy array.
func (d spelled) npy(w io.Writer, fortran bool, width int) {
	header(w, "<f8", fortran, fmt.Sprintf("%d, %d", d.n, width))
	values := make([]float64, max(d.p+1, d.n))
	if !fortran {
		for i := range d.n {
			_ = binary.Write(w, binary.LittleEndian, d.row(i, values)[:width])
		}
		return
	}
	for j := range width {
		_ = binary.Write(w, binary.LittleEndian, d.column(j, values))
	}
}

// column returns a column, or the target.
func (d spelled) column(j int, values []float64) []float64 {
	if j == d.p {
		return d.y
	}
	values = values[:d.n]
	clear(values)
	rows, nonzeros := d.columns.Column(j)
	for k, v := range nonzeros {
		if rows != nil {
			values[rows[k]] = v
		} else {
			values[k] = v
		}
	}
	return values
}

// npz writes an archive of arrays: X and the target, or the arrays of a SciPy sparse matrix.
func (d spelled) npz(w io.Writer, format string) {
	z := zip.NewWriter(w)
	part := func(name string, write func(io.Writer)) {
		f, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: map[bool]uint16{true: zip.Deflate, false: zip.Store}[format == "csc"]})
		if err == nil {
			write(f)
		}
	}
	vector := func(name, descr string, length int, v any) {
		part(name, func(w io.Writer) {
			header(w, descr, false, fmt.Sprintf("%d,", length))
			_ = binary.Write(w, binary.LittleEndian, v)
		})
	}
	defer z.Close() //nolint:errcheck // what fails is the file, whose writer says so
	if format == "" {
		part("X", func(w io.Writer) { d.npy(w, false, d.p) })
		vector("y", "<f8", d.n, d.y)
		return
	}
	starts, rows, columns, values := []int32{0}, []int32{}, []int32{}, []float64{}
	by := d
	if format == "csc" {
		by.x, by.n = d.columns, d.p
	}
	for i := range by.n {
		by.entries(i, func(j int, v float64) {
			rows, columns, values = append(rows, int32(i)), append(columns, int32(j)), append(values, v)
		})
		starts = append(starts, int32(len(values)))
	}
	part("format", func(w io.Writer) {
		header(w, "|S3", false, "")
		say(w, format)
	})
	vector("shape", "<i8", 2, []int64{int64(d.n), int64(d.p)})
	vector("data", "<f8", len(values), values)
	if format == "coo" {
		vector("row", "<i4", len(rows), rows)
		vector("col", "<i4", len(columns), columns)
		return
	}
	vector("indices", "<i4", len(columns), columns)
	vector("indptr", "<i4", len(starts), starts)
}

func (d spelled) coordinates(w io.Writer) {
	entries := 0
	for i := range d.n {
		d.entries(i, func(int, float64) { entries++ })
	}
	fmt.Fprintf(w, "%%%%MatrixMarket matrix coordinate real general\n%% by rows\n%d %d %d\n", d.n, d.p, entries)
	for i := range d.n {
		d.entries(i, func(j int, v float64) { fmt.Fprintf(w, "%d %d %s\n", i+1, j+1, number17(v)) })
	}
}

func (d spelled) array(w io.Writer) {
	fmt.Fprintf(w, "%%%%MatrixMarket matrix array real general\n%d %d\n", d.n, d.p)
	values := make([]float64, d.n)
	for j := range d.p {
		for _, v := range d.column(j, values) {
			say(w, number17(v)+"\n")
		}
	}
}

func (d spelled) parquet(w io.Writer) {
	columns := parquet.Group{}
	for j := range d.p + 1 {
		columns[d.name(j)] = parquet.Leaf(parquet.DoubleType)
	}
	file := parquet.NewWriter(w, parquet.NewSchema("data", columns))
	values, row := make([]float64, d.p+1), make(parquet.Row, d.p+1)
	for i := range d.n {
		for j, v := range d.row(i, values) {
			row[j] = parquet.DoubleValue(v).Level(0, 0, j)
		}
		_, _ = file.WriteRows([]parquet.Row{row}) // Close reports the error
	}
	_ = file.Close() // the reader reports the error
}
