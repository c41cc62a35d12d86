package httpx

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// turning lists the query parameters that select a page and do not change the list itself.
var turning = []string{"limit", "cursor", "count"}

// checkAddress validates path and query against the API document. It rejects NUL, invalid UTF-8, unknown and repeated
// parameters, and an empty value where a value has a format. It also sets r.scope, to which cursors of this list are
// bound.
func checkAddress(c *fiber.Ctx, r *Request) error {
	if len(c.Route().Params) > 0 && !CleanText(c.Path()) {
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

	var wrong []fault.FieldError
	for name, values := range query {
		if name == "" || !CleanText(name) {
			return fault.New(fault.InvalidParameter, "The query has a parameter without a name.")
		}

		strict, known := r.Op.queries[name]
		switch {
		case !known && (r.Op.Foreign || r.Op.AnyQuery):
			query.Del(name)
		case !known:
			wrong = append(
				wrong,
				fault.FieldError{Parameter: name, Code: "unknown_parameter", Detail: r.Op.noParameter()},
			)
		case len(values) > 1:
			wrong = append(wrong,
				fault.FieldError{
					Parameter: name, Code: "repeated",
					Detail: "A parameter may be given once. Several values are separated by commas, where they are " +
						"allowed.",
				})
		case !CleanText(values[0]):
			wrong = append(wrong,
				fault.FieldError{Parameter: name, Code: "invalid_text", Detail: "The value must be UTF-8 without NUL."})
		case strict && values[0] == "":
			wrong = append(wrong, fault.FieldError{Parameter: name, Code: "required", Detail: "A value is missing."})
		}
	}

	if wrong != nil {
		slices.SortFunc(wrong, func(x, y fault.FieldError) int { return strings.Compare(x.Parameter, y.Parameter) })
		return &fault.Fault{Code: fault.InvalidParameter, Detail: "The request has invalid parameters.", Fields: wrong}
	}

	for _, name := range turning {
		query.Del(name)
	}

	for name, values := range query {
		if values[0] == r.Op.silent[name] { // equal to the default
			query.Del(name)
		}
	}

	if len(query) == 0 {
		return nil
	}

	r.scope += "?" + query.Encode()

	return nil
}

// noParameter returns the error detail for an unknown query parameter. It names the parameters which the operation has.
func (o *Op) noParameter() string {
	if len(o.queries) == 0 {
		return "This operation takes no parameters."
	}
	names := strings.Join(slices.Sorted(maps.Keys(o.queries)), ", ")
	return "This operation has no such parameter. The name must be one of: " + names + "."
}

// CleanText reports whether Postgres accepts s as text.
func CleanText(s string) bool { return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 }
