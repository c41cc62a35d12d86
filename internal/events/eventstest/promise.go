package eventstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Published is an event type as a golden file stores it.
type Published struct {
	Type        string         `json:"type"`
	Description string         `json:"description"`
	Live        bool           `json:"live"`
	Schema      map[string]any `json:"schema"`
	Sample      any            `json:"sample"`
}

// Broken returns the promises of the old catalogue that the new one breaks. A type must remain, and a live type must
// remain live. The payload of a live type may only gain members, at any depth, and enum values; an existing member
// keeps its type, its format and whether it is required. The payload of a reserved type may still change, because it
// has only been sent in tests.
func Broken(was, is []Published) (all []string) {
	now := map[string]Published{}
	for _, t := range is {
		now[t.Type] = t
	}
	for _, t := range was {
		n, ok := now[t.Type]
		switch {
		case !ok:
			all = append(all, t.Type+" is gone")
		case t.Live && !n.Live:
			all = append(all, t.Type+" is no longer live")
		case t.Live:
			for _, b := range broken(plain(t.Schema), plain(n.Schema), "") {
				all = append(all, t.Type+b)
			}
		}
	}
	return all
}

// broken compares two schemas at a path.
func broken(was, is map[string]any, at string) (all []string) {
	for _, word := range slices.Sorted(maps.Keys(was)) {
		before, after := was[word], is[word]
		switch word {
		case "title", "description", "$schema", "$id":
		case "properties":
			all = append(all, members(object(before), object(after), at)...)
		case "required":
			if gone := without(list(before), list(after)); len(gone) > 0 {
				all = append(all, fmt.Sprintf("%s: %v may be absent now", at, gone))
			}
		case "enum":
			if gone := without(list(before), list(after)); len(gone) > 0 || after == nil {
				all = append(all, fmt.Sprintf("%s: the enum has lost %v", at, gone))
			}
		case "items", "additionalProperties":
			b, isObject := before.(map[string]any)
			a, stillObject := after.(map[string]any)
			if isObject && stillObject {
				all = append(all, broken(b, a, at+"/*")...)
			} else if text(before) != text(after) {
				all = append(all, fmt.Sprintf("%s: %s is %s now, was %s", at, word, text(after), text(before)))
			}
		case "type":
			if kinds(before) != kinds(after) {
				all = append(all, fmt.Sprintf("%s: the type is %s now, was %s", at, kinds(after), kinds(before)))
			}
		default:
			if text(before) != text(after) {
				all = append(all, fmt.Sprintf("%s: %s is %s now, was %s", at, word, text(after), text(before)))
			}
		}
	}
	for _, word := range slices.Sorted(maps.Keys(is)) { // a new keyword restricts the values
		switch word {
		case "title", "description", "$schema", "$id", "properties":
		case "required":
			if stricter := both(without(list(is[word]), list(was[word])),
				object(was["properties"])); len(stricter) > 0 {
				all = append(all, fmt.Sprintf("%s: %v was optional", at, stricter))
			}
		default:
			if _, ok := was[word]; !ok {
				all = append(all, fmt.Sprintf("%s: %s is new", at, word))
			}
		}
	}
	return all
}

// members compares the properties of an object.
func members(was, is map[string]any, at string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(was)) {
		after, ok := is[name]
		if !ok {
			all = append(all, at+"/"+name+" is gone")
			continue
		}
		all = append(all, broken(object(was[name]), object(after), at+"/"+name)...)
	}
	return all
}

// plain returns the schema as decoded JSON.
func plain(schema map[string]any) (out map[string]any) {
	_ = json.Unmarshal([]byte(text(schema)), &out)
	return out
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// kinds returns a schema's type, one name or several, in sorted order.
func kinds(v any) string {
	all, ok := v.([]any)
	if !ok {
		all = []any{v}
	}
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = fmt.Sprint(one)
	}
	slices.Sort(names)
	return fmt.Sprint(names)
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// without returns the elements of a that are not in b.
func without(a, b []any) (out []any) {
	for _, v := range a {
		if !slices.ContainsFunc(b, func(w any) bool { return text(v) == text(w) }) {
			out = append(out, v)
		}
	}
	return out
}

// both returns the names that are keys of m.
func both(names []any, m map[string]any) (out []any) {
	for _, n := range names {
		if _, ok := m[fmt.Sprint(n)]; ok {
			out = append(out, n)
		}
	}
	return out
}
