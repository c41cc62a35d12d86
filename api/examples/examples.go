// Package examples holds one example of a request and its response for every operation of the API document, as files
// named by operation id. A test records them from real responses (api/examples_test.go), so they are never written by
// hand: go test ./api -run TestTheExamples -update.
//
// An id in an example that begins with IDPrefix, or a text that contains Placeholder, stands for a value of the
// caller's own. Every other example request succeeds as it is.
package examples

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
)

const (
	// IDPrefix begins every id in an example.
	IDPrefix = "0192a000-0000-7000-8000-"
	// Placeholder is in every text that stands for a secret, a token or an id of another service.
	Placeholder = "EXAMPLE"
)

// Example is one request and its response.
type Example struct {
	// ContentType is the media type of a request that is not JSON. Its Request is then a JSON string, or an object of
	// the form's fields.
	ContentType string          `json:"content_type,omitempty"`
	Request     json.RawMessage `json:"request,omitempty"`
	Status      int             `json:"status"`
	Response    json.RawMessage `json:"response,omitempty"` // only JSON
}

// NeedsValues reports whether the request names values of the caller's own.
func (e *Example) NeedsValues() bool {
	text := string(e.Request)
	return strings.Contains(text, IDPrefix) || strings.Contains(text, Placeholder)
}

//go:embed *.json
var files embed.FS

// All returns the examples by operation id. It panics on an invalid file, which is part of the binary.
func All() map[string]Example {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(fmt.Errorf("list examples: %w", err))
	}
	all := make(map[string]Example, len(entries))
	for _, entry := range entries {
		text, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(fmt.Errorf("read example: %w", err))
		}
		var e Example
		if err := json.Unmarshal(text, &e); err != nil {
			panic(fmt.Errorf("read example %s: %w", entry.Name(), err))
		}
		all[strings.TrimSuffix(entry.Name(), ".json")] = e
	}
	return all
}
