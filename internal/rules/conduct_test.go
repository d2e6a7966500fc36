package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A ban is a set of names of one standard package that the library must not use. A name that
// ends in * stands for all names with that beginning.
type ban struct {
	pkg   string
	names []string
	why   string
	but   []string // packages that may use them
}

var bans = []ban{
	{pkg: "log", names: []string{"*"}, why: "a library prints nothing"},
	{pkg: "fmt", names: []string{"Print*"}, why: "a library prints nothing"},
	{pkg: "os", names: []string{"Stdout", "Stderr"}, why: "a library prints nothing"},
	{
		pkg: "log/slog", names: []string{"Debug*", "Info*", "Warn*", "Error*", "Log", "LogAttrs", "With", "Default", "SetDefault"},
		why: "the default logger is the program's",
	},
	{pkg: "os", names: []string{"Exit", "Setenv", "Unsetenv", "Clearenv", "Chdir"}, why: "the process is the program's"},
	{pkg: "runtime", names: []string{"LockOSThread"}, why: "the process is the program's"},
	{pkg: "runtime/debug", names: []string{"Set*", "FreeOSMemory"}, why: "the process is the program's"},
	{
		pkg: "os", names: []string{"Getenv", "LookupEnv", "Environ", "ExpandEnv"},
		why: "PARE_KERNELS is the one variable the library reads", but: []string{"kernels"},
	},
	{
		pkg: "math", names: []string{
			"Acos*", "Asin*", "Atan*", "Cbrt", "Cos*", "Erf*", "Exp*", "Gamma", "Hypot", "J0", "J1", "Jn",
			"Lgamma", "Log", "Log10", "Log1p", "Log2", "Pow", "Sin*", "Tan*", "Y0", "Y1", "Yn",
		},
		why: "its bits differ between architectures; kernels.Exp and kernels.Log do not",
	},
	{pkg: "math/rand", names: []string{"*"}, why: "its stream is not part of our contract"},
	{pkg: "math/rand/v2", names: []string{"*"}, why: "its stream is not part of our contract"},
}

// globals returns the names of each package's variables, by directory.
func globals(all []source) map[string][]string {
	names := map[string][]string{}
	for _, s := range all {
		for _, decl := range s.file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.VAR {
				for _, spec := range decl.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						names[s.dir] = append(names[s.dir], name.Name)
					}
				}
			}
		}
	}
	return names
}

// target returns the variable that an assignment to e changes, wholly or in part, or nil.
func target(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// locals returns the names that a function declares, anywhere in it.
func locals(f *ast.FuncDecl) map[string]bool {
	names := map[string]bool{"_": true}
	declare := func(e ast.Expr) {
		if name, ok := e.(*ast.Ident); ok {
			names[name.Name] = true
		}
	}
	ast.Inspect(f, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Field:
			for _, name := range node.Names {
				declare(name)
			}
		case *ast.ValueSpec:
			for _, name := range node.Names {
				declare(name)
			}
		case *ast.AssignStmt:
			if node.Tok == token.DEFINE {
				for _, left := range node.Lhs {
					declare(left)
				}
			}
		case *ast.RangeStmt:
			if node.Tok == token.DEFINE {
				declare(node.Key)
				declare(node.Value)
			}
		}
		return true
	})
	return names
}

