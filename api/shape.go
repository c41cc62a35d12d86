package api

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// shape is what the document says of a JSON body. The zero shape knows nothing of it.
type shape struct {
	schemas huma.Registry
	body    *huma.Schema
}

// unknown returns the sentences about a member that the object around it does not have.
func (s shape) unknown(pointer string) string {
	i := strings.LastIndexByte(pointer, '/')
	if i < 0 {
		return noField
	}
	return fault.Choices(noField, unescape(pointer[i+1:]), s.members(pointer[:i]))
}

// members returns the names of the members that the object at pointer may have; nil where the document does not say.
func (s shape) members(pointer string) []string {
	at := s.resolve(s.body)
	for i, token := range strings.Split(pointer, "/") {
		switch {
		case at == nil:
			return nil
		case i == 0: // the pointer's #
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

func (s shape) resolve(at *huma.Schema) *huma.Schema {
	for at != nil && at.Ref != "" && s.schemas != nil {
		at = s.schemas.SchemaFromRef(at.Ref)
	}
	return at
}

// unescape undoes escape.
func unescape(token string) string {
	if plain, err := url.PathUnescape(token); err == nil {
		token = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}
