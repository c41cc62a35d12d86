package httpx

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// securityOf returns the security requirements that follow from o.Need.
func securityOf(o Op) []map[string][]string {
	if o.Need.Role == "" {
		return []map[string][]string{}
	}
	if o.Need.NoKeys {
		return []map[string][]string{{"bearer": {}}}
	}
	return []map[string][]string{{"bearer": {}}, {"apiKey": {}}}
}

// addComponents adds the components shared by every operation.
func addComponents(c *huma.Components) {
	c.SecuritySchemes = map[string]*huma.SecurityScheme{
		"bearer": {
			Type: "http", Scheme: "bearer",
			Description:  "A user's access token",
			BearerFormat: "JWT",
		},
		"apiKey": {
			Type: "http", Scheme: "bearer",
			Description:  "An organization's API key, in the place of an access token",
			BearerFormat: "fw_...",
		},
	}
	text := func() *huma.Schema { return &huma.Schema{Type: huma.TypeString} }
	integer := func() *huma.Schema { return &huma.Schema{Type: huma.TypeInteger} }
	least, most := 1, 255
	c.Parameters = map[string]*huma.Param{
		"RequestId": {
			Name: "X-Request-Id", In: "header", Schema: text(),
			Description: "Used as the request's id if it matches [A-Za-z0-9._-]{1,128}",
		},
		"IdempotencyKey": {
			Name: keyHeader, In: "header",
			Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most, Pattern: "^[!-~]+$"},
			Description: "A repeated request with the same key within 24 hours gets the first response",
		},
		"Console": {
			Name: consoleHeader, In: "header", Required: true,
			Schema:      &huma.Schema{Type: huma.TypeString, Enum: []any{"1"}},
			Description: "Proves, with Origin, that a page of this host sends the request",
		},
		"Origin": {
			Name: "Origin", In: "header", Required: true, Schema: text(),
			Description: "As browsers send it: the scheme and the host that is asked",
		},
		"IfNoneMatch": {
			Name: "If-None-Match", In: "header", Schema: text(),
			Description: "ETags which the caller has; a match returns 304",
		},
	}
	c.Headers = map[string]*huma.Header{
		"RequestId":       {Schema: text(), Description: "The request's id, also in the log and in every problem"},
		"RateLimitPolicy": {Schema: text(), Description: "The limits, as structured fields (RFC 9651)"},
		"RateLimit": {
			Schema:      text(),
			Description: "The tighter limit: requests left (r) and seconds until more (t)",
		},
		"RateLimitLimit":     {Schema: integer(), Description: "Requests allowed in a burst"},
		"RateLimitRemaining": {Schema: integer(), Description: "Requests left until the limit, now"},
		"RateLimitReset":     {Schema: integer(), Description: "When more requests are available, in Unix seconds"},
		"RetryAfter":         {Schema: integer(), Description: "Seconds to wait before the next try"},
		"Replayed":           {Schema: text(), Description: "true on the stored response for an Idempotency-Key"},
		"Authenticate":       {Schema: text(), Description: "On 401: the scheme to send, Bearer"},
	}
	problem := map[string]*huma.MediaType{problemType: {
		Schema: c.Schemas.Schema(reflect.TypeFor[Problem](), true, "Problem"),
	}}
	c.Responses = map[string]*huma.Response{
		"Problem": {
			Description: "A problem (RFC 9457), identified by its code",
			Headers: headerRefs("X-Request-Id", "RequestId", "Retry-After", "RetryAfter", "WWW-Authenticate",
				"Authenticate"),
			Content: problem,
		},
		// Without headers, since none is special to it and each costs every generated client a dozen lines.
		"OperationProblem": {
			Description: "A problem (RFC 9457) that this operation has a special reason for, identified by its code",
			Content:     problem,
		},
	}
}

// headerRefs maps header names to references to components. pairs alternates between the two.
func headerRefs(pairs ...string) map[string]*huma.Header {
	refs := map[string]*huma.Header{}
	for pair := range slices.Chunk(pairs, 2) {
		refs[pair[0]] = &huma.Header{Ref: "#/components/headers/" + pair[1]}
	}
	return refs
}

// headerParameters returns the headers that the middleware reads.
func headerParameters(o Op) []*huma.Param {
	p := []*huma.Param{{Ref: "#/components/parameters/RequestId"}}
	if o.Keyed() {
		p = append(p, &huma.Param{Ref: "#/components/parameters/IdempotencyKey"})
	}
	if o.Console {
		p = append(p, &huma.Param{Ref: "#/components/parameters/Console"},
			&huma.Param{Ref: "#/components/parameters/Origin"})
	}
	return p
}

