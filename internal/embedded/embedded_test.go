package embedded_test

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/embedded"
)

// TestDiabetesIsTheFileTheGoldenValuesBelongTo checks that the file is the one from which the
// values in testdata/golden were computed.
func TestDiabetesIsTheFileTheGoldenValuesBelongTo(t *testing.T) {
	const want = "c695c77f7d1c54c1d5e0ac3a193d577aea924e773395c0ece4281f273fa1f516"
	h := sha256.New()
	if _, err := io.Copy(h, embedded.DiabetesFile()); err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("sha256 is %s, want %s", got, want)
	}
}

// TestDiabetesIsCentredWithUnitColumns checks the shape and the preparation stated in the
// package comment, using only the standard library.
func TestDiabetesIsCentredWithUnitColumns(t *testing.T) {
	z, err := gzip.NewReader(embedded.DiabetesFile())
	if err != nil {
		t.Fatal(err)
	}
	var sum, squares [embedded.DiabetesColumns]float64
	rows := 0
	lines := bufio.NewScanner(z)
	for lines.Scan() {
		rows++
		fields := strings.Fields(lines.Text())
		if len(fields) != 1+embedded.DiabetesColumns {
			t.Fatalf("row %d has %d fields", rows, len(fields))
		}
		for j, field := range fields[1:] {
			index, value, _ := strings.Cut(field, ":")
			if index != strconv.Itoa(j+1) {
				t.Fatalf("row %d: index %s where %d is due", rows, index, j+1)
			}
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatalf("row %d: %v", rows, err)
			}
			sum[j] += v
			squares[j] += v * v
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if rows != embedded.DiabetesRows {
		t.Errorf("%d rows, want %d", rows, embedded.DiabetesRows)
	}
	// 442 terms of size 0.05 sum with an error below 442·2⁻⁵³·22 ≈ 1e-12.
	const eps = 1e-12
	for j := range sum {
		if sum[j] < -eps || sum[j] > eps || squares[j] < 1-eps || squares[j] > 1+eps {
			t.Errorf("column %d: sum %g, sum of squares %.15g", j, sum[j], squares[j])
		}
	}
}
