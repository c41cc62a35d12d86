package ai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
)

// completion is a response, or a piece of one that is streamed.
type completion struct {
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	FinishReason string `json:"finish_reason"`
	Message      turn   `json:"message"`
	Delta        turn   `json:"delta"`
	Text         string `json:"text"`
}

// turn is what the model has said, or a piece of it.
type turn struct {
	Content          content         `json:"content"` // null if the model refuses
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ToolCalls        []struct {
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// content is a text, which servers send whole or in typed pieces. Pieces of reasoning are left out.
type content string

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return fmt.Errorf("decode content: %w", err)
	}
	var out strings.Builder
	collectText(&out, v)
	*c = content(out.String())
	return nil
}

func collectText(out *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		out.WriteString(v)
	case []any:
		for _, one := range v {
			collectText(out, one)
		}
	case map[string]any:
		if kind, typed := v["type"].(string); typed && kind != "text" && kind != "output_text" {
			return
		}
		if text, ok := v["text"].(map[string]any); ok {
			collectText(out, text["value"])
			return
		}
		collectText(out, v["text"])
	}
}

// answer is what was read of a response.
type answer struct {
	text, finish string
	usage        TokenUsage
	reasoned     bool // the model has spent tokens on reasoning
}

var (
	errNotJSON = errors.New("the response is not JSON")
	errTooLong = errors.New("the response is too long")
)

// cutError reports that the reply ends at the limit of its tokens.
type cutError struct{ reasoned bool }

func (*cutError) Error() string { return "the reply is cut off at the limit of its tokens" }

// readReply reads a response, whole or streamed. A choice that ends at the token limit is a cutError.
func readReply(response *http.Response) (Reply, error) {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if strings.Contains(kind, "html") || strings.Contains(kind, "xml") {
		return Reply{}, errNotJSON
	}
	body := io.LimitReader(response.Body, maxResponse+1)
	head := bufio.NewReader(body)
	start, err := skipSpace(head)
	if err != nil {
		return Reply{}, fmt.Errorf("read response: %w", err)
	}

	var a answer
	if start == '{' {
		err = a.readWhole(head)
	} else {
		err = a.readStream(head)
	}
	switch {
	case err != nil:
		return Reply{}, err
	case a.finish == "length":
		return Reply{}, &cutError{a.reasoned || strings.TrimSpace(a.text) == "" || hasReasoning(a.text)}
	}

	return Reply{Text: a.text, Usage: a.usage}, nil
}

// skipSpace returns the first byte that is no space, without taking it.
func skipSpace(r *bufio.Reader) (byte, error) {
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n\ufeff", rune(b)) {
			return b, r.UnreadByte()
		}
	}
}

func (a *answer) readWhole(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("read response: %w", err)
	}
	if len(raw) > maxResponse {
		return errTooLong
	}
	var got completion
	if err := json.Unmarshal(raw, &got); err != nil {
		return fmt.Errorf("decode response: %w", err)
	}
	if len(got.Choices) != 1 {
		return fmt.Errorf("%d choices", len(got.Choices))
	}
	a.add(&got, &got.Choices[0].Message)
	a.text += got.Choices[0].Text

	return nil
}

// readStream reads server-sent events, or JSON line by line.
func (a *answer) readStream(r io.Reader) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxResponse)
	events, read := 0, 0
	var tools strings.Builder
	for lines.Scan() {
		if read += len(lines.Bytes()); read > maxResponse {
			return errTooLong
		}
		line := bytes.TrimSpace(lines.Bytes())
		data, isData := bytes.CutPrefix(line, []byte("data:"))
		if !isData {
			continue
		}
		if data = bytes.TrimSpace(data); string(data) == "[DONE]" {
			break
		}
		var got completion
		if err := json.Unmarshal(data, &got); err != nil {
			return fmt.Errorf("decode event: %w", err)
		}
		if len(got.Error) > 0 && string(got.Error) != "null" {
			return errors.New("the provider broke the answer off with an error")
		}
		events++
		piece := &turn{}
		if len(got.Choices) > 0 {
			c := &got.Choices[0]
			if piece = &c.Delta; piece.Content == "" && c.Message.Content != "" {
				piece = &c.Message
			}
			for _, call := range piece.ToolCalls {
				tools.WriteString(call.Function.Arguments)
			}
			piece.ToolCalls = nil
			a.text += c.Text
		}
		a.add(&got, piece)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	if events == 0 {
		return errNotJSON
	}
	if strings.TrimSpace(a.text) == "" {
		a.text = tools.String()
	}
	if a.finish == "" && strings.TrimSpace(a.text) == "" {
		return errors.New("the stream ended without an answer")
	}

	return nil
}

// add adds a piece of the response.
func (a *answer) add(got *completion, t *turn) {
	a.text += string(t.Content)
	if strings.TrimSpace(a.text) == "" && len(t.ToolCalls) > 0 {
		a.text = t.ToolCalls[0].Function.Arguments
	}
	if len(got.Choices) > 0 && got.Choices[0].FinishReason != "" {
		a.finish = got.Choices[0].FinishReason
	}
	if u := readUsage(got.Usage); u != (TokenUsage{}) {
		a.usage = u
	}
	a.reasoned = a.reasoned || isText(t.ReasoningContent) || isText(t.Reasoning)
}

func isText(raw json.RawMessage) bool {
	var s string
	return json.Unmarshal(raw, &s) == nil && s != ""
}

// readUsage returns the usage of a response. Servers differ in what they report, so a value that is not a number
// counts as not reported.
func readUsage(raw json.RawMessage) TokenUsage {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields)
	count := func(names ...string) int64 {
		const limit = 1 << 53
		for _, name := range names {
			var n float64
			if json.Unmarshal(fields[name], &n) == nil && n > 0 && n <= limit {
				return int64(n)
			}
		}
		return 0
	}
	u := TokenUsage{
		PromptTokens:     count("prompt_tokens", "input_tokens"),
		CompletionTokens: count("completion_tokens", "output_tokens"),
		TotalTokens:      count("total_tokens"),
	}
	if u.TotalTokens == 0 {
		u.TotalTokens = u.PromptTokens + u.CompletionTokens
	}

	return u
}
