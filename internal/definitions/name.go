package definitions

import (
	"slices"
	"strings"

	"github.com/funnelwork/funnelwork/internal/compare"
)

// Kind is the kind of what a definition names.
type Kind string

// Kinds of names.
const (
	Tag      Kind = "tag"
	Stage    Kind = "stage"
	Field    Kind = "field"
	Segment  Kind = "segment"
	Pipeline Kind = "pipeline" // or one of its stages: both are named by id
)

// Name is what a definition may name: by its name or key, and by its id if it has one.
type Name struct {
	Kind Kind
	Name string
	ID   string
}

// members are the members of a definition that hold names of a kind, as one, as a list, or as a list with commas.
var members = map[Kind][]string{
	Tag:      {"tag", "tags", "add_tags", "remove_tags"},
	Stage:    {"stage", "stages"},
	Segment:  {"segment", "segments", "enroll_segment"},
	Pipeline: {"pipeline", "pipeline_id", "pipelines", "stage_id", "pipeline_stage"},
}

// named are the ops of a filter whose value is a name and not a part of one.
var named = []string{"eq", "ne", "in", "not_in"}

// is reports whether s is the name.
func (n Name) is(s string) bool {
	return n.ID != "" && s == n.ID || n.Name != "" && compare.Equal(s, n.Name)
}

// rewrite returns v, a decoded definition, with every occurrence of the name replaced by what to returns for it, and
// the number of occurrences. v itself is not changed.
func (n Name) rewrite(v any, to func(string) string) (any, int) {
	switch v := v.(type) {
	case []any:
		out, count := make([]any, len(v)), 0
		for i := range v {
			one, found := n.rewrite(v[i], to)
			out[i], count = one, count+found
		}
		return out, count
	case map[string]any:
		return n.rewriteObject(v, to)
	}
	return v, 0
}

func (n Name) rewriteObject(v map[string]any, to func(string) string) (any, int) {
	out, count := make(map[string]any, len(v)), 0
	field, isLeaf := v["field"].(string)
	op, _ := v["op"].(string)
	for name, value := range v {
		var found int
		switch {
		case isLeaf && op != "" && name == "value":
			if field == string(n.Kind) && slices.Contains(named, op) {
				value, found = n.replace(value, to)
			}
		case isLeaf && name == "field" && n.Kind == Field:
			if key, custom := strings.CutPrefix(field, "attributes."); custom && n.is(key) {
				value, found = "attributes."+to(key), 1
			}
		case n.Kind == Field && name == "attributes":
			value, found = n.replaceKeys(value, to)
		case slices.Contains(members[n.Kind], name):
			value, found = n.replace(value, to)
		case n.Kind == Field:
			if text, is := value.(string); is {
				found = n.inTemplate(text)
				break
			}
			value, found = n.rewrite(value, to)
		default:
			value, found = n.rewrite(value, to)
		}
		out[name], count = value, count+found
	}
	return out, count
}

// replace replaces the name in a text, which may be a list with commas, and in a list of texts.
func (n Name) replace(v any, to func(string) string) (any, int) {
	switch v := v.(type) {
	case string:
		if n.is(v) {
			return to(v), 1
		}
		parts, count := strings.Split(v, ","), 0
		for i, part := range parts {
			if n.is(part) {
				parts[i], count = to(part), count+1
			}
		}
		return strings.Join(parts, ","), count
	case []any:
		out, count := make([]any, 0, len(v)), 0
		for _, one := range v {
			value, found := n.replace(one, to)
			if count += found; found == 0 || !slices.Contains(out, value) {
				out = append(out, value)
			}
		}
		return out, count
	}
	return n.rewrite(v, to)
}

// replaceKeys replaces the name among the keys of an object.
func (n Name) replaceKeys(v any, to func(string) string) (any, int) {
	values, is := v.(map[string]any)
	if !is {
		return v, 0
	}
	out, count := make(map[string]any, len(values)), 0
	for key, value := range values {
		if n.is(key) {
			key, count = to(key), count+1
		}
		out[key] = value
	}
	return out, count
}

// inTemplate returns 1 if a text has a merge field of the custom field.
func (n Name) inTemplate(text string) int {
	if !strings.Contains(text, "attributes") || !strings.Contains(text, "{") {
		return 0
	}
	for _, form := range []string{
		"attributes." + n.Name, `attributes["` + n.Name + `"]`,
		`attributes['` + n.Name + `']`,
	} {
		_, after, found := strings.Cut(text, form)
		if found && (strings.HasSuffix(form, "]") || after == "" || !isKeyByte(after[0])) {
			return 1
		}
	}
	return 0
}

func isKeyByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-' || c >= 0x80
}
