package ops_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/api/ops"
	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// operation is an operation of the document.
type operation struct {
	Parameters []struct{ Name, In string }
	Body       struct{ Content content } `json:"requestBody"`
	Responses  map[string]struct{ Content content }
}

type content map[string]struct{ Schema map[string]any }

// document returns the operations of a listener's document, by METHOD PATH.
func document(t *testing.T, listener *ops.Listener) map[string]operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]operation
	}
	if err := json.Unmarshal(listener.Document(), &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]operation{}
	for path, item := range doc.Paths {
		for method, op := range item {
			all[strings.ToUpper(method)+" "+path] = op
		}
	}
	return all
}

// conforms fails the test if a JSON route's answer is not what the document promises. An answer to another path is
// ignored, and so is what the guard refuses in plain text.
func conforms(t *testing.T, listener *ops.Listener, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	what := r.Method + " " + r.URL.Path
	for name, op := range document(t, listener) {
		pattern := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(name), `[^/]+`)
		isText := strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain")
		if !regexp.MustCompile(`^`+pattern+`$`).MatchString(what) || isText {
			continue
		}
		promised, ok := op.Responses[strconv.Itoa(w.Code)]
		if !ok && w.Code >= http.StatusBadRequest {
			promised, ok = op.Responses["default"]
		}
		if !ok {
			t.Errorf("%s: the answer %d is not in the document", what, w.Code)
			continue
		}
		if promised.Content == nil {
			if w.Body.Len() > 0 {
				t.Errorf("%s: %d has a body that is not in the document: %s", what, w.Code, w.Body)
			}
			continue
		}
		var body any
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
			t.Errorf("%s: %d: %v", what, w.Code, err)
			continue
		}
		if wrong := misfit(promised.Content["application/json"].Schema, body, ""); wrong != "" {
			t.Errorf("%s: the answer %d does not fit its schema: %s in %s", what, w.Code, wrong, w.Body)
		}
	}
}

// misfit returns what is wrong with a value, or "". A member that the schema does not have is wrong.
func misfit(schema map[string]any, value any, at string) string {
	if len(schema) == 0 { // anything
		return ""
	}
	kinds, _ := schema["type"].([]any)
	if one, ok := schema["type"].(string); ok {
		kinds = []any{one}
	}
	kind := kindOf(value)
	if !slices.Contains(kinds, any(kind)) && (kind != "integer" || !slices.Contains(kinds, any("number"))) {
		return fmt.Sprintf("%s is %s, want %v", at, kind, kinds)
	}
	switch v := value.(type) {
	case []any:
		items, _ := schema["items"].(map[string]any)
		for i, item := range v {
			if wrong := misfit(items, item, fmt.Sprintf("%s/%d", at, i)); wrong != "" {
				return wrong
			}
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		every, isMap := schema["additionalProperties"].(map[string]any)
		for name, member := range v {
			of, ok := properties[name].(map[string]any)
			if isMap {
				of, ok = every, true
			}
			if !ok {
				return at + "/" + name + " is not in the schema"
			}
			if wrong := misfit(of, member, at+"/"+name); wrong != "" {
				return wrong
			}
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Sprintf("%s/%s is missing", at, name)
			}
		}
	}
	return ""
}

// kindOf returns the type of a decoded value, as JSON Schema names it.
func kindOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	case float64:
		if v == float64(int64(v)) {
			return "integer"
		}
		return "number"
	default:
		return fmt.Sprintf("%T", value)
	}
}

func TestTheDocumentHasEveryJSONRouteWithItsQueryAndItsBody(t *testing.T) {
	t.Parallel()
	listener := newOps(t, func(o *ops.Options) {
		kit := testkit.DB(t)
		o.DB, o.System, o.DatabaseURL, o.Worker = kit.App, kit.System, kit.URL, &slots{n: 1}
		withOrgs(o)
	})
	w := asked(t, listener, "GET", "/openapi.json")
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Error(err)
	}
	all := document(t, listener)
	var want []string
	for _, pattern := range listener.JSONRoutes() {
		want = append(want, strings.TrimSuffix(pattern, "{$}"))
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(all))); diff != "" {
		t.Errorf("operations (-routes +document):\n%s", diff)
	}
	queries, bodies := 0, 0
	for name, op := range all {
		method, path, _ := strings.Cut(name, " ")
		path = regexp.MustCompile(`\{\w+\}`).ReplaceAllString(path, id.New().String())
		if names, ok := strings.CutPrefix(said(t, listener, method, path+"?zzz=1", ""), "query: one each of "); ok {
			queries++
			got := []string{}
			for _, p := range op.Parameters {
				if p.In == "query" {
					got = append(got, p.Name)
				}
			}
			if fmt.Sprint(got) != names {
				t.Errorf("%s: the document has the query %v, the route %s", name, got, names)
			}
		}
		unread := func(body string) bool {
			return strings.HasPrefix(said(t, listener, method, path, body), "body: it is no JSON object")
		}
		schema := op.Body.Content["application/json"].Schema
		if readsBody := unread(`{"zzz":1}`); readsBody != (schema != nil) {
			t.Errorf("%s reads a body: %t, and the document has one: %t", name, readsBody, schema != nil)
		}
		properties, _ := schema["properties"].(map[string]any)
		for member, of := range properties {
			bodies++
			sample := map[string]string{
				"string": `"2026-01-01T00:00:00Z"`, "integer": "0", "boolean": "false", "object": "{}",
			}
			kinds := fmt.Sprint(of.(map[string]any)["type"])
			value := "null"
			for kind, text := range sample {
				if strings.Contains(kinds, kind) {
					value = text
				}
			}
			if body := `{"` + member + `":` + value + `}`; unread(body) {
				t.Errorf("%s does not take %s", name, body)
			}
		}
	}
	if queries < 8 || bodies < 20 {
		t.Errorf("only %d queries and %d members of bodies were compared", queries, bodies)
	}
}

// said returns the error of an answer, or "".
func said(t *testing.T, listener *ops.Listener, method, target, body string) string {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Host = "127.0.0.1:9090"
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	listener.ServeHTTP(w, r)
	var out struct{ Error string }
	_ = json.Unmarshal(w.Body.Bytes(), &out)
	return out.Error
}
