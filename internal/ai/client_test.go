package ai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/ai"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fine = `{"choices":[{"finish_reason":"stop","message":{"content":"{}"}}],` +
	`"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}}`

// provider starts a server and returns a client of it.
func provider(t *testing.T, h http.HandlerFunc) *ai.Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return ai.Open(ai.Options{Key: "sk-secret", Model: "m-1", URL: s.URL + "/v1"})
}

// asJSON answers with status and body as JSON. Each header is "Name: value".
func asJSON(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// The golden file has the four requests: method, path, headers and body.
func TestEachOperationSendsTheReviewedRequest(t *testing.T) {
	t.Parallel()
	var sent []map[string]any
	c := provider(t, func(w http.ResponseWriter, r *http.Request) {
		var body any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		headers := map[string]string{}
		for name := range r.Header {
			if name != "Content-Length" { // differs with the spelling of the body
				headers[name] = r.Header.Get(name)
			}
		}
		sent = append(sent, map[string]any{
			"method": r.Method, "url": r.URL.String(), "headers": headers, "body": body,
		})
		asJSON(200, fine)(w, r)
	})
	record := map[string]any{"contact": map[string]any{"first_name": "Ada <ada@acme.example> & co", "lead_score": 12.5}}
	for _, o := range []ai.Operation{ai.DraftEmail, ai.Summarize, ai.Next, ai.Classify} {
		call, err := o.Call(ai.Ask{Task: "Write \"now\"", Record: record, Text: "a mail\n\u2028 with ünïcode"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Complete(t.Context(), call); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(sent); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/requests.golden.json"
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAReplyIsItsTextAndItsUsage(t *testing.T) {
	t.Parallel()
	choice := func(message, more string) string {
		return `{"choices":[{"index":0,"finish_reason":"stop","message":` + message + `}]` + more + `}`
	}
	metered := ai.Reply{Text: "{}", Usage: ai.TokenUsage{PromptTokens: 7, CompletionTokens: 5, TotalTokens: 12}}
	for name, tc := range map[string]struct {
		body string
		kind string // content type, if not application/json
		want ai.Reply
	}{
		"with usage":         {fine, "", metered},
		"with a charset":     {fine, "application/json; charset=utf-8", metered},
		"of a vendor's type": {fine, "application/vnd.acme+json", metered},
		"without usage":      {choice(`{"content":"x"}`, ``), "", ai.Reply{Text: "x"}},
		"of null usage":      {choice(`{"content":"x"}`, `,"usage":null`), "", ai.Reply{Text: "x"}},
		"of odd usage": {
			choice(`{"content":"x"}`, `,"usage":{"prompt_tokens":"many","total_tokens":9.0}`), "",
			ai.Reply{Text: "x", Usage: ai.TokenUsage{TotalTokens: 9}},
		},
		"of usage as text": {choice(`{"content":"x"}`, `,"usage":"none"`), "", ai.Reply{Text: "x"}},
		"with unknown fields": {
			choice(`{"role":"assistant","content":"x","annotations":[],"logprobs":{}}`,
				`,"id":1,"system_fingerprint":null`), "", ai.Reply{Text: "x"},
		},
		"of a refusal":  {choice(`{"content":null,"refusal":"I cannot help."}`, ``), "", ai.Reply{}},
		"of no message": {choice(`null`, ``), "", ai.Reply{}},
		"cut by a filter": {
			`{"choices":[{"finish_reason":"content_filter","message":{"content":"x"}}]}`, "", ai.Reply{Text: "x"},
		},
		"of null reason": {
			`{"choices":[{"finish_reason":null,"message":{"content":"x"}}]}`, "", ai.Reply{Text: "x"},
		},
	} {
		kind := tc.kind
		if kind == "" {
			kind = "application/json"
		}
		c := provider(t, asJSON(200, tc.body, "Content-Type: "+kind))
		got, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)})
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil {
			t.Errorf("a reply %s: %v %s", name, err, diff)
		}
	}
}

func TestAnErrorHasItsClassAndTheTimeToRetry(t *testing.T) {
	t.Parallel()
	const problem = `{"error":{"message":"the prompt was: secret text","type":"x","code":null,"param":null}}`
	for name, tc := range map[string]struct {
		h     http.HandlerFunc
		class string
		after time.Duration
		cause string // of the cause's text, where the status decides
	}{
		"401":          {asJSON(401, problem), "refused", 0, "status 401"},
		"404 as text":  {asJSON(404, "not here", "Content-Type: text/plain"), "refused", 0, "status 404"},
		"429":          {asJSON(429, problem), "busy", 0, "status 429"},
		"429, seconds": {asJSON(429, problem, "Retry-After: 7"), "busy", 7 * time.Second, "status 429"},
		"429, a day":   {asJSON(429, problem, "Retry-After: 86400"), "busy", time.Hour, "status 429"},
		"429, an age": {
			asJSON(429, problem, "Retry-After: 9223372036854775807"),
			"busy", time.Hour, "status 429",
		},
		"429, a date": {
			asJSON(429, problem, "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT"),
			"busy", 0, "status 429",
		},
		"429, negative":          {asJSON(429, problem, "Retry-After: -1"), "busy", 0, "status 429"},
		"429 that asks to retry": {asJSON(429, problem, "X-Should-Retry: true"), "busy", 0, "status 429"},
		"500":                    {asJSON(500, problem), "refused", 0, "status 500"},
		"502 as a page": {
			asJSON(502, "<html>", "Content-Type: text/html", "Retry-After: 3"),
			"refused", 3 * time.Second, "status 502",
		},
		"503 without a body": {asJSON(503, "", "Retry-After: 3"), "refused", 3 * time.Second, "status 503"},
		"500, error as text": {asJSON(500, `{"error":"no"}`), "refused", 0, "status 500"},
		"no choice":          {asJSON(200, `{"choices":[]}`), "broken", 0, ""},
		"two choices": {
			asJSON(200, `{"choices":[{"message":{"content":"x"}},{"message":{"content":"y"}}]}`),
			"broken", 0, "",
		},
		"the end of the tokens": {
			asJSON(200, `{"choices":[{"finish_reason":"length","message":{"content":"{"}}]}`),
			"broken", 0, "",
		},
		"not JSON":   {asJSON(200, `{"choices":`), "broken", 0, ""},
		"a list":     {asJSON(200, `[]`), "broken", 0, ""},
		"nothing":    {asJSON(200, ``), "broken", 0, ""},
		"no content": {asJSON(204, ``), "broken", 0, ""},
		"text":       {asJSON(200, fine, "Content-Type: text/html"), "broken", 0, ""},
		"a broken connection": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"x"}}]}`)
		}, "broken", 0, ""},
	} {
		var calls int
		c := provider(t, func(w http.ResponseWriter, r *http.Request) {
			calls++
			tc.h(w, r)
		})
		got, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)})
		u, ok := errors.AsType[*ai.UnavailableError](err)
		if !ok || got != (ai.Reply{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		if u.Class != tc.class || u.After != tc.after || u.Cause == nil ||
			(tc.cause != "" && u.Cause.Error() != tc.cause) {
			t.Errorf("%s: %s, %v, %v", name, u.Class, u.After, u.Cause)
		}
		if calls != 1 {
			t.Errorf("%s: %d calls", name, calls)
		}
		if strings.Contains(u.Error()+u.Cause.Error(), "secret") {
			t.Errorf("%s: the error quotes the provider or the key: %v", name, u.Cause)
		}
	}
}

// A provider that has not answered in time, and one that stops in the middle of its answer.
func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"before the answer": "", "during the answer": `{"choices":[{"mess`} {
		for _, deadline := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			c := provider(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if first != "" {
					asJSON(200, first)(w, r)
					_ = http.NewResponseController(w).Flush()
				}
				if !deadline {
					cancel()
				}
				<-r.Context().Done()
			})
			want := context.Canceled
			if deadline {
				ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
				defer cancel()
				want = context.DeadlineExceeded
			}
			_, err := c.Complete(ctx, ai.Call{Schema: json.RawMessage(`{}`)})
			u, ok := errors.AsType[*ai.UnavailableError](err)
			if !ok || u.Class != "timeout" || !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
	}
}

