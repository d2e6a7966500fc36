package table

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed-45b9a24c/pare/outcome"
)

// TestRecordsAreThoseOfTheStandardLibrary checks that records and the line numbers of errors
// are those of encoding/csv, whatever stands next to quotes and however the text arrives.
func TestRecordsAreThoseOfTheStandardLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	pieces := []string{"1", "-2.5", "x", ",", ",", "\n", "\n", "\r\n", "\"", "\"\"", "\"a\"", "\"1\"", "\"b,\n\"", " ", "\r", "", "1e5", "0.12345678901234567"}
	records := 0
	for range 4_000 {
		var text strings.Builder
		for range 1 + r.IntN(14) {
			text.WriteString(pieces[r.IntN(len(pieces))])
		}
		records += compareRecords(t, text.String(), r.IntN(2) == 0, 1+2*r.IntN(2))
	}
	if records < 500 {
		t.Errorf("only %d records", records)
	}
}

// compareRecords reads a text with both readers, and returns the number of records.
func compareRecords(t *testing.T, text string, bytewise bool, threads int) int {
	t.Helper()
	want, failed := csv.NewReader(strings.NewReader(text)).ReadAll()
	var source io.Reader = strings.NewReader(text)
	if bytewise {
		source = iotest.OneByteReader(source)
	}
	got, err := allRecords(source, threads)
	if (err != nil) != (failed != nil) {
		t.Fatalf("%q: %v, the standard library has %v", text, err, failed)
	}
	var at *csv.ParseError
	if e := (*outcome.Error)(nil); errors.As(failed, &at) && (!errors.As(err, &e) || e.Line != at.Line && !errors.Is(failed, csv.ErrFieldCount)) {
		t.Fatalf("%q: %v, the standard library has %v", text, err, failed)
	}
	if failed != nil {
		return 0
	}
	if len(got) != len(want) {
		t.Fatalf("%q: %v, the standard library has %q", text, got, want)
	}
	for i, record := range want {
		if len(got[i]) != len(record) {
			t.Fatalf("%q: %v, the standard library has %q", text, got, want)
		}
		for k, cell := range got[i] {
			if cell.Text != strings.TrimSpace(record[k]) {
				t.Fatalf("%q: %q, the standard library has %q", text, cell.Text, record[k])
			}
			if v, err := strconv.ParseFloat(record[k], 64); cell.textIsExact && (err != nil || math.Float64bits(v) != math.Float64bits(cell.Number)) {
				t.Fatalf("%q is %v, the standard library has %v, %v", record[k], cell.Number, v, err)
			}
		}
	}
	return len(want)
}

// FuzzRecords runs TestRecordsAreThoseOfTheStandardLibrary on any text.
func FuzzRecords(f *testing.F) {
	for _, text := range []string{"a,b\n1,2\n", "1,\"2\"\r\n3,-.5e1\r\n", "\"a\"\"b\",1\n", "0.12345678901234567,12345678\n\n1.,.1\n", strings.Repeat("1234567,", 20) + "1\n"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, bytewise bool) {
		compareRecords(t, text, bytewise, 1)
	})
}

func allRecords(r io.Reader, threads int) ([][]Cell, error) {
	said := false
	c, err := newCSVRows("text", r, ',', 0, Options{Header: &said})
	if err != nil {
		return nil, err
	}
	c.parseConcurrently(threads)
	defer c.stop()
	var all [][]Cell
	var row []Cell
	for {
		if row, err = c.Next(row); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, slices.Clone(row))
	}
}

// TestThreadsReadTheSame checks that the data read, and the line of an error, do not depend on
// the number of blocks that are parsed at once.
func TestThreadsReadTheSame(t *testing.T) {
	var text bytes.Buffer
	text.WriteString("a,b,c,y\n")
	for i := range 60_000 {
		fmt.Fprintf(&text, "%d,%.17g,%s,%d\n", i%7, float64(i)/7, []string{"0.5", "2e-9"}[i%2], i%3)
	}
	size := text.Len()
	missing := strings.Replace(text.String(), "\n3,", "\n,", 2000)
	for name, one := range map[string]struct {
		text string
		o    Options
		line int
	}{
		"numbers":        {text: text.String()},
		"missing":        {text: missing, o: Options{Missing: Mean}},
		"rows left out":  {text: missing, o: Options{Missing: DropRows}},
		"missing late":   {text: text.String() + "\n1,,2,3\n", line: 60_003},
		"text late":      {text: text.String() + "x,1,2,3\n", line: 60_002},
		"short late":     {text: text.String() + "1,1,2\n", line: 60_002},
		"a quote late":   {text: text.String() + "1,\"1\n\",2,3\n", o: Options{OneHot: true}},
		"quotes late":    {text: text.String() + "1,\"1\"\"\",2,3\n", line: 60_002},
		"one-hot":        {text: text.String(), o: Options{OneHot: true, Categories: []string{"a"}}},
		"columns chosen": {text: text.String(), o: Options{Columns: []string{"c", "a"}}},
	} {
		if size < 4*256<<10 {
			t.Fatalf("%d bytes are too few blocks", size)
		}
		one.o.Target, one.o.Name, one.o.Threads = "y", "text", 1
		want, failed := Read(t.Context(), strings.NewReader(one.text), one.o)
		one.o.Threads = 3
		got, err := Read(t.Context(), strings.NewReader(one.text), one.o)
		if fmt.Sprint(err) != fmt.Sprint(failed) || (err != nil) != (one.line > 0) {
			t.Errorf("%s: %v, on one thread %v", name, err, failed)
			continue
		}
		if e, ok := errors.AsType[*outcome.Error](err); ok {
			if e.Line != one.line {
				t.Errorf("%s: %v, want line %d", name, err, one.line)
			}
			continue
		}
		_, values := got.X.Arrays()
		_, wanted := want.X.Arrays()
		if !slices.Equal(values, wanted) || !slices.Equal(got.Y, want.Y) || !slices.Equal(got.Kept, want.Kept) || fmt.Sprint(got.Schema) != fmt.Sprint(want.Schema) {
			t.Errorf("%s: other data", name)
		}
	}
}

// TestLinesBeforeATableCount checks that errors count the lines before the table.
func TestLinesBeforeATableCount(t *testing.T) {
	for _, before := range []string{"sep=;\n", "# a remark\n"} {
		_, err := Read(t.Context(), strings.NewReader(before+"a;y\n1;2\n3;word\n"), Options{Target: "y", Name: "text"})
		if e, ok := errors.AsType[*outcome.Error](err); !ok || e.Line != 4 {
			t.Errorf("%q: %v, want line 4", before, err)
		}
	}
}
