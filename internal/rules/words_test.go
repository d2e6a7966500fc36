package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The idioms that are not allowed, since readers stumble over them.
var (
	private = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b(comes to|takes in|tells? (them |all )?apart|shores?|ventures?|venture[ds]|aim(s|ed)?)\b`)
	})
	// A comment of a function whose "those" refers to the function's own name.
	nameless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(\w+) (returns|makes|reads|adds|prints|yields) (those|that) of\b`)
	})
)

// stumbles returns the disallowed idioms in comments, messages and names of a file.
func stumbles(s source) (found []string) {
	report := func(at token.Pos, what string) {
		found = append(found, fmt.Sprintf("%s:%d: %q: say it in plain words (docs/ARCHITECTURE.md has ours)", s.name, s.fset.Position(at).Line, what))
	}
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			for _, what := range private().FindAllString(c.Text, -1) {
				report(c.Pos(), what)
			}
		}
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BasicLit:
			if what := private().FindString(node.Value); node.Kind == token.STRING && what != "" {
				report(node.Pos(), what)
			}
		case *ast.FuncDecl:
			if private().FindString(node.Name.Name) == node.Name.Name {
				report(node.Pos(), node.Name.Name)
			}
			if what := nameless().FindString(node.Doc.Text()); what != "" {
				report(node.Pos(), what)
			}
		}
		return true
	})
	return found
}

// TestWordsArePlain checks the words in the code, and on the pages that a newcomer reads first.
func TestWordsArePlain(t *testing.T) {
	for _, s := range commented(t) {
		for _, v := range stumbles(s) {
			t.Error(v)
		}
	}
	for _, page := range []string{"README.md", "docs/ARCHITECTURE.md", "CONTRIBUTING.md", "docs/json.md", "docs/guide.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Error(err)
		}
		for n, line := range strings.Split(string(text), "\n") {
			if what := private().FindString(line); what != "" {
				t.Errorf("%s:%d: %q: say it in plain words", page, n+1, what)
			}
		}
	}
}

// commented returns the sources with their comments.
func commented(t *testing.T) []source {
	t.Helper()
	all := sources(t)
	for i, s := range all {
		file, err := parser.ParseFile(s.fset, filepath.Join(root, s.name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all[i].file = file
	}
	return all
}

// TestStumblesAreFound checks the checker itself.
func TestStumblesAreFound(t *testing.T) {
	const text = `package other

// lanes makes those of a job, which comes to something.
func lanes() { println("it takes in all") }

// aim is for nothing.
func aim() {}

// Errors are those of Fit, and that is fine; a claim is, too.
func claim() {}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "other.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, v := range stumbles(source{name: "other.go", fset: fset, file: file}) {
		lines = append(lines, strings.Split(v, ":")[1])
	}
	if want := []string{"3", "6", "4", "4", "7"}; !slices.Equal(lines, want) {
		t.Errorf("lines %v, want %v", lines, want)
	}
}
