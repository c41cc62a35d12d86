package events

import (
	"cmp"
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// Schema returns the JSON Schema (2020-12) of the type's whole envelope, derived from the Go types. It allows
// additional members, because payloads grow; members are never removed.
func (t Type) Schema() map[string]any {
	envelope := schemaOf(reflect.TypeFor[Envelope]())
	members := envelope["properties"].(map[string]any) //nolint:forcetypeassert // an object's schema always has them
	object := schemaOf(t.object)
	object["description"] = "The object after the event"
	previous := map[string]any{"type": "null", "description": "Always null: this type is not an update"}
	if t.changes {
		previous = map[string]any{
			"type": []string{"object", "null"}, "description": "The previous values of the changed fields",
		}
	}
	narrow := func(name string, s map[string]any) {
		s["description"] = members[name].(map[string]any)["description"] //nolint:forcetypeassert // a schema
		members[name] = s
	}
	narrow("type", map[string]any{"type": "string", "enum": []string{t.Name}})
	narrow("api_version", map[string]any{"type": "string", "enum": []string{APIVersion}})
	narrow("data", map[string]any{
		"type":       "object",
		"required":   []string{"object", "previous"},
		"properties": map[string]any{"object": object, "previous": previous},
	})
	envelope["title"] = t.Name
	envelope["description"] = t.Description
	return envelope
}

// schemaOf derives a schema from a Go type and the tags of the API types: json, enum and doc. Long descriptions come
// from wire.Describer. It panics for a kind that payloads do not use; the catalogue's test would detect that.
func schemaOf(t reflect.Type) map[string]any {
	switch {
	case t == reflect.TypeFor[id.ID]():
		return map[string]any{"type": "string", "format": "uuid"}
	case t == reflect.TypeFor[wire.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case t.Kind() == reflect.Pointer:
		s := schemaOf(t.Elem())
		s["type"] = []string{s["type"].(string), "null"} //nolint:forcetypeassert // pointers to pointers are not used
		return s
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return structSchema(t)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Interface:
		return map[string]any{}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	default:
		panic(fmt.Sprintf("events: no schema for %v", t))
	}
}

func structSchema(t reflect.Type) map[string]any {
	members, required := map[string]any{}, []string{}
	long := wire.DescriptionsOf(t)
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || name == "" {
			continue
		}
		s := schemaOf(f.Type)
		if doc := cmp.Or(f.Tag.Get("doc"), long[name]); doc != "" {
			s["description"] = doc
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			s["enum"] = enumOf(enum, f.Type.Kind() == reflect.Pointer)
		}
		members[name] = s
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "required": required, "properties": members}
}

func enumOf(tag string, nullable bool) []any {
	var all []any
	for v := range strings.SplitSeq(tag, ",") {
		all = append(all, v)
	}
	if nullable {
		all = append(all, nil)
	}
	return all
}