func TestARedirectIsFollowedOnTheSameHostOnly(t *testing.T) {
	t.Parallel()
	var strange int
	stranger := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strange++ }))
	t.Cleanup(stranger.Close)
	to := "/v2/chat/completions"
	c := provider(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/chat/completions" {
			if body, err := io.ReadAll(r.Body); r.Method != http.MethodPost || len(body) == 0 || err != nil ||
				r.Header.Get("Authorization") != "Bearer sk-secret" {
				t.Errorf("%s %v %q", r.Method, r.Header, body)
			}
			asJSON(200, fine)(w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusTemporaryRedirect)
	})
	if got, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)}); err != nil || got.Text != "{}" {
		t.Errorf("on the same host: %+v, %v", got, err)
	}
	to = stranger.URL + "/v1/chat/completions"
	_, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)})
	if u, ok := errors.AsType[*ai.UnavailableError](err); !ok || u.Class != "broken" || strange != 0 {
		t.Errorf("to another host: %v, %d calls of it", err, strange)
	}
}

func TestTheAddressOfTheProviderIsItsBase(t *testing.T) {
	t.Parallel()
	var path, key string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, key = r.URL.Path, r.Header.Get("Authorization")
		asJSON(200, fine)(w, r)
	}))
	t.Cleanup(s.Close)
	for base, want := range map[string]string{
		"": "/chat/completions", "/": "/chat/completions", "/v1": "/v1/chat/completions",
		"/v1/": "/v1/chat/completions", "/a/b%20c": "/a/b c/chat/completions",
	} {
		c := ai.Open(ai.Options{URL: s.URL + base})
		if _, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)}); err != nil || path != want {
			t.Errorf("%q: %s, %v, want %s", base, path, err, want)
		}
		if key != "" {
			t.Errorf("without a key it sends Authorization %q", key)
		}
	}
	var asked string
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = r.URL.String()
		return nil, errors.New("no network")
	})
	c := ai.Open(ai.Options{Key: "k", HTTP: &http.Client{Transport: transport}})
	_, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)})
	if u, ok := errors.AsType[*ai.UnavailableError](err); !ok || u.Class != "broken" ||
		asked != "https://api.openai.com/v1/chat/completions" {
		t.Errorf("%s: %v", asked, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAnEndlessAnswerIsCutOff(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 500} {
		c := provider(t, func(w http.ResponseWriter, r *http.Request) {
			asJSON(status, `{"choices":[{"message":{"content":"`)(w, r)
			for block := strings.Repeat("x", 1<<16); r.Context().Err() == nil; {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		})
		_, err := c.Complete(t.Context(), ai.Call{Schema: json.RawMessage(`{}`)})
		u, ok := errors.AsType[*ai.UnavailableError](err)
		if want := map[int]string{200: "broken", 500: "refused"}[status]; !ok || u.Class != want {
			t.Errorf("%d: %v, want %s", status, err, want)
		}
	}
}
