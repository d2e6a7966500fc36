package rules_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestPagesNameWhatThereIs checks that the files, tests and functions named by the pages on
// adding something exist.
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

// TestPagesRunTestsThatThereAre checks that every go test command on a page names packages,
// tests, benchmarks, fuzz targets and flags that exist.
func TestPagesRunTestsThatThereAre(t *testing.T) {
	pages, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("`[^`\n]*\\bgo (?:-C (\\w+) )?test ([^`\n]*)`")
	ran := 0
	for _, page := range append(pages, root+"/README.md", root+"/CONTRIBUTING.md", root+"/distributed/README.md", root+"/examples/service/README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Dir(page)
		if filepath.Base(folder) == "docs" {
			folder = root
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			ran++
			for _, what := range lacking(t, filepath.Join(folder, m[1]), m[2]) {
				t.Errorf("%s: go test %s: there is no %s", filepath.Base(page), m[2], what)
			}
		}
	}
	if ran < 40 {
		t.Errorf("%d commands", ran)
	}
}

// lacking returns what the arguments of a go test command name and its packages do not have.
func lacking(t *testing.T, folder, arguments string) (missing []string) {
	t.Helper()
	kinds := map[string]string{"-run": "(?:Test|Example|Fuzz)", "-bench": "Benchmark", "-fuzz": "Fuzz"}
	asked := map[string]string{} // patterns by kind
	var packages, flags []string
	for words := strings.Fields(strings.ReplaceAll(arguments, `\|`, "|")); len(words) > 0; words = words[1:] {
		switch word := words[0]; {
		case kinds[word] != "" && len(words) > 1:
			words = words[1:]
			asked[word], _, _ = strings.Cut(strings.Trim(words[0], "'"), "/")
		case strings.HasPrefix(word, "."):
			packages = append(packages, word)
		case strings.HasPrefix(word, "-") && word != "-v" && word != "-args" && word != "-fuzztime" && word != "-cpu":
			flags = append(flags, word[1:])
		}
	}
	if len(packages) == 0 {
		packages = []string{"."}
	}
	var code strings.Builder
	for _, name := range packages {
		files, err := filepath.Glob(filepath.Join(folder, strings.TrimSuffix(name, "..."), "*_test.go"))
		if err != nil || len(files) == 0 {
			missing = append(missing, "test in "+name)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			code.Write(text)
		}
	}
	for kind, pattern := range asked {
		if pattern == "^$" || strings.HasPrefix(pattern, "xx") { // matches nothing on purpose
			continue
		}
		functions := regexp.MustCompile(`\nfunc (`+kinds[kind]+`\w*)\(`).FindAllStringSubmatch(code.String(), -1)
		if !slices.ContainsFunc(functions, func(f []string) bool { return regexp.MustCompile(pattern).MatchString(f[1]) }) {
			missing = append(missing, kind+" "+pattern)
		}
	}
	for _, name := range flags {
		if !regexp.MustCompile(`flag\.\w+\((&\w+, )?"` + regexp.QuoteMeta(name) + `"`).MatchString(code.String()) {
			missing = append(missing, "flag -"+name)
		}
	}
	return missing
}

// TestVainTestsAreFound checks that missing names on a page are found.
func TestVainTestsAreFound(t *testing.T) {
	for _, arguments := range []string{"./nowhere", ". -run NoSuchTest", "./cd -bench NoSuch", ". -fuzz NoSuch", ". -run Soak -nosuch"} {
		if got := lacking(t, root, arguments); len(got) != 1 {
			t.Errorf("go test %s: %q", arguments, got)
		}
	}
}
