package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-45b9a24c/pare/internal/decimal"
)

// Cell is one value of a table, in one row and column.
type Cell struct {
	Kind   CellKind
	Number float64
	Text   string

	textIsExact bool // Text is known to spell Number
	comma       bool // Text has a decimal comma where it spells a number
}

// parse returns the number that the text spells.
func (c Cell) parse() (float64, error) {
	if c.comma {
		return parseComma(c.Text)
	}
	return parseNumber(c.Text)
}

// CellKind is the kind of a cell.
type CellKind uint8

// The kinds of cells.
const (
	Spelled CellKind = iota // Text as a text file has it: it may turn out to be any other kind
	Absent                  // missing
	Number                  // a number
	Text                    // text, even if it looks like a number
	Time                    // a date or a time, spelled in Text; a feature only as a category
)

// Rows is a table, read row by row. It may have a method LabelsRows(k int) bool, which reports whether column k
// labels rows, as a pandas index does: such a column is a feature only if it is asked for.
type Rows interface {
	// Columns returns the names of the columns, nil where there are none.
	Columns() []string
	// Width returns the number of columns.
	Width() int
	// Next returns the cells of the next row, in row if it has room for them, valid until the next call;
	// [io.EOF] at the end. Other errors are [outcome.Error].
	Next(row []Cell) ([]Cell, error)
	// Line returns the line in which the last row begins, 0 where there are no lines.
	Line() int
}

// Why a text is not accepted as a number.
var (
	errNotNumber  = errors.New("not a number")
	errNotFinite  = fmt.Errorf("%w that is finite", errNotNumber)
	errOutOfRange = errors.New("outside the range of float64")
	errThousands  = errors.New("a number with a comma between thousands; remove the comma")
	errPoint      = errors.New("a number with a decimal point, in a file with decimal commas")
	errCommas     = errors.New("a number with a comma; write a point if it is a decimal comma, or remove it if it separates thousands")
)

// notFinite reports whether v is NaN or infinite.
func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// parseNumber returns the float64 nearest to a decimal number. What strconv accepts beyond that (nan, inf,
// hexadecimal, underscores) is not a number here, and a magnitude that would become infinite, or 0, is out of
// range.
func parseNumber(s string) (float64, error) {
	v, length, fault := decimal.Parse([]byte(s))
	if length == len(s) {
		switch fault {
		case decimal.None:
			return v, nil
		case decimal.OutOfRange:
			return 0, errOutOfRange
		case decimal.NotNumber, decimal.TooLong:
		}
	}
	switch {
	case hasCommas(s) && (strings.Contains(s, ".") || strings.Count(s, ",") > 1):
		return 0, errThousands
	case hasCommas(s) || strings.Count(s, ",") == 1 && hasCommas(pointsForCommas.Replace(s)):
		return 0, errCommas
	}
	switch word := strings.TrimLeft(s, "+-"); {
	case strings.EqualFold(word, "inf"), strings.EqualFold(word, "infinity"), strings.EqualFold(word, "nan"):
		return 0, errNotFinite
	}
	return 0, errNotNumber
}

// parseComma is parseNumber for a number with a decimal comma, and perhaps points between thousands.
func parseComma(s string) (float64, error) {
	turned := pointsForCommas.Replace(s)
	whole, rest, fraction := strings.Cut(turned, ".")
	if !inThousands(strings.TrimLeft(whole, "+-")) {
		if _, err := parseNumber(s); err == nil {
			return 0, errPoint
		}
		return 0, errNotNumber
	}
	if whole = strings.ReplaceAll(whole, ",", ""); fraction {
		whole += "." + rest
	}
	return parseNumber(whole)
}

// inThousands reports whether all commas, if there are any, separate thousands.
func inThousands(digits string) bool {
	groups := strings.Split(digits, ",")
	if len(groups) == 1 {
		return true
	}
	for k, group := range groups {
		if strings.Trim(group, "0123456789") != "" || k > 0 && len(group) != 3 {
			return false
		}
	}
	first := groups[0]
	return 1 <= len(first) && len(first) <= 3 && first[0] != '0'
}

// pointsForCommas exchanges points and commas: it makes 1,234.5 of 1.234,5.
var pointsForCommas = strings.NewReplacer(".", ",", ",", ".")

// hasCommas reports whether s would be a number with a point in place of its comma, or without its commas
// between thousands.
func hasCommas(s string) bool {
	if strings.IndexByte(s, ',') < 0 { // nearly all words
		return false
	}
	whole, _, point := strings.Cut(s, ".")
	groups := strings.Split(whole, ",")
	apart := ""
	switch {
	case len(groups) == 1:
		return false
	case len(groups) == 2 && !point:
		apart = "."
	case slices.ContainsFunc(groups[1:], func(group string) bool { return len(group) != 3 }):
		return false
	}
	_, err := parseNumber(strings.ReplaceAll(s, ",", apart))
	return err == nil
}

// missingWord reports whether text is one of the words for a cell without a value.
func missingWord(text string) bool {
	switch text {
	case "", "NA", "N/A", "#N/A", "<NA>", "n/a", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "None", "?":
		return true
	default:
		return false
	}
}

// parseBool returns 1 for a spelling of true and 0 for one of false, and whether text is either.
func parseBool(text string) (float64, bool) {
	switch text {
	case "True", "TRUE", "true":
		return 1, true
	case "False", "FALSE", "false":
		return 0, true
	default:
		return 0, false
	}
}

// categoryOf returns the category of a number.
func categoryOf(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
