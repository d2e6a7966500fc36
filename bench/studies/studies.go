// Package studies redoes experiments of Bertrand et al. (JMLR 23, 2022) with this
// library: the numbers as tables, and charts of them.
package studies

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/seed-45b9a24c/pare/bench/chart"
)

// Table is a study's numbers: a heading and rows of words and float64.
type Table struct {
	Columns []string
	Rows    [][]any
}

// CSV writes the table; numbers keep all their digits.
func (t Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(t.Columns); err != nil {
		return err
	}
	for _, row := range t.Rows {
		fields := make([]string, len(row))
		for i, v := range row {
			switch v := v.(type) {
			case string:
				fields[i] = v
			case int:
				fields[i] = strconv.Itoa(v)
			case float64:
				fields[i] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		if err := out.Write(fields); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// Result is what a study leaves behind, by the names of files without their
// endings.
type Result struct {
	Tables map[string]Table
	Charts map[string]chart.Chart
}
