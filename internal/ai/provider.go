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

// Options configure the connection to a provider.
type Options struct {
	Key, Model string
	URL        string       // of an OpenAI-compatible API, with its version; "": OpenAI's
	HTTP       *http.Client // nil: the default client
}

// Client is a Provider for any server that implements OpenAI's chat completions.
type Client struct {
	api   openai.Client
	model string
}

// Open returns a client. It does not retry, because the caller is waiting and each attempt costs tokens.
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

// Complete sends call once.
func (c *Client) Complete(ctx context.Context, call Call) (Reply, error) {
	got, err := c.api.Chat.Completions.New(ctx, openai.ChatCompletionNewParams{
		Model: c.model,
		Messages: []openai.ChatCompletionMessageParamUnion{
			openai.SystemMessage(call.System),
			openai.UserMessage(call.User),
		},
		MaxTokens:   openai.Int(call.MaxTokens), // the field that every compatible server knows
		Temperature: openai.Float(0.2),
		ResponseFormat: openai.ChatCompletionNewParamsResponseFormatUnion{
			OfJSONSchema: &shared.ResponseFormatJSONSchemaParam{
				JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
					Name: call.Name, Schema: call.Schema,
					Strict: openai.Bool(true),
				},
			},
		},
	})
	if err != nil {
		return Reply{}, unavailable(err)
	}
	if len(got.Choices) != 1 || got.Choices[0].FinishReason == "length" {
		return Reply{}, &UnavailableError{Class: "broken", Cause: fmt.Errorf("%d choices", len(got.Choices))}
	}
	return Reply{
		Text:  got.Choices[0].Message.Content,
		Usage: Usage{got.Usage.PromptTokens, got.Usage.CompletionTokens, got.Usage.TotalTokens},
	}, nil
}

// unavailable classifies err. The provider's own message is left out, because it may quote the request.
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