// conduct returns what a library file does that a library must not do; variables are those of
// its package.
func conduct(s source, variables []string) []string {
	var found []string
	report := func(node ast.Node, format string, args ...any) {
		line := s.fset.Position(node.Pos()).Line
		found = append(found, fmt.Sprintf("%s:%d: ", s.name, line)+fmt.Sprintf(format, args...))
	}

	var local map[string]bool // the names declared in the current function
	assigned := func(e ast.Expr) {
		if v := target(e); v != nil && !local[v.Name] && slices.Contains(variables, v.Name) {
			report(e, "%s changes: the library has no mutable global state", v.Name)
		}
	}

	imported := map[string]string{} // name in this file → import path
	for _, spec := range s.file.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			panic("rules: the parser let a malformed import pass: " + spec.Path.Value)
		}
		name := path.Base(p)
		if name == "v2" {
			name = path.Base(path.Dir(p))
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." {
			report(spec, "a dot import hides where names come from")
		}
		imported[name] = p
	}

	inspect := func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			if node.Name.Name == "init" && node.Recv == nil {
				report(node, "init: importing the library does nothing")
			}
		case *ast.AssignStmt:
			for _, left := range node.Lhs {
				if node.Tok != token.DEFINE {
					assigned(left)
				}
			}
		case *ast.IncDecStmt:
			assigned(node.X)
		case *ast.CallExpr:
			if name, ok := node.Fun.(*ast.Ident); ok && (name.Name == "print" || name.Name == "println") {
				report(node, "%s: a library prints nothing", name.Name)
			}
			if f, ok := node.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "GOMAXPROCS" && !isZero(node.Args) {
				report(node, "runtime.GOMAXPROCS: the process is the program's, asking with 0 is fine")
			}
		case *ast.SelectorExpr:
			name, ok := node.X.(*ast.Ident)
			if !ok {
				break
			}
			for _, b := range bans {
				if b.pkg == imported[name.Name] && !slices.Contains(b.but, s.dir) && slices.ContainsFunc(b.names, func(pattern string) bool {
					prefix, wild := strings.CutSuffix(pattern, "*")
					return pattern == node.Sel.Name || wild && strings.HasPrefix(node.Sel.Name, prefix)
				}) {
					report(node, "%s.%s: %s", b.pkg, node.Sel.Name, b.why)
				}
			}
		}
		return true
	}
	for _, decl := range s.file.Decls {
		local = map[string]bool{"_": true}
		if f, ok := decl.(*ast.FuncDecl); ok {
			local = locals(f)
		}
		ast.Inspect(decl, inspect)
	}
	return found
}

func isZero(args []ast.Expr) bool {
	literal, ok := args[0].(*ast.BasicLit)
	return ok && literal.Value == "0"
}

func TestLibraryMindsItsOwnBusiness(t *testing.T) {
	outside := map[string]bool{}
	for _, r := range layers {
		outside[r.path] = r.outside
	}
	all := sources(t)
	variables := globals(all)
	for _, s := range all {
		if outside[s.dir] {
			continue
		}
		for _, v := range conduct(s, variables[s.dir]) {
			t.Error(v)
		}
	}
}

// TestMisconductIsFound checks the checker itself.
func TestMisconductIsFound(t *testing.T) {
	const text = `package noisy

import (
	"fmt"
	"log"
	"log/slog"
	m "math"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
)

func init() {
	fmt.Println("hello")
	log.Fatal("bye")
	slog.InfoContext(nil, "well")
	println("psst")
	_ = m.Exp(1) + m.Sqrt(2)
	_ = rand.Float64()
	_ = os.Getenv("HOME")
	debug.SetGCPercent(0)
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) / 2)
	fmt.Fprintln(os.Stderr, fmt.Sprint())
}

type kind struct{}

func (kind) init() {}

var count, table = 0, map[string]struct{ n []int }{}

func fine() {
	x := count
	x++
	count := 1
	count++
}

func remember() {
	count++
	table["a"].n[1] = 2
	_, count = 1, 2
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "noisy.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	noisy := source{dir: "noisy", name: "noisy.go", fset: fset, file: file}
	got := conduct(noisy, globals([]source{noisy})["noisy"])
	want := []string{
		"noisy.go:14: init: importing the library does nothing",
		"noisy.go:15: fmt.Println: a library prints nothing",
		"noisy.go:16: log.Fatal: a library prints nothing",
		"noisy.go:17: log/slog.InfoContext: the default logger is the program's",
		"noisy.go:18: println: a library prints nothing",
		"noisy.go:19: math.Exp: its bits differ between architectures; kernels.Exp and kernels.Log do not",
		"noisy.go:20: math/rand/v2.Float64: its stream is not part of our contract",
		"noisy.go:21: os.Getenv: PARE_KERNELS is the one variable the library reads",
		"noisy.go:22: runtime/debug.SetGCPercent: the process is the program's",
		"noisy.go:23: runtime.GOMAXPROCS: the process is the program's, asking with 0 is fine",
		"noisy.go:24: os.Stderr: a library prints nothing",
		"noisy.go:41: count changes: the library has no mutable global state",
		"noisy.go:42: table changes: the library has no mutable global state",
		"noisy.go:43: count changes: the library has no mutable global state",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := conduct(source{dir: "kernels", name: "noisy.go", fset: fset, file: file}, nil); slices.ContainsFunc(got, func(v string) bool {
		return strings.Contains(v, "Getenv")
	}) {
		t.Error("kernels may read PARE_KERNELS, and is told it may not")
	}
}
