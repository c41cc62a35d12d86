package aged

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Sources has the texts of a tree's Go files, to find where a statement is written.
type Sources struct{ texts []sourceText }

type sourceText struct{ at, text string }

// shortest is the length from which a text tells one statement from others.
const shortest = 24

// ReadSources reads the string literals of the Go files below root that are no tests.
func ReadSources(root string) (*Sources, error) {
	s := &Sources{}
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testkit" || d.Name() == "deploy") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(l.Value)
			if text = squeezed(text); err == nil && len(text) >= shortest {
				at := set.Position(l.Pos())
				name, _ := filepath.Rel(root, at.Filename)
				where := fmt.Sprintf("%s:%d", filepath.ToSlash(name), at.Line)
				s.texts = append(s.texts, sourceText{at: where, text: text})
			}
			return true
		})
		return nil
	})
	return s, err
}

// Find returns where the statement is written, as file and line: of its texts, the longest that names a table; and,
// if that is another one, the text that it begins with.
func (s *Sources) Find(sql string) string {
	sql = squeezed(sql)
	var longest, first sourceText
	begins := len(sql)
	for _, t := range s.texts {
		from := strings.Index(sql, t.text)
		if from < 0 {
			continue
		}
		if len(t.text) > len(longest.text) && names.MatchString(t.text) {
			longest = t
		}
		if from < begins || from == begins && len(t.text) > len(first.text) {
			begins, first = from, t
		}
	}
	switch {
	case longest.at == "":
		return first.at
	case first.at == longest.at:
		return first.at
	default:
		return longest.at + " (" + first.at + ")"
	}
}

// names finds a clause that names a table.
var names = regexp.MustCompile(`\b(FROM|JOIN|UPDATE|INTO) [a-z_]+`)

func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
