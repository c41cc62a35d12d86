package httpx

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/funnelwork/funnelwork/internal/fault"
)

// HookHuma sets huma's package variables, since huma offers no other way to replace its errors. Errors become problems
// with our texts, and member names are compared case-sensitively.
var HookHuma = sync.OnceFunc(func() {
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
	huma.ErrorFormatter = formatPhrase
	for _, w := range ValidationWordings {
		*w.At = w.Text
	}

	huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
		return problemOf(Refusal(status, msg, nil, errs, Shape{}), &Request{})
	}
	huma.NewErrorWithContext = func(c huma.Context, status int, msg string, errs ...error) huma.StatusError {
		var body []byte
		if a, ok := c.(*admitted); ok {
			body = a.body
		}
		r := RequestOf(c.Context())
		of := Shape{}
		if r.Op != nil {
			of = r.Op.shape
		}
		return problemOf(Refusal(status, msg, body, errs, of), r)
	}
})

// humaConfig returns a configuration with JSON only, without default pages and without additions to responses.
func humaConfig(c Config) huma.Config {
	format := huma.Format{Marshal: Marshal, Unmarshal: Unmarshal}
	cfg := huma.DefaultConfig("Funnelwork", "1")
	cfg.Info.Description = c.About
	cfg.Tags = c.Tags
	cfg.Components.Schemas = huma.NewMapRegistry(schemaPrefix, schemaName)
	addComponents(cfg.Components)
	cfg.OpenAPIPath = ""
	cfg.DocsPath = ""
	cfg.SchemasPath = ""
	cfg.CreateHooks = nil
	cfg.Formats = map[string]huma.Format{"application/json": format, "json": format}
	return cfg
}

// Refusal converts huma's errors to a fault: 404 for an impossible path, 400 for a parameter, 422 for a member of the
// body. of is the API document's description of the body.
func Refusal(status int, msg string, body []byte, errs []error, of Shape) *fault.Fault {
	f := fault.New(fault.ValidationFailed, "The request has invalid fields.")
	var parsed any
	for _, err := range errs {
		if len(f.Fields) == mostComplaints {
			break
		}

		d, ok := err.(huma.ErrorDetailer)
		if !ok {
			if given := fault.Of(err); given != nil {
				return given
			}
			continue
		}

		detail := d.ErrorDetail()
		where, rest, _ := strings.Cut(detail.Location, ".")
		switch where {
		case "path":
			return fault.New(fault.NotFound, "There is nothing at this address.")
		case "query", "header", "cookie":
			f.Code = fault.InvalidParameter
			f.Detail = "The request has invalid parameters."
			said := WordingOf(detail.Message)
			f.Fields = append(f.Fields, fault.FieldError{Parameter: rest, Code: said.code, Detail: said.Text})
		default:
			if parsed == nil {
				_ = json.Unmarshal(body, &parsed) // invalid JSON leaves it nil
			}
			f.Fields = append(f.Fields, Complaint(detail.Location, detail.Message, parsed, of))
		}
	}

	if len(f.Fields) > 0 {
		return f
	}

	switch {
	case status >= http.StatusInternalServerError:
		return fault.New(fault.Internal, "An internal error occurred. The request id helps us to find it.")
	case status == http.StatusBadRequest:
		return fault.New(fault.BadRequest, WordingOf(msg).Text)
	}

	return f
}
