package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// operationID names an operation by its method and path, which are unique and stay.
func operationID(o op) string {
	words := strings.FieldsFunc(strings.TrimPrefix(o.Path, "/api/v1"), func(r rune) bool { return strings.ContainsRune("/{}-_.", r) })
	return strings.ToLower(o.Method) + "-" + strings.Join(words, "-")
}

// security is what the document says about o.Need.
func security(o op) []map[string][]string {
	if o.Need.role == "" {
		return []map[string][]string{}
	}
	return []map[string][]string{{"bearer": {}}}
}

// parameters are the headers that the middleware takes.
func parameters(o op) []*huma.Param {
	p := []*huma.Param{{Ref: "#/components/parameters/RequestId"}}
	if o.Keyed() {
		p = append(p, &huma.Param{Ref: "#/components/parameters/IdempotencyKey"})
	}
	return p
}

// document adds h to the API document and notes in o what the middleware must know of it.
func (a *App) document(o *op, h *huma.Operation) {
	o.queries = map[string]bool{}
	for _, p := range h.Parameters {
		if p.In == "query" {
			o.queries[p.Name] = p.Schema.Type != huma.TypeString || p.Schema.Format != "" || p.Schema.Enum != nil
		}
	}
	if len(h.RequestBody.Content) == 0 {
		h.RequestBody = nil
	} else if j := h.RequestBody.Content["application/json"]; j != nil {
		o.json, o.needs, o.merge = true, h.RequestBody.Required, o.Method == http.MethodPatch
		if o.merge {
			h.RequestBody.Content["application/merge-patch+json"] = j
		}
	}
	delete(h.Responses, "default")
	for _, status := range problems(o) {
		h.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/Problem"}
	}
	a.huma.OpenAPI().AddOperation(h)
}

// problems are the statuses, apart from success, that an operation may answer.
func problems(o *op) []int {
	all := []int{400, 404, 405, 408, 413, 429, 431, 500, 503}
	if o.Need.role != "" {
		all = append(all, 401, 402, 403)
	} else {
		all = append(all, 401, 403)
	}
	if o.Method != http.MethodGet {
		all = append(all, 409, 412, 422)
	}
	if o.json {
		all = append(all, 415)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
