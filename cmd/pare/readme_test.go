package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks returns the fenced blocks of a language.
func blocks(text, language string) []string {
	var found []string
	for {
		_, after, ok := strings.Cut(text, "\n```"+language+"\n")
		if !ok {
			return found
		}
		block, rest, _ := strings.Cut(after, "\n```")
		found, text = append(found, block), rest
	}
}

// TestREADMEShowsWhatTheCommandPrints runs the commands of the console blocks.
// Times differ from run to run and digits from version to version, so numbers
// are compared as numbers only, and the kernel set not at all.
func TestREADMEShowsWhatTheCommandPrints(t *testing.T) {
	number := regexp.MustCompile(`[-+]?\b[0-9]+([.,][0-9]+)*(e[-+]?[0-9]+)?( m?s\b)?`)
	kernels := regexp.MustCompile(`"kernels":"[a-z0-9]*"`)
	plain := func(s string) string {
		s = number.ReplaceAllString(kernels.ReplaceAllString(s, `"kernels"`), "#")
		return strings.Join(strings.Fields(s), " ")
	}
	ran := 0
	for _, block := range blocks(readme(t), "console") {
		for _, example := range strings.Split("\n"+block, "\n$ pare ")[1:] {
			line, want, _ := strings.Cut(example, "\n")
			ran++
			o := pareRun(t, strings.Fields(line)...)
			if got := o.stdout + o.stderr; plain(got) != plain(want) {
				t.Errorf("pare %s prints\n%s\nthe page says\n%s", line, got, want)
			}
		}
	}
	if ran < 5 {
		t.Errorf("%d examples", ran)
	}
}

// TestREADMEExampleRuns builds the library example as it stands and runs it.
func TestREADMEExampleRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it builds a program")
	}
	found := blocks(readme(t), "go")
	if len(found) != 1 {
		t.Fatalf("%d examples, want 1", len(found))
	}
	source := writeFile(t, "main.go", found[0])
	dir := filepath.Dir(source)
	program := filepath.Join(dir, "example")
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "data.svm"), []byte(readDiabetes(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.HasPrefix(out, []byte("λ = [-")) || !bytes.Contains(out, []byte("column 2 has coefficient 5")) {
		t.Errorf("it prints\n%s", out)
	}
}

// Every file the page points to is there.
func TestREADMELinksLead(t *testing.T) {
	for _, link := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(readme(t), -1) {
		if _, err := os.Stat(filepath.Join("../..", link[1])); err != nil {
			t.Error(err)
		}
	}
}
