package api_test

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are those of the document's answers, compiled once each. They see what kin-openapi lets pass, such as a null
// that an enum does not name.
type schemas struct {
	doc any // the document as it was read

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	known    map[string]*jsonschema.Schema // by pointer; nil: the answer has none
}

const docURL = "mem:///openapi.json"

func newSchemas(document string) (*schemas, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(document))
	if err != nil {
		return nil, err
	}
	s := &schemas{doc: doc, compiler: jsonschema.NewCompiler(), known: map[string]*jsonschema.Schema{}}
	s.compiler.AssertFormat()
	return s, s.compiler.AddResource(docURL, doc)
}

// hold returns what the document has against the body of an answer, nil for one that is no JSON.
func (s *schemas) hold(method, route string, status int, contentType string, body []byte) error {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return nil //nolint:nilerr // another check is about the Content-Type
	}
	schema, err := s.of(method, route, status, kind)
	if err != nil || schema == nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

func (s *schemas) of(method, route string, status int, kind string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pointer := []string{"paths", route, strings.ToLower(method), "responses", fmt.Sprint(status)}
	if to, ok := at(s.doc, append(pointer, "$ref")...).(string); ok {
		pointer = strings.Split(strings.TrimPrefix(to, "#/"), "/")
	}
	pointer = append(pointer, "content", kind, "schema")
	name := "#"
	for _, part := range pointer {
		name += "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(part)
	}
	schema, ok := s.known[name]
	if ok || at(s.doc, pointer...) == nil {
		return schema, nil
	}
	schema, err := s.compiler.Compile(docURL + name)
	s.known[name] = schema
	return schema, err
}

// at is the member of v at the end of a path; nil where there is none.
func at(v any, path ...string) any {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[name]
	}
	return v
}
