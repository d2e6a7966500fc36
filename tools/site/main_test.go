package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// TestSiteOfThisRepository checks that every page of this repository is made, and that its
// links have targets.
func TestSiteOfThisRepository(t *testing.T) {
	out := t.TempDir()
	if err := build(os.DirFS("../.."), out); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"index.html", "docs/guide.html", "docs/figures/select-diabetes.svg"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(out, "docs/guide.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="../index.html#as-a-library"`, `href="json.html"`, "<table>", `id="folds"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in the guide", want)
		}
	}
}

// TestBrokenLinksAreFound checks that a link to a missing page, heading or file is reported by
// name.
func TestBrokenLinksAreFound(t *testing.T) {
	files := fstest.MapFS{
		"README.md":       {Data: []byte("# One\n[a](docs/two.md) [b](docs/no.md) [c](docs/two.md#there) [d](docs/two.md#not) [e](LICENSE) [f](NONE) [g](https://elsewhere.example)\n")},
		"CONTRIBUTING.md": {Data: []byte("# Three\n[up](#three) [down](#four)\n")},
		"docs/two.md":     {Data: []byte("# Two\n## There\n[back](../README.md)\n")},
		"LICENSE":         {Data: []byte("text")},
	}
	sources, err := list(files)
	if err != nil {
		t.Fatal(err)
	}
	var pages []page
	for _, source := range sources {
		p, err := render(files, source)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, p)
	}
	faults := strings.Join(broken(files, pages), "\n")
	for _, want := range []string{"docs/no", `"not"`, "NONE", `"four"`} {
		if !strings.Contains(faults, want) {
			t.Errorf("%s is not found in\n%s", want, faults)
		}
	}
	if n := strings.Count(faults, "\n"); n != 3 {
		t.Errorf("%d faults, want 4:\n%s", n+1, faults)
	}
}
