package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-45b9a24c/pare/internal/oracle"
)

// Under limits of address space of any size, reading data or a model ends with a result or an
// error of kind limit, never with the program out of memory. Limits under which the runtime
// itself does not start do not count. The long form has a hundred of them.
func TestReadersStayWithinLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds and starts the command; TestReadingLimits bounds the same readers")
	}
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "pare")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	write := func(name, head, line string, times int) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, slices.Concat([]byte(head), bytes.Repeat([]byte(line), times)), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	reads := [][]string{
		{"info", write("rows.svm", "", "1\n", 20e6)},
		{"info", write("entries.svm", "", "1 1:1 2:2 3:3 4:4 5:5 6:6\n", 4e6)},
		{"info", write("data.csv", "y,a,b\n", "1,2,0.1234567\n", 4e6)},
		{"info", write("data.mtx", "%%MatrixMarket matrix array real general\n4000000 1\n", "0.5\n", 4e6), "--target=" + write("target", "", "1\n", 4e6)},
		{"inspect", write("model", `{"pare_model":1,"body":[`, "1,", 50e6)},
	}
	sizes := 6
	if oracle.Long() {
		sizes = 100
	}
	ended := map[string]int{}
	for k := range sizes {
		kilobytes := 1_100_000 + k*2_000_000/sizes
		limited := func(args ...string) (string, int) {
			cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, kilobytes), path}, args...)...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			_ = cmd.Run() // the status says it
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
		case strings.Contains(text, "0 in use") || strings.Contains(text, "failed to reserve"): // at the start
			ended["runtime"]++
		case err != nil || code == exitOK && result.Error != nil:
			t.Errorf("ulimit -v %d, %q: exit %d, %.500s", kilobytes, args, code, text)
		case code == exitOK:
			ended["read"]++
		default:
			if kind := result.Error.Kind; kind != "limit" && (args[0] != "inspect" || kind != "parse") {
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