// addOperation adds h to the API document and stores in o what the middleware needs from it.
func (c *Contract) addOperation(o *Op, h *huma.Operation) {
	o.queries = map[string]bool{}
	o.silent = map[string]string{}
	for _, p := range h.Parameters {
		if p.In != "query" {
			continue
		}
		if e := p.Schema.Examples; len(e) > 0 { // Swagger UI fills in the example of a parameter, not that of a schema.
			p.Example = e[0]
			p.Schema.Examples = nil
		}

		o.queries[p.Name] = p.Schema.Type != huma.TypeString || p.Schema.Format != "" || p.Schema.Enum != nil
		switch {
		case p.Schema.Default != nil:
			o.silent[p.Name] = fmt.Sprint(p.Schema.Default)
		case p.Schema.Type == huma.TypeBoolean:
			o.silent[p.Name] = "false"
		default:
			o.silent[p.Name] = ""
		}
	}

	if o.Takes != nil {
		h.RequestBody.Content = rawContent(o.Takes)
	}
	if o.Form != nil {
		h.RequestBody.Required = true
		h.RequestBody.Content = map[string]*huma.MediaType{"multipart/form-data": {Schema: o.Form}}
	}

	if len(h.RequestBody.Content) == 0 {
		h.RequestBody = nil
	} else if j := h.RequestBody.Content["application/json"]; j != nil {
		o.TakesJSON = true
		o.needsBody = h.RequestBody.Required
		o.merge = o.Method == http.MethodPatch
		o.shape = Shape{c.api.OpenAPI().Components.Schemas, j.Schema}
		if o.merge {
			h.RequestBody.Content["application/merge-patch+json"] = j
		}
	}

	success := h.Responses[strconv.Itoa(o.Status)]
	if success.Headers == nil {
		success.Headers = map[string]*huma.Header{}
	}

	if o.Method == http.MethodGet && success.Headers["ETag"] != nil {
		h.Parameters = append(h.Parameters, &huma.Param{Ref: "#/components/parameters/IfNoneMatch"})
		h.Responses["304"] = &huma.Response{
			Description: "The caller's copy is current",
			Headers:     headerRefs("X-Request-Id", "RequestId"),
		}
	}

	maps.Copy(success.Headers, headerRefs("X-Request-Id", "RequestId"))
	if o.Need.Role != "" {
		maps.Copy(success.Headers, headerRefs(
			"RateLimit-Policy", "RateLimitPolicy", "RateLimit", "RateLimit", "X-RateLimit-Limit", "RateLimitLimit",
			"X-RateLimit-Remaining", "RateLimitRemaining", "X-RateLimit-Reset", "RateLimitReset"))
	}
	if o.Keyed() {
		maps.Copy(success.Headers, headerRefs("Idempotent-Replayed", "Replayed"))
	}
	if o.Foreign {
		success.Content = map[string]*huma.MediaType{"text/html": {Schema: &huma.Schema{Type: huma.TypeString}}}
	}
	if o.Gives != nil {
		success.Content = rawContent(o.Gives)
	}
	if o.Status >= http.StatusMultipleChoices { // a redirect has no body
		success.Content = nil
	}

	for _, status := range o.Also {
		also := *success
		if status >= http.StatusMultipleChoices { // a redirect has no body
			also.Content = nil
		}
		also.Description = http.StatusText(status)
		h.Responses[strconv.Itoa(status)] = &also
	}

	shared := &huma.Response{Ref: "#/components/responses/Problem"}
	h.Responses["default"] = shared
	for _, status := range specialProblems(o, h) {
		h.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/OperationProblem"}
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable { // have a Retry-After
			h.Responses[strconv.Itoa(status)] = shared
		}
	}

	c.api.OpenAPI().AddOperation(h)
}

// NameNull adds null to the enum of every nullable part of s. In JSON Schema, a nullable type alone does not allow null
// in an enum.
func NameNull(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		s.Enum = append(slices.Clip(s.Enum), nil)
	}

	NameNull(s.Items)
	for _, one := range s.Properties {
		NameNull(one)
	}

	for _, one := range slices.Concat(s.OneOf, s.AnyOf, s.AllOf) {
		NameNull(one)
	}

	if more, ok := s.AdditionalProperties.(*huma.Schema); ok {
		NameNull(more)
	}
}

// RefuseNull documents that the required members of a request must not be null. The handlers refuse null with an error
// of their own, so the type changes in the document alone and not in the validation.
func RefuseNull(s *huma.Schema) {
	for _, name := range s.Required {
		if member := s.Properties[name]; member != nil && member.Nullable && member.Ref == "" {
			member.Extensions = map[string]any{"type": member.Type}
		}
	}
}

// rawContent describes a body of bytes in any of the media types. Text gets no schema either.
func rawContent(kinds []string) map[string]*huma.MediaType {
	content := map[string]*huma.MediaType{}
	for _, kind := range kinds {
		content[kind] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	return content
}

// specialProblems returns the error statuses that a caller of this operation handles. Every operation has the statuses
// that any request may get, such as 401, 429 and 503: they share the default response.
func specialProblems(o *Op, h *huma.Operation) []int {
	all := slices.Clone(o.May)
	if o.Feature != "" {
		all = append(all, http.StatusPaymentRequired)
	}
	if strings.Contains(o.Path, "{") {
		all = append(all, http.StatusNotFound)
	}
	if slices.ContainsFunc(h.Parameters, func(p *huma.Param) bool { return p.Name == "If-Match" }) {
		all = append(all, http.StatusPreconditionFailed)
	}
	if o.TakesJSON {
		all = append(all, http.StatusUnprocessableEntity)
	}

	slices.Sort(all)

	return slices.Compact(all)
}
