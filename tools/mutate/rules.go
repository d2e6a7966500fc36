//go:build unix

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
)

// A mutant is a file with one change.
type mutant struct {
	folder, file string
	line         int
	was, becomes string
	text         []byte
}

func (m mutant) String() string {
	return fmt.Sprintf("%s:%d: %s  became  %s", m.file, m.line, m.was, m.becomes)
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

// mutants returns all changes of a file.
func mutants(folder, file string) (all []mutant, err error) {
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
		all = append(all, mutant{folder, file, line, whole, fmt.Sprintf("… %s … for %s", becomes, text[a:b]), changed})
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
