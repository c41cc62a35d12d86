package queue_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// The compiler loads the methods of each type that a package uses. If one of them has a type of asynq or go-redis in
// its signature, every package that defines a kind compiles wrappers for all of go-redis.
func TestTheTypesOfAKindHaveNoMethodOverRedis(t *testing.T) {
	t.Parallel()
	kinds := map[string]bool{
		"Kind": true, "Options": true, "Adding": true, "row": true, "Ref": true, "Run": true, "Claimed": true,
		"Handler": true, "Hook": true, "slotCache": true,
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			receiver, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(f.Recv.List[0].Type), "*"), "[")
			if !kinds[receiver] {
				continue
			}
			seen[receiver] = true
			if s := types.ExprString(f.Type); strings.Contains(s, "asynq.") || strings.Contains(s, "redis.") {
				t.Errorf("%s: (%s).%s is a %s: make it a function", name, receiver, f.Name.Name, s)
			}
		}
	}
	for _, must := range []string{"Kind", "Ref", "Claimed"} {
		if !seen[must] {
			t.Errorf("no method of %s was found", must)
		}
	}
}
