package jobs_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/jobs"
)

// fullWork is how many lines work.go and the further files of a room must have together to justify further files.
const fullWork = 200

// TestEveryRoomIsAJobAndItsWork checks the files of each directory beside this test. A room has job.go and work.go. It
// has further files only if work.go would have more than fullWork lines without them.
func TestEveryRoomIsAJobAndItsWork(t *testing.T) {
	t.Parallel()
	for _, room := range rooms(t) {
		files, err := filepath.Glob(filepath.Join(room, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		lines := 0
		var further []string
		has := map[string]bool{}
		for _, f := range files {
			name := filepath.Base(f)
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			has[name] = true
			if name == "job.go" {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(text, []byte("\n"))
			if name != "work.go" {
				further = append(further, name)
			}
		}
		if !has["job.go"] || !has["work.go"] {
			t.Errorf("%s: want job.go and work.go", room)
		}
		if len(further) > 0 && lines <= fullWork {
			t.Errorf("%s: %v belong in work.go, which would have %d lines", room, further, lines)
		}
	}
}

// TestAKindIsDeclaredInItsRoomAlone checks the declarations of kinds in all code but tests and the measurements in
// deploy. Each room's job.go declares one kind. The room's name is the kind's name, or the kind's alias, without dots
// and underscores.
func TestAKindIsDeclaredInItsRoomAlone(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{} // rooms with a kind
	names := map[string]bool{}
	for path, kinds := range declarations(t) {
		room, file := filepath.Split(path)
		room = filepath.Clean(room)
		if file != "job.go" || !slices.Contains(rooms(t), room) {
			t.Errorf("%s declares %v outside a room's job.go", path, kinds)
			continue
		}
		declared[room] = true
		if len(kinds) != 1 {
			t.Errorf("%s declares %d kinds, want 1: %v", path, len(kinds), kinds)
		}
		for _, k := range kinds {
			names[k.name] = true
			if !slices.Contains([]string{packageName(k.name), packageName(k.alias)}, room) {
				t.Errorf("%s declares %q with alias %q; want the room's name", path, k.name, k.alias)
			}
		}
	}
	for _, room := range rooms(t) {
		if !declared[room] {
			t.Errorf("%s declares no kind", room)
		}
	}
	handled := map[string]bool{}
	for _, h := range jobs.All(jobs.Deps{Log: testkit.Log(t)}) {
		handled[h.Kind] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(names)), slices.Sorted(maps.Keys(handled))); diff != "" {
		t.Errorf("the kinds with handlers are not the declared kinds (-declared +handled):\n%s", diff)
	}
}

// packageName returns the name of the room of a kind.
func packageName(kind string) string { return strings.NewReplacer(".", "", "_", "").Replace(kind) }

// rooms returns the directories beside this test.
func rooms(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	return out
}

// declaration is a call of queue.Define.
type declaration struct{ name, alias string }

// declarations returns the calls of queue.Define by file, relative to this directory.
func declarations(t *testing.T) map[string][]declaration {
	t.Helper()
	out := map[string][]declaration{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path != ".." && strings.HasPrefix(d.Name(), ".") || path == filepath.Join("..", "deploy") ||
			d.Name() == "node_modules" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir(), !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte(`internal/queue"`)) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && defines(call.Fun) {
				rel, _ := filepath.Rel(filepath.Join("..", "jobs"), path)
				out[rel] = append(out[rel], declaration{literal(call.Args[0]), aliasOf(call)})
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// defines reports whether a called function is queue.Define, with or without type arguments.
func defines(fn ast.Expr) bool {
	if index, ok := fn.(*ast.IndexExpr); ok {
		fn = index.X
	}
	selector, ok := fn.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != "Define" {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == "queue"
}

// aliasOf returns the Alias of the queue.Options in a call of queue.Define.
func aliasOf(call *ast.CallExpr) (alias string) {
	for _, arg := range call.Args[1:] {
		ast.Inspect(arg, func(n ast.Node) bool {
			if kv, ok := n.(*ast.KeyValueExpr); ok {
				if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Alias" {
					alias = literal(kv.Value)
				}
			}
			return true
		})
	}
	return alias
}

// literal returns the value of a string literal, or "" for any other expression.
func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}
