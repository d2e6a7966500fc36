package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/seed-45b9a24c/pare/outcome"
)

// Contents describes a table, whether or not it can be made into a matrix.
type Contents struct {
	Format  string // as in [Data]
	Named   bool   // the file names its columns
	Rows    int
	Columns []Content
}

// Content describes the cells of a column. A column without a name has its number as its name.
type Content struct {
	Name    string
	Target  bool // it is [Options].Target
	Feature bool // it would be a feature
	Again   bool // an earlier feature has the same name

	Numbers, Texts, Times, Missing int // numbers of cells

	// Categories are the first distinct texts, at most [MostCategories], ascending; More says that there are
	// others.
	Categories []string
	More       bool

	// Fault says what is wrong with the first cell that cannot be read; "" if there is none.
	Fault string

	seen map[string]bool // the same as Categories
}

// MostCategories is the largest number of categories of a column that [Describe] lists.
const MostCategories = 1000

// Describe reads a table and describes its columns, in memory that does not grow with the number of rows. It
// returns nil for formats that are not tables. The errors are those of [Open], except that cells which a column
// may not have are not errors.
func Describe(ctx context.Context, path string, o Options) (*Contents, error) {
	o.NoTarget = true
	in, err := open(ctx, path, nil, &o)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	src, err := recognise(in, o)
	if err != nil || src.rows == nil {
		return nil, err
	}
	rows := src.rows
	p, err := assignRoles(headerOf(o.Name, rows), o)
	if err != nil {
		return nil, err
	}
	out := &Contents{Format: src.format, Named: p.names != nil, Columns: make([]Content, p.width)}
	for k := range out.Columns {
		out.Columns[k] = Content{Name: strconv.Itoa(k + 1), Target: p.roles[k] == target, Feature: p.roles[k] == feature, seen: map[string]bool{}}
		if p.names != nil && p.names[k] != "" {
			out.Columns[k].Name = p.names[k]
		}
	}
	p.eachRepeated(func(_, again int) { out.Columns[again].Again = true })
	var row []Cell
	for {
		if out.Rows%1024 == 0 && ctx.Err() != nil {
			return nil, &outcome.Error{Kind: outcome.IO, File: o.Name, Message: "reading stopped", Err: context.Cause(ctx)}
		}
		row, err = rows.Next(row)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		out.Rows++
		for k, cell := range row {
			out.Columns[k].add(cell)
		}
	}
	for k := range out.Columns {
		slices.Sort(out.Columns[k].Categories)
	}
	return out, nil
}

// add counts a cell.
func (c *Content) add(cell Cell) {
	switch cell.Kind {
	case Absent:
		c.Missing++
		return
	case Number:
		c.Numbers++
		return
	case Time:
		c.Times++
		return
	case Spelled:
		_, isTruth := parseBool(cell.Text)
		_, err := cell.parse()
		switch {
		case missingWord(cell.Text):
			c.Missing++
			return
		case cell.textIsExact || err == nil || isTruth && !c.Target:
			c.Numbers++
			return
		case !errors.Is(err, errNotNumber) && c.Fault == "":
			c.Fault = fmt.Sprintf("%q is %v", shorten(cell.Text), err)
		}
	case Text:
	}
	c.Texts++
	switch {
	case c.seen[cell.Text]:
	case len(c.Categories) == MostCategories:
		c.More = true
	default:
		text := string([]byte(cell.Text)) // a copy, since the row's memory is reused
		c.seen[text], c.Categories = true, append(c.Categories, text)
	}
}
