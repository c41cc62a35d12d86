package contacts_test

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/contacts"
)

var update = flag.Bool("update", false, "write testdata/statements.golden.sql")

func TestTheStatementsAreTheReviewedOnes(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, s := range contacts.Statements() {
		fmt.Fprintf(&got, "-- %s\n%s;\n\n", s.Name, strings.TrimSpace(s.SQL))
	}
	golden := filepath.Join("testdata", "statements.golden.sql")
	if *update {
		if err := os.MkdirAll(filepath.Dir(golden), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("statements differ from %s (-want +got); review and run with -update:\n%s", golden, diff)
	}
}

// maxPlaces is the maximum number of lines that an optional text of a contact needs.
const maxPlaces = 8

// optionalUses holds the lines that name the job title but that a new column does not need, by file: their number and
// the reason. A line beyond the number counts as a place.
var optionalUses = map[string]struct {
	lines  int
	reason string
}{
	"api/ai_context.go":                   {1, "the record that a model reads"},
	"internal/contacts/imports/names.go":  {1, "other names of the column in files"},
	"internal/events/samples.go":          {1, "a sample value"},
	"internal/sandbox/model/model.go":     {1, "the record that a model reads"},
	"internal/scoring/contact.go":         {3, "a feature of the score"},
	"internal/scoring/model.go":           {2, "a feature of the score"},
	"internal/scoring/models/examples.go": {2, "a feature of the score"},
	"internal/scoring/of.go":              {2, "a feature of the score"},
	"internal/scoring/prior.go":           {1, "a feature of the score"},
	"migrations/0046_contact_find.sql":    {1, "folds the values of existing contacts"},
	"migrations/0070_score_models.sql":    {2, "a feature of the score"},
	"migrations/0111_engagement.sql":      {1, "a feature of the score"},
}

// The job title stands for any optional text: a place is a line of Go or SQL that names it and that a new column needs.
func TestAColumnOfAContactIsAddedInEightPlaces(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	named := regexp.MustCompile(`(?i)job_?title`)
	uses := map[string]int{}
	var places []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		file = filepath.ToSlash(file)
		if entry.IsDir() {
			others := []string{".git", "deploy", "demo", "node_modules", "testdata", "testkit"}
			if slices.Contains(others, entry.Name()) {
				return fs.SkipDir // deploy, internal/command/demo and testkit use contacts as clients do
			}
			return nil
		}
		source := strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") ||
			strings.HasSuffix(file, ".sql") && !strings.HasSuffix(file, ".golden.sql")
		if !source {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if !named.Match(line) {
				continue
			}
			if uses[file] < optionalUses[file].lines && !needed(file, line) {
				uses[file]++
				continue
			}
			places = append(places, fmt.Sprintf("%s:%d: %s", file, i+1, bytes.TrimSpace(line)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for file, use := range optionalUses {
		if uses[file] != use.lines {
			t.Errorf("%s names the job title in %d optional lines, want %d (%s)", file, uses[file], use.lines,
				use.reason)
		}
	}
	t.Logf("%d places:\n%s", len(places), strings.Join(places, "\n"))
	if len(places) > maxPlaces {
		t.Errorf("a column needs %d places, want at most %d:\n%s", len(places), maxPlaces, strings.Join(places, "\n"))
	}
	if len(places) < 5 {
		t.Errorf("found %d places, want at least the table, contact, patch, body and migration", len(places))
	}
}

// needed reports whether a line of a migration defines the column or its index.
func needed(file string, line []byte) bool {
	return strings.HasPrefix(file, "migrations/") &&
		(bytes.Contains(line, []byte("ADD COLUMN")) || bytes.Contains(line, []byte("CREATE INDEX")))
}
