package ai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxError is how much of an error's body is read.
const maxError = 16 << 10

// serverError is a response with an error status.
type serverError struct {
	status  int
	message string // may quote the request, or a secret
	code    string // code, type and param, as far as they look like names
	param   string
	after   time.Duration
}

// readServerError reads a response with an error status. Servers differ in the form of the error.
func readServerError(response *http.Response) *serverError {
	e := &serverError{status: response.StatusCode}
	if s, err := strconv.ParseInt(response.Header.Get("Retry-After"), 10, 64); err == nil && s > 0 {
		e.after = time.Duration(min(s, maxRetryAfter)) * time.Second
	}
	raw, _ := io.ReadAll(io.LimitReader(response.Body, maxError)) // what came before a failure is enough
	var body any
	if json.Unmarshal(raw, &body) != nil {
		page := strings.HasPrefix(strings.TrimSpace(string(raw)), "<") // of a proxy
		if kind := response.Header.Get("Content-Type"); !page && !strings.Contains(kind, "html") {
			e.message = string(raw)
		}
		return e
	}

	if list, ok := body.([]any); ok && len(list) > 0 { // Google's gateway wraps the error in a list
		body = list[0]
	}
	e.take(body, 0)

	return e
}

// take collects the parts of an error from its JSON, at most a few levels deep.
func (e *serverError) take(v any, depth int) {
	switch v := v.(type) {
	case string:
		e.add(v)
	case []any:
		for _, one := range v {
			if depth < 4 {
				e.take(one, depth+1)
			}
		}
	case map[string]any:
		for _, name := range []string{
			"error", "message", "msg", "detail", "details", "error_description", "errors", "reason", "loc", "body",
			"failed_generation", "metadata", "raw",
		} {
			if one, ok := v[name]; ok && depth < 4 && name != "failed_generation" {
				e.take(one, depth+1)
			}
		}
		for _, name := range []string{"code", "type", "status"} {
			if s, ok := v[name].(string); ok && slug.MatchString(s) && !strings.Contains(e.code, s) {
				e.code = strings.TrimSpace(e.code + " " + s)
			}
		}
		if s, ok := v["param"].(string); ok && slug.MatchString(s) {
			e.param = s
		}
	}
}

func (e *serverError) add(s string) {
	if s = strings.TrimSpace(s); s != "" && len(e.message) < maxError {
		e.message = strings.TrimSpace(e.message + " " + s)
	}
}

// slug is the form of the names that errors have. A key is longer, or has capital letters and digits mixed.
var slug = regexp.MustCompile(`^[A-Za-z][A-Za-z]*([_.\- ][A-Za-z0-9]{1,20}){0,8}$`)

// words returns what tells which part of the request is refused: the name of the parameter if the server gives one,
// else its text.
func (e *serverError) words() string {
	if e.param != "" && e.param != "messages" {
		return strings.ToLower(e.param + " " + e.message)
	}
	return strings.ToLower(e.code + " " + e.message)
}

// mayAdapt reports whether another form of the request may succeed.
func (e *serverError) mayAdapt() bool {
	switch e.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
		return reasonOf(e) == ""
	}
	return false
}

// isUnclear reports whether the server refuses the request, and it cannot be told what of it.
func (e *serverError) isUnclear() bool {
	return (e.status == http.StatusBadRequest || e.status == http.StatusUnprocessableEntity) && reasonOf(e) == ""
}

