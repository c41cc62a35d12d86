package ai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

// Call is one question to a language model.
type Call struct {
	Name      string          // of the operation
	System    string          // ours
	User      string          // holds what strangers wrote
	Schema    json.RawMessage // of the answer: a JSON Schema
	MaxTokens int64           // of the answer
}

// Usage is what a call has cost, in tokens.
type Usage struct {
	PromptTokens     int64 `json:"prompt_tokens"`
	CompletionTokens int64 `json:"completion_tokens"`
	TotalTokens      int64 `json:"total_tokens"`
}

// Reply is a model's answer; its text is not checked.
type Reply struct {
	Text  string
	Usage Usage // zero where the provider does not say
}

// Provider answers calls. An error is an UnavailableError, whatever went wrong.
type Provider interface {
	Complete(ctx context.Context, c Call) (Reply, error)
}

// UnavailableError is a call that brought no answer.
type UnavailableError struct {
	Class string        // timeout, refused, busy, broken
	After time.Duration // when to try again, where the provider says so
	Cause error
}

func (u *UnavailableError) Error() string { return "the provider gave no answer: " + u.Class }

func (u *UnavailableError) Unwrap() error { return u.Cause }

// Nobody is a provider that never answers.
type Nobody struct{}

// Complete is an UnavailableError.
func (Nobody) Complete(context.Context, Call) (Reply, error) {
	return Reply{}, &UnavailableError{Class: "refused", Cause: errors.New("no provider is set")}
}

// Options say how a provider is reached.
type Options struct {
	Key, Model string
	URL        string       // of an API like OpenAI's, with its version; "" for OpenAI's own
	HTTP       *http.Client // nil: the default one
}

// Client speaks with any server that has OpenAI's chat completions.
type Client struct {
	api   openai.Client
	model string
}

// Open makes a client. It does not retry: who asks waits, and the tokens are theirs.
func Open(o Options) *Client {
	with := []option.RequestOption{option.WithAPIKey(o.Key), option.WithMaxRetries(0)}
	if o.URL != "" {
		with = append(with, option.WithBaseURL(o.URL))
	}
	if o.HTTP != nil {
		with = append(with, option.WithHTTPClient(o.HTTP))
	}
	return &Client{api: openai.NewClient(with...), model: o.Model}
}

// Complete asks once.
func (c *Client) Complete(ctx context.Context, call Call) (Reply, error) {
	got, err := c.api.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model:       c.model,
		Messages:    []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(call.System), openai.UserMessage(call.User)},
		MaxTokens:   openai.Int(call.MaxTokens), // the name that every such server knows
		Temperature: openai.Float(0.2),
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{Name: call.Name, Schema: call.Schema, Strict: openai.Bool(true)},
		}},
	})
	if err != nil {
		return Reply{}, unavailable(err)
	}
	if len(got.Choices) != 1 || got.Choices[0].FinishReason == "length" {
		return Reply{}, &UnavailableError{Class: "broken", Cause: fmt.Errorf("%d choices", len(got.Choices))}
	}
	return Reply{Text: got.Choices[0].Message.Content, Usage: Usage{got.Usage.PromptTokens, got.Usage.CompletionTokens, got.Usage.TotalTokens}}, nil
}

// unavailable sorts what went wrong. The provider's own words stay out of it: they may quote the request.
func unavailable(err error) *UnavailableError {
	var answer *openai.Error
	switch {
	case errors.As(err, &answer):
		u := &UnavailableError{Class: "refused", Cause: fmt.Errorf("status %d", answer.StatusCode)}
		if answer.StatusCode == http.StatusTooManyRequests {
			u.Class = "busy"
		}
		if answer.Response != nil {
			if s, err := strconv.Atoi(answer.Response.Header.Get("Retry-After")); err == nil && s > 0 {
				u.After = min(time.Duration(s)*time.Second, time.Hour)
			}
		}
		return u
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &UnavailableError{Class: "timeout", Cause: err}
	}
	return &UnavailableError{Class: "broken", Cause: err}
}
