package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/api/examples"
)

// TestEveryBodyOfTheDocumentHasAnExampleThatFitsItsSchema reads the examples from the document, as its users do.
func TestEveryBodyOfTheDocumentHasAnExampleThatFitsItsSchema(t *testing.T) {
	t.Parallel()
	text := bare(t).Document()
	all, err := newSchemas(string(text))
	if err != nil {
		t.Fatal(err)
	}
	paths, _ := at(all.doc, "paths").(map[string]any)
	for path, item := range paths {
		methods, _ := item.(map[string]any)
		for method, op := range methods {
			name, _ := at(op, "operationId").(string)
			here := []string{"paths", path, method}
			if at(op, "requestBody") != nil && all.examplesIn(t, name, append(here, "requestBody")) == 0 {
				t.Errorf("%s: no media type of the request has an example", name)
			}
			responses, _ := at(op, "responses").(map[string]any)
			wanted, found := false, 0
			for status, response := range responses {
				if !strings.HasPrefix(status, "2") || at(response, "content", "application/json") == nil {
					continue
				}
				wanted = true
				found += all.examplesIn(t, name, append(slices.Clone(here), "responses", status))
			}
			if wanted && found == 0 {
				t.Errorf("%s: no successful response has an example", name)
			}
		}
	}
}

// examplesIn validates the examples of a request or response and returns their number.
func (s *schemas) examplesIn(t *testing.T, name string, pointer []string) (n int) {
	t.Helper()
	content, _ := at(s.doc, append(pointer, "content")...).(map[string]any)
	for kind, media := range content {
		example := at(media, "example")
		if example == nil {
			continue
		}
		n++
		schema, err := s.compile(append(slices.Clone(pointer), "content", kind, "schema"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := schema.Validate(example); err != nil {
			t.Errorf("%s: the example of %s does not fit its schema: %v", name, strings.Join(pointer, " "), err)
		}
	}
	return n
}

// TestEveryExampleRequestSucceedsAsItIs sends each example request that names no values of the caller's own, in a new
// org with the plan that the operation needs. An id in a path is such a value.
func TestEveryExampleRequestSucceedsAsItIs(t *testing.T) {
	t.Parallel()
	s := published(t)
	all := examples.All()
	var owner *caller // the one who signed up by the example
	sent := 0
	order := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return rankOfExample(a)*1000 - rankOfExample(b)*1000 + strings.Compare(a, b)
	})
	for _, operation := range order {
		e := all[operation]
		method, path := s.locate(operation)
		path = strings.Replace(path, "{platform}", "linkedin", 1)
		if e.Request == nil || e.NeedsValues() || strings.Contains(path, "{") {
			continue
		}
		c := owner
		switch {
		case operation == "auth.signup":
			c = s.stranger()
		case strings.HasPrefix(path, "/white-label"), strings.HasPrefix(path, clientsPath):
			c = s.reseller()
		case !strings.HasPrefix(operation, "auth."):
			c = s.signup()
		}
		body, headers := s.bodyOf(&e)
		if strings.HasPrefix(operation, "console.") {
			headers = append(headers, "X-Funnelwork-Console", "1", "Origin", s.URL)
		}
		got := c.do(method, strings.Replace(path, "/ads/linkedin/", "/ads/google_ads/", 1), body, headers...)
		if sent++; got.Status < 200 || got.Status > 299 {
			t.Errorf("%s: %d %s", operation, got.Status, got.Body)
			continue
		}
		if operation == "auth.signup" {
			var in tokens
			got.into(t, &in)
			owner = c.with(in)
		}
	}
	if sent < 20 {
		t.Errorf("only %d example requests were sent", sent)
	}
}

// rankOfExample orders the examples of one person: the signup comes first, and the new password last.
func rankOfExample(operation string) int {
	switch operation {
	case "auth.signup":
		return -1
	case "auth.change_password":
		return 1
	}
	return 0
}

// bodyOf returns the request body of an example, and its headers.
func (s *service) bodyOf(e *examples.Example) (body any, headers []string) {
	s.Helper()
	switch e.ContentType {
	case "":
		return []byte(e.Request), nil
	case "multipart/form-data":
		var parts map[string]string
		if err := json.Unmarshal(e.Request, &parts); err != nil {
			s.Fatal(err)
		}
		var pairs []string
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			pairs = append(pairs, name, parts[name])
		}
		body, kind := form(s, pairs...)
		return body, []string{"Content-Type", kind}
	default:
		var text string
		if err := json.Unmarshal(e.Request, &text); err != nil {
			s.Fatal(err)
		}
		return text, []string{"Content-Type", e.ContentType}
	}
}
