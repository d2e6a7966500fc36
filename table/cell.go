package table

import (
	"errors"
	"strconv"
	"strings"
)

// Cell is what a row of a table has in a column.
type Cell struct {
	Kind   CellKind
	Number float64
	Text   string
}

// CellKind says what a cell is.
type CellKind uint8

// The kinds of cells.
const (
	Spelled CellKind = iota // as a text file spells it, in Text: it may be any of the others
	Absent                  // missing
	Number                  // a number
	Text                    // text, whatever it looks like
)

// Rows is a table, read row by row.
type Rows interface {
	// Columns returns the names of the columns, nil where there are none.
	Columns() []string
	// Width returns how many columns there are.
	Width() int
	// Next returns the cells of the next row, in row if that has room, to be read until
	// the next call; [io.EOF] at the end. Other errors are [outcome.Error].
	Next(row []Cell) ([]Cell, error)
	// Line returns the line that the last row begins in, 0 where there are no lines.
	Line() int
}

// What is wrong with the spelling of a number.
var (
	errNotNumber    = errors.New("not a number")
	errOutOfRange   = errors.New("outside the range of float64")
	errDecimalComma = errors.New("a number with a decimal comma; write a point")
)

// parseNumber reads a decimal number, to the nearest float64. What strconv accepts beyond
// that (nan, inf, hexadecimal, underscores) is none, and a magnitude that would become
// infinite, or 0, is out of range.
func parseNumber(s string) (float64, error) {
	if v, ok := quickNumber(s); ok {
		return v, nil
	}
	digits := false
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			digits = true
		case c == '.', c == '-', c == '+', digits && (c == 'e' || c == 'E'):
		default:
			if c == ',' && decimalComma(s) {
				return 0, errDecimalComma
			}
			return 0, errNotNumber
		}
	}
	if !digits {
		return 0, errNotNumber
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errOutOfRange
	case err != nil:
		return 0, errNotNumber
	case v == 0 && !spellsZero(s):
		return 0, errOutOfRange
	}
	return v, nil
}

// quickNumber reads the numbers that are the quotient of two exact ones, as most are: up to
// 15 digits, perhaps with a point.
func quickNumber(s string) (float64, bool) {
	const most = 15
	i, negative := 0, false
	if len(s) > 0 && s[0] == '-' {
		i, negative = 1, true
	}
	mantissa, digits, places, point := uint64(0), 0, 0, false
	for ; i < len(s); i++ {
		d := uint64(s[i]) - '0'
		switch {
		case d <= 9:
			mantissa = mantissa*10 + d
			if digits++; point {
				places++
			}
		case s[i] == '.' && !point:
			point = true
		default:
			return 0, false
		}
	}
	if digits == 0 || digits > most {
		return 0, false
	}
	v := float64(mantissa) / powers[places]
	if negative {
		v = -v
	}
	return v, true
}

// powers are the powers of ten, exactly.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// spellsZero reports whether every digit before the exponent is 0.
func spellsZero(s string) bool {
	if k := strings.IndexAny(s, "eE"); k >= 0 {
		s = s[:k]
	}
	return strings.Trim(s, "+-.0") == ""
}

// decimalComma reports whether s is a number but for a comma where the point should be.
func decimalComma(s string) bool {
	if strings.Count(s, ",") != 1 || strings.Contains(s, ".") {
		return false
	}
	_, err := parseNumber(strings.Replace(s, ",", ".", 1))
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

// truth returns 1 and 0 for the spellings of true and false.
func truth(text string) (float64, bool) {
	switch text {
	case "True", "TRUE", "true":
		return 1, true
	case "False", "FALSE", "false":
		return 0, true
	default:
		return 0, false
	}
}

// spell is the category of a number.
func spell(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
