package asynqx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/asynqx"
)

const root = "../.."

func TestGoModHasTheVersionThatThisPackageWasReadFrom(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(mod), "github.com/hibiken/asynq "+asynqx.Version+"\n") {
		t.Errorf("go.mod does not require asynq %s: read the new version, then change Version", asynqx.Version)
	}
}

func TestNoOtherPackageSpellsAKeyOfAsynq(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == "node_modules" || e.Name() == "asynqx" || e.Name() == ".git"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			lit, is := n.(*ast.BasicLit)
			if is && lit.Kind == token.STRING && strings.HasPrefix(strings.Trim(lit.Value, "\"`"), "asynq:") {
				t.Errorf("%s: %s: use asynqx.Key or asynqx.TaskKey", set.Position(lit.Pos()), lit.Value)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("read %d files: %v", files, err)
	}
}
