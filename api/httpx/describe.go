package httpx

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/wire"
)

// describeOperation sets the long descriptions of an operation's input and output. A name is that of a parameter or of
// a member of the body. It panics on any other name.
func describeOperation(in, out reflect.Type, o *huma.Operation, r huma.Registry) {
	var request, response map[string]*huma.Schema
	if o.RequestBody != nil {
		request = membersIn(o.RequestBody.Content, r)
	}
	if success := o.Responses[strconv.Itoa(o.DefaultStatus)]; success != nil {
		response = membersIn(success.Content, r)
	}

	for name, text := range wire.DescriptionsOf(in) {
		p := slices.IndexFunc(o.Parameters, func(p *huma.Param) bool { return p.Name == name })
		switch {
		case p >= 0:
			o.Parameters[p].Description = text
			o.Parameters[p].Schema.Description = text
		case request[name] != nil:
			request[name].Description = text
		default:
			panic(fmt.Sprintf("%s describes %q, which is neither a parameter nor a member of the body", in, name))
		}
	}

	for name, text := range wire.DescriptionsOf(out) {
		if response[name] == nil {
			panic(fmt.Sprintf("%s describes %q, which is not a member of the body", out, name))
		}
		response[name].Description = text
	}

	describeReadOnly(request)
	describeHeaders(o)
}

// describeHeaders copies the descriptions of response headers from their schemas, where huma puts doc tags.
func describeHeaders(o *huma.Operation) {
	for _, response := range o.Responses {
		for _, h := range response.Headers {
			if h.Schema != nil && h.Description == "" {
				h.Description = h.Schema.Description
			}
		}
	}
}

// readOnlyText describes a read-only member of a request, which has no meaning there.
const readOnlyText = "Read-only: ignored if it has the current value, else 422 read_only"

// describeReadOnly describes the read-only members that have no description of their own.
func describeReadOnly(members map[string]*huma.Schema) {
	for _, s := range members {
		if s.ReadOnly && s.Description == "" {
			s.Description = readOnlyText
		}
	}
}

// membersIn returns the members of a JSON body, which may be a reference.
func membersIn(content map[string]*huma.MediaType, r huma.Registry) map[string]*huma.Schema {
	body := content["application/json"]
	if body == nil {
		return nil
	}
	if strings.HasPrefix(body.Schema.Ref, schemaPrefix) {
		return r.SchemaFromRef(body.Schema.Ref).Properties
	}
	return body.Schema.Properties
}

// DescribeSchemas sets the long descriptions of all types in r. It panics on a name that is not a member.
func DescribeSchemas(r huma.Registry) {
	for name, s := range r.Map() {
		describeSchema(r.TypeFromRef(schemaPrefix+name), s)
	}
	for name, s := range r.Map() {
		nullObjects(r.TypeFromRef(schemaPrefix+name), s, r)
	}
}

// nullObjects allows null for the members of t that are pointers to objects, which huma takes for objects. A type of
// this package's callers has Nullable instead; types of the domain cannot.
func nullObjects(t reflect.Type, s *huma.Schema, r huma.Registry) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		member := s.Properties[name]
		if f.Type.Kind() != reflect.Pointer || f.Type.Elem().Kind() != reflect.Struct || member == nil ||
			member.Ref == "" || strings.Contains(options, "omit") {
			continue
		}
		object := *r.SchemaFromRef(member.Ref)
		object.Nullable = true
		object.Description = member.Description
		s.Properties[name] = &object
	}
}

// describeSchema sets the long descriptions of t in its schema.
func describeSchema(t reflect.Type, s *huma.Schema) {
	for name, text := range wire.DescriptionsOf(t) {
		if s.Properties[name] == nil {
			panic(fmt.Sprintf("%s describes %q, which is not a member", t, name))
		}
		s.Properties[name].Description = text
	}
	describeReadOnly(s.Properties)
}

const schemaPrefix = "#/components/schemas/"
