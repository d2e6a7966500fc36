package rules_test

import (
	"errors"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	// Imports the whole library, to measure the effect of importing it.
	_ "github.com/seed-45b9a24c/pare"
	_ "github.com/seed-45b9a24c/pare/internal/embedded"
	_ "github.com/seed-45b9a24c/pare/iterdiff"
	_ "github.com/seed-45b9a24c/pare/kernels/kblas"
	_ "github.com/seed-45b9a24c/pare/sparse/gonum"
)

// goroutines is the number of goroutines before the first test.
var goroutines int

func TestMain(m *testing.M) {
	goroutines = runtime.NumGoroutine()
	os.Exit(m.Run())
}

func TestImportStartsNoGoroutine(t *testing.T) {
	if goroutines != 1 {
		t.Errorf("%d goroutines before the first test, want the main one only", goroutines)
	}
}

// TestImportAllocatesLittle checks how much the initialisation of each package allocates, as
// the runtime reports it.
func TestImportAllocatesLittle(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "-test.run=^$")
	command.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	output, err := command.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("an emulated program cannot start another; the native run counts")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}

	const limit = 64 << 10
	line := regexp.MustCompile(`(?m)^init (\S+) @.* (\d+) bytes, \d+ allocs$`)
	found := line.FindAllStringSubmatch(string(output), -1)
	if len(found) == 0 {
		t.Fatalf("no trace of initialisation in\n%s", output)
	}
	total := 0
	for _, match := range found {
		if !strings.Contains(strings.Split(match[1], "/")[0], ".") {
			continue // the standard library
		}
		bytes, err := strconv.Atoi(match[2])
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d bytes", match[1], bytes)
		total += bytes
	}
	if total > limit {
		t.Errorf("importing the library allocates %d bytes, want at most %d", total, limit)
	}
}

// TestFootprintCoversTheLibrary checks that the two tests above cover every package of the
// library.
func TestFootprintCoversTheLibrary(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "footprint_test.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	imports := importsOf(sources(t))
	seen := map[string]bool{}
	var visit func(paths []string)
	visit = func(paths []string) {
		for _, p := range paths {
			dir := strings.TrimPrefix(p, module+"/")
			if p == module {
				dir = "."
			}
			if _, ours := imports[dir]; ours && !seen[dir] {
				seen[dir] = true
				visit(imports[dir])
			}
		}
	}
	visit(filePaths(file))
	for _, r := range layers {
		if _, exists := imports[r.path]; exists && !r.outside && !seen[r.path] {
			t.Errorf("%s is not imported here", r.path)
		}
	}
}
