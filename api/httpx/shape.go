package httpx

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// Shape is the API document's description of a JSON body. The zero shape has no description.
type Shape struct {
	Schemas huma.Registry
	Body    *huma.Schema
}

// unknownDetail returns the error detail for an unknown member.
func (s Shape) unknownDetail(pointer string) string {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return noField
	}
	return fault.Choices(noField, unescapePointer(pointer[i+1:]), s.memberNames(pointer[:i]))
}

// memberNames returns the names of the members allowed in the object at pointer, or nil if the document does not
// specify them.
func (s Shape) memberNames(pointer string) []string {
	at := s.resolveRef(s.Body)
	for i, token := range strings.Split(pointer, "/") {
		switch {
		case at == nil:
			return nil
		case i == 0: // the leading #
		case at.Type == huma.TypeArray:
			at = s.resolveRef(at.Items)
		default:
			at = s.resolveRef(at.Properties[unescapePointer(token)])
		}
	}

	if at == nil {
		return nil
	}

	return slices.Sorted(maps.Keys(at.Properties))
}

func (s Shape) resolveRef(at *huma.Schema) *huma.Schema {
	for at != nil && at.Ref != "" && s.Schemas != nil {
		at = s.Schemas.SchemaFromRef(at.Ref)
	}
	return at
}

// unescapePointer reverses escapePointer.
func unescapePointer(token string) string {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}
