package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/api/operations"
)

// valuesNote is the paragraph about lists of values in the description of the API document.
const valuesNote = "A list of values (enum) of a response may grow: treat a value that you do not know as such, and " +
	"not as an error."

// encodeDocument returns doc as JSON in one line, with what operations.Values says about strings. That is added to the
// encoded form, because huma validates requests by the schemas in memory.
func encodeDocument(doc *huma.OpenAPI) []byte {
	plain, err := json.Marshal(doc)
	if err != nil {
		panic(fmt.Errorf("encode the API document: %w", err)) // our own types always encode
	}

	var tree map[string]any
	in := json.NewDecoder(bytes.NewReader(plain))
	in.UseNumber()
	if err := in.Decode(&tree); err != nil {
		panic(fmt.Errorf("decode the API document: %w", err))
	}

	valued{known: operations.Values(), shared: map[string]any{}}.describeValues(tree)
	out, err := json.Marshal(tree)
	if err != nil {
		panic(fmt.Errorf("encode the API document: %w", err))
	}

	return append(out, '\n')
}

// valued adds values to a decoded document.
type valued struct {
	known  map[string]operations.Value
	shared map[string]any // schemas of lists of values that several strings share, by name
}

func (v valued) describeValues(tree map[string]any) {
	eachString(tree, func(s map[string]any, keys ...string) any {
		for _, key := range keys {
			if value, known := v.known[key]; known {
				return v.withFacts(s, value)
			}
		}
		return s
	})
	components, _ := tree["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for name, s := range v.shared {
		schemas[name] = s
	}
}

// withFacts returns s with the facts of value.
func (v valued) withFacts(s map[string]any, value operations.Value) any {
	if value.Name != "" {
		return v.sharedReference(s, value)
	}
	if value.Format != "" {
		s["format"] = value.Format
	}
	if value.Enum != nil {
		s["enum"] = enumOf(value.Enum, s["type"])
	}
	return s
}

// eachString replaces each schema of a string of which the document says nothing yet by the result of change. keys are
// the names of the string as in operations.Values, the most special first.
func eachString(tree map[string]any, change func(schema map[string]any, keys ...string) any) {
	components, _ := tree["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for name, s := range schemas {
		eachMember(name, s, change)
	}

	paths, _ := tree["paths"].(map[string]any)
	for _, item := range paths {
		methods, _ := item.(map[string]any)
		for _, one := range methods {
			operation, _ := one.(map[string]any)
			all, _ := operation["parameters"].([]any)
			for _, parameter := range all {
				p, _ := parameter.(map[string]any)
				if s, ok := p["schema"].(map[string]any); ok && isUnspecified(s) {
					name := fmt.Sprint(p["name"])
					p["schema"] = change(s, "?"+name, name)
				}
			}
		}
	}
}

// eachMember is eachString for the members below the schema at path.
func eachMember(path string, schema any, change func(map[string]any, ...string) any) {
	s, _ := schema.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	for name, one := range properties {
		at := path + "." + name
		member, _ := one.(map[string]any)
		eachMember(at, member, change)
		if items, ok := member["items"].(map[string]any); ok {
			eachMember(at+"[]", items, change)
			if isUnspecified(items) {
				member["items"] = change(items, at+"[]", name+"[]")
			}
		}
		if isUnspecified(member) {
			properties[name] = change(member, at, name)
		}
	}
}

// sharedReference returns a reference to the schema of value's list. The description of s stays beside it.
func (v valued) sharedReference(s map[string]any, value operations.Value) map[string]any {
	v.shared[value.Name] = map[string]any{
		"type": huma.TypeString, "enum": enumOf(value.Enum, nil),
		"description": "The values of today; more may be added",
	}
	to := map[string]any{"$ref": "#/components/schemas/" + value.Name}
	if s["description"] != nil {
		to["description"] = s["description"]
	}
	return to
}

// enumOf returns the values of an enum, with null if the type allows null.
func enumOf(values []string, kind any) []any {
	all := make([]any, 0, len(values)+1)
	for _, one := range values {
		all = append(all, one)
	}
	if kinds, _ := kind.([]any); slices.Contains(kinds, any("null")) {
		all = append(all, nil)
	}
	return all
}

// isUnspecified reports whether s is a string of which nothing is said yet.
func isUnspecified(s map[string]any) bool {
	kinds, _ := s["type"].([]any)
	if s["type"] != huma.TypeString && !slices.Contains(kinds, any(huma.TypeString)) {
		return false
	}
	for _, said := range []string{"enum", "format", "pattern", "const"} {
		if s[said] != nil {
			return false
		}
	}
	return true
}
