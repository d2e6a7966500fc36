package sparse_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
)

// TestRealFiles reads the files of ../shared/data and compares them with the table in the
// README there: n, p, nonempty columns, columns with at least three nonzeros, nonzeros and
// classes.
func TestRealFiles(t *testing.T) {
	directory := filepath.Join("..", "..", "shared", "data")
	readme, err := os.ReadFile(filepath.Join(directory, "README.md"))
	if err != nil {
		t.Skipf("no real files: %s is not here", directory)
	}
	row := regexp.MustCompile("(?m)^\\| (\\w+) \\| (\\d+) \\| (\\d+) \\| (\\d+) \\| (\\d+) \\| (\\d+) \\| (real|\\d+)[^|]*\\| [^|]*\\| `(\\w+)` \\|$")
	tables := row.FindAllStringSubmatch(string(readme), -1)
	if len(tables) == 0 {
		t.Fatal("the README has no table of files")
	}
	for _, want := range tables {
		name := want[1]
		number := func(k int) int {
			v, err := strconv.Atoi(want[k])
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		if testing.Short() && number(6) > 1_000_000 || oracle.Fewest() && number(6) > 100_000 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(directory, name+".svm.gz")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Skipf("not here: %v", err)
			}
			if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want[8] {
				t.Skip("not the file that the README describes")
			}
			m, y, err := sparse.OpenSVMLight(context.Background(), path, sparse.ReadOptions{Features: number(3)})
			if err != nil {
				t.Fatal(err)
			}
			if err := checkInvariants(m); err != nil {
				t.Error(err)
			}
			_, done, err := sparse.Preparation{MinNNZ: 3}.Apply(m)
			if err != nil {
				t.Fatal(err)
			}
			s := sparse.Summarise(m, y)
			got := []int{s.Rows, s.Columns, s.Columns - s.EmptyColumns, len(done.Kept), int(s.NNZ)}
			for k, v := range got {
				if v != number(2+k) {
					t.Errorf("n, p, nonempty, kept, nnz are %d, want %s", got, strings.Join(want[2:7], " "))
					break
				}
			}
			switch want[7] {
			case "real":
				if s.Labels.Kind != sparse.RealLabels {
					t.Errorf("labels look like %s", s.Labels.Kind)
				}
			default:
				if s.Labels.Distinct != number(7) || len(s.Labels.Classes) != number(7) {
					t.Errorf("%d classes, want %s", s.Labels.Distinct, want[7])
				}
			}
			t.Logf("density %.4g, %d duplicate columns, %d empty rows, %d bytes", s.Density, s.DuplicateColumns, s.EmptyRows, s.Bytes)
		})
	}
}
