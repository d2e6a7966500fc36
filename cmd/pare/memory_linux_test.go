package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// TestReadersStayWithinLimits checks that under any limit of the address space, reading data or a
// model ends with a result or an error of kind limit, and the program never runs out of memory.
// Limits under which the Go runtime cannot start reliably do not count: its heap begins at a
// random place in the first region of address space that it reserves, and above 1.3 GB there is
// space for another region. The long form tries a hundred limits.
func TestReadersStayWithinLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds and starts the command; TestReadingLimits bounds the same readers")
	}
	dir, path := t.TempDir(), program(t)
	write := func(name, head, line string, times int) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, slices.Concat([]byte(head), bytes.Repeat([]byte(line), times)), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	// hollow writes a sparse file: a header followed by zeros that take no space on the disk.
	hollow := func(name, head string, size int64) string {
		file := write(name, head, "", 0)
		if err := os.Truncate(file, int64(len(head))+size); err != nil {
			t.Fatal(err)
		}
		return file
	}
	packed := func(name, line string, times int) string {
		var text bytes.Buffer
		z, err := gzip.NewWriterLevel(&text, gzip.BestSpeed)
		for range times {
			if err == nil {
				_, err = z.Write([]byte(line))
			}
		}
		if err == nil {
			err = z.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return write(name, text.String(), "", 0)
	}
	zipped := func(name string, rows int) string { // an archive of X and y
		var file bytes.Buffer
		zeros := make([]byte, 8<<10)
		z := zip.NewWriter(&file)
		z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
		for _, array := range []struct {
			name  string
			shape string
			size  int
		}{{"X.npy", fmt.Sprintf("(%d, 2)", rows), 2 * rows}, {"y.npy", fmt.Sprintf("(%d,)", rows), rows}} {
			w, err := z.Create(array.name)
			if err == nil {
				_, err = w.Write([]byte(arrayHead(array.shape)))
			}
			for k := 0; k < array.size && err == nil; k += 1 << 10 {
				_, err = w.Write(zeros)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return write(name, file.String(), "", 0)
	}
	target := "--target=" + hollow("target.npy", arrayHead("(67108864,)"), 8<<26)
	reads := [][]string{
		{"info", packed("rows.svm.gz", strings.Repeat("1\n", 1000), 20e3)},
		{"info", hollow("dense.npy", arrayHead("(67108864, 1)"), 8<<26), target},
		{"info", zipped("dense.npz", 1<<24)},
		{"info", packed("ones.csv.gz", strings.Repeat("1,0.1234567\n", 1000), 4e3)},
		{"select", "--checkpoint=" + write("log", `{"pare_search_log":4,"body":[`, "1,", 50e6)},
		{"info", write("rows.svm", "", "1\n", 20e6)},
		{"info", write("entries.svm", "", "1 1:1 2:2 3:3 4:4 5:5 6:6\n", 2e6)},
		{"info", write("data.csv", "y,a,b\n", "1,2,0.1234567\n", 2e6)},
		{"info", write("data.mtx", "%%MatrixMarket matrix array real general\n2000000 1\n", "0.5\n", 2e6), "--target=" + write("target", "", "1\n", 2e6)},
		{"inspect", write("model", `{"pare_model":1,"body":[`, "1,", 50e6)},
	}
	sizes := 10
	if oracle.Long() {
		sizes = 100
	}
	ended := map[string]int{}
	for k := range sizes {
		kilobytes := 1_400_000 + k*2_000_000/sizes
		limited := func(args ...string) (string, int) {
			cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, kilobytes), path}, args...)...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			_ = cmd.Run() // the exit status says it
			if code := cmd.ProcessState.ExitCode(); code != exitOK && code != exitFailed {
				return stderr.String(), code
			}
			return stdout.String(), cmd.ProcessState.ExitCode()
		}
		if _, code := limited("--version"); code != exitOK {
			ended["runtime"]++
			continue
		}
		args := reads[k%len(reads)]
		text, code := limited(append(args, "--json")...)
		var result struct{ Error *errorReport }
		switch err := json.Unmarshal([]byte(text), &result); {
		case strings.Contains(text, "0 in use") || strings.Contains(text, "failed to reserve"): // at the start of the runtime
			ended["runtime"]++
		case err != nil || code == exitOK && result.Error != nil:
			t.Errorf("ulimit -v %d, %q: exit %d, %.500s", kilobytes, args, code, text)
		case code == exitOK:
			ended["read"]++
		default:
			if kind := result.Error.Kind; kind != "limit" && (args[0] == "info" || kind != "parse") {
				t.Errorf("ulimit -v %d, %q: %s", kilobytes, args, text)
			}
			ended[string(result.Error.Kind)]++
		}
	}
	t.Log(ended)
	if ended["limit"] == 0 {
		t.Error("nothing met a limit")
	}
}

// arrayHead returns the header of a NumPy array of doubles.
func arrayHead(shape string) string {
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape)
	head += strings.Repeat(" ", 128-11-len(head)) + "\n"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), 0}) + head
}
