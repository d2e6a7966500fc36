package main

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/outcome"
)

// parseNumber parses a decimal number or an infinity, but not NaN, nor the hexadecimal and underscored
// spellings that strconv accepts.
func parseNumber(s string) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || strings.ContainsAny(s, "xX_") {
		return 0, errors.New("not a number")
	}
	return v, nil
}

// parseFold returns a parser of fold ids for n rows.
func parseFold(n int) func(s string) (int, error) {
	return func(s string) (int, error) {
		v, err := strconv.Atoi(s)
		if err != nil || v < -2 || v >= n {
			return 0, fmt.Errorf("not a fold id: give -2, -1, or 0 or more and less than the number of rows, %d", n)
		}
		return v, nil
	}
}

// parseGroup parses the number of a group.
func parseGroup(s string) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil {
		return 0, errors.New("not a group: give an integer")
	}
	return v, nil
}

// parseWeight parses a row weight.
func parseWeight(s string) (float64, error) {
	v, err := parseNumber(s)
	if err != nil || !(v >= 0) || math.IsInf(v, 1) {
		return 0, errors.New("not a weight: give a finite number of 0 or more")
	}
	return v, nil
}

func parseOffset(s string) (float64, error) {
	v, err := parseNumber(s)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errors.New("not an offset: give a finite number")
	}
	return v, nil
}

// badCell is the error of a cell of a column that is not a feature.
func badCell(file, flag, column, text string, row int, err error) error {
	e := outcome.At(outcome.Parse, flag, "column %q: %s is %v", column, strconv.QuoteToGraphic(shorten(text)), err)
	e.File, e.HasRow, e.Row = file, true, row
	return e
}

// neither is the error of a flag that names neither a column nor a file.
func neither(file, flag, name string) error {
	e := outcome.At(outcome.Usage, flag, "%q is neither a column of %s nor a file", name, file)
	return advised{e, "\"pare info\" shows the columns."}
}

// perRow reads one value per row of the data: from a column of d.Aside, or else from a file.
func perRow[T any](d *dataset, flag, name string, parse func(string) (T, error)) ([]T, error) {
	n, _ := d.x.Dims()
	if column, ok := d.Aside[name]; ok {
		values := make([]T, n)
		for i := range values {
			var text string
			if column.Texts != nil {
				text = column.Texts[i]
			} else {
				text = short(column.Numbers[i])
			}
			var err error
			if values[i], err = parse(text); err != nil {
				return nil, badCell(d.name, flag, name, text, i, err)
			}
		}
		return values, nil
	}
	if at := d.Schema.TargetPosition; at >= 0 && (name == d.Schema.Target || name == strconv.Itoa(at+1)) {
		return nil, outcome.At(outcome.Usage, flag, "%q is the target of %s; give another column, or a file with one value per line", name, d.name)
	}
	if _, err := os.Stat(name); err != nil && d.Names != nil {
		return nil, neither(d.name, flag, name)
	}
	values, err := readLines(flag, name, parse)
	switch {
	case err != nil:
		return nil, err
	case len(values) == n:
		return values, nil
	case len(values) == d.Rows: // some rows of the data were left out
		kept := make([]T, n)
		for k, i := range d.Kept {
			kept[k] = values[i]
		}
		return kept, nil
	default:
		return nil, badFile(flag, name, outcome.Errorf(outcome.Shape, "%d values for %d rows; there must be one per row", len(values), n))
	}
}

// groups reads the group of each row: from integers, or from the texts of a column.
func (d *dataset) groups(name string) ([]int, error) {
	column, ok := d.Aside[name]
	if !ok || column.Texts == nil {
		return perRow(d, "groups", name, parseGroup)
	}
	codes, groups := map[string]int{}, make([]int, len(column.Texts))
	for i, text := range column.Texts {
		if _, ok := codes[text]; !ok {
			codes[text] = len(codes)
		}
		groups[i] = codes[text]
	}
	return groups, nil
}

// parseList parses the numbers of a flag: separated by commas, or @FILE with one per line.
func parseList(flag, text string) ([]float64, error) {
	if path, ok := strings.CutPrefix(text, "@"); ok {
		if path == "" {
			return nil, outcome.At(outcome.Usage, flag, "@ must be followed by the name of a file")
		}
		return readLines(flag, path, parseNumber)
	}
	var values []float64
	for field := range strings.SplitSeq(text, ",") {
		v, err := parseNumber(strings.TrimSpace(field))
		if err != nil {
			return nil, outcome.At(outcome.Usage, flag, "%q is %v; give numbers separated by commas, or @FILE with one number per line", field, err)
		}
		values = append(values, v)
	}
	return values, nil
}

// readLines reads a file of one value per line; blank lines are skipped.
func readLines[T any](flag, path string, parse func(string) (T, error)) ([]T, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, badFile(flag, path, &outcome.Error{Kind: outcome.IO, Message: "cannot be opened", Err: err})
	}
	defer file.Close()
	var values []T
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		line := lines.Text()
		text := strings.TrimSpace(line)
		if text == "" {
			continue
		}
		v, err := parse(text)
		if err != nil {
			return nil, badFile(flag, path, &outcome.Error{
				Kind: outcome.Parse, Line: number, Byte: int64(strings.Index(line, text)) + 1,
				Message: strconv.QuoteToGraphic(shorten(text)) + " is " + err.Error(),
			})
		}
		values = append(values, v)
	}
	if err := lines.Err(); err != nil {
		return nil, badFile(flag, path, &outcome.Error{Kind: outcome.IO, Message: "cannot be read", Err: err})
	}
	if len(values) == 0 {
		return nil, badFile(flag, path, outcome.Errorf(outcome.Shape, "contains no values"))
	}
	return values, nil
}

// present refuses a missing file of a flag before the data are read. It only looks at values that cannot be the
// name of a column.
func present(flag, path string) error {
	if !strings.ContainsRune(path, filepath.Separator) {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return badFile(flag, path, &outcome.Error{Kind: outcome.IO, Message: "cannot be opened", Err: err})
	}
	return nil
}

// badFile adds the flag and the file to an error in a file of values.
func badFile(flag, path string, e *outcome.Error) error {
	e.Flag, e.File = flag, path
	return advised{e, "The file of --" + flag + " must contain one value per line."}
}

// shorten shortens a long text for a message.
func shorten(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
