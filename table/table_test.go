package table_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

func read(text string, o table.Options) (*table.Data, error) {
	if o.Name == "" {
		o.Name = "data"
	}
	return table.Read(context.Background(), strings.NewReader(text), o)
}

// shown describes data in one line: names, columns, target.
func shown(d *table.Data) string {
	n, p := d.X.Dims()
	var b strings.Builder
	for j := range p {
		if d.Names != nil {
			b.WriteString(d.Names[j])
		}
		column := make([]float64, n)
		rows, values := d.X.Column(j)
		for k, v := range values {
			if rows != nil {
				k = int(rows[k])
			}
			column[k] = v
		}
		fmt.Fprint(&b, column, " ")
	}
	fmt.Fprintf(&b, "→ %v%v", d.Y, d.Labels)
	return b.String()
}

const small = "a,b,y\n1,2,5\n0,-4.5,6\n"

// TestSpellingsOfOneTable checks that all ways to write a table as text give the same data.
func TestSpellingsOfOneTable(t *testing.T) {
	want := "a[1 0] b[2 -4.5] → [5 6][]"
	for name, text := range map[string]string{
		"comma":                    small,
		"no newline at the end":    strings.TrimSuffix(small, "\n"),
		"CRLF":                     strings.ReplaceAll(small, "\n", "\r\n"),
		"byte order mark":          "\xef\xbb\xbf" + small,
		"quotes":                   "\"a\",\"b\",\"y\"\n\"1\",2,5\n0,\"-4.5\",\"6\"\n",
		"blanks":                   "a, b, y\n1, 2, 5\n0, -4.5 , 6\n",
		"blank lines":              "a,b,y\n\n1,2,5\n\n0,-4.5,6\n\n",
		"tabs":                     strings.ReplaceAll(small, ",", "\t"),
		"semicolons":               strings.ReplaceAll(small, ",", ";"),
		"bars":                     strings.ReplaceAll(small, ",", "|"),
		"remarks":                  "# made by hand,\n#\n" + small,
		"NumPy's names, commas":    "# a remark\n# " + small,
		"Excel's separator":        "sep=;\r\n" + strings.ReplaceAll(small, ",", ";"),
		"in quotes, after a mark":  "\xef\xbb\xbf\"SEP=\t\"\n" + strings.ReplaceAll(small, ",", "\t"),
		"between blanks":           strings.ReplaceAll(small, ",", "   "),
		"NumPy's names":            "# a b y\n1 2 5\n0 -4.5 6\n",
		"R's names":                "\"a\" \"b\" \"y\"\n1 2 5\n0 -4.5 6\n",
		"exponents":                "a,b,y\n1e0,.2e+1,5.\n-0,-45e-1,+6\n",
		"semicolons and a comma":   "a;b;y\n1;2;5\n0;-4.5;6\n",
		"True and False":           "a,b,y\nTrue,2,5\nFalse,-4.5,6\n",
		"numbers of many a figure": "a,b,y\n1.00000000000000000000000001,2.0000000000000000000000,5\n0.0000,-4.5,6\n",
	} {
		d, err := read(text, table.Options{Target: "y"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := shown(d); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestCompressedTables checks that compression is detected from the content, whatever the name and source of the file.
func TestCompressedTables(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := io.WriteString(z, small); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range [][]byte{zipped.Bytes(), encoder.EncodeAll([]byte(small), nil)} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := table.Open(t.Context(), path, table.Options{Target: "y"})
		if err != nil || shown(d) != "a[1 0] b[2 -4.5] → [5 6][]" {
			t.Errorf("a file: %v", err)
		}
		d, err = table.Read(t.Context(), bytes.NewReader(content), table.Options{Target: "y"})
		if err != nil || shown(d) != "a[1 0] b[2 -4.5] → [5 6][]" {
			t.Errorf("a stream: %v", err)
		}
	}
}

// TestColumnsByNameAndNumber checks that a first line without numbers is a header, that columns have names or numbers,
// and that any of them may be the target.
func TestColumnsByNameAndNumber(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		text string
		o    table.Options
		want string
	}{
		{"1,2,5\n0,-4.5,6\n", table.Options{Target: "3"}, "[1 0] [2 -4.5] → [5 6][]"},
		{"1,2,5\n0,-4.5,6\n", table.Options{Target: "-1"}, "[1 0] [2 -4.5] → [5 6][]"},
		{"1,2,5\n0,-4.5,6\n", table.Options{Target: "1"}, "column 2[2 -4.5] column 3[5 6] → [1 0][]"},
		{"1,2,5\n0,-4.5,6\n", table.Options{Target: "-1", Header: &yes}, "1[0] 2[-4.5] → [6][]"},
		{"2,1\n7,8\n", table.Options{Target: "2", Header: &yes}, "1[8] → [7][]"}, // names take precedence
		{"a,y\ninf,no\nx,nan.\n", table.Options{Target: "y", OneHot: true}, "a=inf[1 0] a=x[0 1] → [1 0][nan. no]"},
		{"x,y\n7,8\n", table.Options{Target: "2", Header: &no, OneHot: true, Categories: []string{"1", "2"}}, "column 1=7[0 1] column 1=x[1 0] → [1 0][8 y]"},
		{"a,,y\n1,2,5\n", table.Options{Target: "y"}, "a[1] column 2[2] → [5][]"},
		{"# 7 8 9\n1 2 5\n0 -4.5 6\n", table.Options{Target: "9"}, "7[1 0] 8[2 -4.5] → [5 6][]"},
		{"# a b y\n1 2 5\n0 -4.5 6\n", table.Options{Target: "3", Header: &no}, "[1 0] [2 -4.5] → [5 6][]"},
		{small, table.Options{Target: "y", Drop: []string{"a"}}, "b[2 -4.5] → [5 6][]"},
		{small, table.Options{Target: "y", Columns: []string{"b"}}, "b[2 -4.5] → [5 6][]"},
		{small, table.Options{Target: "y", Drop: []string{"1"}}, "b[2 -4.5] → [5 6][]"},
		{small, table.Options{NoTarget: true}, "a[1 0] b[2 -4.5] y[5 6] → [][]"},
		{"a,y\n1,no\n2,yes\n3,no\n", table.Options{Target: "y"}, "a[1 2 3] → [0 1 0][no yes]"},
		{"a,y\n1,10\n2,9\n", table.Options{Target: "y", Categories: []string{"y"}}, "a[1 2] → [0 1][10 9]"},
		{"a\n1\n2\n", table.Options{Target: "a"}, "→ [1 2][]"},
		{"1 0:5 2:1\n", table.Options{}, "[5] [0] [1] → [1][]"},
		{"1 1:5 2:1\n", table.Options{}, "[5] [1] → [1][]"},
		{"1 1:5 2:1\n", table.Options{ZeroBased: &yes}, "[0] [5] [1] → [1][]"},
		{"1 1:5 2:1\n", table.Options{Features: 3}, "[5] [1] [0] → [1][]"},
		{"", table.Options{}, "→ [][]"},
	} {
		d, err := read(c.text, c.o)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
		} else if got := shown(d); got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestCategoriesAndMissingCells checks that categories become columns in alphabetical order, and that missing cells are
// treated as requested.
func TestCategoriesAndMissingCells(t *testing.T) {
	const text = "n,c,y\n1,red,1\n,blue,2\n5,,3\n0,red,4\n"
	for _, c := range []struct {
		o    table.Options
		want string
		kept []int32
	}{
		{table.Options{Missing: table.Zero}, "n[1 0 5 0] c=blue[0 1 0 0] c=red[1 0 0 1] → [1 2 3 4][]", nil},
		{table.Options{Missing: table.Mean}, "n[1 2 5 0] c=blue[0 1 0.3333333333333333 0] c=red[1 0 0.6666666666666666 1] → [1 2 3 4][]", nil},
		{table.Options{Missing: table.DropRows}, "n[1 0] c=red[1 1] → [1 4][]", []int32{0, 3}},
	} {
		c.o.Target, c.o.OneHot = "y", true
		d, err := read(text, c.o)
		if err != nil {
			t.Errorf("%s: %v", c.o.Missing, err)
		} else if got := shown(d); got != c.want || !slices.Equal(d.Kept, c.kept) || d.Rows != 4 {
			t.Errorf("%s: %s, rows %v of %d\nwant %s", c.o.Missing, got, d.Kept, d.Rows, c.want)
		}
	}
	for _, word := range []string{"", "NA", "N/A", "#N/A", "<NA>", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "?", `""`} {
		d, err := read("n,y\n1,2\n"+word+",3\n", table.Options{Target: "y", Missing: table.Mean})
		if err != nil || shown(d) != "n[1 1] → [2 3][]" {
			t.Errorf("%q: %v", word, err)
		}
	}
	d, err := read("n,k,y\n1,3,1\n2,4,2\n1,3,1\n", table.Options{Target: "y", OneHot: true, Categories: []string{"n"}})
	if err != nil || shown(d) != "n=1[1 0 1] n=2[0 1 0] k[3 4 3] → [1 2 1][]" {
		t.Errorf("numbers that are categories: %v", err)
	}
}

// TestWideTables checks that the format of a file whose first line is longer than the part inspected is detected from
// its beginning.
func TestWideTables(t *testing.T) {
	for _, separator := range []string{" ", ",", "\t"} {
		line := strings.TrimSuffix(strings.Repeat("-1.25e+1"+separator, 20_000), separator) + "\n"
		d, err := read(line+line, table.Options{Target: "-1"})
		if err != nil {
			t.Errorf("%q: %v", separator, err)
		} else if n, p := d.X.Dims(); n != 2 || p != 19_999 {
			t.Errorf("%q: %d × %d", separator, n, p)
		}
	}
}

// TestColumnsAside checks that columns set aside are returned separately, as numbers or texts, and that a name which is
// no column is not.
func TestColumnsAside(t *testing.T) {
	d, err := read("a,w,g,y\n1,0.5,x,1\n2,2,z,2\n", table.Options{Target: "y", Aside: []string{"w", "g", "nowhere/file", ""}})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Aside) != 2 || !slices.Equal(d.Aside["w"].Numbers, []float64{0.5, 2}) || !slices.Equal(d.Aside["g"].Texts, []string{"x", "z"}) || shown(d) != "a[1 2] → [1 2][]" {
		t.Errorf("%v, %s", d.Aside, shown(d))
	}
	// "" never names a column, not even one without a name, which stays a feature.
	d, err = read("a,,y\n1,5,1\n2,7,2\n", table.Options{Target: "y", Aside: []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	if _, p := d.X.Dims(); p != 2 || d.Aside != nil {
		t.Errorf("%d columns, %v", p, d.Aside)
	}
}

// TestRowsWithColumnsAside checks that reading row by row also returns the columns set aside, and that these are no
// features, even for a model that knows columns only by number.
func TestRowsWithColumnsAside(t *testing.T) {
	d, err := read("a,w,g,y\n1,0.5,x,1\n2,2,z,2\n", table.Options{Target: "y", Aside: []string{"w", "g"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range []*table.Schema{d.Schema, nil} {
		n := 0
		for row, err := range schema.ReadRows(t.Context(), strings.NewReader("g,a,w,\nx,3,1.50,0\nNA,4,,0\n"), 1, table.Options{Name: "data", Target: "4", Aside: []string{"w", "g", "nowhere", ""}}) {
			want := []map[string]string{{"w": "1.5", "g": "x"}, {"w": "", "g": ""}}[n]
			if n++; err != nil || !maps.Equal(row.Aside, want) || !slices.Equal(row.Values, []float64{float64(2 + n)}) {
				t.Errorf("row %d: %q, %v: %v", n, row.Aside, row.Values, err)
			}
		}
		if n != 2 {
			t.Errorf("%d rows", n)
		}
	}
}

// TestLabelsOfRowsAreNoFeatures checks that row labels, which pandas and R write before the named columns, are not
// features unless requested, whatever the labels are. The texts were written by to_csv for a frame with the index [3,
// 0] and for two unnamed levels, by to_csv(index=False) for the first file after read_csv, and by R's write.csv, and
// write.table with blanks and tabs.
func TestLabelsOfRowsAreNoFeatures(t *testing.T) {
	for _, c := range []struct{ name, text string }{
		{"pandas, shuffled", ",a,y\n3,7,1\n0,8,2\n"},
		{"pandas, texts", ",a,y\np,7,1\nq,8,2\n"},
		{"pandas, two levels", ",,a,y\nu,1,7,1\nv,1,8,2\n"},
		{"pandas, read and written", "Unnamed: 0,a,y\n3,7,1\n0,8,2\n"},
		{"pandas, Parquet as text", "a,y,__index_level_0__\n7,1,3\n8,2,0\n"},
		{"R, write.csv", "\"\",\"a\",\"y\"\n\"1\",7,1\n\"2\",8,2\n"},
		{"R, write.table", "\"a\" \"y\"\n\"Mazda RX4\" 7 1\n\"b \\\"c\\\" d\" 8 2\n"},
		{"R, write.table with commas", "\"a\",\"y\"\n\"1\",7,1\n\"2\",8,2\n"},
		{"R, write.table with commas, and lines in labels", "\"a\",\"y\"\n\"1\n\",7,1\n\"2\",8,2\n"},
		{"R, write.table with tabs", "a\ty\n1\t7\t1\n2\t8\t2\n"},
	} {
		d, err := read(c.text, table.Options{Target: "y", OneHot: true})
		if err != nil || shown(d) != "a[7 8] → [1 2][]" {
			t.Errorf("%s: %v, %v", c.name, shown(d), err)
		} else if len(d.Notes) != 1 || d.Notes[0].Code != "row_labels" {
			t.Errorf("%s: %v", c.name, d.Notes)
		}
	}
	for _, c := range []struct {
		text string
		o    table.Options
		want string
	}{
		{",a,y\n3,7,1\n0,8,2\n", table.Options{Columns: []string{"1", "a"}}, "column 1[3 0] a[7 8] → [1 2][]"},
		{",a,y\n3,7,1\n0,8,2\n", table.Options{Categories: []string{"1"}, OneHot: true}, "column 1=0[0 1] column 1=3[1 0] a[7 8] → [1 2][]"},
		{"\"a\" \"y\"\n\"1\" 7 1\n\"2\" 8 2\n", table.Options{Columns: []string{"1"}}, "[1 2] → [1 2][]"},
		{"a,,y\n7,3,1\n8,0,2\n", table.Options{}, "a[7 8] column 2[3 0] → [1 2][]"},
		{"\"a\" \"d\" \"y\"\n7 2024-01-31 1\n8 2024-02-01 2\n", table.Options{OneHot: true}, "a[7 8] d=2024-01-31[1 0] d=2024-02-01[0 1] → [1 2][]"},
	} {
		c.o.Target = "y"
		d, err := read(c.text, c.o)
		if err != nil || shown(d) != c.want {
			t.Errorf("%q: %v, %v\nwant %s", c.text, shown(d), err, c.want)
		}
	}
}

// TestNumbersOfColumnsAreNoted checks that the column numbers which pandas writes for a frame without names are read as
// a row, since they might be one, with a note.
func TestNumbersOfColumnsAreNoted(t *testing.T) {
	yes := true
	for _, c := range []struct {
		text   string
		header *bool
		want   string
		notes  int
	}{
		{"0,1,2\n5,6,7\n", nil, "[0 5] [1 6] → [2 7][]", 1},
		{"0,1,2\n5,6,7\n", &yes, "0[5] 1[6] → [7][]", 0},
		{"0,1\n5,6\n", nil, "[0 5] → [1 6][]", 0},
		{"0,1,3\n5,6,7\n", nil, "[0 5] [1 6] → [3 7][]", 0},
		{"a,b,c\n0,1,2\n", nil, "a[0] b[1] → [2][]", 0},
	} {
		d, err := read(c.text, table.Options{Target: "-1", Header: c.header})
		if err != nil || shown(d) != c.want || len(d.Notes) != c.notes || c.notes > 0 && d.Notes[0].Code != "header_numbers" {
			t.Errorf("%q: %s, %v, %v", c.text, shown(d), d.Notes, err)
		}
	}
}

// TestDecimalCommas checks texts as pandas' to_csv(sep=";", decimal=",") and spreadsheets write them; the values are
// those of the same text with decimal points.
func TestDecimalCommas(t *testing.T) {
	o := table.Options{Target: "y", DecimalComma: true}
	d, err := read("a;b;y\n0,5;1,25e-05;-3\n1.234,5;-1.234.567;2,0\n+12;\"7,25\";1\n", o)
	if err != nil || shown(d) != "a[0.5 1234.5 12] b[1.25e-05 -1.234567e+06 7.25] → [-3 2 1][]" {
		t.Errorf("%v, %v", d, err)
	}
	if d, err = read("a,y\n\"1,5\",2\n\"3,5\",4\n", o); err != nil || shown(d) != "a[1.5 3.5] → [2 4][]" {
		t.Errorf("in quotes: %v, %v", d, err)
	}
	for _, cell := range []string{"1.5", "0.125", ".125", "1.e12", "12.3456", "1234.567,0", "1,234,567", "1.234.56", "01.234"} {
		if d, err := read("a;y\n"+cell+";2\n", o); outcome.KindOf(err) != outcome.Parse {
			t.Errorf("%s: %v, %v", cell, d, err)
		}
	}
	if _, err := read("a b\n1 2\n", o); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("blanks between: %v", err)
	}
	if o.OneHot, o.Categories = true, []string{"a"}; true {
		d, err := read("a;y\n1,5;2\n2;1\n", o)
		if err != nil || shown(d) != "a=1,5[1 0] a=2[0 1] → [2 1][]" {
			t.Errorf("categories: %v, %v", d, err)
		}
	}
	for row, err := range d.Schema.ReadRows(t.Context(), strings.NewReader("y;a\n1,5;2.000,5\n"), 1, table.Options{DecimalComma: true}) {
		if err != nil || !slices.Equal(row.Values, []float64{2000.5}) || row.Target != "1.5" {
			t.Errorf("rows: %v, %v", row, err)
		}
	}
}

// TestCountsOfRowsAreNoted checks that a column which numbers the rows is a feature, with a note, whatever its first
// value and whichever rows are dropped.
func TestCountsOfRowsAreNoted(t *testing.T) {
	for _, c := range []struct {
		from, step int
		missing    string // the contents of row 3 in another column
		notes      int
	}{{0, 1, "5", 1}, {1, 1, "5", 1}, {-2, 1, "5", 1}, {1000, 1, "", 1}, {0, 2, "5", 0}} {
		var text strings.Builder
		text.WriteString("id,a,y\n")
		for i := range 12 {
			a := strconv.Itoa(i * i % 7)
			if i == 3 {
				a = c.missing
			}
			fmt.Fprintf(&text, "%d,%s,%d\n", c.from+c.step*i, a, i)
		}
		d, err := read(text.String(), table.Options{Target: "y", Missing: table.DropRows})
		if err != nil || len(d.Notes) != c.notes || c.notes > 0 && (d.Notes[0].Code != "row_numbers" || !strings.HasPrefix(d.Notes[0].Message, "column \"id\" counts")) {
			t.Errorf("%v: %v, %v", c, d.Notes, err)
		}
		if _, p := d.X.Dims(); p != 2 {
			t.Errorf("%v: %d columns", c, p)
		}
	}
}

// TestRowsBesideTheirLabels checks that rows are predicted with any row labels or with none.
func TestRowsBesideTheirLabels(t *testing.T) {
	d, err := read("\"a\" \"y\"\n\"p\" 7 1\n\"q\" 8 2\n", table.Options{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"\"a\"\n\"z\" 9\n", ",a\n1,9\n", "a\n9\n"} {
		for row, err := range d.Schema.ReadRows(t.Context(), strings.NewReader(text), 1, table.Options{}) {
			if err != nil || !slices.Equal(row.Values, []float64{9}) {
				t.Errorf("%q: %v, %v", text, row.Values, err)
			}
		}
	}
}

// TestTargetOfItsOwnFile checks that the target may be in a separate file, in any format with one value per row.
func TestTargetOfItsOwnFile(t *testing.T) {
	for text, want := range map[string]string{
		"5\n6\n":          "[5 6][]",
		"y\n5\n6\n":       "[5 6][]",
		"no\nyes\n":       "[0 1][no yes]",
		",y\n3,5\n0,6\n":  "[5 6][]",
		"5":               "",
		"1,2\n3,4\n":      "",
		"a,b\n1,2\n3,4\n": "",
		"5\n6\n7\n":       "",
		"1 1:5\n2 1:3\n":  "",
	} {
		path := filepath.Join(t.TempDir(), "target")
		header := text == "no\nyes\n"
		if header {
			text = "answer\n" + text
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := read("a,b\n1,2\n3,4\n", table.Options{Target: path})
		switch {
		case want == "" && err == nil:
			t.Errorf("%q is accepted: %s", text, shown(d))
		case want != "" && err != nil:
			t.Errorf("%q: %v", text, err)
		case want != "" && shown(d) != "a[1 3] b[2 4] → "+want:
			t.Errorf("%q: %s", text, shown(d))
		}
	}
}

// TestRowsOfMappedFiles checks that the rows of a mapped file are those of the text that it was made from: columns are
// found by name, and the targets are present.
func TestRowsOfMappedFiles(t *testing.T) {
	fitted, err := read("a,color,y\n1,red,yes\n0,blue,no\n", table.Options{Target: "y", OneHot: true})
	if err != nil {
		t.Fatal(err)
	}
	other := "more,color,y,a\n7,blue,no,5\n8,red,yes,0\n"
	d, err := read(other, table.Options{Target: "y", OneHot: true})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mapped")
	if err := d.Keep(path); err != nil {
		t.Fatal(err)
	}
	list := func(rows iter.Seq2[table.Row, error]) (all []string) {
		for row, err := range rows {
			if err != nil {
				t.Fatal(err)
			}
			dense := row.Values
			if row.Columns != nil {
				dense = make([]float64, 3)
				for k, j := range row.Columns {
					dense[j] = row.Values[k]
				}
			}
			all = append(all, fmt.Sprint(dense, row.Target))
		}
		return all
	}
	want := list(fitted.Schema.ReadRows(t.Context(), strings.NewReader(other), 3, table.Options{Name: "other"}))
	if got := list(fitted.Schema.Rows(t.Context(), path, nil, 3, table.Options{})); len(got) != 2 || !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
	again, err := table.Open(t.Context(), path, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := again.Keep(path + "2"); err != nil {
		t.Fatal(err)
	}
	one, err := os.ReadFile(path)
	two, err2 := os.ReadFile(path + "2")
	if err != nil || err2 != nil || !bytes.Equal(one, two) {
		t.Errorf("a mapped file that is mapped again is another: %v, %v", err, err2)
	}
	for row, err := range fitted.Schema.Rows(t.Context(), mappedFile(t, "a,y\n1,2\n3,4\n"), nil, 3, table.Options{}) {
		if outcome.KindOf(err) != outcome.Shape || !strings.Contains(err.Error(), `no column "color=blue"`) {
			t.Errorf("%v, %v", row, err)
		}
	}
}

func mappedFile(t *testing.T, text string) string {
	t.Helper()
	d, err := read(text, table.Options{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "mapped")
	if err := d.Keep(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOptionsOfOtherFormatsAreRefused checks that options without a meaning for the format of a file are refused, both
// when the file is read as data and row by row.
func TestOptionsOfOtherFormatsAreRefused(t *testing.T) {
	yes := true
	market := "%%MatrixMarket matrix array real general\n1 1\n5\n"
	for _, c := range []struct {
		text, flag string
		o          table.Options
	}{
		{"1 1:5\n", "header", table.Options{Header: &yes}},
		{"1 1:5\n", "target", table.Options{Target: "y"}},
		{"1 1:5\n", "", table.Options{ZeroBased: new(bool)}},
		{market, "header", table.Options{Header: &yes}},
		{market, "target", table.Options{Target: "y"}},
		{market, "zero-based", table.Options{ZeroBased: &yes}},
		{"a,b\n5,1\n", "zero-based", table.Options{ZeroBased: &yes, Target: "b"}},
		{"a,b\n5,1\n", "features", table.Options{Features: 1, Target: "b"}},
		{"a,b\n5,1\n", "", table.Options{Header: &yes, Target: "b", OneHot: true, Missing: table.Mean}},
		{"1 1:5\n", "one-hot", table.Options{OneHot: true}},
		{"1 1:5\n", "missing", table.Options{Missing: table.Zero}},
		{market, "categories", table.Options{Categories: []string{"1"}}},
		{"1 1:5\n", "", table.Options{Features: 1}},
		{"", "", table.Options{Header: &yes, ZeroBased: &yes}},
	} {
		verify := func(by string, err error) {
			var e *outcome.Error
			if refused := errors.As(err, &e); refused != (c.flag != "") || refused && (e.Kind != outcome.Usage || e.Flag != c.flag) {
				t.Errorf("%s %q: %v, want %s refused", by, c.text, err, c.flag)
			}
		}
		if c.flag != "target" { // when read as data, a matrix may have its target in a separate file
			_, err := read(c.text, c.o)
			verify("data", err)
		}
		var schema *table.Schema
		for _, err := range schema.ReadRows(t.Context(), strings.NewReader(c.text), 1, c.o) {
			verify("rows", err)
			if err != nil {
				break
			}
		}
	}
}

// TestNamesThatBeginAsOtherFormats checks that the name of the first column may begin like another format.
func TestNamesThatBeginAsOtherFormats(t *testing.T) {
	for _, name := range []string{"PAR1", "FEA1", "RDX", "ARROW1", "[Ca]", "[1]", "[0.5)", "[-1]", "{x}", "<18"} {
		for _, separator := range []string{",", ";", "\t"} {
			text := strings.Join([]string{name, "y\n1", "2\n3", "4\n"}, separator)
			d, err := read(text, table.Options{Target: "y", Formats: []table.Format{{Name: "Parquet", Magic: "PAR1"}}})
			if err != nil || shown(d) != name+"[1 3] → [2 4][]" {
				t.Errorf("%q: %v, %v", text, d, err)
			}
		}
	}
}

// TestRefusalsWithoutName checks that errors about a stream without a name are whole sentences.
func TestRefusalsWithoutName(t *testing.T) {
	for want, c := range map[string]struct {
		text string
		o    table.Options
	}{
		"which column of the table is the target":         {small, table.Options{}},
		`"z" is neither a column of the table`:            {small, table.Options{Target: "z"}},
		`the table has no column "c"`:                     {small, table.Options{Target: "y", Drop: []string{"c"}}},
		"columns 1 and 2 of the table have the same name": {"a,a,y\n1,2,3\n", table.Options{Target: "y"}},
		"the table has several columns":                   {"a,y,y\n1,2,3\n", table.Options{Target: "y"}},
	} {
		if _, err := table.Read(t.Context(), strings.NewReader(c.text), c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestRefusals checks that a text that cannot be read is refused with the reason and the position.
func TestRefusals(t *testing.T) {
	const array = "\x93NUMPY\x01\x00\x3c\x00{'descr': '<f8', 'fortran_order': False, 'shape': "
	y := table.Options{Target: "y"}
	for _, c := range []struct {
		text string
		o    table.Options
		kind outcome.Kind
		line int
		want string
	}{
		{small, table.Options{}, outcome.Usage, 0, "the columns are a, b, y"},
		{small, table.Options{Target: "z"}, outcome.Usage, 0, `"z" is neither a column of data nor a file; the columns are a, b, y`},
		{small, table.Options{Target: "4"}, outcome.Usage, 0, "neither a column"},
		{small, table.Options{Target: "y", Drop: []string{"c"}}, outcome.Usage, 0, `no column "c"`},
		{"a,,b\n1,2,3\n", y, outcome.Usage, 0, "the columns are a, 2, b"},
		{"a,a,y\n1,2,3\n", y, outcome.Usage, 0, "columns 1 and 2 of data have the same name"},
		{"a,y,y\n1,2,3\n", y, outcome.Usage, 0, "several columns"},
		{"a,y\n1,2\nx,3\n", y, outcome.Parse, 3, `column "a": "x" is text`},
		{"a,y\nx,2\n1,3\n", table.Options{Target: "y", OneHot: true}, outcome.Parse, 3, "but the column is not: row 1 has text"},
		{"a,y\n1,2\n,3\n", y, outcome.Parse, 3, `column "a": the value is missing`},
		{"a,y\n1,\n", table.Options{Target: "y", Missing: table.Mean}, outcome.Parse, 2, `column "y": the value is missing`},
		{"a,y\n1,2\n3,x\n", y, outcome.Parse, 3, `"x" is text`},
		{"a,y\n3,5,2\n1,5,3\n", y, outcome.Parse, 2, "3 cells, but the first line has 2"}, // written with decimal commas
		{"a;y\n1;2;\n3;4;\n", y, outcome.Parse, 2, "3 cells, but the first line has 2"},
		{"a,b,y\n,1,2\n,2,3\n", table.Options{Target: "y", Missing: table.Mean}, outcome.Parse, 0, `data: drop: column "a" has no values`},
		{"a\xe9,y\n1,2\n", y, outcome.Parse, 0, "data: the name of column 1 is not UTF-8"},
		{"a,y\n1,caf\xe9\n", y, outcome.Parse, 2, "not UTF-8"},
		{"a;y\n1,5;2\n", y, outcome.Parse, 2, "decimal comma"},
		{"a;y\n1,234,567;2\n", y, outcome.Parse, 2, "a comma between thousands"},
		{"a;y\n-12,345.5;2\n", y, outcome.Parse, 2, "a comma between thousands"},
		{"a;y\n12,34,567;2\n", y, outcome.Parse, 2, "is text"},
		{"a;y\n1,2,3;2\n", y, outcome.Parse, 2, "is text"},
		{"a;y\n1.234,5;2\n", y, outcome.Parse, 2, "decimal comma"},
		{"a;y\n1.234.567;2\n", y, outcome.Parse, 2, "is text"},
		{"1,5;2,5\n2,5;3,5\n", table.Options{Target: "2"}, outcome.Parse, 1, "decimal comma"},
		{"a,y\n1e400,2\n", y, outcome.Parse, 2, "outside the range"},
		{"a,y\n1e-400,2\n", y, outcome.Parse, 2, "outside the range"},
		{"a,y\ninf,2\n", y, outcome.Parse, 2, `column "a": "inf" is not a number that is finite`},
		{"a,y\n1,2\n-Infinity,2\n", y, outcome.Parse, 3, `column "a": "-Infinity" is not a number that is finite`},
		{"a,y\n1,2\nNAN,2\n", y, outcome.Parse, 3, `"NAN" is not a number that is finite`},
		{"a,y\n1,2\n1,+inf\n", y, outcome.Parse, 3, `column "y": "+inf" is not a number that is finite`},
		{"a,y\n1,2\n1,info\n", y, outcome.Parse, 3, `"info" is text`},
		{"a,y\n0x10,2\n", y, outcome.Parse, 2, `"0x10" is text`},
		{"a,y\n1_0,2\n", y, outcome.Parse, 2, `"1_0" is text`},
		{"a,y\n1,2\n3\n", y, outcome.Parse, 3, "1 cell, but the first line has 2"},
		{"a,y\n1,2,3\n", y, outcome.Parse, 2, "3 cells, but the first line has 2"},
		{"a,y\n\"1,2\n", y, outcome.Parse, 2, "quoted"},
		{"a,y\n1,2\n\"3,4\n5,6\n", y, outcome.Parse, 4, "in the row that begins at line 3"},
		{"1 1:5 x\n", table.Options{}, outcome.Parse, 1, "an index"},
		{"1 1:5\n", y, outcome.Usage, 0, "applies only to tables"},
		{"1 1:5\n", table.Options{Categories: []string{"1"}}, outcome.Usage, 0, "applies only to tables"},
		{"1 1:5 2:6\n", table.Options{Drop: []string{"3"}}, outcome.Usage, 0, `no column "3"; it has columns 1 to 2`},
		{"1 1:5 2:6\n", table.Options{Columns: []string{"a"}}, outcome.Usage, 0, `no column "a"`},
		{array + "(5, 0), }\n", table.Options{}, outcome.Shape, 0, "the array of 5 × 0 elements has no column"},
		{array + "(5, 0), }\n", table.Options{Target: "1"}, outcome.Shape, 0, "the array of 5 × 0 elements has no column"},
		{"PK\x03\x04rest", y, outcome.Parse, 0, "ZIP archive"},
		{"PAR1rest", y, outcome.Parse, 0, "Parquet"},
		{"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n", y, outcome.Parse, 0, "git lfs pull"},
		{"data.csv" + strings.Repeat("\x00", 249) + "ustar  \x00" + strings.Repeat("\x00", 247) + "a,y\n1,2\n", y, outcome.Parse, 0, "unpack it"},
		{numpyHeader("'<M8[D]'") + "01234567", y, outcome.Parse, 0, "an array of times"},
		{numpyHeader("[('a', '<f8'), ('y', '<f8')]") + "0123456701234567", y, outcome.Parse, 0, "an array of records"},
		{"\x89HDF\r\n", y, outcome.Parse, 0, "HDF5"},
		{"\x04\x22\x4d\x18d@", y, outcome.Parse, 0, "lz4"},
		{"\xff\xfea\x00", y, outcome.Parse, 0, "UTF-16"},
		{"{\"a\": 1}", y, outcome.Parse, 0, "JSON"},
		{"[\n {\"a\": 1}]", y, outcome.Parse, 0, "JSON"},
		{"[[1, 2], [3, 4]]", y, outcome.Parse, 0, "JSON"},
		{"[1, 2] \r\n[3, 4]\n", y, outcome.Parse, 0, "JSON"},
		{"<?xml version=\"1.0\"?>", y, outcome.Parse, 0, "XML"},
		{"<html>", y, outcome.Parse, 0, "HTML"},
		{"\x00\x01\x02", y, outcome.Parse, 0, "binary data"},
		{"{\"pare_model\":1", y, outcome.Parse, 0, "a saved model"},
		{"what a nice day\nit is\n", y, outcome.Parse, 0, "text that is neither"},
		{"a,y\r1,2\r3,4\r", y, outcome.Parse, 0, "in carriage returns only"},
		{"1 1:5\r2 1:6\r", y, outcome.Parse, 0, "in carriage returns only"},
		{strings.Repeat(",", table.MaxColumns) + "\n", y, outcome.Limit, 0, "cells"},
	} {
		d, err := read(c.text, c.o)
		var e *outcome.Error
		if !errors.As(err, &e) || e.Kind != c.kind || e.Line != c.line || !strings.Contains(err.Error(), c.want) || d != nil {
			t.Errorf("%.40q: %v, want %s at line %d with %q", c.text, err, c.kind, c.line, c.want)
		}
	}
}

// numpyHeader returns the header of a NumPy array with one element.
func numpyHeader(descr string) string {
	text := "{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }\n"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(text)), 0}) + text
}

// neverending is a text without an end that counts the bytes read.
type neverending struct {
	line string
	read int
}

func (e *neverending) Read(b []byte) (int, error) {
	if e.read > 1<<20 {
		return 0, errors.New("too much is read")
	}
	n := copy(b, strings.Repeat(e.line, len(b)/len(e.line)))
	e.read += n
	return n, nil
}

// TestOptionsAreRefusedBeforeTheTextIsRead checks that invalid options are refused before any of the text is read,
// however long it is, and that a text without rows has no format.
func TestOptionsAreRefusedBeforeTheTextIsRead(t *testing.T) {
	no := false
	schema := &table.Schema{TargetPosition: -1}
	for name, o := range map[string]table.Options{
		"one-hot": {OneHot: true}, "missing": {Missing: table.Zero}, "header": {Header: &no}, "categories": {Categories: []string{"1"}}, "target": {Target: "2"},
	} {
		o.Name = "data"
		for _, begins := range []string{"1 1:5\n", "# a comment\n \r\n#\n\t1 1:5\n", "1\n"} {
			text := func() io.Reader { return io.MultiReader(strings.NewReader(begins), &neverending{line: "-1 1:2 3:4\n"}) }
			_, err := table.Read(t.Context(), text(), o)
			if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Usage || e.Flag != name {
				t.Errorf("%s, %q: %v", name, begins, err)
			}
			for _, err = range schema.ReadRows(t.Context(), text(), 3, o) {
				if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != outcome.Usage || e.Flag != name {
					t.Errorf("rows, %s, %q: %v", name, begins, err)
				}
			}
		}
		for _, empty := range []string{"", "\n", "# a comment\n", " \t\r\n# and another"} {
			want := outcome.Kind("")
			if name == "target" {
				want = outcome.Shape
			}
			if d, err := table.Read(t.Context(), strings.NewReader(empty), o); outcome.KindOf(err) != want || err == nil && d.Rows != 0 {
				t.Errorf("%s, %q: %v", name, empty, err)
			}
			for _, err := range schema.ReadRows(t.Context(), strings.NewReader(empty), 3, o) {
				t.Errorf("rows, %s, %q: %v", name, empty, err)
			}
		}
	}
}

// TestOneFileOpensNoOther checks that an untrusted name of the target is only looked up as a column. It is never used
// as a path, not even to reveal whether such a file exists.
func TestOneFileOpensNoOther(t *testing.T) {
	folder := t.TempDir()
	secret, kept := filepath.Join(folder, "secret"), filepath.Join(folder, "kept")
	if err := os.WriteFile(secret, []byte("1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := read("1 1:5\n2 1:6\n", table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.Y = nil
	if err := d.Keep(kept); err != nil {
		t.Fatal(err)
	}
	mapped, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"CSV": "a,b\n1,2\n3,4\n", "blanks": "1 2\n3 4\n", "Matrix Market": "%%MatrixMarket matrix array real general\n2 1\n1\n2\n", "mapped": string(mapped),
	} {
		path := filepath.Join(folder, "data")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if d, err := table.Open(t.Context(), path, table.Options{Target: secret}); err != nil || !slices.Equal(d.Y, []float64{1, 2}) {
			t.Errorf("%s: %v", name, err)
		}
		for _, target := range []string{secret, secret + "s"} {
			_, err := table.Open(t.Context(), path, table.Options{Target: target, OneFile: true})
			if outcome.KindOf(err) != outcome.Usage || !strings.Contains(err.Error(), target) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if d, err := table.Open(t.Context(), path, table.Options{Target: secret + "s", NoTarget: true}); err == nil {
			t.Errorf("%s: a target that is not there is taken for none: %v", name, d.Y)
		}
	}
	if d, err := read("a,b\n1,2\n3,4\n", table.Options{Target: "b", OneFile: true}); err != nil || !slices.Equal(d.Y, []float64{2, 4}) {
		t.Errorf("a column: %v", err)
	}
}

// TestNumbersKeepTheirBits checks that numbers are rounded to the nearest float64: 17 digits give the original value.
func TestNumbersKeepTheirBits(t *testing.T) {
	values := []float64{0.1, 1.0 / 3, math.Pi, 5e-324, math.MaxFloat64, -2.5e-10, 123456789.123456789, 1e22, 1e23}
	var text strings.Builder
	text.WriteString("a,y\n")
	for _, v := range values {
		fmt.Fprintf(&text, "%v,%.17g\n", v, v)
	}
	d, err := read(text.String(), table.Options{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	if _, got := d.X.Column(0); !slices.Equal(got, values) || !slices.Equal(d.Y, values) {
		t.Errorf("%v, %v", got, d.Y)
	}
}

// TestCancelledReading checks that a cancel stops a reader that waits.
func TestCancelledReading(t *testing.T) {
	in, _ := io.Pipe()
	ctx, cancel := context.WithCancelCause(context.Background())
	broken := errors.New("enough")
	cancel(broken)
	if _, err := table.Read(ctx, in, table.Options{NoTarget: true}); !errors.Is(err, broken) || outcome.KindOf(err) != outcome.IO {
		t.Errorf("%v", err)
	}
}

// FuzzRead checks that any text gives consistent data, or an error of a known kind.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		small, "1 0:5 2:1\n", "a;b\n1,5;2\n", "\"a\"\"b\",y\n1,2\n", "n,c,y\n1,red,1\n,blue,2\n", "a b\n1 2\n3 4\n", "\xef\xbb\xbfa\n1\n", "\x1f\x8b", "y\n1\n2\n", ",e,", ",e,\n1,2,3\n", "a,a\n1,2\n3,4\n",
		"%%MatrixMarket matrix coordinate real general\n% x\n2 3 2\n1 1 5\n2 3 -1e2\n", "%%MatrixMarket matrix array integer symmetric\n2 2\n1\n2\n3\n",
		"%%MatrixMarket matrix coordinate pattern skew-symmetric\n2 2 1\n2 1\n", "\"a\" \"y\"\n\"b \\\" c\" 1 2\n\"d\" 3 4\n", "a\ty\nb\t1\t2\n",
		"\x93NUMPY\x01\x00\x3e\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }    \n\x01\x00\x02\x00\x03\x00\x04\x00",
	} {
		f.Add([]byte(text), uint8(0))
		f.Add([]byte(text), uint8(7))
	}
	f.Fuzz(func(t *testing.T, text []byte, options uint8) {
		o := table.Options{
			Name: "data", NoTarget: options&1 == 0, OneHot: options&2 != 0, MaxFeatures: 1 << 16,
			Missing: []table.Missing{table.Refuse, table.Mean, table.Zero, table.DropRows}[options>>2&3], DecimalComma: options&16 != 0,
		}
		if options&1 != 0 {
			o.Target = "-1"
		}
		d, err := table.Read(context.Background(), bytes.NewReader(text), o)
		if err != nil {
			if outcome.KindOf(err) == "" || outcome.KindOf(err) == outcome.Internal || d != nil {
				t.Fatalf("%v", err)
			}
			return
		}
		n, p := d.X.Dims()
		if d.Y != nil && len(d.Y) != n || d.Names != nil && len(d.Names) != p || d.Kept != nil && len(d.Kept) != n || d.Kept == nil && d.Rows != n {
			t.Fatalf("%d × %d, %d targets, %d names, %d of %d rows", n, p, len(d.Y), len(d.Names), len(d.Kept), d.Rows)
		}
		checkRows(t, text, d, o, n, p)
		for _, j := range d.X.Order() {
			if _, values := d.X.Column(int(j)); slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }) {
				t.Fatalf("column %d: %v", j, values)
			}
		}
	})
}

// checkRows reads the text again row by row, and compares.
func checkRows(t *testing.T, text []byte, d *table.Data, o table.Options, n, p int) {
	t.Helper()
	var b sparse.Builder
	for row, err := range d.Schema.ReadRows(context.Background(), bytes.NewReader(text), p, table.Options{Name: o.Name, DecimalComma: o.DecimalComma}) {
		if err == nil && !row.Incomplete {
			err = b.Row(row.Columns, row.Values)
		}
		if err != nil && o.Missing == table.DropRows { // in a row that was dropped
			return
		}
		if err != nil {
			t.Fatalf("row %d: %v", row.Number, err)
		}
	}
	if o.Missing == table.DropRows && b.Rows() != n { // rows whose target is missing are not dropped here
		return
	}
	got, err := b.Matrix(context.Background(), p)
	if err != nil || same(got, d.X) != "" {
		t.Fatalf("row by row: %v, %s", err, same(got, d.X))
	}
}

// TestDamagedArchives checks that an archive with a changed byte in any of its arrays is refused, both when the matrix
// is read at once and row by row.
func TestDamagedArchives(t *testing.T) {
	fortran := filepath.Join(t.TempDir(), "fortran.npz")
	array, err := os.ReadFile(fixture("numpy-fortran.npy"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "X.npy", Method: zip.Store})
	if err == nil {
		_, err = w.Write(array)
	}
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.WriteFile(fortran, b.Bytes(), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{fixture("numpy.npz"), fixture("numpy-compressed.npz"), fortran, fixture("scipy-csr.npz")} {
		d, err := table.Open(t.Context(), from, table.Options{NoTarget: true})
		if err != nil {
			t.Fatal(err)
		}
		_, p := d.X.Dims()
		whole, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			at, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			damaged := bytes.Clone(whole)
			damaged[at+int64(f.CompressedSize64)-3] ^= 1
			path := filepath.Join(t.TempDir(), "damaged.npz")
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := table.Open(t.Context(), path, table.Options{}); err == nil || outcome.KindOf(err) == outcome.Usage {
				t.Errorf("%s, %s: %v", from, f.Name, err)
			}
			if f.Name == "y.npy" { // is not read
				continue
			}
			var last error
			for _, err := range (*table.Schema)(nil).Rows(t.Context(), path, nil, p, table.Options{}) {
				last = err
			}
			if last == nil {
				t.Errorf("%s, %s, row by row: no error", from, f.Name)
			}
		}
	}
}

// TestRowsOfColumnsThatAreThereTwice checks that a column whose name occurs twice is refused if the model uses it, as a
// feature or target, and ignored otherwise.
func TestRowsOfColumnsThatAreThereTwice(t *testing.T) {
	d, err := read(small, table.Options{Target: "y"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"a,a,b\n1,2,3\n":     `several columns are named "a"`,
		"a,b,y,y\n1,2,3,4\n": `several columns are named "y"`,
		"a,c,c,b\n1,2,3,4\n": "",
	} {
		var last error
		for _, err := range d.Schema.ReadRows(t.Context(), strings.NewReader(text), 2, table.Options{Name: "data"}) {
			last = err
		}
		if (last != nil) != (want != "") || last != nil && (outcome.KindOf(last) != outcome.Shape || !strings.Contains(last.Error(), want)) {
			t.Errorf("%q: %v", text, last)
		}
	}
}

// TestRowsOfOneColumnAreNoLabels checks files with a single number per line: for a model of a table it is the column,
// and for a model of svmlight text it is the label of a row without entries.
func TestRowsOfOneColumnAreNoLabels(t *testing.T) {
	for _, c := range []struct {
		fitted, target string
		p              int
		want           string
	}{
		{"1,10\n2,20\n", "2", 1, "[3] false [4] false "},
		{"x,y\n1,10\n2,20\n", "y", 1, "[3] false [4] false "},
		{"1 1:5\n2 1:6\n", "", 1, "[] true [] true "},
		{"1,2,10\n2,5,20\n", "3", 2, "data: the columns have no names, and their number is 1, but the model was fitted on 3"},
	} {
		d, err := read(c.fitted, table.Options{Target: c.target})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for row, err := range d.Schema.ReadRows(t.Context(), strings.NewReader("3\n4\n"), c.p, table.Options{Name: "data"}) {
			if err != nil {
				got = err.Error()
				break
			}
			got += fmt.Sprint(row.Values, row.HasTarget, " ")
		}
		if got != c.want {
			t.Errorf("%q: %q, want %q", c.fitted, got, c.want)
		}
	}
}

// TestNameOfSeveralWordsAboveOneColumn checks the file that pandas writes for a model with one feature, whose header
// line is a single name of several words.
func TestNameOfSeveralWordsAboveOneColumn(t *testing.T) {
	for _, c := range []struct{ fitted, rows, want string }{
		{"its size,y\n1,10\n2,20\n", "its size\n3\n4\n", "[3][4]"},
		{"its size,y\n1,10\n2,20\n", "\"its size\"\n3\n4\n", "[3][4]"},
		{"its size,y\nsmall,10\nso so,20\n", "\"its size\"\nsmall\n\"so so\"\n", "[1 0][0 1]"},
		{"its size,y\nsmall,10\nlarge,20\n", "its size\nsmall\n", "neither svmlight"},
	} {
		d, err := read(c.fitted, table.Options{Target: "y", OneHot: true})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for row, err := range d.Schema.ReadRows(t.Context(), strings.NewReader(c.rows), len(d.Names), table.Options{Name: "data", OneHot: true}) {
			if err != nil {
				got = err.Error()
				break
			}
			got += fmt.Sprint(row.Values)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q after %q: %q, want %q", c.rows, c.fitted, got, c.want)
		}
	}
}

// TestRowsOfATargetCalledAsAFeature checks that a target with the name of a feature is distinguished by its position if
// the columns are in their original places.
func TestRowsOfATargetCalledAsAFeature(t *testing.T) {
	const text = "a,a\n1,2\n3,4\n"
	d, err := read(text, table.Options{Target: "-1"})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range d.Schema.ReadRows(t.Context(), strings.NewReader(text), 1, table.Options{Name: "data"}) {
		if k := float64(row.Number); err != nil || !slices.Equal(row.Values, []float64{2*k - 1}) || row.Target != fmt.Sprint(2*k) {
			t.Errorf("row %d: %v, target %v: %v", row.Number, row.Values, row.Target, err)
		}
	}
	for _, err := range d.Schema.ReadRows(t.Context(), strings.NewReader("a,b,a\n1,2,3\n"), 1, table.Options{Name: "data"}) {
		if outcome.KindOf(err) != outcome.Shape {
			t.Errorf("with a column between: %v", err)
		}
	}
}

// TestEmptyFiles checks that a file without rows has no format and no columns to name.
func TestEmptyFiles(t *testing.T) {
	for _, text := range []string{"", "\n\n", "\xef\xbb\xbf", "# nothing\n"} {
		if d, err := read(text, table.Options{}); err != nil || d.Rows != 0 {
			t.Errorf("%q: %v", text, err)
		}
		d, err := read(text, table.Options{Target: "y"})
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != outcome.Shape || e.Flag != "target" || !strings.Contains(err.Error(), `no column "y"`) || d != nil {
			t.Errorf("%q with a target: %v", text, err)
		}
	}
}

// TestOptionsThatCannotBe checks that invalid options are refused before anything is read.
func TestOptionsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		o    table.Options
		kind outcome.Kind
		flag string
	}{
		{table.Options{Missing: "drop"}, outcome.Usage, "missing"},
		{table.Options{Missing: "Mean"}, outcome.Usage, "missing"},
		{table.Options{Limits: sparse.Limits{Rows: -1}}, outcome.BadParameter, "max-rows"},
		{table.Options{Limits: sparse.Limits{Bytes: -1}}, outcome.BadParameter, "max-bytes"},
	} {
		c.o.Target = "y"
		for name, text := range map[string]string{"a table": "a,y\n1,2\n", "missing cells": "a,y\n,1\n100,2\n", "svmlight": "1 1:2\n"} {
			_, err := read(text, c.o)
			if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Kind != c.kind || e.Flag != c.flag {
				t.Errorf("%s with %+v: %v", name, c.o, err)
			}
		}
	}
	if _, err := table.Read(t.Context(), nil, table.Options{}); outcome.KindOf(err) != outcome.Usage {
		t.Errorf("without a reader: %v", err)
	}
	for _, err := range (*table.Schema)(nil).ReadRows(t.Context(), nil, 1, table.Options{}) {
		if outcome.KindOf(err) != outcome.Usage {
			t.Errorf("rows without a reader: %v", err)
		}
	}
}

// TestCellsAreLocatedToTheByte checks that an error in a cell gives the line and the byte at which the cell begins.
func TestCellsAreLocatedToTheByte(t *testing.T) {
	many := strings.Repeat("1,2,3\n", 100_000) // several blocks
	for _, c := range []struct {
		text string
		line int
		at   int64
	}{
		{"a,b,y\n1,2,3\n44,x,6\n", 3, 4},
		{"a,b,y\nx,2,3\n", 2, 1},
		{"a,b,y\n10,200,\r\n", 2, 8},
		{"a,y,b\n1,\"2\",x\n", 2, 7},
		{"a,b,y\n1,2,3\n\"4\"\"\",5,6\n", 3, 1},
		{"a,b,y\n1,\"2\"\"\",3\n", 2, 3},
		{"a,d,b,y\n1,\"x\n\ny\",x,3\n", 4, 4},
		{"a,b,y\n" + many + "1,22,\n", 100_002, 6},
		{"a b y\n1 2 3\n  4   NA 6\n", 3, 7},
	} {
		_, err := read(c.text, table.Options{Target: "y", Drop: map[bool][]string{true: {"d"}}[strings.Contains(c.text, "d")]})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Line != c.line || e.Byte != c.at || e.HasRow {
			t.Errorf("%.40q: %v, want line %d, byte %d", c.text, err, c.line, c.at)
		}
	}
}

// TestMarkedSVMLight checks that a byte order mark does not change svmlight text.
func TestMarkedSVMLight(t *testing.T) {
	const text = "1 1:5 3:2\n-1 2:4\n"
	want, err := read(text, table.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read("\xef\xbb\xbf"+text, table.Options{}); err != nil || shown(got) != shown(want) {
		t.Errorf("%v", err)
	}
}

// TestTheFirstDamagedArrayIsTold checks that, if several arrays of an archive cannot be read, the error names the
// first.
func TestTheFirstDamagedArrayIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.npz")
	var content bytes.Buffer
	z := zip.NewWriter(&content)
	for _, name := range []string{"b.npy", "a.npy", "c.npy"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, map[string]string{"a.npy": "", "b.npy": "\x93NUMPY\x09\x00\x00\x00", "c.npy": "no array at all"}[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var first string
	for range 30 {
		_, err := table.Open(t.Context(), path, table.Options{})
		if err == nil || first != "" && err.Error() != first {
			t.Fatalf("%v, earlier %s", err, first)
		}
		first = err.Error()
	}
	t.Log(first)
}

// FuzzArchive does what FuzzRead does, for archives of arrays. The checksums of an archive would refuse nearly every
// change, so the fuzzer changes the arrays. sparse selects the arrays of a SciPy matrix, by rows, by columns or by
// entries.
func FuzzArchive(f *testing.F) {
	npy := func(header, data string) []byte {
		header = "{'descr': " + header + ", }"
		header += strings.Repeat(" ", (64-(11+len(header))%64)%64) + "\n"
		return append([]byte("\x93NUMPY\x01\x00"+string([]byte{byte(len(header)), byte(len(header) >> 8)})+header), data...)
	}
	long := func(v ...byte) string {
		var data []byte
		for _, b := range v {
			data = append(data, b, 0, 0, 0)
		}
		return string(data)
	}
	shape := npy("'<i8', 'fortran_order': False, 'shape': (2,)", "\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00")
	values := npy("'<f4', 'fortran_order': False, 'shape': (2,)", "\x00\x00\x80?\x00\x00\x00@")
	for format, starts := range map[string]string{"csr": long(0, 1, 2), "csc": long(0, 1, 1, 2), "coo": long(1, 0)} {
		count := strconv.Itoa(len(starts) / 4)
		f.Add(npy("'|S3', 'fortran_order': False, 'shape': ()", format), shape, values,
			npy("'<i4', 'fortran_order': False, 'shape': (2,)", long(0, 1)), npy("'<i4', 'fortran_order': False, 'shape': ("+count+",)", starts))
	}
	f.Add([]byte(nil), []byte(nil), npy("'<f8', 'fortran_order': True, 'shape': (1, 2)", "\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@"), []byte(nil), []byte(nil))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, format, shape, values, indices, starts []byte) {
		var content bytes.Buffer
		z := zip.NewWriter(&content)
		for name, array := range map[string][]byte{"format": format, "shape": shape, "data": values, "indices": indices, "indptr": starts, "row": indices, "col": starts} {
			if array == nil {
				continue
			}
			if name == "data" && format == nil {
				name = "X"
			}
			w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
			if err == nil {
				_, err = w.Write(array)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, strconv.Itoa(os.Getpid()))
		if err := os.WriteFile(path, content.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := table.Open(context.Background(), path, table.Options{NoTarget: true})
		if err != nil && (outcome.KindOf(err) == "" || outcome.KindOf(err) == outcome.Internal || d != nil) {
			t.Fatalf("%v", err)
		}
	})
}

// TestQuotesChangeNothing checks that lines without quotes, which take a faster route, give the same data, errors and
// line numbers, wherever the first quote is.
func TestQuotesChangeNothing(t *testing.T) {
	for _, text := range []string{
		"a,b,y\n1,x,3\n\n-2.50,y ,4\r\n 7,x,5", "a,b,y\n1,x,3\n4,5\n", "a,b,y\n1,x,3\n4,5,6,7\n", "a,b,y\n1,x,3\n\n\nq,x,3\n",
		"a;b;y\n1;x;3\n2;x,z;-1e-3\n", "a,b,y\n,x,1\n1,,2\n", "a\tb\ty\n1\tx\t+3\n",
	} {
		o := table.Options{Target: "y", OneHot: true, Missing: table.Zero}
		want, wantErr := read(text, o)
		lines := strings.Split(text, "\n")
		for k, line := range lines {
			if line == "" || line == "\r" {
				continue
			}
			at := strings.IndexAny(line, ",;\t")
			quoted := slices.Clone(lines)
			quoted[k] = `"` + line[:at] + `"` + line[at:]
			got, err := read(strings.Join(quoted, "\n"), o)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && shown(got) != shown(want) {
				t.Errorf("%q: %v, want %v", quoted, err, wantErr)
			}
		}
	}
}

// TestHalves checks numbers of 16 bits, of every kind.
func TestHalves(t *testing.T) {
	bits := []uint16{0x3c00, 0xc000, 0x7bff, 0x0400, 0x03ff, 0x8001, 0x3555, 0x8000}
	want := []float64{1, -2, 65504, 0x1p-14, 1023 * 0x1p-24, -0x1p-24, 1365 * 0x1p-12, 0}
	header := fmt.Sprintf("{'descr': '>f2', 'fortran_order': False, 'shape': (%d,), }\n", len(bits))
	file := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	file = append(file, header...)
	for _, b := range bits {
		file = binary.BigEndian.AppendUint16(file, b)
	}
	d, err := read(string(file), table.Options{Target: "1"})
	if err != nil || !slices.Equal(d.Y, want) {
		t.Errorf("%v: %v", err, d)
	}
	if _, err := read(string(binary.BigEndian.AppendUint16(file[:len(file)-2], 0x7c00)), table.Options{Target: "1"}); outcome.KindOf(err) != outcome.NonFinite {
		t.Errorf("+Inf: %v", err)
	}
	if d, err := read(string(binary.BigEndian.AppendUint16(file[:len(file)-2], 0xfe00)), table.Options{Target: "1"}); err == nil {
		t.Errorf("NaN for a target: %v", d.Y)
	}
}

// half returns the 16 bits of a small integer, or of NaN.
func half(v float64) uint16 {
	single := math.Float32bits(float32(v))
	switch {
	case v == 0:
		return 0
	case math.IsNaN(v):
		return 0x7e00
	}
	return uint16(single>>16&0x8000 | (single>>13&0x3ffff - 112<<10))
}

// TestArraysAreTheirRows checks that arrays, many rows of which are read at once, give the tables that their elements
// spell.
func TestArraysAreTheirRows(t *testing.T) {
	const n, p = 3000, 7 // several blocks
	element := func(i, j int) float64 {
		if j != 1 && (i*p+j)%4001 == 4000 { // a target is missing
			return math.NaN()
		}
		return float64((i*31+j*j*17)%251 - 100)
	}
	var text strings.Builder
	arrays := map[string][]byte{}
	add := func(descr string, fortran bool, element func(b []byte, i, j int) []byte) {
		header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%d, %d), }\n", descr, map[bool]string{true: "True", false: "False"}[fortran], n, p)
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
		b = append(b, header...)
		if fortran {
			for j := range p {
				for i := range n {
					b = element(b, i, j)
				}
			}
		} else {
			for i := range n {
				for j := range p {
					b = element(b, i, j)
				}
			}
		}
		arrays[fmt.Sprint(descr, fortran)] = b
	}
	for _, fortran := range []bool{false, true} {
		add("<f8", fortran, func(b []byte, i, j int) []byte {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(element(i, j)))
		})
		add(">f4", fortran, func(b []byte, i, j int) []byte {
			return binary.BigEndian.AppendUint32(b, math.Float32bits(float32(element(i, j))))
		})
		add("<f2", fortran, func(b []byte, i, j int) []byte {
			return binary.LittleEndian.AppendUint16(b, half(element(i, j)))
		})
	}
	for i := range n {
		for j := range p {
			if v := element(i, j); !math.IsNaN(v) {
				fmt.Fprint(&text, v)
			}
			text.WriteByte(",\n"[(j+1)/p])
		}
	}
	for _, missing := range []table.Missing{table.Refuse, table.Zero, table.Mean, table.DropRows} {
		want, wrong := read(text.String(), table.Options{Target: "2", Missing: missing})
		for name, array := range arrays {
			got, err := read(string(array), table.Options{Target: "2", Missing: missing})
			if (err != nil) != (wrong != nil) {
				t.Fatalf("%s, %s: %v, as text %v", name, missing, err, wrong)
			}
			if err != nil {
				var e *outcome.Error
				if !errors.As(err, &e) || !e.HasRow || e.Row != 4000/p {
					t.Errorf("%s, %s: %v, want row %d", name, missing, err, 4000/p)
				}
				continue
			}
			if shown(got) != shown(want) || !slices.Equal(got.Kept, want.Kept) || !slices.Equal(got.Y, want.Y) || got.Rows != want.Rows {
				t.Errorf("%s, %s: not what the text has", name, missing)
			}
		}
	}
}

// TestWhereANumberIsNotFinite checks that the position of a number that is not finite is that in the file: its column
// counts the target and dropped columns, and the file is the target's own if it has one, both for rows read one at a
// time and many at once.
func TestWhereANumberIsNotFinite(t *testing.T) {
	dir := t.TempDir()
	array := func(p int, infinite ...int) []byte {
		const n = 9
		header := fmt.Sprintf("%-117s\n", fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", n, p))
		b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
		b = append(b, header...)
		for k := range n * p {
			v := float64(k%5 + 1)
			if slices.Contains(infinite, k) {
				v = math.Inf(-1)
			}
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
		return b
	}
	file := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	for name, content := range map[string][]byte{"X.npy": array(2), "y.npy": array(1, 6)} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	y := file("y.npy", array(1, 6))
	for _, c := range []struct {
		path, inFile, want string
		o                  table.Options
	}{
		{file("first.npy", array(4, 3)), "first.npy", "row 0: column 4: -Inf", table.Options{Target: "1", Drop: []string{"2"}}},
		{file("later.npy", array(4, 30)), "later.npy", "row 7: column 3: -Inf", table.Options{Target: "1", Drop: []string{"2"}}},
		{file("limited.npy", array(4, 30)), "limited.npy", "row 7: column 3: -Inf", table.Options{Target: "1", Limits: sparse.Limits{Rows: 100}}},
		{file("target.npy", array(4, 28)), "target.npy", "row 7: column 1: -Inf", table.Options{Target: "1"}},
		{file("x.npy", array(2)), "y.npy", "row 6: column 1: -Inf", table.Options{Target: y}},
		{file("x.npz", archive.Bytes()), "x.npz", `row 6: column "y": -Inf`, table.Options{}},
	} {
		_, err := table.Open(t.Context(), c.path, c.o)
		e, ok := errors.AsType[*outcome.Error](err)
		if !ok || e.Kind != outcome.NonFinite || filepath.Base(e.File) != c.inFile || !strings.Contains(e.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
	left := table.Options{Target: "1", Drop: []string{"3"}}
	if _, err := table.Open(t.Context(), file("out.npy", array(4, 30)), left); err != nil {
		t.Errorf("a column that is left out: %v", err)
	}
}

// TestLimitsCountTheNonzeros checks that the error for a matrix over the limit gives its number of nonzeros, not a
// number derived from the memory needed to collect them.
func TestLimitsCountTheNonzeros(t *testing.T) {
	for name, o := range map[string]table.Options{"scipy-csr.npz": {NoTarget: true}, "scipy-csc.npz": {NoTarget: true}, "scipy-coo.npz": {NoTarget: true}, "scipy.mtx": {NoTarget: true}} {
		d, err := table.Open(t.Context(), fixture(name), o)
		if err != nil {
			t.Fatal(err)
		}
		n, _ := d.X.Dims()
		_, values := d.X.Arrays()
		o.Limits.Bytes = 30_000 // of about 75,000; an array of 1,000 numbers needs 24,000
		_, err = table.Open(t.Context(), fixture(name), o)
		if want := fmt.Sprintf("reading %d rows and %d nonzeros", n, len(values)); outcome.KindOf(err) != outcome.Limit || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}
