package sealed_test

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seed-45b9a24c/pare/internal/sealed"
)

const victim = "SEALED_TEST_FILE" // set in the environment of the process that is killed

// TestKilledWhileReplacing checks that a process which is killed while it replaces a file again
// and again leaves a complete file: the old or the new one.
func TestKilledWhileReplacing(t *testing.T) {
	bodies := [2]body{{X: 1, V: slices.Repeat(sealed.Vector{0.1}, 50_000)}, {X: 2, V: slices.Repeat(sealed.Vector{-7}, 60_000)}}
	if path := os.Getenv(victim); path != "" {
		for k := 0; ; k++ {
			data, err := kind.Encode(bodies[k%2])
			if err == nil {
				err = sealed.Replace(path, data)
			}
			if err != nil {
				t.Fatal(err)
			}
			_, _ = os.Stdout.WriteString("replaced\n")
		}
	}
	rounds := 20
	if testing.Short() {
		rounds = 4
	}
	path := filepath.Join(t.TempDir(), "file")
	for round := range rounds {
		child := exec.Command(os.Args[0], "-test.run=^TestKilledWhileReplacing$")
		child.Env = append(os.Environ(), victim+"="+path)
		out, err := child.StdoutPipe()
		if err == nil {
			err = child.Start()
		}
		if errors.Is(err, syscall.ENOEXEC) {
			t.Skip("an emulated program cannot start another; the native run counts")
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = bufio.NewReader(out).ReadString('\n') // the file exists from here on
		time.Sleep(time.Duration(round) * 700 * time.Microsecond)
		killed := child.Process.Kill()
		if err != nil || killed != nil {
			t.Fatal(err, killed)
		}
		_ = child.Wait()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got body
		if err := kind.Read(bytes.NewReader(data), &got); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if whole, _ := kind.Encode(bodies[int(got.X)-1]); !bytes.Equal(data, whole) {
			t.Errorf("round %d: neither of the two", round)
		}
	}
}
