//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A change replaces a part of a Go file by other text.
type change struct {
	folder, file string
	line         int
	was, becomes string  // the line, and what the changed part becomes
	part         section // the part that is replaced
	text         string  // its replacement
	body, block  section // the function's body, and the innermost block of it that holds the part; empty outside of functions
	results      string  // the function's results, as written
	copy         int     // number of earlier changes in the file with the same words
}

// A section is the text between two offsets of a file.
type section struct{ from, to int }

func (c change) name() string {
	return fmt.Sprintf("%s:%d: %s  became  %s", c.file, c.line, c.was, c.becomes)
}

// words identify the change independently of line numbers.
func (c change) words() string {
	return fmt.Sprintf("%s: %s  became  %s", c.file, c.was, c.becomes)
}

// rank gives a change a random place among all changes that depends on the seed and on its words only, so that
// an edit of the code leaves most of a sample unchanged.
func (c change) rank(seed uint64) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", seed, c.copy, c.words()))
	return binary.BigEndian.Uint64(h[:])
}

// exchanges are operators that a programmer might confuse.
var exchanges = map[token.Token][]string{
	token.ADD: {"-"}, token.SUB: {"+"}, token.MUL: {"/"}, token.QUO: {"*"},
	token.LSS: {"<=", ">"}, token.LEQ: {"<", ">="}, token.GTR: {">=", "<"}, token.GEQ: {">", "<="},
	token.EQL: {"!="}, token.NEQ: {"=="}, token.LAND: {"||"}, token.LOR: {"&&"},
	token.ADD_ASSIGN: {"-=", "="}, token.SUB_ASSIGN: {"+=", "="}, token.MUL_ASSIGN: {"/=", "="}, token.QUO_ASSIGN: {"*=", "="},
}

// calls are functions that a programmer might confuse.
var calls = map[string]string{"min": "max", "max": "min"}

// changesOf returns all changes of the Go files of the packages that o chooses.
func changesOf(o options) (all []change, err error) {
	for _, folder := range o.packages {
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || !chosen(file, o.files) {
				continue
			}
			changes, err := changesOfFile(folder, file)
			if err != nil {
				return nil, err
			}
			all = append(all, changes...)
		}
	}
	seen := map[string]int{}
	for i, c := range all {
		all[i].copy = seen[c.words()]
		seen[c.words()]++
	}
	return all, nil
}

func chosen(file, patterns string) bool {
	return patterns == "" || slices.ContainsFunc(strings.Split(patterns, ","), func(pattern string) bool {
		ok, err := filepath.Match(pattern, filepath.ToSlash(file))
		return ok && err == nil
	})
}

func changesOfFile(folder, file string) ([]change, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, 0)
	if err != nil {
		return nil, err
	}
	w := walker{set: set, text: string(text), lines: strings.Split(string(text), "\n"), signs: map[ast.Node]bool{}}
	for _, d := range tree.Decls {
		w.at = change{folder: folder, file: file}
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			w.walk(d)
			continue
		}
		w.walk(f.Type) // numbers in its type are outside of the body
		w.at.body = w.section(f.Body.Lbrace+1, f.Body.Rbrace)
		if r := f.Type.Results; r != nil {
			s := w.section(r.Pos(), r.End())
			w.at.results = w.text[s.from:s.to]
		}
		w.walk(f.Body)
	}
	return w.all, nil
}

// A walker collects the changes of a file.
type walker struct {
	set   *token.FileSet
	text  string
	lines []string
	at    change // what is common to all changes at the current place
	all   []change
	signs map[ast.Node]bool // integers of which only the sign matters: those that Inf and IsInf take
}

func (w *walker) section(from, to token.Pos) section {
	return section{w.set.Position(from).Offset, w.set.Position(to).Offset}
}

func (w *walker) add(from, to token.Pos, becomes string) {
	c := w.at
	c.part, c.text, c.line = w.section(from, to), becomes, w.set.Position(from).Line
	c.was = strings.TrimSpace(w.lines[c.line-1])
	c.becomes = fmt.Sprintf("… %s … for %s", becomes, w.text[c.part.from:c.part.to])
	w.all = append(w.all, c)
}

// walk adds the changes of n and of all nodes below it.
func (w *walker) walk(n ast.Node) {
	around := w.at.block
	defer func() { w.at.block = around }()
	var rest []ast.Stmt // of a case: its statements, which form a block of their own
	switch n := n.(type) {
	case *ast.BlockStmt:
		if len(n.List) == 0 || !isCase(n.List[0]) {
			w.at.block = w.section(n.Lbrace+1, n.Rbrace)
		}
	case *ast.CaseClause:
		rest = n.Body
	case *ast.CommClause:
		rest = n.Body
	}
	w.change(n)
	ast.Inspect(n, func(child ast.Node) bool {
		if child == nil || child == n {
			return child == n
		}
		if len(rest) > 0 && child == rest[0] {
			w.at.block = w.section(child.Pos(), n.End())
		}
		w.walk(child)
		return false
	})
}

func isCase(n ast.Stmt) bool {
	switch n.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return true
	}
	return false
}

// change adds the changes of one node.
func (w *walker) change(n ast.Node) {
	operator := func(at token.Pos, op token.Token) {
		for _, other := range exchanges[op] {
			w.add(at, at+token.Pos(len(op.String())), other)
		}
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		operator(n.OpPos, n.Op)
	case *ast.AssignStmt:
		operator(n.TokPos, n.Tok)
	case *ast.UnaryExpr:
		if n.Op == token.SUB || n.Op == token.NOT {
			w.add(n.OpPos, n.OpPos+1, "")
		}
	case *ast.CallExpr:
		switch f := n.Fun.(type) {
		case *ast.Ident:
			if other := calls[f.Name]; other != "" {
				w.add(f.Pos(), f.End(), other)
			}
		case *ast.SelectorExpr:
			if f.Sel.Name == "Inf" || f.Sel.Name == "IsInf" {
				sign := n.Args[len(n.Args)-1]
				if minus, ok := sign.(*ast.UnaryExpr); ok {
					sign = minus.X
				}
				w.signs[sign] = true
			}
		}
	case *ast.BasicLit:
		switch n.Kind { //nolint:exhaustive // other literals are left alone
		case token.INT:
			if !w.signs[n] || n.Value == "0" {
				w.add(n.Pos(), n.End(), "("+n.Value+"+1)")
			}
		case token.FLOAT:
			if strings.Trim(n.Value, "0.") != "" { // twice 0 is 0
				w.add(n.Pos(), n.End(), "(2*"+n.Value+")")
			}
		}
	case *ast.IfStmt:
		w.add(n.Cond.Pos(), n.Cond.Pos(), "true || ")
	case *ast.ExprStmt:
		w.add(n.Pos(), n.End(), "{}") // a call is left out
	}
}
