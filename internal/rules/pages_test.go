package rules_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPagesNameWhatThereIs: the files that the pages on adding something name are there,
// and so are the tests and functions.
func TestPagesNameWhatThereIs(t *testing.T) {
	pages, err := filepath.Glob(root + "/docs/add-a*.md")
	if err != nil || len(pages) < 6 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	file := regexp.MustCompile("`([a-z_/]+\\.(?:go|md|txt))`")
	test := regexp.MustCompile(`\b(Test[A-Z]\w+|Fuzz[A-Z]\w+)\b`)
	code := everyTest(t)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range file.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", filepath.Base(page), m[1])
			}
		}
		for _, name := range test.FindAllString(string(text), -1) {
			if !strings.Contains(code, "func "+name+"(") {
				t.Errorf("%s names %s, which is not there", filepath.Base(page), name)
			}
		}
	}
}

// everyTest returns the text of all test files.
func everyTest(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// TestALossOutsideTheModule: the example of a loss of one's own is one of another module, too, which
// sees no more of the library than a user does.
func TestALossOutsideTheModule(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it is compiled from nothing")
	}
	read := func(name string) string {
		text, err := os.ReadFile(root + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	library, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	const name = "github.com/seed-45b9a24c/pare"
	dir := t.TempDir()
	for file, text := range map[string]string{
		"go.mod":       strings.Replace(read("go.mod"), "module "+name, "module example.org/own", 1) + "\nrequire " + name + " v0.0.0\nreplace " + name + " => " + library + "\n",
		"go.sum":       read("go.sum"),
		"loss_test.go": strings.Replace(read("example_loss_test.go"), "package pare_test", "package own", 1),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "test", "-v", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if out, err := run.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: Example_ownLoss") {
		t.Errorf("%v\n%s", err, out)
	}
}
