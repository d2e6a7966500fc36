package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/internal/random"
	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/table"
	"github.com/seed-45b9a24c/pare/table/parquet"
)

var _ = flag.Bool("long", false, "half a million changed files")

var update = flag.Bool("update", false, "write the fixture anew")

const fixture = "../testdata/parquet-go.parquet"

func read(path string, o table.Options) (*table.Data, error) {
	o.Formats = []table.Format{parquet.Format()}
	return table.Open(context.Background(), path, o)
}

// diabetes is a row of the fixture: the columns in pandas' order, which is not alphabetical.
type diabetes struct {
	Age    float64 `parquet:"age"`
	Sex    float64 `parquet:"sex"`
	BMI    float64 `parquet:"bmi"`
	BP     float64 `parquet:"bp"`
	S1     float64 `parquet:"s1,snappy"`
	S2     float64 `parquet:"s2,gzip"`
	S3     float64 `parquet:"s3,zstd"`
	S4     float64 `parquet:"s4,dict"`
	S5     float64 `parquet:"s5"`
	S6     float64 `parquet:"s6"`
	Target float64 `parquet:"target"`
}

// TestParquetIsTheSameData checks that the fixture has the data of the other formats, whatever the compression and
// encoding of its columns.
func TestParquetIsTheSameData(t *testing.T) {
	want, err := table.Open(t.Context(), "../testdata/sklearn-one.svm", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		rows := make([]diabetes, len(want.Y))
		for i := range rows {
			var v [10]float64
			for j := range v {
				_, column := want.X.Column(j)
				v[j] = column[i]
			}
			rows[i] = diabetes{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], want.Y[i]}
		}
		if err := pq.WriteFile(fixture, rows); err != nil {
			t.Fatal(err)
		}
	}
	got, err := read(fixture, table.Options{Target: "target"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Y, want.Y) || !slices.Equal(got.Names, []string{"age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"}) || got.Format != "Parquet" {
		t.Errorf("%q, %s", got.Names, got.Format)
	}
	for j := range 10 {
		_, a := got.X.Column(j)
		_, b := want.X.Column(j)
		if !slices.Equal(a, b) {
			t.Errorf("column %d differs", j)
		}
	}
}

type mixed struct {
	Number  *float64 `parquet:"number,optional"`
	Small   int32    `parquet:"small"`
	Large   uint64   `parquet:"large"`
	Single  float32  `parquet:"single"`
	Truth   bool     `parquet:"truth"`
	Color   *string  `parquet:"color,optional,dict"`
	Price   int64    `parquet:"price,decimal(2:18)"`
	Nested  struct{ A, B float64 }
	List    []float64 `parquet:"list,list"`
	Label   string    `parquet:"label"`
	Ignored []byte    `parquet:"ignored"`
}

