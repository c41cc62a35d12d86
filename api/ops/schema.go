package ops

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/wire"
)

// schemaOf returns the JSON Schema of the encoding of v's type.
func schemaOf(v any) object { return schemaOfType(reflect.TypeOf(v)) }

// encodedSchema returns the schemas of types that encode themselves.
func encodedSchema(t reflect.Type) (object, bool) {
	switch t {
	case reflect.TypeFor[id.ID]():
		return object{"type": "string", "format": "uuid"}, true
	case reflect.TypeFor[time.Time](), reflect.TypeFor[wire.Time]():
		return object{"type": "string", "format": "date-time"}, true
	case reflect.TypeFor[json.RawMessage]():
		return object{}, true // anything
	}

	if v, ok := reflect.Zero(t).Interface().(wire.Typed); ok {
		return object{"type": v.JSONTypes()}, true
	}

	return nil, false
}

func schemaOfType(t reflect.Type) object {
	if known, ok := encodedSchema(t); ok {
		return known
	}
	switch t.Kind() {
	case reflect.Pointer:
		return allowNull(schemaOfType(t.Elem()))
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": schemaOfType(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": schemaOfType(t.Elem())}
	case reflect.Struct:
		properties := object{}
		required := []string{}
		addFields(t, properties, &required)
		return object{"type": "object", "properties": properties, "required": required}
	default:
		panic("openapi: no schema of " + t.String())
	}
}

// addFields adds the members of a struct, also those of embedded structs.
func addFields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			addFields(f.Type, properties, required)
			continue
		}
		properties[name] = schemaOfType(f.Type)
		if !strings.Contains(options, "omitempty") {
			*required = append(*required, name)
		}
	}
}

// allowNull returns a schema that also admits null.
func allowNull(schema object) object {
	if kind, ok := schema["type"].(string); ok {
		schema["type"] = []string{kind, "null"}
	}
	return schema
}
