package table

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// column is a column of the file while it is being read.
type column struct {
	position   int // index in the file
	feature    int // index among the features; −1: not a feature
	name       string
	categories bool // cells are categories, even if they look like numbers
	text       bool // cells are text
	decided    bool // it is known whether cells are text
	decidedAt  int  // the row that decided it, from 1
	codes      map[string]int
	texts      []string // by code
	counts     []int    // by code
	values     []float64
	sum        float64 // of the numbers
	numbers    int     // how many numbers were read
}

// Why a cell is not accepted.
var (
	errMissing  = errors.New("the value is missing")
	errInfinite = errors.New("not finite")
	errText     = errors.New("text")
	errMixed    = errors.New("but the column is not")
	errTime     = errors.New("a time, not a number")
)

// read determines the kind of a cell, and checks that the column may hold it. A cell of a numeric column is a
// Number afterwards.
func (col *column) read(cell *Cell, o Options) error {
	if cell.textIsExact && cell.Kind == Spelled && !col.categories && (!col.decided || !col.text) {
		cell.Kind = Number
		return nil
	}
	if cell.Kind == Spelled && col.decided && col.text {
		if _, met := col.codes[cell.Text]; met {
			cell.Kind = Text
			return nil
		}
	}
	if err := col.resolveKind(cell, o); err != nil {
		return err
	}
	switch {
	case cell.Kind == Absent || !col.decided || col.text == (cell.Kind == Text):
	case !col.text:
		return fmt.Errorf("%q is text, %w: row %d has a number here", shorten(cell.Text), errMixed, col.decidedAt)
	default:
		return fmt.Errorf("%s is a number, %w: row %d has text here", categoryOf(cell.Number), errMixed, col.decidedAt)
	}
	if cell.Kind == Number && notFinite(cell.Number) {
		return fmt.Errorf("%g is %w", cell.Number, errInfinite)
	}
	if cell.Kind == Text && !utf8.ValidString(cell.Text) {
		return fmt.Errorf("%q is not UTF-8 text", shorten(cell.Text))
	}
	if cell.Kind == Text && col.mustBeNumbers(o) {
		return fmt.Errorf("%q is %w", shorten(cell.Text), errText)
	}
	return nil
}

// resolveKind determines the kind of a cell that a text file spells, and turns other cells into categories where the
// column has them.
func (col *column) resolveKind(cell *Cell, o Options) error {
	switch {
	case cell.Kind == Number && col.categories:
		cell.Kind, cell.Text = Text, categoryOf(cell.Number)
		return nil
	case cell.Kind == Time && col.feature >= 0 && !col.categories:
		return fmt.Errorf("%q is %w", shorten(cell.Text), errTime)
	case cell.Kind == Time:
		cell.Kind = Text
		return nil
	case cell.Kind != Spelled:
		return nil
	case missingWord(cell.Text):
		cell.Kind = Absent
		return nil
	case col.categories:
		cell.Kind = Text
		return nil
	}
	v, err := cell.parse()
	truth, isTruth := parseBool(cell.Text)
	switch {
	case err == nil:
		cell.Kind, cell.Number = Number, v
	case isTruth && col.feature >= 0:
		cell.Kind, cell.Number = Number, truth
	case errors.Is(err, errNotNumber) && (!errors.Is(err, errNotFinite) || !col.mustBeNumbers(o)):
		cell.Kind = Text
	default:
		return fmt.Errorf("%q is %w", shorten(cell.Text), err)
	}
	return nil
}

// mustBeNumbers reports whether the column must not hold text.
func (col *column) mustBeNumbers(o Options) bool {
	if col.decided {
		return !col.text
	}
	return !col.categories && col.feature >= 0 && !o.OneHot
}

// encode returns the number that represents a cell: the number itself, or 1 plus the code of a text; 0 for a
// missing cell.
func (col *column) encode(cell Cell, row int) float64 {
	if cell.Kind == Absent {
		return 0
	}
	if !col.decided {
		col.decided, col.text, col.decidedAt = true, cell.Kind == Text, row
	}
	if col.text {
		return float64(col.code(cell.Text) + 1)
	}
	col.sum += cell.Number
	col.numbers++
	return cell.Number
}

// code returns the code of a text, a new one if the text is new, and counts it.
func (col *column) code(text string) int {
	k, ok := col.codes[text]
	if !ok {
		k = len(col.texts)
		text = string([]byte(text)) // a copy, since the row's memory is reused
		col.codes[text] = k
		col.texts, col.counts = append(col.texts, text), append(col.counts, 0)
	}
	col.counts[k]++
	return k
}

// shorten cuts a long text for a message, between runes.
func shorten(s string) string {
	most := 40
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// sortedWithRanks sorts texts, and returns the position of each in the sorted list.
func sortedWithRanks(texts []string) (sorted []string, place []int) {
	by := make([]int, len(texts))
	for k := range by {
		by[k] = k
	}
	slices.SortFunc(by, func(a, b int) int { return cmp.Compare(texts[a], texts[b]) })
	sorted, place = make([]string, len(texts)), make([]int, len(texts))
	for rank, k := range by {
		sorted[rank], place[k] = texts[k], rank
	}
	return sorted, place
}

// fill returns the values that replace a missing cell of the column.
func (col *column) fill(m Missing, rows int, order []int) ([]float64, error) {
	if m != Mean && m != Zero {
		return nil, nil
	}
	width := 1
	if col.text {
		width = len(col.texts)
	}
	fill := make([]float64, width)
	if m == Zero {
		return fill, nil
	}
	present := col.numbers
	for _, n := range col.counts {
		present += n
	}
	if present == 0 && rows > 0 {
		return nil, errMissing
	}
	if !col.text {
		if rows > 0 {
			fill[0] = col.sum / float64(present)
		}
		return fill, nil
	}
	for k, n := range col.counts {
		fill[order[k]] = float64(n) / float64(present)
	}
	return fill, nil
}