// reasons tell by a word of an error, or by its status, why a provider does not answer. The first one counts.
var reasons = []struct {
	status int // 0: any
	words  []string
	reason string
}{
	{0, []string{
		"insufficient_quota", "insufficient balance", "insufficient credits", "exceeded your current quota", "billing",
		"credit balance", "payment required", "not enough credits", "insufficient_credits", "out of credits",
	}, "the account at the provider has no credit left"},
	{http.StatusPaymentRequired, nil, "the account at the provider has no credit left"},
	{0, []string{
		"invalid_api_key", "incorrect api key", "invalid api key", "api key not valid", "api key expired",
		"no auth credentials", "authentication_error", "invalid x-api-key", "invalid_authentication", "missing api key",
	}, "the provider refuses the key"},
	{http.StatusUnauthorized, nil, "the provider refuses the key"},
	{0, []string{
		"unsupported_country", "country, region, or territory not supported", "location is not supported",
	}, "the provider does not serve this country"},
	{0, []string{
		"model_not_found", "does not exist or you do not have access", "unknown model", "model not found",
		"no such model", "model_not_available", "invalid model", "not a valid model", "deploymentnotfound",
		"no endpoints found", "has been deprecated", "decommissioned", "model_decommissioned", "not found, try pulling",
	}, "the provider has no such model, or the key may not use it"},
	{0, []string{
		"context_length_exceeded", "maximum context length", "context window", "prompt is too long", "too many tokens",
		"exceeds the available context size", "context size",
	}, "the request is longer than the model takes"},
	{0, []string{
		"content_policy", "content_filter", "content management policy", "responsibleaipolicy", "safety system",
		"flagged", "moderation",
	}, "the provider's content filter refuses the request"},
	{http.StatusTooManyRequests, nil, "the provider's rate limit is reached"},
	{0, []string{"overloaded", "at capacity", "over capacity"}, "the provider is overloaded"},
	{http.StatusForbidden, nil, "the provider does not allow this key to do that"},
}

// reasonOf returns why a provider does not answer, or "".
func reasonOf(e *serverError) string {
	said := strings.ToLower(e.code + " " + e.message)
	for _, r := range reasons {
		if r.status != 0 && r.status != e.status {
			continue
		}
		if len(r.words) == 0 {
			return r.reason
		}
		for _, w := range r.words {
			if strings.Contains(said, w) {
				return r.reason
			}
		}
	}
	return ""
}

// unavailable returns the error of a call that ended with e.
func (e *serverError) unavailable(key string, call *Call) *UnavailableError {
	u := &UnavailableError{Class: "refused", Cause: fmt.Errorf("status %d", e.status), After: e.after}
	if e.status == http.StatusTooManyRequests {
		u.Class = "busy"
	}
	if u.Reason = reasonOf(e); u.Reason == "" {
		u.Reason = "the provider failed"
		if e.status < http.StatusInternalServerError {
			u.Reason = "the provider refuses the request"
		}
	}
	u.Reason += fmt.Sprintf(" (status %d", e.status)
	if code := withoutSecrets(e.code, key, call); code != "" {
		u.Reason += ", " + code
	}
	if e.param != "" {
		u.Reason += ", parameter " + e.param
	}
	u.Reason += ")"
	u.Detail = withoutSecrets(e.message, key, call)

	return u
}

const longestDetail = 300

// secretForm is what looks like a key, a token or an address with a password.
var secretForm = regexp.MustCompile(`(?i)\b(sk|pk|rk|gsk|xai|key|api|hf|nvapi|pplx)[-_][A-Za-z0-9_*\-]{4,}` +
	`|\bbearer\s+\S+|\beyJ[\w.\-]{8,}|://[^/\s:@]+:[^/\s@]+@|\b[A-Za-z0-9_\-]{32,}\b|\S*\*{3,}\S*`)

// withoutSecrets returns a provider's text on one line without what looks like a secret. If it quotes the request, ""
// is returned.
func withoutSecrets(s, key string, call *Call) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }),
		" ")
	if !utf8.ValidString(s) || quotes(s, call.User) {
		return ""
	}
	if key != "" {
		s = strings.ReplaceAll(s, key, "[key]")
	}
	s = secretForm.ReplaceAllString(s, "[key]")
	if runes := []rune(s); len(runes) > longestDetail {
		s = string(runes[:longestDetail]) + "…"
	}
	return s
}

// quotes reports whether s has a stretch of the request's text.
func quotes(s, request string) bool {
	const stretch = 24
	for i := 0; i+stretch <= len(s); i++ {
		if strings.Contains(request, s[i:i+stretch]) {
			return true
		}
	}
	return false
}
