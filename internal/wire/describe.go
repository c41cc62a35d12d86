package wire

import (
	"maps"
	"reflect"
)

// Describer is implemented by types with descriptions that are too long for a doc tag. The API document and the schemas
// of events take a field's description from there.
type Describer interface {
	// Descriptions returns the descriptions by JSON name, or by parameter name.
	Descriptions() map[string]string
}

// DescriptionsOf returns the long descriptions of the fields of t, also of embedded ones.
func DescriptionsOf(t reflect.Type) map[string]string {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}

	all := map[string]string{}
	for f := range t.Fields() {
		if f.Anonymous {
			maps.Copy(all, DescriptionsOf(f.Type))
		}
	}

	if d, ok := reflect.Zero(t).Interface().(Describer); ok {
		maps.Copy(all, d.Descriptions())
	}

	return all
}

// Typed is implemented by types whose encoding may be one of several JSON types.
type Typed interface {
	JSONTypes() []string
}