func write[T any](t *testing.T, rows []T, options ...pq.WriterOption) string {
	t.Helper()
	var b bytes.Buffer
	w := pq.NewGenericWriter[T](&b, append(options, pq.MaxRowsPerRowGroup(2))...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestParquetTypes checks that every type is read as its meaning, that nested columns are skipped, and that row groups
// are joined.
func TestParquetTypes(t *testing.T) {
	one, red, blue := 1.5, "red", "blue"
	path := write(t, []mixed{
		{Number: &one, Small: -3, Large: 1 << 53, Single: 0.1, Truth: true, Color: &red, Price: 1999, List: []float64{1, 2}, Label: "no"},
		{Small: 4, Large: 1, Color: &blue, Price: -5, Label: "yes"},
		{Number: &one, Truth: true, Color: nil, Label: "yes"},
	})
	o := table.Options{Target: "label", Drop: []string{"ignored"}, OneHot: true, Missing: table.Zero}
	d, err := read(path, o)
	if err != nil {
		t.Fatal(err)
	}
	columns := map[string][]float64{}
	for j, name := range d.Names {
		column := make([]float64, 3)
		rows, values := d.X.Column(j)
		for k, v := range values {
			if rows != nil {
				k = int(rows[k])
			}
			column[k] = v
		}
		columns[name] = column
	}
	want := map[string][]float64{
		"number": {1.5, 0, 1.5}, "small": {-3, 4, 0}, "large": {1 << 53, 1, 0}, "single": {float64(float32(0.1)), 0, 0}, "truth": {1, 0, 1},
		"color=blue": {0, 1, 0}, "color=red": {1, 0, 0}, "price": {19.99, -0.05, 0},
	}
	if fmt.Sprint(columns) != fmt.Sprint(want) || !slices.Equal(d.Labels, []string{"no", "yes"}) || !slices.Equal(d.Y, []float64{0, 1, 1}) {
		t.Errorf("%v\nwant %v; %v %v", columns, want, d.Labels, d.Y)
	}
	n, p := d.X.Dims()
	k := 0
	for row, err := range d.Schema.Rows(t.Context(), path, nil, p, table.Options{Formats: []table.Format{parquet.Format()}}) {
		if err != nil {
			t.Fatal(err)
		}
		if row.Values[0] != columns[d.Names[0]][k] || row.Target != []string{"no", "yes", "yes"}[k] {
			t.Errorf("row %d: %v", k, row)
		}
		k++
	}
	if k != n {
		t.Errorf("%d rows of %d", k, n)
	}
	o.Missing = table.Refuse
	if _, err := read(path, o); outcome.KindOf(err) != outcome.Parse {
		t.Errorf("a missing number: %v", err)
	}
}

// TestThePandasIndexIsNoFeature checks that the index of a data frame, whatever its name, is not a feature unless it is
// requested. The metadata follow pandas' description of them: names of columns, and ranges, which are not columns.
func TestThePandasIndexIsNoFeature(t *testing.T) {
	type row struct {
		A   float64 `parquet:"a"`
		Y   float64 `parquet:"y"`
		Day string  `parquet:"day"`
		ID  int64   `parquet:"id"`
	}
	const frame = `{"index_columns": ["id", {"kind": "range", "name": null, "start": 0, "stop": 2, "step": 1}, "day"], "columns": []}`
	path := write(t, []row{{1, 5, "mon", 7}, {2, 6, "tue", 9}}, pq.KeyValueMetadata("pandas", frame))
	for _, c := range []struct {
		o     table.Options
		names string
		notes int
	}{
		{table.Options{Target: "y"}, "[a]", 1},
		{table.Options{Target: "y", Columns: []string{"a", "id"}}, "[a id]", 0},
		{table.Options{Target: "id", Drop: []string{"day"}}, "[a y]", 0},
	} {
		d, err := read(path, c.o)
		if err != nil || fmt.Sprint(d.Names) != c.names || len(d.Notes) != c.notes {
			t.Errorf("%+v: %v, %v", c.o, d, err)
		}
	}
	for _, other := range []string{"", "no JSON", `{"index_columns": 3}`} {
		path := write(t, []row{{1, 5, "mon", 7}}, pq.KeyValueMetadata("pandas", other))
		if d, err := read(path, table.Options{Target: "y", Drop: []string{"day"}}); err != nil || len(d.Names) != 2 {
			t.Errorf("%q: %v, %v", other, d, err)
		}
	}
}

// timed is a row with every type that other programs write for times, and a decimal of 38 digits.
type timed struct {
	X     float64          `parquet:"x"`
	Date  int32            `parquet:"date,date"`
	Milli int64            `parquet:"milli,timestamp(millisecond)"`
	Nano  int64            `parquet:"nano,timestamp(nanosecond)"`
	Clock int64            `parquet:"clock,time(microsecond)"`
	Old   deprecated.Int96 `parquet:"old"`
	Money [16]byte         `parquet:"money,decimal(2:38)"`
}

// TestParquetTimesAndDecimals checks that times are features only as categories, spelled as pandas writes them to text,
// and that decimals of any width are numbers. The times count from 1970, which begins at Julian day 2440588; -1250 is
// 2¹²⁸ − 1250 in two's complement.
func TestParquetTimesAndDecimals(t *testing.T) {
	minus := bytes.Repeat([]byte{0xff}, 16)
	minus[14], minus[15] = 0xfb, 0x1e
	path := write(t, []timed{
		{X: 1, Date: 0, Milli: 1_500, Nano: 1_700_000_000_000_000_001, Clock: 3_600_000_000, Old: deprecated.Int96{1_000_000_000, 0, 2440588}, Money: [16]byte{15: 199}},
		{X: 2, Date: -1, Milli: -1, Nano: 0, Clock: 1, Old: deprecated.Int96{0, 0, 2440587}, Money: [16]byte(minus)},
	})
	names := []string{"date", "milli", "nano", "clock", "old"}
	for k, name := range names {
		_, err := read(path, table.Options{Target: "x", OneHot: true, Drop: slices.Delete(slices.Clone(names), k, k+1)})
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != outcome.Parse || e.Flag != "drop" || !e.HasRow || !strings.Contains(e.Message, "a time") {
			t.Errorf("%s: %v", name, err)
		}
	}
	d, err := read(path, table.Options{Target: "x", OneHot: true, Categories: names})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"date=1969-12-31", "date=1970-01-01", "milli=1969-12-31 23:59:59.999", "milli=1970-01-01 00:00:01.5",
		"nano=1970-01-01 00:00:00", "nano=2023-11-14 22:13:20.000000001", "clock=00:00:00.000001", "clock=01:00:00",
		"old=1969-12-31 00:00:00", "old=1970-01-01 00:00:01", "money",
	}
	if !slices.Equal(d.Names, want) {
		t.Errorf("%q", d.Names)
	}
	if _, money := d.X.Column(len(want) - 1); !slices.Equal(money, []float64{1.99, -12.5}) {
		t.Errorf("decimals: %v", money)
	}
}

// TestDamagedParquet checks that cut or changed files are refused or read completely, and never cause a panic.
func TestDamagedParquet(t *testing.T) {
	content, err := os.ReadFile(fixture)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "file")
	try := func(content []byte) error {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := read(path, table.Options{Target: "target"})
		return err
	}
	for at := 4; at < len(content); at += 1 + at/20 {
		if err := try(content[:at]); outcome.KindOf(err) != outcome.Parse {
			t.Errorf("cut to %d of %d bytes: %v", at, len(content), err)
		}
	}
	for at := range 200 {
		changed := slices.Clone(content)
		changed[(at*7919)%len(content)] ^= 0x24
		if err := try(changed); err != nil && outcome.KindOf(err) == outcome.Internal {
			t.Errorf("byte %d: %v", at, err)
		}
	}
	if _, err := table.Read(t.Context(), bytes.NewReader(content), table.Options{Target: "y", Formats: []table.Format{parquet.Format()}}); outcome.KindOf(err) != outcome.Parse {
		t.Errorf("from a stream: %v", err)
	}
	if _, err := table.Open(t.Context(), fixture, table.Options{Target: "y"}); outcome.KindOf(err) != outcome.Parse {
		t.Errorf("without the format: %v", err)
	}
}

