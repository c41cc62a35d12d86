package ai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/ai"
)

// asked is what a server looks at in a request.
type asked struct {
	MaxTokens     *int64   `json:"max_tokens"`
	MaxCompletion *int64   `json:"max_completion_tokens"`
	Temperature   *float64 `json:"temperature"`
	Stream        bool     `json:"stream"`
	Format        *struct {
		Type string `json:"type"`
	} `json:"response_format"`
	Messages []struct{ Role, Content string }
}

// picky refuses requests as servers of one kind do; nil: it takes them.
type picky func(q *asked) (status int, body string)

func refusal(message, param, code string) string {
	b, _ := json.Marshal(map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": param, "code": code,
	}})
	return string(b)
}

// servers are the refusals of servers, as they word them.
var servers = map[string]picky{
	"a reasoning model that wants max_completion_tokens": func(q *asked) (int, string) {
		switch {
		case q.MaxTokens != nil:
			return 400, refusal("Unsupported parameter: 'max_tokens' is not supported with this model. Use "+
				"'max_completion_tokens' instead.", "max_tokens", "unsupported_parameter")
		case q.Temperature != nil:
			return 400, refusal("Unsupported value: 'temperature' does not support 0.2 with this model. Only "+
				"the default "+
				"(1) value is supported.", "temperature", "unsupported_value")
		}
		return 0, ""
	},
	"a model without temperature": func(q *asked) (int, string) {
		if q.Temperature != nil {
			return 400, refusal("`temperature` is deprecated for this model.", "", "")
		}
		return 0, ""
	},
	"a server without schemas": func(q *asked) (int, string) {
		if q.Format != nil && q.Format.Type == "json_schema" {
			return 400, refusal("Invalid parameter: 'response_format' of type 'json_schema' is not supported "+
				"with this "+
				"model.", "response_format", "")
		}
		return 0, ""
	},
	"a gateway that validates strictly": func(q *asked) (int, string) {
		if q.Format != nil {
			return 422, `{"detail":[{"type":"extra_forbidden","loc":["body","response_format"],"msg":"Extra ` +
				`inputs are not ` +
				`permitted","input":{}}]}`
		}
		return 0, ""
	},
	"an old server that says it in one line": func(q *asked) (int, string) {
		if q.Format != nil && q.Format.Type == "json_schema" {
			return 500, `{"error":"failed to parse grammar"}`
		}
		return 0, ""
	},
	"a server that takes only text or json_object": func(q *asked) (int, string) {
		if q.Format != nil && q.Format.Type == "json_schema" {
			return 400, `{"object":"error","message":"response_format.type must be text or json_object","code":40000}`
		}
		return 0, ""
	},
	"a server that does not say what it refuses": func(q *asked) (int, string) {
		if q.Format != nil || q.Temperature != nil {
			return 400, `{"error":{"message":"Bad request"}}`
		}
		return 0, ""
	},
	"a model without a system role": func(q *asked) (int, string) {
		if q.Messages[0].Role == "system" {
			return 400, refusal("System role not supported", "", "")
		}
		return 0, ""
	},
	"a model that only streams": func(q *asked) (int, string) {
		if !q.Stream {
			return 400, refusal("This model only supports streaming: stream must be set to true.", "stream", "")
		}
		return 0, ""
	},
	"a server that knows no max_tokens": func(q *asked) (int, string) {
		if q.MaxTokens != nil {
			return 400, refusal("Unrecognized request argument supplied: max_tokens", "", "")
		}
		return 0, ""
	},
}

func TestWhatAServerDoesNotTakeIsLearnedWithOneTryMoreAndRemembered(t *testing.T) {
	t.Parallel()
	for name, refuses := range servers {
		var mu sync.Mutex
		calls := 0
		c := provider(t, func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			calls++
			var q asked
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
				t.Error(err)
			}
			if status, body := refuses(&q); status != 0 {
				asJSON(status, body)(w, r)
				return
			}
			if all := q.Messages[0].Content; q.Format == nil && !strings.Contains(all, `"the schema"`) {
				t.Errorf("%s: a request without the form does not state the schema: %s", name, all)
			}
			if q.Stream {
				_, _ = io.WriteString(w, "data: "+strings.ReplaceAll(fine, "message", "delta")+"\n\ndata: [DONE]\n\n")
				return
			}
			asJSON(200, fine)(w, r)
		})
		for n, want := range []int{2, 3, 4} {
			got, err := c.Complete(t.Context(), ai.Call{
				System: "S", User: "U",
				Schema: json.RawMessage(`{"title":"the schema"}`),
			})
			if err != nil || got.Text != "{}" || got.Usage.TotalTokens != 12 {
				t.Fatalf("%s, call %d: %+v, %v", name, n, got, err)
			}
			if calls != want {
				t.Errorf("%s, call %d: %d requests, want %d", name, n, calls, want)
			}
		}
	}
}

