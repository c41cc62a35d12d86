package api_test

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/sandbox/stripe"
	"github.com/funnelwork/funnelwork/internal/telemetry"
)

const (
	trace       = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + trace + "-00f067aa0ba902b7-01"
)

// line is the part of a log line that says what it is about.
type line struct {
	Level   string
	Msg     string
	Request string `json:"request_id"`
	Trace   string `json:"trace_id"`
	Org     string `json:"org_id"`
}

// lines decodes the JSON lines of a log.
func lines(t *testing.T, log string) (all []line) {
	t.Helper()
	for text := range strings.Lines(log) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, l)
	}
	return all
}

func TestEveryLineUnderARequestHasTheIDsOfTheRequest(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	s := startLogged(t, telemetry.NewLogger(&log, false, slog.LevelInfo), unlimited)
	if _, err := s.sync().Publish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	c := s.signup().subscribe("white_label_pro")
	anonymous := &caller{service: s}
	before := len(lines(t, log.String()))

	want := map[string]line{} // by request id
	send := func(by *caller, id, org string, messages []string, method, path string, body any) answer {
		t.Helper()
		got := by.do(method, path, body, "X-Request-Id", id, "traceparent", traceparent)
		want[id] = line{Msg: strings.Join(messages, ", "), Request: id, Trace: trace, Org: org}
		return got
	}
	own := c.Org.String()
	send(c, "read", own, []string{"request"}, "GET", contactsPath, nil).want(t, 200, "")
	send(c, "bad", own, []string{"request"}, "GET", contactsPath+"?limit=x", nil).want(t, 400, "invalid_parameter")
	send(anonymous, "nobody", "", []string{"request"}, "GET", contactsPath, nil).want(t, 401, "unauthorized")
	send(anonymous, "nowhere", "", []string{"request"}, "GET", "/nowhere", nil).want(t, 404, "not_found")

	s.Stripe.Break(stripe.Fault{Kind: stripe.CutBefore, Times: -1})
	send(c, "broken", own, []string{"request failed", "request"}, "POST", "/billing/portal", nil).
		want(t, 503, "unavailable")

	// Public operations learn the org themselves.
	var in struct {
		RefreshToken string `json:"refresh_token"`
		Org          struct{ ID string }
	}
	send(anonymous, "signup", "?", []string{"request"}, "POST",
		"/api/v1/auth/signup", map[string]any{
			"org_name": "Lines", "email": "ada@lines.example", "password": "correct horse battery",
		}).want(t, 201, "").into(t, &in)
	signup := want["signup"]
	signup.Org = in.Org.ID
	want["signup"] = signup
	first := in.RefreshToken
	for _, id := range []string{"refresh", "refresh-again"} {
		send(anonymous, id, in.Org.ID, []string{"request"}, "POST", "/api/v1/auth/refresh",
			map[string]any{"refresh_token": in.RefreshToken}).want(t, 200, "").into(t, &in)
	}
	send(anonymous, "reuse", in.Org.ID, []string{"refresh token reused, token family revoked", "request"}, "POST",
		"/api/v1/auth/refresh", map[string]any{"refresh_token": first})

	got := map[string]line{}
	for _, l := range lines(t, log.String())[before:] {
		seen, known := got[l.Request]
		if known {
			if seen.Trace != l.Trace || seen.Org != l.Org {
				t.Errorf("lines of one request differ: %+v, %+v", seen, l)
			}
			l.Msg = seen.Msg + ", " + l.Msg
		}
		l.Level = ""
		got[l.Request] = l
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines by request (-want +got):\n%s\n%s", diff, log.String())
	}
}

func TestALineWithoutATraceparentHasNoTraceID(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	s := startLogged(t, telemetry.NewLogger(&log, false, slog.LevelInfo))
	c := &caller{service: s}
	for _, sent := range []string{"", "00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", "not one"} {
		c.do("GET", "/nowhere", nil, "traceparent", sent)
	}
	all := lines(t, log.String())
	if len(all) != 3 || slices.ContainsFunc(all, func(l line) bool { return l.Request == "" }) ||
		strings.Contains(log.String(), telemetry.Trace) {
		t.Error(log.String())
	}
}
