package subject

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// Golden returns the rows of a file of JSON lines, values that were computed elsewhere;
// see testdata/golden/README.md. A file outside of the checkout may not be there, which
// skips the test.
func Golden[T any](tb testing.TB, path string) []T {
	tb.Helper()
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		tb.Skipf("%s is not here; the rows in testdata/golden are tested all the same", path)
	}
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var rows []T
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			tb.Fatal(err)
		}
		rows = append(rows, row)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return rows
}
