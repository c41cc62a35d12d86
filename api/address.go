package api

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// turning are the query parameters that turn pages and leave the list what it is.
var turning = []string{"limit", "cursor", "count"}

// address holds path and query to the document: no NUL and no broken UTF-8, no unknown and no repeated
// parameter, no empty one where a value has a form. It also notes what cursors of this list are bound to.
func address(c *fiber.Ctx, r *request) error {
	if len(c.Route().Params) > 0 && !clean(c.Path()) {
		return fault.New(fault.NotFound, "There is nothing at this address.")
	}
	r.scope = c.Path()
	raw := string(c.Request().URI().QueryString())
	if raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return fault.New(fault.InvalidParameter, "The query cannot be decoded.")
	}
	var wrong []fault.Field
	for name, values := range query {
		if name == "" || !clean(name) {
			return fault.New(fault.InvalidParameter, "The query has a parameter without a name.")
		}
		strict, known := r.op.queries[name]
		switch {
		case !known && r.op.Foreign:
			query.Del(name)
		case !known:
			wrong = append(wrong, fault.Field{Parameter: name, Code: "unknown_parameter", Detail: r.op.noParameter()})
		case len(values) > 1:
			wrong = append(wrong, fault.Field{Parameter: name, Code: "repeated", Detail: "A parameter may be given once. Several values are separated by commas, where they are allowed."})
		case !clean(values[0]):
			wrong = append(wrong, fault.Field{Parameter: name, Code: "invalid_text", Detail: "The value must be UTF-8 without NUL."})
		case strict && values[0] == "":
			wrong = append(wrong, fault.Field{Parameter: name, Code: "required", Detail: "A value is missing."})
		}
	}
	if wrong != nil {
		slices.SortFunc(wrong, func(x, y fault.Field) int { return strings.Compare(x.Parameter, y.Parameter) })
		return &fault.Fault{Code: fault.InvalidParameter, Detail: "The request has invalid parameters.", Fields: wrong}
	}
	for _, name := range turning {
		query.Del(name)
	}
	for name, values := range query {
		if values[0] == r.op.silent[name] { // the list is the same with and without it
			query.Del(name)
		}
	}
	if len(query) == 0 {
		return nil
	}
	r.scope += "?" + query.Encode()
	return nil
}

// noParameter says that the operation has no such parameter, and which it has.
func (o *op) noParameter() string {
	if len(o.queries) == 0 {
		return "This operation takes no parameters."
	}
	names := strings.Join(slices.Sorted(maps.Keys(o.queries)), ", ")
	return "This operation has no such parameter. The name must be one of: " + names + "."
}

// clean tells whether Postgres would take s as text.
func clean(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }
