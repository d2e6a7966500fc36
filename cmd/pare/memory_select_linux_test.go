package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
	"github.com/seed-45b9a24c/pare/sparse"
	"github.com/seed-45b9a24c/pare/table"
)

// TestSelectStaysWithinMemory checks that a choice of λ over the folds of a mapped file stays within --max-memory when
// the system enforces the limit: the process may use only that much private memory plus what the runtime reserves.
// Without --max-memory it runs out of memory there. The long form has ten times the data.
func TestSelectStaysWithinMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds and starts the command; TestMaxMemory has the same limit without the system's")
	}
	rows, limit := 60_000, int64(46e6)
	if oracle.Long() {
		rows, limit = 600_000, 220e6
	}
	path, file := program(t), filepath.Join(t.TempDir(), "data.pare")
	size := writeWide(t, file, rows)
	const aside = 150e6 // for arenas, stacks and tables, most of which are never touched
	run := func(args ...string) (evaluations int, text string, code int) {
		cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -d %d; exec "$0" "$@"`, (limit+aside)/1024), path, "select", "--json", "--evaluations=2", "--threads=2", file}, args...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run() // the exit status says it
		var r struct{ Evaluations []any }
		_ = json.Unmarshal(stdout.Bytes(), &r) // or there is no result
		return len(r.Evaluations), stdout.String() + stderr.String(), cmd.ProcessState.ExitCode()
	}
	if evaluations, text, code := run(fmt.Sprintf("--max-memory=%d", limit)); evaluations != 2 {
		t.Errorf("%d bytes of data within %d: exit %d, %d evaluations\n%.500s", size, limit, code, evaluations, text)
	}
	if evaluations, text, code := run(); evaluations > 0 || !strings.Contains(text, "memory") {
		t.Errorf("the same without --max-memory: exit %d, so that the system's limit tells nothing\n%.500s", code, text)
	}
}

// writeWide writes a mapped file of n rows with 40 entries each on average, and returns its size. It has too many
// columns for condensed rows, which would take little memory.
func writeWide(t *testing.T, file string, n int) int64 {
	t.Helper()
	const each = 40
	p := n / 80
	rng := rand.New(rand.NewPCG(3, 4))
	y := make([]float64, n)
	for i := range y {
		y[i] = 3 * rng.NormFloat64()
	}
	var rows []int32
	var values []float64
	colPtr := []int64{0}
	for range p {
		beta := rng.NormFloat64()
		for i := rng.IntN(2*p/each - 1); i < n; i += 1 + rng.IntN(2*p/each-1) {
			v := rng.NormFloat64()
			rows, values = append(rows, int32(i)), append(values, v)
			y[i] += beta * v
		}
		colPtr = append(colPtr, int64(len(rows)))
	}
	x, err := sparse.NewCSC(n, p, colPtr, rows, values)
	if err != nil {
		t.Fatal(err)
	}
	data := &table.Data{Format: "svmlight text", X: x, Y: y, Schema: &table.Schema{TargetPosition: -1}}
	if err := data.Keep(file); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
