package ai

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Call is one request to a language model.
type Call struct {
	Name      string          // of the operation
	System    string          // our prompt, trusted
	User      string          // contains untrusted text
	Schema    json.RawMessage // JSON Schema of the reply
	MaxTokens int64           // of the reply
}

// TokenUsage is the number of tokens that a call used.
type TokenUsage struct {
	PromptTokens     int64 `json:"prompt_tokens" doc:"Tokens of the request to the model"`
	CompletionTokens int64 `json:"completion_tokens" doc:"Tokens of the model's answer"`
	TotalTokens      int64 `json:"total_tokens"`
}

// Descriptions implements wire.Describer.
func (TokenUsage) Descriptions() map[string]string {
	return map[string]string{ //nolint:gosec // texts, no credentials
		"total_tokens": "prompt_tokens plus completion_tokens, charged to the monthly quota",
	}
}

// Reply is a model's reply; its text is not validated.
type Reply struct {
	Text  string
	Usage TokenUsage // zero if the provider does not report it
}

// Provider completes calls. Every error that it returns is an UnavailableError.
type Provider interface {
	Complete(ctx context.Context, c Call) (Reply, error)
}

// UnavailableError reports that a call brought no reply.
type UnavailableError struct {
	Class string        // timeout, refused, busy, broken
	After time.Duration // when to retry, if the provider says so
	Cause error
	// Reason says why in our words, with the status and the names that the provider gives. It holds no secret and
	// nothing of the request.
	Reason string
	// Detail is the provider's own text, for the operator: on one line, without what looks like a secret; "" if it
	// quotes the request.
	Detail string
}

func (u *UnavailableError) Error() string { return "the provider gave no answer: " + u.Class }

func (u *UnavailableError) Unwrap() error { return u.Cause }

// Nobody is a provider that is always unavailable.
type Nobody struct{}

// Complete returns an UnavailableError.
func (Nobody) Complete(context.Context, Call) (Reply, error) {
	return Reply{}, &UnavailableError{
		Class: "refused", Cause: errors.New("no provider is configured"), Reason: "no provider is configured",
	}
}
