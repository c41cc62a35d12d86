package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/id"
)

// nasty are values that are invalid for some field.
var nasty = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `1e308`, `1e400`, `-0`, `9223372036854775808`, `123456789012345678901234567890`,
	`1000.0`, `1e3`, `1E+2`, `1e19`, `9007199254740993`,
	`""`, `" "`, `"x"`, `"\u0000"`, `"\ud800"`, `"a\u0000b"`, `"😀"`, `"'; DROP TABLE org; --"`, `"%00"`, `"\\"`,
	`"../../etc/passwd"`,
	`"2026-13-45T99:99:99Z"`, `"0000-01-01T00:00:00Z"`, `"9999-12-31T23:59:59.999999999Z"`,
	`"292277026596-12-04T15:30:07Z"`, `"1-1-1"`,
	`"00000000-0000-0000-0000-000000000000"`, `"not-a-uuid"`, `"a@b"`, `"a@b.test"`, `"https://93.184.216.34/"`,
	`"http://localhost"`, `"*"`, `"a,b"`,
	`[]`, `[null]`, `[""]`, `["a","a"]`, `[1]`, `[[[[]]]]`, `{}`, `{"a":1}`, `{"":""}`, `{"a":{"b":{"c":[]}}}`,
	`{"a":null}`,
	`{"all":[]}`, `{"any":[{"all":[]}]}`, `{"not":{"any":[]}}`, `{"field":"tag","op":"in","value":[]}`,
	`{"field":"lead_score","op":"gt","value":1e3}`, `{"field":"attributes.","op":"exists","value":true}`,
	`"` + strings.Repeat("a", 300) + `"`, `"` + strings.Repeat("ä", 5000) + `"`,
	`[` + strings.Repeat(`"a",`, 500) + `"b"]`,
}

// TestNoRequestMakesUsFail sends every route valid bodies altered in one or two places, and malformed parameters and
// paths. No response may be a 5xx, and the harness validates each against the API document.
func TestNoRequestMakesUsFail(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	if _, err := s.sync().Publish(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	c := s.signup()
	s.furnish(c)
	mine := s.harvest(c.Org)
	asked, taken, rounds := 0, 0, 60
	if testing.Short() { // as with the race detector
		rounds = 12
	}
	r := rand.New(rand.NewPCG(3, 9))
	ask := func(route api.Route, path string, body any, headers ...string) {
		t.Helper()
		got := c.do(route.Method, path, body, headers...)
		asked++
		if got.Status < 400 {
			taken++
		}
		if got.Status >= 500 {
			t.Errorf("%s %s: %d %s\n%s", route.Method, path, got.Status, got.Body, clip(body))
		}
	}
	for _, route := range s.App.Routes() {
		if strings.HasPrefix(route.Path, "/api/v1/auth/") && route.Role != "" {
			continue // it may end the caller's own login
		}
		if route.Method == "DELETE" && strings.Contains(route.Path, "members") {
			continue
		}
		place := regexp.MustCompile(`\{[^}]*\}`)
		for n := range rounds {
			path := place.ReplaceAllStringFunc(route.Path, func(string) string {
				if n%3 == 0 {
					return url.PathEscape(word(r))
				}
				return mine[r.IntN(len(mine))]
			})
			if n%4 == 1 {
				path += "?" + s.spoiledQuery(route, r)
			}
			ask(route, path, s.spoiledBody(route, n, r))
		}
		ask(route, route.Path, strings.Repeat("[", 10_000))
		ask(route, place.ReplaceAllString(route.Path, "%00"), nil)
		ask(route, place.ReplaceAllString(route.Path, id.New().String()), `{"a":1e400}`, "If-Match", `W/"`,
			"Idempotency-Key", "k", "If-None-Match", `"`)
	}
	t.Logf("%d requests, %d of them taken", asked, taken)
	if taken == 0 || taken == asked {
		t.Error("a test that nothing or everything passes says nothing")
	}
}

// word returns a nasty value as text.
func word(r *rand.Rand) string {
	v := nasty[r.IntN(len(nasty))]
	var text string
	if json.Unmarshal([]byte(v), &text) != nil {
		return v
	}
	return text
}

func (s *service) spoiledQuery(route api.Route, r *rand.Rand) string {
	q := url.Values{}
	for _, p := range s.operation(route).Parameters {
		if p.Value.In == "query" && r.IntN(3) == 0 {
			q.Add(p.Value.Name, word(r))
		}
	}
	if r.IntN(8) == 0 {
		q.Add(word(r), "x")
	}
	return q.Encode()
}

// spoiledBody returns a valid body with one or two members altered, as raw JSON.
func (s *service) spoiledBody(route api.Route, n int, r *rand.Rand) any {
	op := s.operation(route)
	if op.RequestBody == nil || op.RequestBody.Value.Content["application/json"] == nil {
		if n%5 == 0 {
			return nasty[r.IntN(len(nasty))]
		}
		return nil
	}
	schema := op.RequestBody.Value.Content["application/json"].Schema.Value
	good, ok := sample("", schema, n+10, n%2 == 0).(map[string]any)
	if !ok || n%10 == 9 {
		return nasty[r.IntN(len(nasty))]
	}
	for name := range schema.Properties { // also alter members which the sample omits
		if _, there := good[name]; !there && r.IntN(20) == 0 {
			good[name] = nil
		}
	}
	var body any = good
	for range n % 3 {
		body = spoil(body, r)
	}
	return written(body)
}

// spoil replaces a part of v, at any depth, with a nasty value, which is raw JSON.
func spoil(v any, r *rand.Rand) any {
	switch v := v.(type) {
	case map[string]any:
		if names := slices.Sorted(maps.Keys(v)); len(names) > 0 {
			name := names[r.IntN(len(names))]
			v[name] = spoilOrEnter(v[name], r)
			return v
		}
	case []any:
		if len(v) > 0 {
			i := r.IntN(len(v))
			v[i] = spoilOrEnter(v[i], r)
			return v
		}
	}
	return json.RawMessage(nasty[r.IntN(len(nasty))])
}

func spoilOrEnter(v any, r *rand.Rand) any {
	switch v.(type) {
	case map[string]any, []any:
		if r.IntN(4) > 0 {
			return spoil(v, r)
		}
	}
	return json.RawMessage(nasty[r.IntN(len(nasty))])
}

// written encodes v as JSON without checking the nasty parts; encoding/json rejects 1e400.
func written(v any) string {
	var out strings.Builder
	switch v := v.(type) {
	case json.RawMessage:
		return string(v)
	case map[string]any:
		for i, k := range slices.Sorted(maps.Keys(v)) {
			fmt.Fprintf(&out, "%s%q:%s", []string{"{", ","}[min(i, 1)], k, written(v[k]))
		}
		return "{" + strings.TrimPrefix(out.String(), "{") + "}"
	case []any:
		for i, one := range v {
			fmt.Fprintf(&out, "%s%s", []string{"[", ","}[min(i, 1)], written(one))
		}
		return "[" + strings.TrimPrefix(out.String(), "[") + "]"
	default:
		b, _ := json.Marshal(v) //nolint:errchkjson // samples are plain
		return string(b)
	}
}

func clip(body any) string {
	text := fmt.Sprint(body)
	return text[:min(len(text), 400)]
}
