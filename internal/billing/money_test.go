package billing_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoMoneyIsAFloat checks that the code that handles amounts uses no floats and no float libraries. Amounts are
// integers in minor units.
func TestNoMoneyIsAFloat(t *testing.T) {
	t.Parallel()
	walked := 0
	for _, dir := range []string{
		".", "plans", "../sandbox/stripe", "../../jobs/billingsettle",
		"../../jobs/stripeevent", "../../jobs/billingprorationsync", "../../jobs/billingoverage",
		"../../jobs/entitlementsync", "../../jobs/plansweep", "../../jobs/quotaannounce",
	} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			walked++
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			for _, found := range floats(file) {
				t.Errorf("%s: %s", path, found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var front []string
	for _, noun := range []string{"billing", "clients", "stripe"} {
		some, err := filepath.Glob("../../api/" + noun + "*.go")
		if err != nil || len(some) == 0 {
			t.Fatalf("%s: %v, %v", noun, some, err)
		}
		front = append(front, some...)
	}
	for _, path := range front {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		walked++
		for _, found := range floats(file) {
			t.Errorf("%s: %s", path, found)
		}
	}
	if walked < 40 {
		t.Errorf("only %d files were looked at", walked)
	}
	for _, bad := range []string{
		"var x float64", "var x = float32(1)", "var x = 1.5",
		"import \"math/big\"\nvar x big.Float", "import \"math\"\nvar x = math.Round(1)",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+bad, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(floats(file)) == 0 {
			t.Errorf("%q is not seen", bad)
		}
	}
}

// floats returns the places where a file uses a float. A count passed to a metric as .Set(float64(n)) or
// .Add(float64(n)) is permitted.
func floats(file *ast.File) (found []string) {
	metric := map[*ast.Ident]bool{}
	for _, spec := range file.Imports {
		if strings.Contains(spec.Path.Value, "decimal") {
			found = append(found, "imports "+spec.Path.Value)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Set" || s.Sel.Name == "Add") &&
				len(n.Args) == 1 {
				if c, ok := n.Args[0].(*ast.CallExpr); ok {
					if f, ok := c.Fun.(*ast.Ident); ok && f.Name == "float64" {
						metric[f] = true
					}
				}
			}
		case *ast.Ident:
			if (n.Name == "float64" || n.Name == "float32") && !metric[n] {
				found = append(found, n.Name)
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "math" && !strings.HasPrefix(n.Sel.Name, "MaxInt") {
				found = append(found, "math."+n.Sel.Name)
			}
			if n.Sel.Name == "Float" || n.Sel.Name == "ParseFloat" || n.Sel.Name == "Float64" {
				found = append(found, n.Sel.Name)
			}
		case *ast.BasicLit:
			if n.Kind == token.FLOAT && n.Value != "0.0" { // a bound in a schema
				found = append(found, n.Value)
			}
		}
		return true
	})
	return found
}
