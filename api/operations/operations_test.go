package operations

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheTextsAreThoseOfTheDocumentsOperationsAndTags(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("../testdata/openapi.golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string
			Tags        []string
		}
	}
	if err := json.Unmarshal(source, &doc); err != nil {
		t.Fatal(err)
	}
	operations, texts := map[string]string{}, map[string]string{} // tags by the id of the operation
	for _, methods := range doc.Paths {
		for _, o := range methods {
			operations[o.OperationID] = o.Tags[0]
		}
	}
	for id, text := range load().texts {
		texts[id] = text.tag
	}
	if diff := cmp.Diff(operations, texts); diff != "" {
		t.Errorf("operations and texts differ (-operations +texts):\n%s", diff)
	}
}
