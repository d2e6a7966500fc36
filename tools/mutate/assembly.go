//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ofAssembly returns all changes of instructions in the files of a kernel set, headers included, that
// instructions.go allows. They are made in a copy of package kernels under root.
func ofAssembly(ctx context.Context, root string, o options) ([]mutant, error) {
	root = filepath.Join(root, "module") // the go command ignores a go.mod in the temporary folder itself
	if err := copyKernels(".", root); err != nil {
		return nil, err
	}
	verdict, out, err := testKernels(ctx, root, o)
	if err != nil {
		return nil, err
	}
	if verdict != survived {
		return nil, fmt.Errorf("the tests fail without any change: %s\n%s", verdict, out)
	}
	all, err := changedLines(root, o)
	if !o.labels {
		shuffle(all, o.seed)
	}
	return all, err
}

// changedLines lists the changes of single lines.
func changedLines(root string, o options) ([]mutant, error) {
	architecture := "amd64"
	if o.set == "neon" {
		architecture = "arm64"
	}
	paths, err := filepath.Glob(filepath.Join(root, "kernels", architecture, "*"))
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, path := range paths {
		base := filepath.Base(path)
		if ext := filepath.Ext(path); ext != ".s" && ext != ".h" {
			continue
		}
		if other := strings.Contains(base, "_avx") && !strings.Contains(base, "_"+o.set+"_"); other {
			continue
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, err
		}
		if !chosen(name, o.files) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			changes := mutations(line)
			if o.labels {
				changes = trap(line)
			}
			for _, changed := range changes {
				all = append(all, mutant{
					name: fmt.Sprintf("%s:%d: %s  was  %s", name, i+1, strings.TrimSpace(changed), strings.TrimSpace(line)),
					test: func(ctx context.Context) (string, error) { return testLine(ctx, root, path, i, changed, o) },
				})
			}
		}
	}
	return all, nil
}

// testLine runs the tests with one line of a file changed, and restores the line.
func testLine(ctx context.Context, root, path string, line int, changed string, o options) (verdict string, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(text), "\n")
	lines[line] = changed
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.WriteFile(path, text, 0o600)) }()
	verdict, _, err = testKernels(ctx, root, o)
	return verdict, err
}

// skipped matches the tests that do not test the sets' assembly, or add nothing to other tests.
const skipped = "Ulp|TypicalError|ErrorBound|LongOperands|WorldStops|Allocate|Example|UnknownSet"

// testKernels builds the tests and runs them on the set. A run that does not finish counts as a failure; the
// error says that ctx has ended.
func testKernels(ctx context.Context, root string, o options) (verdict, output string, err error) {
	binary := filepath.Join(root, "kernels.test")
	if out, err := execute(ctx, root, 10*o.limit, "go", "test", "-c", "-ldflags=-s -w", "-o", binary, "./kernels"); err != nil {
		return notBuilt, out, ctx.Err()
	}
	args := []string{binary, "-test.short", "-test.failfast", "-kernels.set", o.set}
	if o.labels { // a trap is not in the lists of instructions: leave the static rules out
		args = append(args, "-test.skip", skipped+"|Assembly|Twin|Gate")
	} else {
		args = append(args, "-test.skip", skipped)
	}
	if o.runner != "" {
		args = append([]string{o.runner}, args...)
	}
	if out, err := execute(ctx, filepath.Join(root, "kernels"), 10*o.limit, limited(o.limit, args...)...); err != nil {
		return killed, out, ctx.Err()
	}
	return survived, "", nil
}

// copyKernels copies what package kernels and its tests need from the module at here to a module at root.
func copyKernels(here, root string) error {
	for _, from := range []string{"go.mod", "go.sum", "kernels", "internal/decimal", "internal/guard", "internal/oracle"} {
		err := filepath.WalkDir(filepath.Join(here, from), func(source string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			path, err := filepath.Rel(here, source)
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.MkdirAll(filepath.Join(root, path), 0o700)
			}
			text, err := os.ReadFile(source)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(root, path), text, 0o600)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
