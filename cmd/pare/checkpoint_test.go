package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A search that is started again with its checkpoint asks for nothing twice and ends
// the same; another search, other data and a damaged file are refused.
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
			if o.code != exitUsage || !strings.Contains(o.stdout, "another search or other data") {
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

// replayed is what a search prints, but for the times of what is not replayed.
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
