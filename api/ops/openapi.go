package ops

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// openAPIPath is where the document of the JSON routes is.
const openAPIPath = "/openapi.json"

// object is a JSON object of the document.
type object = map[string]any

// queryParameters returns the schemas of the parameters that the routes share, by name.
func queryParameters() map[string]object {
	text := func(what string) object { return object{"type": "string", "description": what} }
	of := func(format, what string) object {
		return object{"type": "string", "format": format, "description": what}
	}
	return map[string]object{
		"limit":  {"type": "integer", "minimum": 1, "maximum": 200, "default": 50, "description": "Rows of a page"},
		"cursor": text("next_cursor of the page before"),
		"reason": text("Why, for the audit log"),
		"state":  text("dead, unless said; waiting, retry, pushed, running or open"),
		"kind":   text("A kind of job"),
		"lane":   text("critical, default, webhooks, remote or bulk"),
		"error":  text("A part of the last error, of three bytes at least"),
		"org_id": of("uuid", "An org"),
		"id":     of("uuid", "A job in any state"),
		"after":  of("date-time", "When a dead job died, or an open one was added, at the earliest"),
		"before": of("date-time", "Before which it died or was added"),
		"scope":  text("lane, kind or org"),
		"name":   text("The lane, the kind, or the org's id"),
		"q":      text("A part of the name, the id, or a member's mail address"),
		"status": text("active, suspended, paused or trial_ended"),
		"plan":   text("A plan of the catalogue"),
	}
}

// Document returns the OpenAPI document of the JSON routes that this listener has.
func (o *Listener) Document() []byte {
	paths := object{}
	for i := range o.routes {
		method, path := o.routes[i].splitPattern()
		item, ok := paths[path].(object)
		if !ok {
			item = object{}
			paths[path] = item
		}
		item[strings.ToLower(method)] = o.routes[i].toOperation(o.Password != "")
	}

	doc := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Funnelwork operations", "version": "1",
			"description": "The JSON routes of the listener for operators. Without the password, under an unknown " +
				"host name, and from a page of another origin, a call is refused with plain text. A body has the " +
				"type application/json, or the call is refused with 415. A reason may be left out except where " +
				"an org is suspended or put on a plan and where jobs are deleted; if it is given, it is not empty.",
		},
		"servers": []object{{"url": "/"}},
		"paths":   paths,
	}
	if o.Password != "" {
		doc["components"] = object{"securitySchemes": object{"basic": object{"type": "http", "scheme": "basic"}}}
	}

	out, err := json.Marshal(doc)
	if err != nil {
		panic("openapi: " + err.Error()) // cannot happen: it has maps, texts and numbers alone
	}

	return out
}

// serveDocument serves Document.
func (o *Listener) serveDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(o.Document())
}

var (
	pathParameter = regexp.MustCompile(`\{(\w+)\}`)
	notInID       = regexp.MustCompile(`[^a-z0-9]+`)
)

// toOperation returns the route as an operation of the document.
func (r *route) toOperation(secured bool) object {
	method, path := r.splitPattern()
	parameters := []object{}
	known := queryParameters()
	for _, m := range pathParameter.FindAllStringSubmatch(path, -1) {
		schema := object{"type": "string", "format": "uuid"}
		if m[1] == "feature" {
			schema = object{"type": "string"}
		}
		parameters = append(parameters, object{"name": m[1], "in": "path", "required": true, "schema": schema})
	}

	for _, name := range r.query {
		parameters = append(parameters, object{"name": name, "in": "query", "schema": known[name]})
	}

	responses := object{"default": responseOf("A failure", object{
		"type": "object", "required": []string{"error"}, "properties": object{"error": object{"type": "string"}},
	})}
	statuses := r.status
	switch {
	case statuses == nil && r.out == nil:
		statuses = []int{http.StatusNoContent}
	case statuses == nil:
		statuses = []int{http.StatusOK}
	}

	for _, status := range statuses {
		one := object{"description": http.StatusText(status)}
		if r.out != nil {
			one = responseOf(http.StatusText(status), schemaOf(r.out))
		}
		responses[strconv.Itoa(status)] = one
	}

	op := object{
		"operationId": strings.Trim(notInID.ReplaceAllString(strings.ToLower(method+path), "-"), "-"),
		"summary":     r.summary, "parameters": parameters, "responses": responses,
	}
	if r.in != nil {
		body := schemaOf(r.in)
		delete(body, "required") // what lacks is zero, and the handler says what has to be there
		op["requestBody"] = object{"content": jsonContent(body)}
	}
	if secured {
		op["security"] = []object{{"basic": []string{}}}
	}

	return op
}

// responseOf returns a response with a JSON body.
func responseOf(description string, schema object) object {
	return object{"description": description, "content": jsonContent(schema)}
}

func jsonContent(schema object) object { return object{"application/json": object{"schema": schema}} }
