package rules_test

import (
	"os"
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
