package pages

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/funnelwork/funnelwork/api/operations"
)

func TestOfEveryStringItIsDecidedWhetherItHasAFormatOrAList(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../testdata/openapi.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(source, &tree); err != nil {
		t.Fatal(err)
	}
	known, used := operations.Values(), map[string]bool{}
	eachString(tree, func(s map[string]any, keys ...string) any {
		at := slices.IndexFunc(keys, func(key string) bool {
			_, ok := known[key]
			return ok || slices.Contains(texts, key)
		})
		if at < 0 {
			t.Errorf("%s is a string: give it a format or an enum in operations.Values, or list it in texts", keys[0])
		} else {
			used[keys[at]] = true
		}
		return s
	})
	for _, name := range texts {
		if !used[name] {
			t.Errorf("%s is listed as text, and the document has no such string", name)
		}
	}
}
