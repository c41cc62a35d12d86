package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
)

// document holds the parts of the API document that have descriptions. Names of maps of schemas are not fixed, so the
// test walks plain JSON.
type document = map[string]any

func TestEveryPropertyParameterAndHeaderIsDescribed(t *testing.T) {
	t.Parallel()
	var doc document
	if err := json.Unmarshal(bare(t).Document(), &doc); err != nil {
		t.Fatal(err)
	}
	described := 0
	check := func(where, name string, part document) {
		text, _ := part["description"].(string)
		text = strings.TrimSpace(text)
		if len(text) < 10 || strings.EqualFold(text, name) {
			t.Errorf("%s: the description of %s is %q", where, name, text)
		}
		described++
	}
	walkDocument("#", doc, func(where string, object document) {
		switch {
		case strings.HasSuffix(where, "/properties") && !strings.HasSuffix(where, "/properties/properties"),
			strings.HasSuffix(where, "/headers"):
			for _, name := range slices.Sorted(maps.Keys(object)) {
				if part, ok := object[name].(document); ok && !isHeaderReference(where, part) {
					check(where, name, part)
				}
			}
		case object["in"] != nil && object["schema"] != nil:
			name, _ := object["name"].(string)
			check(where, name, object)
		}
	})
	if least := 1500; described < least {
		t.Errorf("%d properties, parameters and headers were found, want at least %d", described, least)
	}
}

// isHeaderReference reports whether a header is a reference to a component, which has the description.
func isHeaderReference(where string, part document) bool {
	return strings.HasSuffix(where, "/headers") && part["$ref"] != nil
}

// walkDocument calls visit for every object below value with its JSON pointer, except in examples.
func walkDocument(where string, value any, visit func(where string, object document)) {
	switch value := value.(type) {
	case document:
		visit(where, value)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if name != "example" && name != "examples" && name != "default" {
				walkDocument(where+"/"+name, value[name], visit)
			}
		}
	case []any:
		for _, one := range value {
			walkDocument(where+"/-", one, visit)
		}
	}
}
