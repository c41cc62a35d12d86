package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"
	"unicode"
)

// house is what was counted in the files of the product.
type house struct {
	files      int
	lines      int
	blank      int
	long       int      // lines of more than 100 columns, a tab counting four, without struct tags
	statements int      // without blocks and empty ones
	functions  []string // names of the unexported functions and methods
	assigns    int      // assignments and declarations by :=
	parallel   int      // those of several values to as many names
	callFirst  int      // conditions behind a call that returns nothing that they use
}

// widest is the number of columns above which a line is long.
const widest = 100

// skipped are folders without Go of the product.
var skipped = []string{"deploy", "node_modules", "testdata", ".git", "testkit"}

// measure counts the product's files in the project's root.
func measure(root fs.FS) (*house, error) {
	h := &house{}
	return h, fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skipped, entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		return h.add(path, source)
	})
}

// add counts a file.
func (h *house) add(path string, source []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), path, source, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return err
	}
	h.files++
	h.addLines(source)
	ast.Inspect(file, func(n ast.Node) bool {
		h.addNode(n)
		return true
	})
	return nil
}

func (h *house) addLines(source []byte) {
	for line := range bytes.Lines(source) {
		h.lines++
		line = bytes.TrimRight(line, "\n")
		text := bytes.TrimLeft(line, "\t")
		switch columns := len([]rune(string(line))) + 3*(len(line)-len(text)); {
		case len(text) == 0:
			h.blank++
		case columns > widest && !bytes.HasSuffix(text, []byte("`")):
			h.long++
		}
	}
}

func (h *house) addNode(n ast.Node) {
	if s, ok := n.(ast.Stmt); ok && counts(s) {
		h.statements++
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		if name := n.Name.Name; !ast.IsExported(name) && name != "main" && name != "init" {
			h.functions = append(h.functions, name)
		}
	case *ast.AssignStmt:
		h.assigns++
		if len(n.Lhs) > 1 && len(n.Rhs) == len(n.Lhs) && !moves(n) {
			h.parallel++
		}
	case *ast.IfStmt:
		if _, ok := n.Init.(*ast.ExprStmt); ok {
			h.callFirst++
		}
	}
}

// counts reports whether s is a statement of its own.
func counts(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.BlockStmt, *ast.EmptyStmt, *ast.LabeledStmt, *ast.CaseClause, *ast.CommClause:
		return false
	}
	return true
}

// moves reports whether a parallel assignment reads a name that it sets, as a swap does: it is one step.
func moves(a *ast.AssignStmt) bool {
	set := map[string]bool{}
	for _, left := range a.Lhs {
		set[expression(left)] = true
	}
	found := false
	for _, right := range a.Rhs {
		ast.Inspect(right, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && set[expression(e)] {
				found = true
			}
			return !found
		})
	}
	return found
}

// expression returns the text of a name or a selector, or "".
func expression(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if e.Name != "_" {
			return e.Name
		}
	case *ast.SelectorExpr:
		if of := expression(e.X); of != "" {
			return of + "." + e.Sel.Name
		}
	}
	return ""
}

// oneWord reports whether a name has no second word.
func oneWord(name string) bool {
	return strings.IndexFunc(name, func(r rune) bool { return unicode.IsUpper(r) || r == '_' }) < 0
}
