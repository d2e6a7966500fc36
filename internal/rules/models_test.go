package rules_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// modelNames returns the constants of type Model that the table of models declares.
func modelNames(all []source) (names []string) {
	for _, s := range all {
		if s.name != "models.go" {
			continue
		}
		for _, decl := range s.file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.CONST {
				continue
			}
			for _, spec := range decl.Specs {
				value := spec.(*ast.ValueSpec)
				if kind, ok := value.Type.(*ast.Ident); ok && kind.Name == "Model" {
					for _, name := range value.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}

// comparisons returns the places where a file compares a model with a particular one, by ==, !=
// or case.
func comparisons(s source, models []string) (found []string) {
	check := func(e ast.Expr) {
		var name string
		switch e := e.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := e.X.(*ast.Ident); ok && pkg.Name == "pare" {
				name = e.Sel.Name
			}
		case *ast.Ident:
			if s.dir == "." {
				name = e.Name
			}
		}
		if slices.Contains(models, name) {
			found = append(found, fmt.Sprintf("%s:%d: asks for %s by name: ask for what sets it apart, by its Traits", s.name, s.fset.Position(e.Pos()).Line, name))
		}
	}
	ast.Inspect(s.file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BinaryExpr:
			if node.Op == token.EQL || node.Op == token.NEQ {
				check(node.X)
				check(node.Y)
			}
		case *ast.CaseClause:
			for _, e := range node.List {
				check(e)
			}
		}
		return true
	})
	return found
}

// TestModelsAreAskedForTheirTraits checks that the properties of a model are in the table of
// models only, so that a new model is one entry.
func TestModelsAreAskedForTheirTraits(t *testing.T) {
	all := sources(t)
	models := modelNames(all)
	if len(models) < 9 {
		t.Fatalf("the table of models has %v", models)
	}
	for _, s := range all {
		if s.name == "models.go" {
			continue
		}
		for _, v := range comparisons(s, models) {
			t.Error(v)
		}
	}
}

// TestComparisonsAreFound checks the checker itself.
func TestComparisonsAreFound(t *testing.T) {
	const text = `package other

func f(m pare.Model) bool {
	switch m {
	case pare.Lasso, pare.Other:
		return pare.Ridge != m
	}
	c := pare.Config{Model: pare.Lasso}
	return m == Lasso
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "other.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"other": "5 6", ".": "5 6 9"} {
		var lines []string
		for _, v := range comparisons(source{dir: dir, name: "other.go", fset: fset, file: file}, []string{"Lasso", "Ridge"}) {
			lines = append(lines, strings.Split(v, ":")[1])
		}
		if got := strings.Join(lines, " "); got != want {
			t.Errorf("%s: lines %s, want %s", dir, got, want)
		}
	}
}