// tiny returns files of a few hundred bytes with columns of all kinds. A random change in them affects the structure,
// whereas most of a large file is data.
func tiny(tb testing.TB) (files [][]byte) {
	tb.Helper()
	type row struct {
		A float64  `parquet:"a"`
		B *int32   `parquet:"b,optional"`
		C string   `parquet:"c,dict"`
		D bool     `parquet:"d"`
		E *float32 `parquet:"e,optional"`
	}
	two := int32(2)
	rows := []row{{A: 1.5, C: "x", D: true}, {B: &two, C: "y"}, {A: -3, C: "x"}}
	for _, o := range [][]pq.WriterOption{{pq.Compression(&pq.Uncompressed)}, {pq.Compression(&pq.Snappy), pq.DataPageVersion(1)}, {pq.MaxRowsPerRowGroup(1)}} {
		var b bytes.Buffer
		w := pq.NewGenericWriter[row](&b, o...)
		if _, err := w.Write(rows); err != nil {
			tb.Fatal(err)
		}
		if err := w.Close(); err != nil {
			tb.Fatal(err)
		}
		files = append(files, b.Bytes())
	}
	return files
}

// readsOrRefuses reads a file with arbitrary content. Whatever sizes the file declares, reading must take little
// memory, and no panic of the library below may escape.
func readsOrRefuses(t *testing.T, content []byte) (err error) {
	t.Helper()
	rows, err := parquet.Format().Open(bytes.NewReader(content), int64(len(content)), "file")
	for row := []table.Cell(nil); err == nil; {
		row, err = rows.Next(row)
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if kind := outcome.KindOf(err); kind == "" || kind == outcome.Internal {
		t.Fatalf("%v, of %q", err, content)
	}
	return err
}

// TestChangedParquet checks that small files with one to eight changes, of bytes, numbers and lengths, are read or
// refused. The long form makes half a million changes.
func TestChangedParquet(t *testing.T) {
	source, read := random.SplitMix64(3), 0
	pick := func(n int) int { return source.Below(n) }
	files := tiny(t)
	rounds := int(oracle.Cases(4000))
	if oracle.Long() {
		rounds = 500_000
	}
	for range rounds {
		content := slices.Clone(files[pick(len(files))])
		for range 1 + pick(8) {
			switch at := 4 + pick(len(content)-4); pick(5) {
			case 0:
				content[at] ^= 1 << pick(8)
			case 1:
				content[at] = byte(source.Next())
			case 2: // large numbers in the encoding used by the footer
				copy(content[at:], []byte{0xff, 0xff, 0xff, 0xff, 0x0f}[:1+pick(5)])
			case 3:
				content = slices.Delete(content, at, min(len(content), at+1+pick(4)))
			default:
				content = slices.Insert(content, at, content[at:min(len(content), at+1+pick(9))]...)
			}
		}
		if readsOrRefuses(t, content) == nil {
			read++
		}
	}
	if t.Logf("%d of %d were read", read, rounds); read == 0 || read == rounds {
		t.Error("all ended alike")
	}
}

func FuzzParquet(f *testing.F) {
	for _, content := range tiny(f) {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) { _ = readsOrRefuses(t, content) })
}
