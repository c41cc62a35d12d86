// Package model is a sandbox language model provider, so that the AI endpoints can be tried without a real one. It
// implements OpenAI's chat completions, derives its responses from the request by simple rules, and states that it is a
// sandbox.
package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/funnelwork/funnelwork/internal/sandbox/inprocess"
)

// URL is the base address for requests over Transport.
const URL = "http://model.sandbox/v1"

// Name is the model's name.
const Name = "sandbox-1"

// Mood is how the sandbox handles one request.
type Mood string

// The moods.
const (
	Well    Mood = ""
	Slow    Mood = "slow"    // responds after the caller has gone
	Cut     Mood = "cut"     // breaks the connection in the middle of a response
	Busy    Mood = "busy"    // responds with 429, retry after 7 seconds
	Down    Mood = "down"    // responds with 500
	Prose   Mood = "prose"   // returns text instead of JSON
	Chatty  Mood = "chatty"  // adds a field that was not requested
	Silent  Mood = "silent"  // omits the usage
	Overrun Mood = "overrun" // exceeds the token limit
)

// Sandbox is the sandbox provider.
type Sandbox struct {
	// Mood, if set, is called for each request; for tests.
	Mood func() Mood
	// Hear, if set, is called with the user message of each request; for tests.
	Hear func(message string)
	// Obey, if set, is the text of every response, as from a model that follows injected instructions; for tests.
	Obey string

	calls sync.WaitGroup
}

// Transport returns a RoundTripper that calls the sandbox without a network.
func (s *Sandbox) Transport() http.RoundTripper {
	return inprocess.Transport{Handler: s, Calls: &s.calls}
}

// Close waits for running requests.
func (s *Sandbox) Close() { s.calls.Wait() }

type question struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	} `json:"messages"`
	MaxTokens int64 `json:"max_tokens"`
	Format    struct {
		Schema struct {
			Name string `json:"name"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

// asked is the data that the CRM sends.
type asked struct {
	Task   string `json:"task"`
	Text   string `json:"text"`
	Record struct {
		Contact struct {
			FirstName string  `json:"first_name"`
			LastName  string  `json:"last_name"`
			Stage     string  `json:"stage"`
			JobTitle  *string `json:"job_title"`
			LeadScore float64 `json:"lead_score"`
		} `json:"contact"`
		Timeline []struct {
			Type string `json:"type"`
		} `json:"timeline"`
		Step struct {
			Key string `json:"key"`
		} `json:"step"`
		Enrolments []struct {
			Sequence string  `json:"sequence"`
			EndedAt  *string `json:"ended_at"`
		} `json:"enrolments"`
	} `json:"record"`
}

// ServeHTTP serves POST /v1/chat/completions.
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mood := Well
	if s.Mood != nil {
		mood = s.Mood()
	}
	var q question
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") ||
		json.NewDecoder(r.Body).Decode(&q) != nil || len(q.Messages) != 2 {
		problem(w, http.StatusBadRequest, "invalid_request_error")
		return
	}
	switch mood {
	case Slow:
		select {
		case <-r.Context().Done():
		case <-time.After(time.Minute):
		}
		return
	case Cut:
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write([]byte(`{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assis`))
		panic(http.ErrAbortHandler)
	case Busy:
		w.Header().Set("Retry-After", "7")
		problem(w, http.StatusTooManyRequests, "rate_limit_exceeded")
		return
	case Down:
		problem(w, http.StatusInternalServerError, "server_error")
		return
	case Well, Prose, Chatty, Silent, Overrun:
	}
	if s.Hear != nil {
		s.Hear(q.Messages[1].Content)
	}
	var a asked
	_ = json.Unmarshal([]byte(q.Messages[1].Content), &a) // an unknown format yields a generic response
	out := reply(q.Format.Schema.Name, &a)
	if mood == Chatty {
		out["sent"] = true
	}
	text, _ := json.Marshal(out) // strings, numbers and lists of strings
	if s.Obey != "" {
		text = []byte(s.Obey)
	}
	if mood == Prose {
		text = []byte("Certainly! Here is what I think about that.")
	}
	prompt, answer := tokens(q.Messages[0].Content)+tokens(q.Messages[1].Content), tokens(string(text))
	if mood == Overrun {
		answer = 3 * q.MaxTokens
	}
	body := map[string]any{
		"id": "chatcmpl-sandbox", "object": "chat.completion", "created": time.Now().Unix(), "model": q.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "stop",
			"message": map[string]any{"role": "assistant", "content": string(text)},
		}},
	}
	if mood != Silent {
		body["usage"] = map[string]any{
			"prompt_tokens": prompt, "completion_tokens": answer,
			"total_tokens": prompt + answer,
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

func problem(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{
		"message": "This is the sandbox speaking.",
		"type":    code, "code": code, "param": nil,
	}})
}

// tokens estimates a tokenizer's count.
func tokens(s string) int64 { return int64(len(s)+3) / 4 }

// reply returns the sandbox's response to an operation.
func reply(operation string, a *asked) map[string]any {
	c := &a.Record.Contact
	who := strings.TrimSpace(plain(c.FirstName) + " " + plain(c.LastName))
	if who == "" {
		who = "there"
	}
	switch operation {
	case "draft_email":
		subject := "A short question, " + who
		if key := plain(a.Record.Step.Key); key != "" {
			subject = "The step " + key + ", for " + who
		}
		return map[string]any{
			"subject": subject,
			"body": fmt.Sprintf("Hello %s,\n\n(The sandbox wrote this; a real model would write to your "+
				"wish.)\n\nWould you have ten minutes this week?", who),
		}
	case "summarize_contact":
		return map[string]any{
			"summary": fmt.Sprintf("Sandbox: %s is in stage %s with a lead score of %.0f.", who, plain(c.Stage),
				c.LeadScore),
			"highlights": []string{fmt.Sprintf("%d things happened lately.", len(a.Record.Timeline))},
		}
	case "next_action":
		action := "email"
		if c.LeadScore >= 50 {
			action = "call"
		}
		for _, e := range a.Record.Enrolments {
			if e.EndedAt == nil {
				return map[string]any{
					"action": "wait", "due_in_days": 3,
					"reason": "Sandbox: a sequence writes to the contact by itself: " + plain(e.Sequence),
				}
			}
		}
		return map[string]any{
			"action": action,
			"reason": fmt.Sprintf("Sandbox: the lead score is %.0f.", c.LeadScore), "due_in_days": 1,
		}
	default:
		return map[string]any{
			"label": label(a.Text), "confidence": 0.8,
			"reason": "Sandbox: by the words that it holds.",
		}
	}
}

// plain shortens a name and keeps it on one line.
func plain(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if strings.Contains(s, "://") || len(s) > 100 {
		return ""
	}
	return s
}

func label(text string) string {
	text = strings.ToLower(text)
	for _, rule := range []struct {
		label string
		words []string
	}{
		{"unsubscribe", []string{"unsubscribe", "remove me", "stop writing", "abmelden"}},
		{"ooo", []string{"out of office", "on vacation", "automatic reply", "abwesen"}},
		{"negative", []string{"not interested", "no thanks", "no, thank", "kein interesse"}},
		{"positive", []string{"interested", "sounds good", "let's talk", "call me", "yes"}},
	} {
		for _, w := range rule.words {
			if strings.Contains(text, w) {
				return rule.label
			}
		}
	}
	return "neutral"
}
