package table

import (
	"fmt"

	"github.com/seed-45b9a24c/pare/outcome"
	"github.com/seed-45b9a24c/pare/sparse"
)

// A binary file, or a line of sizes, can claim any number of rows and columns in a few bytes. These constants
// limit how many rows are accepted.
const (
	mostRowsAlone = 1 << 26 // rows accepted even without entries
	rowsPerEntry  = 16      // more rows accepted per entry
)

// checkClaimedShape refuses a shape that is out of proportion to the contents of a file.
func checkClaimedShape(name string, rows, columns, entries int) error {
	const most = sparse.DefaultMaxFeatures
	if columns > most {
		return &outcome.Error{Kind: outcome.Limit, File: name, Message: fmt.Sprintf("%d columns are beyond the limit of %d", columns, most)}
	}
	if rows > mostRowsAlone && (rows-mostRowsAlone)/rowsPerEntry > entries {
		return &outcome.Error{Kind: outcome.Limit, File: name, Message: fmt.Sprintf("the file states %d rows, too many for %d entries", rows, entries)}
	}
	return nil
}
