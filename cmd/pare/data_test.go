package main

import (
	"bufio"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/embedded"
)

func readDiabetes(t *testing.T) string {
	t.Helper()
	z, err := gzip.NewReader(embedded.DiabetesFile())
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// diabetesRows reads the embedded data without any code of this project.
func diabetesRows(t *testing.T) (x [][]float64, y []float64) {
	t.Helper()
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	lines := bufio.NewScanner(strings.NewReader(readDiabetes(t)))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		row := make([]float64, embedded.DiabetesColumns)
		for _, field := range fields[1:] {
			index, value, _ := strings.Cut(field, ":")
			row[int(number(index))-1] = number(value)
		}
		x, y = append(x, row), append(y, number(fields[0]))
	}
	if len(y) != embedded.DiabetesRows {
		t.Fatalf("%d rows", len(y))
	}
	return x, y
}
