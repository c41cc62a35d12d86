package api_test

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas are the compiled schemas of the document's responses. They detect what kin-openapi accepts, such as null in
// an enum that does not list it.
type schemas struct {
	doc any // the parsed document

	mu       sync.Mutex
	compiler *jsonschema.Compiler
	known    map[string]*jsonschema.Schema // by pointer; nil: no schema
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

// hold validates a response body against the document. It returns nil for a body that is not JSON.
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

// of returns the schema of a response body, or nil.
func (s *schemas) of(method, route string, status int, kind string) (*jsonschema.Schema, error) {
	pointer := []string{"paths", route, strings.ToLower(method), "responses"}
	if name := fmt.Sprint(status); at(s.doc, append(pointer, name)...) != nil {
		pointer = append(pointer, name)
	} else {
		pointer = append(pointer, "default")
	}
	if to, ok := at(s.doc, append(pointer, "$ref")...).(string); ok {
		pointer = strings.Split(strings.TrimPrefix(to, "#/"), "/")
	}
	return s.compile(append(pointer, "content", kind, "schema"))
}

// compile returns the schema at a pointer, or nil if there is none.
func (s *schemas) compile(pointer []string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
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

// at returns the member of v at a path, or nil.
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
