package rules_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"testing"
)

// catchElsewhere lists the library files whose goroutines need not defer [kernels.Caught]
// themselves, with the reason.
var catchElsewhere = map[string]string{
	"bilevel/local.go":         "each task of a lane defers it, in Spec.onThread",
	"bilevel/path.go":          "a runner's lanes do",
	"internal/team/threads.go": "what panics in a helper panics in the one that leads",
	"outoffold.go":             "predict does",
	"select.go":                "it waits, and computes nothing",
	"sparse/journal.go":        "it moves entries, and has no kernels",
	"sparse/mapped.go":         "it looks at a file, and has no kernels",
	"sparse/scanner.go":        "it reads, and has no kernels",
}

// uncaught returns the lines of a file that start a goroutine without a deferred Caught.
func uncaught(s source) (lines []int) {
	catches := func(f ast.Expr) bool {
		body, ok := f.(*ast.FuncLit)
		if !ok {
			return false
		}
		for _, statement := range body.Body.List {
			if d, ok := statement.(*ast.DeferStmt); ok {
				if f, ok := d.Call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Caught" {
					return true
				}
			}
		}
		return false
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		var started ast.Expr
		switch node := node.(type) {
		case *ast.GoStmt:
			started = node.Call.Fun
		case *ast.CallExpr:
			if f, ok := node.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" && len(node.Args) == 1 {
				started = node.Args[0]
			}
		}
		if started != nil && !catches(started) {
			lines = append(lines, s.fset.Position(node.Pos()).Line)
		}
		return true
	})
	return lines
}

// TestGoroutinesCatchTheEndOfTheirContext checks that a goroutine in which a kernel may notice
// the end of its context defers kernels.Caught: the kernel's panic would otherwise end the
// process. A file whose goroutines are covered elsewhere is listed above with the reason.
func TestGoroutinesCatchTheEndOfTheirContext(t *testing.T) {
	outside, above := map[string]bool{}, map[string]bool{"kernels": true}
	for _, r := range layers { // from the lowest layer up
		outside[r.path] = r.outside
		for _, below := range r.on {
			above[r.path] = above[r.path] || above[below]
		}
	}
	met := map[string]bool{}
	for _, s := range sources(t) {
		if outside[s.dir] || !above[s.dir] && s.dir != "internal/team" {
			continue
		}
		name := path.Join(s.dir, path.Base(s.name))
		for _, line := range uncaught(s) {
			met[name] = true
			if catchElsewhere[name] == "" {
				t.Errorf("%s:%d: the goroutine does not defer kernels.Caught; if it need not, say why in catchElsewhere", name, line)
			}
		}
	}
	for name := range catchElsewhere {
		if !met[name] {
			t.Errorf("%s starts no goroutine without kernels.Caught: take it from catchElsewhere", name)
		}
	}
}

// TestUncaughtGoroutinesAreFound checks the checker itself.
func TestUncaughtGoroutinesAreFound(t *testing.T) {
	const text = `package p

func f() {
	go func() { work() }()
	go func() {
		defer kernels.Caught(&err)
		work()
	}()
	group.Go(work)
	group.Go(func() (err error) {
		defer kernels.Caught(&err)
		return work()
	})
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	s := source{dir: "p", name: "p.go", fset: fset, file: file}
	if lines := uncaught(s); len(lines) != 2 || lines[0] != 4 || lines[1] != 9 {
		t.Errorf("lines %v, want 4 and 9", lines)
	}
}
