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

// Usage is the number of tokens that a call used.
type Usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
}

// Reply is a model's reply; its text is not validated.
type Reply struct {
	Text  string
	Usage Usage // zero if the provider does not report it
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
}

func (u *UnavailableError) Error() string { return "the provider gave no answer: " + u.Class }

func (u *UnavailableError) Unwrap() error { return u.Cause }

// Nobody is a provider that is always unavailable.
type Nobody struct{}

// Complete returns an UnavailableError.
func (Nobody) Complete(context.Context, Call) (Reply, error) {
	return Reply{}, &UnavailableError{Class: "refused", Cause: errors.New("no provider is configured")}
}
