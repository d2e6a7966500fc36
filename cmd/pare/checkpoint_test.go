package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckpoint checks that a search resumed from its checkpoint repeats no evaluation and has the same
// result, and that checkpoints of another search, of other data, or damaged ones are refused.
func TestCheckpoint(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for _, model := range []string{"lasso", "enet", "wlasso"} {
		args := []string{"select", "--json", "--model=" + model, "--checkpoint=" + path}
		first, second := replayed(t, args), replayed(t, args)
		if first != second {
			t.Errorf("%s: resumed\n%s, at first\n%s", model, second, first)
		}
		for _, other := range [][]string{{"--seed=3"}, {"--start=0.2"}, {"--drop=10"}} {
			o := pareRun(t, append(args, other...)...)
			if o.code != exitUsage || !strings.Contains(o.stdout, "another search or to other data") {
				t.Errorf("%v: exit %d %s", other, o.code, o.stdout)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := pareRun(t, "select", "--checkpoint="+path); o.code != exitFailed || !strings.Contains(o.stderr, "Remove the file") {
		t.Errorf("exit %d, %s", o.code, o.stderr)
	}
}

// TestWhatBreaksASearchOffIsSaid checks that an aborted search says why, and that a search whose result
// cannot be saved prints the command that fits its choice again.
func TestWhatBreaksASearchOffIsSaid(t *testing.T) {
	for _, test := range []struct {
		flag, want string
		code       int
	}{
		{"--json", `"code":"failed","message":"the search was broken off: `, exitUntrusted},
		{"--coef", "broken off", exitUntrusted},
		{"--save", "The search is done: pare fit --log-lambda=-2.70442", exitFailed},
	} {
		dir := filepath.Join(t.TempDir(), "there")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		args, failure := []string{"select", "--progress", test.flag, "--checkpoint=" + filepath.Join(dir, "log")}, "cannot save the log"
		if test.flag == "--save" {
			args, failure = []string{"select", "--progress", "--save=" + filepath.Join(dir, "model")}, "cannot save the model"
		}
		var out bytes.Buffer
		code := run(t.Context(), newInterrupt(func() {}), args, strings.NewReader(""), &out, io.MultiWriter(&out, removing(dir)))
		if code != test.code || !strings.Contains(out.String(), test.want) || !strings.Contains(out.String(), failure) {
			t.Errorf("%v: exit %d\n%s", args, code, out.String())
		}
	}
}

// removing is a writer that removes a directory at each write.
type removing string

func (r removing) Write(text []byte) (int, error) { return len(text), os.RemoveAll(string(r)) }

// replayed returns the output of a search without the times of the parts that are not replayed.
func replayed(t *testing.T, args []string) string {
	t.Helper()
	o := pareRun(t, args...)
	var r map[string]any
	if err := json.Unmarshal([]byte(o.stdout), &r); err != nil || o.code != exitOK {
		t.Fatalf("exit %d, %v: %s%s", o.code, err, o.stdout, o.stderr)
	}
	final := r["final"].(map[string]any)
	for _, timed := range []map[string]any{r, final} {
		delete(timed, "seconds")
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
