package rules_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOwnLossOutsideTheModule checks that the example of a user's own loss also works as a
// program of another module: it builds without access to internal packages, and prints the same.
func TestOwnLossOutsideTheModule(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	example := read("example_loss_test.go")
	_, output, found := strings.Cut(example, "// Output:\n")
	if !found {
		t.Fatal("the example says no output")
	}
	want := strings.TrimSuffix(strings.ReplaceAll(output, "\t// ", ""), "}\n")
	program := strings.NewReplacer("package pare_test\n", "package main\n", "func Example_ownLoss()", "func main()").Replace(example)

	const name = "github.com/seed-45b9a24c/pare"
	needs := regexp.MustCompile(`(?m)^module .*$`).ReplaceAllString(read("go.mod"), "module example.org/loss")
	needs += "\nrequire " + name + " v0.0.0\nreplace " + name + " => " + root + "\n"
	dir := t.TempDir()
	for file, text := range map[string]string{"main.go": program, "go.mod": needs, "go.sum": read("go.sum")} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "go", "run", "-mod=mod", ".")
	command.Dir = dir
	command.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	got, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	if string(got) != want {
		t.Errorf("it prints\n%swhere the example says\n%s", got, want)
	}
}
