// Package eventstest validates payloads against the catalogue's schemas. The validator is santhosh-tekuri/jsonschema,
// not our own code.
package eventstest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/funnelwork/funnelwork/internal/events"
)

// Check fails t unless envelope is of a type in the catalogue and matches the schema of that type.
func Check(t testing.TB, envelope []byte) {
	t.Helper()
	if err := Violation(envelope); err != nil {
		t.Errorf("%v\nin %s", err, envelope)
	}
}

// Violation returns an error for an envelope that violates its schema. Members that the schema does not name are errors
// here, although the published schema allows them: payloads must contain only declared members.
func Violation(envelope []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	var value any
	if err := json.Unmarshal(envelope, &head); err != nil {
		return err
	}
	if err := json.Unmarshal(envelope, &value); err != nil {
		return err
	}
	all, err := compiled()
	if err != nil {
		return err
	}
	schema, ok := all[head.Type]
	if !ok {
		return fmt.Errorf("%q is not in the catalogue", head.Type)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Errorf("%s: %w", head.Type, err)
	}
	return nil
}

// compiled holds the closed schemas by type.
var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	all := map[string]*jsonschema.Schema{}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.RegisterFormat(&jsonschema.Format{Name: "date-time", Validate: sixDigits})
	for _, t := range events.Catalogue() {
		raw, err := json.Marshal(closed(t.Schema()))
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			return nil, err
		}
		if err := c.AddResource(t.Name, doc); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
		}
		if all[t.Name], err = c.Compile(t.Name); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", t.Name, err)
		}
	}
	return all, nil
})

// sixDigits checks the time format of the API, which is stricter than the format's name implies.
func sixDigits(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	_, err := time.Parse("2006-01-02T15:04:05.000000Z", s)
	return err
}

// closed forbids undeclared members in every object that declares members.
func closed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v)+1)
		for k, m := range v {
			out[k] = closed(m)
		}
		if _, ok := v["properties"].(map[string]any); ok {
			out["additionalProperties"] = false
		}
		return out
	default:
		return v
	}
}