func TestAServerThatRefusesTheOtherFormTooIsAskedTwiceAndNothingIsLearned(t *testing.T) {
	t.Parallel()
	calls := 0
	c := provider(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		asJSON(400, `{"error":{"message":"no"}}`)(w, r)
	})
	before := c.Trouble().Accepts
	if _, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)}); err == nil || calls != 2 {
		t.Errorf("%d requests, %v", calls, err)
	}
	if diff := cmp.Diff(before, c.Trouble().Accepts); diff != "" {
		t.Errorf("something was learned of refusals:\n%s", diff)
	}
}

func TestAModelThatSpendsItsTokensOnReasoningGetsRoomForIt(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]string{
		"a text of reasoning":   `{"finish_reason":"length","message":{"content":"<think>Let me see"}}`,
		"reasoning beside":      `{"finish_reason":"length","message":{"content":"","reasoning_content":"Let me see"}}`,
		"tokens without a text": `{"finish_reason":"length","message":{"content":null}}`,
	} {
		var limits []int64
		c := provider(t, func(w http.ResponseWriter, r *http.Request) {
			var q asked
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.MaxTokens == nil {
				t.Errorf("%+v, %v", q, err)
				return
			}
			if limits = append(limits, *q.MaxTokens); *q.MaxTokens < 1000 {
				asJSON(200, `{"choices":[`+cut+`]}`)(w, r)
				return
			}
			asJSON(200, fine)(w, r)
		})
		for range 2 {
			if _, err := c.Complete(t.Context(), ai.Call{MaxTokens: 150, Schema: json.RawMessage(`{}`)}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if diff := cmp.Diff([]int64{150, 4246, 4246}, limits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// The texts of one answer, as models write them.
const label = `{"label":"positive","confidence":0.9,"reason":"They want to talk."}`

func TestTheObjectIsFoundInWhateverAModelWritesAroundIt(t *testing.T) {
	t.Parallel()
	quoted, _ := json.Marshal(label)
	for name, text := range map[string]string{
		"alone":                         label,
		"with blanks":                   "\n\n  " + label + "\n",
		"with a byte order mark":        "\ufeff" + label,
		"in a fence":                    "```json\n" + label + "\n```",
		"in a fence without a language": "```\n" + label + "\n```",
		"in a fence with prose": "Sure! Here is the JSON:\n\n```json\n" + label + "\n```\n\nLet me " +
			"know {if} it helps.",
		"in prose":        "The answer is " + label + ". I hope it helps.",
		"after reasoning": "<think>\nIs it {\"label\":\"neutral\"}? No.\n</think>\n\n" + label,
		"after reasoning with an " +
			"answer": "<think>" + strings.Replace(label, "positive", "neutral", 1) + "</think>" + label,
		"after the end of reasoning": "I think so.\n</think>\n" + label,
		"after thinking":             "<thinking>Hm {</thinking>" + label,
		"after a channel of analysis": "<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>final" +
			"<|message|>" + label,
		"after braces":      "Given {x} and {y: 1}: " + label,
		"twice the same":    label + "\n\n" + label,
		"as a quoted value": string(quoted),
	} {
		got, err := ai.Read[ai.Classified](text, ai.Ask{})
		if err != nil || got.Label != "positive" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"nothing": "", "prose": "Certainly!", "two different": label + strings.Replace(label, "positive", "negative",
			1),
		"a field more":       strings.Replace(label, "{", `{"sent":true,`, 1),
		"a field less":       `{"label":"positive","confidence":0.9}`,
		"cut":                label[:len(label)-1],
		"only in reasoning":  "<think>" + label + "</think>",
		"inside another one": `{"answer":` + label + `}`,
		"a list":             "[" + label + "]",
	} {
		if got, err := ai.Read[ai.Classified](text, ai.Ask{}); !errors.Is(err, ai.ErrForm) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestAReplyIsReadInEachFormThatServersSend(t *testing.T) {
	t.Parallel()
	usage := ai.TokenUsage{PromptTokens: 7, CompletionTokens: 5, TotalTokens: 12}
	event := func(all ...string) string { return "data: " + strings.Join(all, "\n\ndata: ") + "\n\n" }
	for name, tc := range map[string]struct {
		kind, body string
		want       ai.Reply
	}{
		"content in pieces": {
			"application/json", `{"choices":[{"message":{"content":[{"type":"thinking","thinking":[` +
				`{"type":"text","text":"no"}]},{"type":"text","text":"{"},{"type":"text","text":"}"}]}}]}`,
			ai.Reply{Text: "{}"},
		},
		"content with a value": {
			"application/json",
			`{"choices":[{"message":{"content":[{"type":"text","text":{"value":"{}","annotations":[]}}]}}]}`,
			ai.Reply{Text: "{}"},
		},
		"reasoning beside": {
			"application/json",
			`{"choices":[{"message":{"content":"{}","reasoning_content":"hm"}}]}`,
			ai.Reply{Text: "{}"},
		},
		"the call of a tool": {
			"application/json",
			`{"choices":[{"message":{"content":null,"tool_calls":[{"function":{"name":"x","arguments":"{}"}}]}}]}`,
			ai.Reply{Text: "{}"},
		},
		"usage by other names": {
			"application/json",
			`{"choices":[{"message":{"content":"{}"}}],"usage":{"input_tokens":7,"output_tokens":5}}`,
			ai.Reply{Text: "{}", Usage: usage},
		},
		"no type of content": {"", `{"choices":[{"message":{"content":"{}"}}]}`, ai.Reply{Text: "{}"}},
		"plain text":         {"text/plain", `{"choices":[{"message":{"content":"{}"}}]}`, ai.Reply{Text: "{}"}},
		"a stream": {
			"text/event-stream", event(`{"choices":[{"delta":{"role":"assistant","content":""}}]}`,
				`{"choices":[{"delta":{"content":"{"}}]}`,
				`{"choices":[{"delta":{"content":"}"},"finish_reason":"stop"}]}`,
				`{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}`, `[DONE]`),
			ai.Reply{Text: "{}", Usage: usage},
		},
		"a stream of another type, with comments": {"application/json", ": ping\n\nevent: x\r\n" +
			event(`{"choices":[{"delta":{"reasoning_content":"hm","content":null}}]}`,
				`{"choices":[{"delta":{"content":"{}"},"finish_reason":"stop"}]}`), ai.Reply{Text: "{}"}},
		"a stream of a tool's call": {
			"text/event-stream", event(
				`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}`,
				`{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}`),
			ai.Reply{Text: "{}"},
		},
	} {
		c := provider(t, asJSON(200, tc.body, "Content-Type: "+tc.kind))
		got, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)})
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
	for name, body := range map[string]string{
		"an error in the " +
			"stream": event(`{"choices":[{"delta":{"content":"{"}}]}`, `{"error":{"message":"overloaded"}}`),
		"a stream without an answer": event(`{"choices":[{"delta":{}}]}`),
		"a stream that is cut":       event(`{"choices":[{"delta":{"content":"{\"a\":1"},"finish_reason":"length"}]}`),
	} {
		c := provider(t, asJSON(200, body, "Content-Type: text/event-stream"))
		if got, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)}); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAProvidersReasonIsNamedWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	const question = "Ada Lovelace asked whether the looms can be moved in June."
	for name, tc := range map[string]struct {
		status       int
		body, reason string
	}{
		"a wrong key": {401, refusal("Incorrect API key provided: sk-secret. You can find your API key at "+
			"https://x.", "",
			"invalid_api_key"), "the provider refuses the key (status 401, "},
		"a masked key": {
			401, refusal("Incorrect API key provided: sk-se**cret.", "", "invalid_api_key"),
			"the provider refuses the key (status 401, ",
		},
		"no credit": {429, refusal("You exceeded your current quota, please check your plan and billing details.", "",
			"insufficient_quota"), "the account at the provider has no credit left (status 429, "},
		"no such model": {404, refusal("The model `m-1` does not exist or you do not have access to it.", "",
			"model_not_found"), "the provider has no such model, or the key may not use it (status 404, "},
		"too long": {400, refusal("This model's maximum context length is 8192 tokens.", "messages",
			"context_length_exceeded"), "the request is longer than the model takes (status 400, "},
		"a filter": {400, refusal("The response was filtered by our content management policy.", "prompt",
			"content_filter"), "the provider's content filter refuses the request (status 400, "},
		"a rate":     {429, `{"message":"slow down"}`, "the provider's rate limit is reached (status 429)"},
		"a page":     {502, `<html>secret`, "the provider failed (status 502)"},
		"a quote":    {400, refusal("Bad: "+question, "", ""), "the provider refuses the request (status 400, "},
		"an address": {500, `{"error":"https://me:secret@proxy"}`, "the provider failed (status 500)"},
		"a secret as code": {403, refusal("no", "", "sk-secret"), "the provider does not allow this key to do " +
			"that (status " +
			"403, "},
	} {
		c := provider(t, asJSON(tc.status, tc.body))
		_, err := c.Complete(t.Context(), ai.Call{User: question, Schema: json.RawMessage(`{}`)})
		u, ok := errors.AsType[*ai.UnavailableError](err)
		if !ok || !strings.HasPrefix(u.Reason, tc.reason) {
			t.Errorf("%s: %v, reason %q, want %q", name, err, u.Reason, tc.reason)
			continue
		}
		if all := u.Reason + u.Detail; strings.Contains(all, "secret") || strings.Contains(all, "cret") ||
			strings.Contains(all, "looms") {
			t.Errorf("%s: it shows a secret or the request: %q, %q", name, u.Reason, u.Detail)
		}
		if at := c.Trouble(); at.Reason != u.Reason || at.FailedAt == nil || at.Model != "m-1" {
			t.Errorf("%s: the operator sees %+v", name, at)
		}
	}
}
