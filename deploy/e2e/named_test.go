package e2e_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tables of faults name the test for each: a renamed test must not leave a promise without proof.
func TestEveryTestThatADocumentNamesExists(t *testing.T) {
	t.Parallel()
	root := repository(t)
	var tests bytes.Buffer
	var documents []string
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == "node_modules" { // documents of others
				return fs.SkipDir
			}
			return nil
		}
		switch {
		case strings.HasSuffix(path, "_test.go"):
			b, err := os.ReadFile(path)
			tests.Write(b)
			return err
		case strings.HasSuffix(path, ".md"):
			documents = append(documents, path)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, path := range documents {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`(Test[A-Z]\\w+)`").FindAllStringSubmatch(string(b), -1) {
			named++
			if !bytes.Contains(tests.Bytes(), []byte("func "+m[1]+"(t *testing.T)")) {
				t.Errorf("%s names %s, which does not exist",
					filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), m[1])
			}
		}
	}
	if named < 40 {
		t.Errorf("only %d names were found", named)
	}
}
