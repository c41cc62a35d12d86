package ai

import (
	"encoding/json"
	"strings"
)

// dialect is what a server accepts of a request. Servers of one interface differ in that: newer models refuse
// max_tokens and temperature, older servers know no schemas.
type dialect struct {
	tokens      string // name of the limit of the reply's tokens; "": none is sent
	format      string // of the reply: formatSchema, formatObject or formatNone
	temperature bool
	system      bool // messages of the role system are sent
	stream      bool // the reply is sent in pieces
	headroom    int64
}

const (
	maxTokens           = "max_tokens" // what every compatible server knows
	maxCompletionTokens = "max_completion_tokens"

	formatSchema = "json_schema"
	formatObject = "json_object"
	formatNone   = ""

	// reasoningRoom is how many tokens a model may reason with, which count as tokens of the reply.
	reasoningRoom = 4096
)

// common is the dialect of a server that nothing is known of.
func common() dialect {
	return dialect{tokens: maxTokens, format: formatSchema, temperature: true, system: true}
}

// lenient returns the dialect with what every server knows: for one that refuses a request without saying why.
func (d dialect) lenient() dialect {
	d.temperature, d.format = false, formatNone
	return d
}

// adapt returns the dialect that does without what the error of a server names, and reports whether it differs.
func (d dialect) adapt(e *serverError) (dialect, bool) {
	was := d
	said := e.words()
	names := func(all ...string) bool {
		for _, one := range all {
			if strings.Contains(said, one) {
				return true
			}
		}
		return false
	}
	if names("max_completion_tokens", maxTokens) {
		d.adaptTokens(said)
	}
	if names("temperature") {
		d.temperature = false
	}
	if names("response_format", "json_schema", "json_object", "structured output", "structured_output", "json mode",
		"guided_json", "grammar", "response format", "additionalproperties", "strict") {
		d.adaptFormat(said)
	}
	if names("system role", "system message", "role 'system'", "'system'", `"system"`, "role system",
		"system_instruction",
		"developer instruction is not enabled", "roles must alternate") {
		d.system = false
	}
	if names("stream") && !d.stream && names("must be", "only support", "required", "requires", "must set", "enable") {
		d.stream = true
	}
	return d, d != was
}

// adaptTokens changes the name of the limit. The models that want the newer name reason, and refuse a temperature.
func (d *dialect) adaptTokens(said string) {
	switch {
	case d.tokens == maxTokens:
		d.tokens = maxCompletionTokens
		if strings.Contains(said, maxCompletionTokens) {
			d.temperature, d.headroom = false, reasoningRoom
		}
	case strings.Contains(strings.ReplaceAll(said, maxCompletionTokens, ""), maxTokens):
		d.tokens, d.headroom = maxTokens, 0
	default:
		d.tokens = ""
	}
}

func (d *dialect) adaptFormat(said string) {
	if d.format == formatSchema && !strings.Contains(said, "response_format is not supported") &&
		!strings.Contains(said, "unrecognized request argument") && !strings.Contains(said, "extra_forbidden") {
		d.format = formatObject
		return
	}
	d.format = formatNone
}

// request returns the body of a call.
func (d dialect) request(model string, c Call) map[string]any {
	out := map[string]any{"model": model}
	system, user := c.System, c.User
	if d.format != formatSchema {
		system += "\nThe JSON Schema of the object is:\n" + string(c.Schema)
	}
	out["messages"] = []message{{Role: "system", Content: system}, {Role: "user", Content: user}}
	if !d.system {
		out["messages"] = []message{{Role: "user", Content: system + "\n\nThe user message is:\n\n" + user}}
	}
	switch d.format {
	case formatSchema: // strict, so that the provider itself holds the reply to it
		out["response_format"] = map[string]any{
			"type": formatSchema, "json_schema": jsonSchema{Name: c.Name, Schema: c.Schema, Strict: true},
		}
	case formatObject:
		out["response_format"] = map[string]any{"type": formatObject}
	}
	if d.tokens != "" {
		out[d.tokens] = c.MaxTokens + d.headroom
	}
	if d.temperature {
		out["temperature"] = temperature
	}
	if d.stream {
		out["stream"] = true
		out["stream_options"] = map[string]any{"include_usage": true}
	}
	return out
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}
