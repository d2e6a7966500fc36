package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the directory of the module, relative to this package.
const root = "../.."

// A source is one Go file other than a test.
type source struct {
	dir  string // relative to the module; "." is the root
	name string // relative to the module, with slashes
	fset *token.FileSet
	file *ast.File
}

// sources parses every Go file of the module except tests, whatever its build constraints, so
// that no architecture or tag hides an import.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name == root {
				return nil
			}
			if base[0] == '.' || base[0] == '_' || base == "testdata" {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
				return filepath.SkipDir // another module
			}
			return nil
		}
		if filepath.Ext(base) != ".go" || strings.HasSuffix(base, "_test.go") || base[0] == '.' || base[0] == '_' {
			return nil
		}
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		all = append(all, source{dir: path.Dir(rel), name: rel, fset: fset, file: file})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// graph maps the directory of each package to its import paths.
type graph map[string][]string

func importsOf(all []source) graph {
	g := graph{}
	for _, s := range all {
		g[s.dir] = append(g[s.dir], filePaths(s.file)...)
	}
	for dir, paths := range g {
		slices.Sort(paths)
		g[dir] = slices.Compact(paths)
	}
	return g
}

// filePaths returns a file's import paths. It is never nil: a package without
// imports is still a package.
func filePaths(file *ast.File) []string {
	paths := make([]string, 0, len(file.Imports))
	for _, spec := range file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic("rules: the parser let a malformed import pass: " + spec.Path.Value)
		}
		paths = append(paths, p)
	}
	return paths
}

// violations returns, in a fixed order, the imports that break the layering.
func violations(layers []pkg, imports graph) []string {
	known := map[string]pkg{}
	below := map[string]map[string]bool{} // all packages below a package
	var found []string
	for _, r := range layers {
		under := map[string]bool{}
		for _, lower := range r.on {
			if _, ok := known[lower]; !ok {
				found = append(found, fmt.Sprintf("layers: %s is above %s, which is not listed before it", r.path, lower))
			}
			under[lower] = true
			for deeper := range below[lower] {
				under[deeper] = true
			}
		}
		known[r.path], below[r.path] = r, under
	}

	dirs := make([]string, 0, len(imports))
	for dir := range imports {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	for _, dir := range dirs {
		r, ok := known[dir]
		if !ok {
			found = append(found, dir+": not in the table of packages")
			continue
		}
		for _, p := range imports[dir] {
			switch {
			case p == module || strings.HasPrefix(p, module+"/"):
				ours := "."
				if p != module {
					ours = strings.TrimPrefix(p, module+"/")
				}
				if !below[dir][ours] {
					found = append(found, fmt.Sprintf("%s imports %s, which is not below it", dir, ours))
				}
			case p == "C":
				found = append(found, dir+" uses cgo")
			case !strings.Contains(strings.Split(p, "/")[0], "."):
				// the standard library
			case !r.outside && !within(p, libraryModules) && !within(p, r.modules):
				found = append(found, fmt.Sprintf("%s imports %s, a module the library does not depend on", dir, p))
			}
		}
	}
	return found
}

// within reports whether the package belongs to one of the modules.
func within(pkg string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return pkg == m || strings.HasPrefix(pkg, m+"/")
	})
}

func TestImportsRunDownward(t *testing.T) {
	imports := importsOf(sources(t))
	if len(imports) < 3 {
		t.Fatalf("found %d packages under %s: not the module's root", len(imports), root)
	}
	for _, v := range violations(layers, imports) {
		t.Error(v)
	}
}

// TestViolationsAreFound checks the checker itself: each way to break the rules, and the ways
// that are allowed.
func TestViolationsAreFound(t *testing.T) {
	layers := []pkg{
		{path: "ground"},
		{path: "beside"},
		{path: "first", on: []string{"ground"}, modules: []string{"example.org/zip"}},
		{path: ".", on: []string{"first"}},
		{path: "cmd/tool", on: []string{"."}, outside: true},
	}
	for _, test := range []struct {
		name    string
		imports graph
		want    []string
	}{
		{"down one layer", graph{"first": {module + "/ground"}}, nil},
		{"down two layers", graph{".": {module + "/ground"}}, nil},
		{"the façade from a command", graph{"cmd/tool": {module}}, nil},
		{"upward", graph{"ground": {module + "/first"}}, []string{"ground imports first, which is not below it"}},
		{"sideways", graph{"first": {module + "/beside"}}, []string{"first imports beside, which is not below it"}},
		{"the façade from below", graph{"first": {module}}, []string{"first imports ., which is not below it"}},
		{"its own path", graph{"first": {module + "/first"}}, []string{"first imports first, which is not below it"}},
		{"an unlisted package", graph{"attic": {}}, []string{"attic: not in the table of packages"}},
		{"an unlisted import", graph{"first": {module + "/attic"}}, []string{"first imports attic, which is not below it"}},
		{"the standard library", graph{"ground": {"math", "go/ast"}}, nil},
		{"a module of the library", graph{"ground": {"gonum.org/v1/gonum/blas", "golang.org/x/sys/unix"}}, nil},
		{"a module of that package", graph{"first": {"example.org/zip/zstd"}}, nil},
		{"a module of another package", graph{"ground": {"example.org/zip"}}, []string{"ground imports example.org/zip, a module the library does not depend on"}},
		{"a module whose name begins alike", graph{"ground": {"golang.org/x/system"}}, []string{"ground imports golang.org/x/system, a module the library does not depend on"}},
		{"any module in a command", graph{"cmd/tool": {"example.org/flags"}}, nil},
		{"cgo", graph{"ground": {"C"}}, []string{"ground uses cgo"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := violations(layers, test.imports); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}

	upsideDown := []pkg{{path: "first", on: []string{"ground"}}, {path: "ground"}}
	want := []string{"layers: first is above ground, which is not listed before it"}
	if got := violations(upsideDown, nil); !slices.Equal(got, want) {
		t.Errorf("a table out of order: got %q, want %q", got, want)
	}
}
