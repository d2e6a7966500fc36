package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestTheJobOfKubernetes runs what the pods of examples/kubernetes run: killed after its search
// and run again, it must end with status 0 and the same model.
// TestKilledSearchesGoOnToTheSameBits covers kills at any other moment.
func TestTheJobOfKubernetes(t *testing.T) {
	text, err := os.ReadFile("../../examples/kubernetes/select.yaml")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^ *args: (\[.*\])$`).FindSubmatch(text)
	var args []string
	if found == nil || json.Unmarshal(found[1], &args) != nil {
		t.Fatal("the manifest has no list of arguments")
	}
	shared := t.TempDir()
	for i := range args {
		args[i] = strings.Replace(args[i], "/shared", shared, 1)
	}
	data, err := os.ReadFile("../../docs/data/diabetes.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shared, "data.csv"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	once := func() []byte {
		var out, notes bytes.Buffer
		if code := run(context.Background(), newInterrupt(func() {}), args, strings.NewReader(""), &out, &notes); code != 0 {
			t.Fatalf("exit status %d: %s%s", code, out.Bytes(), notes.Bytes())
		}
		model, err := os.ReadFile(filepath.Join(shared, "model.json"))
		if err != nil {
			t.Fatal(err)
		}
		return model
	}
	want := once()
	if err := os.Remove(filepath.Join(shared, "model.json")); err != nil {
		t.Fatal(err)
	}
	if got := once(); !bytes.Equal(got, want) {
		t.Error("run again: another model")
	}
}
