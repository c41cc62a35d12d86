package e2e_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A plan with only disabled plan types costs more than jit_above_cost: see internal/postgres.
func TestAStatementThatTurnsPlanTypesOffTurnsCompilingOff(t *testing.T) {
	t.Parallel()
	found := 0
	eachText(t, func(path, text string) {
		if !strings.Contains(text, "'enable_") {
			return
		}
		if found++; !strings.Contains(text, "set_config('jit', 'off', true)") {
			t.Errorf("%s: %s", path, text)
		}
	})
	if found == 0 {
		t.Error("no such statement was found")
	}
}

// Table org repeats its key in org_id for the row policies; no index has that column.
func TestAStatementLooksAnOrgUpByItsID(t *testing.T) {
	t.Parallel()
	table := regexp.MustCompile(`\b(?:FROM|JOIN|UPDATE)\s+org\b`)
	named := regexp.MustCompile(`\b(?:FROM|JOIN|UPDATE)\s+org\s+(?:AS\s+)?([a-z]\w*)`)
	byOrgID := regexp.MustCompile(`\b(?:FROM|UPDATE)\s+org\s+(?:SET\b[^()]*)?WHERE\s+(?:org\.)?org_id\b`)
	found := 0
	eachText(t, func(path, text string) {
		found += len(table.FindAllString(text, -1))
		wrong := byOrgID.MatchString(text)
		for _, alias := range named.FindAllStringSubmatch(text, -1) {
			wrong = wrong || regexp.MustCompile(`\b`+alias[1]+`\.org_id\b`).MatchString(text)
		}
		if wrong {
			t.Errorf("%s looks an org up by org_id: %s", path, text)
		}
	})
	if found < 20 {
		t.Errorf("%d statements on org were found", found)
	}
}

// eachText calls visit with each string literal of the program's sources.
func eachText(t *testing.T, visit func(path, text string)) {
	t.Helper()
	for _, dir := range []string{"api", "internal", "jobs", "scheduler", "worker"} {
		err := filepath.WalkDir(filepath.Join(repository(t), dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
					visit(path, text.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
