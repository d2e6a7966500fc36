//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// ofGo returns all changes of the Go files of packages that options choose. Files are changed by
// an overlay in dir.
func ofGo(ctx context.Context, dir string, o options) (all []mutant, err error) {
	if out, err := execute(ctx, ".", 10*o.limit, append([]string{"go", "test", "-short"}, o.packages...)...); err != nil {
		return nil, fmt.Errorf("the tests fail without any change: %w\n%s", err, out)
	}
	for _, folder := range o.packages {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if chosen, err := filepath.Match(o.files, filepath.ToSlash(file)); err != nil || o.files != "" && !chosen || strings.HasSuffix(file, "_test.go") {
				continue
			}
			changes, err := changesOf(file)
			if err != nil {
				return nil, err
			}
			for _, c := range changes {
				all = append(all, mutant{
					name: fmt.Sprintf("%s:%d: %s  became  %s", file, c.line, c.was, c.becomes),
					test: func(ctx context.Context) (string, error) { return testOverlay(ctx, dir, folder, file, c.text, o) },
				})
			}
		}
	}
	return all, nil
}

// testOverlay runs the tests of a package, and of others, with another text of one file.
func testOverlay(ctx context.Context, dir, folder, file string, text []byte, o options) (verdict string, err error) {
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	if file, err = filepath.Abs(file); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err == nil {
		err = errors.Join(os.WriteFile(changed, text, 0o600), os.WriteFile(overlay, list, 0o600))
	}
	if err != nil {
		return "", err
	}
	if _, err := execute(ctx, ".", 10*o.limit, "go", "build", "-overlay", overlay, folder); err != nil {
		return notBuilt, ctx.Err()
	}
	tests := []string{folder}
	if o.also != "" {
		tests = append(tests, strings.Split(o.also, ",")...)
	}
	for _, one := range tests {
		if _, err := execute(ctx, ".", 10*o.limit, limited(o.limit, "go", "test", "-short", "-failfast", "-vet=off", "-overlay", overlay, one)...); err != nil {
			return killed, ctx.Err()
		}
	}
	return survived, nil
}

// A change is a file with one expression changed.
type change struct {
	line         int
	was, becomes string
	text         []byte
}

// exchanges are operators that a slip might confuse.
var exchanges = map[token.Token][]string{
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"},
	token.LSS: {"<=", ">"}, token.LEQ: {"<", ">="}, token.GTR: {">=", "<"}, token.GEQ: {">", "<="},
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LAND: {"||"}, token.LOR: {"&&"},
	token.ADD_ASSIGN: {"-=", "="}, token.SUB_ASSIGN: {"+=", "="}, token.MUL_ASSIGN: {"/=", "="}, token.QUO_ASSIGN: {"*=", "="},
}

// calls are functions that a slip might confuse.
var calls = map[string]string{"min": "max", "max": "min"}

// changesOf returns all changes of a file.
func changesOf(file string) (all []change, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, 0)
	if err != nil {
		return nil, err
	}
	add := func(from, to token.Pos, becomes string) {
		a, b := set.Position(from).Offset, set.Position(to).Offset
		changed := bytes.Join([][]byte{text[:a], text[b:]}, []byte(becomes))
		line := set.Position(from).Line
		whole := strings.TrimSpace(strings.Split(string(text), "\n")[line-1])
		all = append(all, change{line, whole, fmt.Sprintf("… %s … for %s", becomes, text[a:b]), changed})
	}
	operator := func(at token.Pos, op token.Token) {
		for _, other := range exchanges[op] {
			add(at, at+token.Pos(len(op.String())), other)
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			operator(n.OpPos, n.Op)
		case *ast.AssignStmt:
			operator(n.TokPos, n.Tok)
		case *ast.UnaryExpr:
			if n.Op == token.SUB || n.Op == token.NOT {
				add(n.OpPos, n.OpPos+1, "")
			}
		case *ast.CallExpr:
			if name, ok := n.Fun.(*ast.Ident); ok && calls[name.Name] != "" {
				add(name.Pos(), name.End(), calls[name.Name])
			}
		case *ast.BasicLit:
			switch n.Kind { //nolint:exhaustive // other literals are left alone
			case token.INT:
				add(n.Pos(), n.End(), "("+n.Value+"+1)")
			case token.FLOAT:
				add(n.Pos(), n.End(), "(2*"+n.Value+")")
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), n.Cond.Pos(), "true || ")
		case *ast.ExprStmt:
			add(n.Pos(), n.End(), "{}") // a call is left out
		}
		return true
	})
	return all, nil
}
