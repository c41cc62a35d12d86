package ai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/funnelwork/funnelwork/internal/outbound"
)

const (
	openAI      = "https://api.openai.com/v1"
	temperature = 0.2
	// maxResponse is the longest response that is read, in bytes. The longest reply has a few thousand.
	maxResponse = 256 << 10
	// callTime bounds a call whose caller has more time.
	callTime = 2 * time.Minute
	// maxRetryAfter bounds the wait that a provider may ask for, in seconds.
	maxRetryAfter = 3600
)

// Options configure the connection to a provider.
type Options struct {
	Key, Model string
	URL        string       // of an OpenAI-compatible API, with its version; "": OpenAI's
	HTTP       *http.Client // nil: a client whose requests have callTime
}

// Client is a Provider for any server that implements OpenAI's chat completions. It is safe for concurrent use.
//
// It implements that one endpoint with net/http: OpenAI's own client covers a hundred endpoints and takes longer to
// compile than the rest of the service.
type Client struct {
	http       http.Client
	url        string
	key, model string
}

// Open returns a client. It does not retry, because the caller is waiting and each attempt costs tokens. It follows a
// redirect only to the same host, because the request carries the key.
func Open(o Options) *Client {
	c := &Client{
		url: strings.TrimSuffix(cmp.Or(o.URL, openAI), "/") + "/chat/completions",
		key: o.Key, model: o.Model,
	}
	if o.HTTP != nil {
		c.http = *o.HTTP
	} else {
		c.http = http.Client{Transport: outbound.NewTransport(http.ProxyFromEnvironment), Timeout: callTime}
	}

	c.http.CheckRedirect = sameOrigin

	return c
}

func sameOrigin(r *http.Request, via []*http.Request) error {
	if first := via[0].URL; r.URL.Scheme != first.Scheme || r.URL.Host != first.Host {
		return errors.New("redirect to another host")
	}
	if len(via) >= 10 {
		return errors.New("too many redirects")
	}
	return nil
}

type request struct {
	Model          string         `json:"model"`
	Messages       []message      `json:"messages"`
	MaxTokens      int64          `json:"max_tokens"` // the field that every compatible server knows
	Temperature    float64        `json:"temperature"`
	ResponseFormat responseFormat `json:"response_format"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type responseFormat struct {
	Type   string     `json:"type"`
	Schema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type completion struct {
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"` // null if the model refuses
		} `json:"message"`
	} `json:"choices"`
	Usage json.RawMessage `json:"usage"`
}

// Complete sends call once.
func (c *Client) Complete(ctx context.Context, call Call) (Reply, error) {
	body, err := json.Marshal(request{
		Model:    c.model,
		Messages: []message{{Role: "system", Content: call.System}, {Role: "user", Content: call.User}},
		// A schema is strict, so that the provider itself holds the reply to it.
		ResponseFormat: responseFormat{
			Type:   "json_schema",
			Schema: jsonSchema{Name: call.Name, Schema: call.Schema, Strict: true},
		},
		MaxTokens: call.MaxTokens, Temperature: temperature,
	})
	if err != nil {
		return Reply{}, classifyError(ctx, fmt.Errorf("encode request: %w", err))
	}

	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return Reply{}, classifyError(ctx, err)
	}

	r.Header.Set("Accept", "application/json")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Funnelwork/1")
	if c.key != "" {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}

	response, err := c.http.Do(r)
	if err != nil {
		return Reply{}, classifyError(ctx, err)
	}

	defer func() { _ = response.Body.Close() }()

	if response.StatusCode >= http.StatusBadRequest {
		return Reply{}, classifyStatus(response)
	}

	reply, err := readReply(response)
	if err != nil {
		return Reply{}, classifyError(ctx, err)
	}

	return reply, nil
}

// readReply decodes the one choice of a response. A choice that ends at the token limit is incomplete.
func readReply(response *http.Response) (Reply, error) {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return Reply{}, errors.New("the response is not JSON")
	}

	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err != nil {
		return Reply{}, fmt.Errorf("read response: %w", err)
	}
	if len(raw) > maxResponse {
		return Reply{}, errors.New("the response is too long")
	}

	var got completion
	if err := json.Unmarshal(raw, &got); err != nil {
		return Reply{}, fmt.Errorf("decode response: %w", err)
	}
	if len(got.Choices) != 1 || got.Choices[0].FinishReason == "length" {
		return Reply{}, fmt.Errorf("%d choices", len(got.Choices))
	}

	return Reply{Text: got.Choices[0].Message.Content, Usage: readUsage(got.Usage)}, nil
}

// readUsage returns the usage of a response. Servers differ in what they report, so a value that is not a number
// counts as not reported.
func readUsage(raw json.RawMessage) TokenUsage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields)
	count := func(name string) int64 {
		const limit = 1 << 53
		var n float64
		if json.Unmarshal(fields[name], &n) != nil || n < 0 || n > limit {
			return 0
		}
		return int64(n)
	}

	return TokenUsage{
		PromptTokens: count("prompt_tokens"), CompletionTokens: count("completion_tokens"),
		TotalTokens: count("total_tokens"),
	}
}

// classifyStatus classifies a response with an error status. The provider's own message is not read, because it may
// quote the request.
func classifyStatus(response *http.Response) *UnavailableError {
	u := &UnavailableError{Class: "refused", Cause: fmt.Errorf("status %d", response.StatusCode)}
	if response.StatusCode == http.StatusTooManyRequests {
		u.Class = "busy"
	}
	if s, err := strconv.ParseInt(response.Header.Get("Retry-After"), 10, 64); err == nil && s > 0 {
		u.After = time.Duration(min(s, maxRetryAfter)) * time.Second
	}

	return u
}

// classifyError classifies the error of a call that ended without a usable response. The address is left out, because
// it may hold a password.
func classifyError(ctx context.Context, err error) *UnavailableError {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if ended := ctx.Err(); ended != nil {
		return &UnavailableError{Class: "timeout", Cause: ended}
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return &UnavailableError{Class: "timeout", Cause: err}
	}

	return &UnavailableError{Class: "broken", Cause: err}
}
