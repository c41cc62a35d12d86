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

// unknown returns the error detail for an unknown member.
func (s Shape) unknown(pointer string) string {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return noField
	}
	return fault.Choices(noField, unescape(pointer[i+1:]), s.members(pointer[:i]))
}

// members returns the names of the members allowed in the object at pointer, or nil if the document does not specify
// them.
func (s Shape) members(pointer string) []string {
	at := s.resolve(s.Body)
	for i, token := range strings.Split(pointer, "/") {
		switch {
		case at == nil:
			return nil
		case i == 0: // the leading #
		case at.Type == huma.TypeArray:
			at = s.resolve(at.Items)
		default:
			at = s.resolve(at.Properties[unescape(token)])
		}
	}
	if at == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(at.Properties))
}

func (s Shape) resolve(at *huma.Schema) *huma.Schema {
	for at != nil && at.Ref != "" && s.Schemas != nil {
		at = s.Schemas.SchemaFromRef(at.Ref)
	}
	return at
}

// unescape reverses escape.
func unescape(token string) string {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}
