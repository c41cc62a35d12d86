package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"

	"github.com/funnelwork/funnelwork/api"
)

// wired is a response as received.
type wired struct {
	Status int
	Header http.Header
	Raw    []byte
	Plain  []byte // decoded body
}

// plainly sends exactly these headers, in pairs, and keeps the raw body of the response.
func (c *caller) plainly(method, path, body string, headers ...string) wired {
	c.Helper()
	req, err := http.NewRequestWithContext(c.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		c.Fatal(err)
	}
	req.Header.Set("X-Request-Id", "same")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	for pair := range slices.Chunk(headers, 2) {
		req.Header.Set(pair[0], pair[1])
	}
	res, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		c.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	w := wired{Status: res.StatusCode, Header: res.Header}
	if w.Raw, err = io.ReadAll(res.Body); err != nil {
		c.Fatal(err)
	}
	var r io.Reader = bytes.NewReader(w.Raw)
	switch coding := res.Header.Get("Content-Encoding"); {
	case method == http.MethodHead, coding == "":
	case coding == "gzip":
		if r, err = gzip.NewReader(r); err != nil {
			c.Fatal(err)
		}
	case coding == "br":
		r = brotli.NewReader(r)
	default:
		c.Errorf("%s %s: Content-Encoding %q", method, path, coding)
	}
	if w.Plain, err = io.ReadAll(r); err != nil {
		c.Errorf("%s %s: %v", method, path, err)
	}
	return w
}

func TestTheCodingIsTheOneThatTheCallerLikesBest(t *testing.T) {
	t.Parallel()
	type best struct {
		Coding string
		Must   bool
	}
	for accepted, want := range map[string]best{
		"":                                 {},
		"gzip":                             {"gzip", false},
		"br":                               {"br", false},
		"gzip, deflate, br, zstd":          {"br", false},
		"gzip;q=1.0, br;q=0.9":             {"gzip", false},
		"br;q=0.001":                       {"br", false},
		"br;q=0, gzip":                     {"gzip", false},
		"gzip;q=0":                         {},
		"gzip;q=0.000, br;q=0.0":           {},
		"X-GZIP":                           {"gzip", false},
		"*":                                {"br", false},
		"*;q=0":                            {},
		"*;q=0, gzip":                      {"gzip", true},
		"*;q=0.5, br;q=0":                  {"gzip", false},
		"identity":                         {},
		"identity;q=0":                     {},
		"identity;q=0, gzip":               {"gzip", true},
		"identity;q=0, *":                  {"br", true},
		"identity, gzip;q=0.5":             {},
		"identity;q=0.5, gzip;q=0.5":       {"gzip", false},
		"identity;q=0.5, gzip;q=1":         {"gzip", false},
		"deflate, zstd, compress":          {},
		" gzip ; q = 0.5 ,\tbr ; Q=0.4":    {"gzip", false},
		"gzip;q=2":                         {},
		"gzip;q=-1":                        {},
		"gzip;q=0.1234":                    {},
		"gzip;q=a":                         {},
		"gzip;level=9":                     {},
		",,gzip,,":                         {"gzip", false},
		"gzip;q=0, gzip;q=0.5":             {"gzip", false},
		strings.Repeat("x, ", 2000) + "br": {"br", false},
	} {
		var got best
		got.Coding, got.Must = api.Negotiate(accepted)
		if got != want {
			t.Errorf("%.60q: %+v, want %+v", accepted, got, want)
		}
	}
}

// volatile removes the members of a response that differ each time.
func volatile(t *testing.T, b []byte) string {
	t.Helper()
	var v map[string]any
	if json.Unmarshal(b, &v) != nil {
		return string(b)
	}
	delete(v, "next_cursor") // sealed
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestEveryAnswerIsTheSameInEveryCoding(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	for i := range 60 {
		body := fmt.Sprintf(`{"email":"c%d@example.com","first_name":"Ada","last_name":"Lovelace"}`, i)
		c.do("POST", "/api/v1/crm/contacts", body).want(t, 201, "")
	}
	paths := []string{
		"/openapi.json", "/docs", "/docs/webhooks", "/docs/start.js", "/docs/guides/import", "/docs/swagger-ui.css",
		"/docs/swagger-ui-bundle.js", "/docs/favicon-32x32.png", "/login", "/nowhere",
	}
	for _, r := range s.App.Routes() {
		if r.Method == http.MethodGet && !strings.Contains(r.Path, "{") && r.Path != streamPath { // which has no end
			paths = append(paths, r.Path)
		}
	}
	compressed := 0
	for _, path := range paths {
		plain := c.plainly("GET", path, "")
		if got := plain.Header.Get("Content-Encoding"); got != "" {
			t.Errorf("%s: %q though nobody asked for it", path, got)
		}
		for _, coding := range []string{"gzip", "br"} {
			got := c.plainly("GET", path, "", "Accept-Encoding", coding)
			if got.Status != plain.Status {
				t.Errorf("%s in %s: %d, want %d", path, coding, got.Status, plain.Status)
			}
			if d := cmp.Diff(volatile(t, plain.Plain), volatile(t, got.Plain)); d != "" {
				t.Errorf("%s in %s: %s", path, coding, d)
			}
			for _, name := range []string{"ETag", "Content-Type", "Cache-Control", "Vary"} {
				if d := cmp.Diff(plain.Header[name], got.Header[name]); d != "" {
					t.Errorf("%s in %s: %s: %s", path, coding, name, d)
				}
			}
			image := strings.HasPrefix(got.Header.Get("Content-Type"), "image/")
			want := ""
			if len(plain.Raw) > 1<<10 && !image {
				want = coding
				compressed++
			}
			if got.Header.Get("Content-Encoding") != want {
				t.Errorf("%s of %d bytes: Content-Encoding %q, want %q", path, len(plain.Raw),
					got.Header.Get("Content-Encoding"), want)
			}
			varies := strings.HasSuffix(got.Header.Get("Vary"), "Accept-Encoding") // a guide varies by Accept, too
			if varies != (want != "") {
				t.Errorf("%s of %d bytes: Vary %q", path, len(plain.Raw), got.Header.Get("Vary"))
			}
			if want != "" && len(got.Raw) >= len(plain.Raw) {
				t.Errorf("%s in %s has %d bytes, and %d without", path, coding, len(got.Raw), len(plain.Raw))
			}
		}
	}
	if compressed < 20 {
		t.Errorf("only %d answers were long enough to be compressed", compressed)
	}
}

func TestHeadAndNotModifiedKnowOfTheCoding(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	for _, path := range []string{"/openapi.json", "/api/v1/event-types", "/billing/plans-with-features"} {
		for _, coding := range []string{"", "gzip", "br"} {
			get, head := c.plainly("GET", path, "", "Accept-Encoding", coding),
				c.plainly("HEAD", path, "", "Accept-Encoding", coding)
			for _, name := range []string{"Content-Encoding", "Content-Length", "Content-Type", "ETag", "Vary"} {
				if d := cmp.Diff(get.Header[name], head.Header[name]); d != "" {
					t.Errorf("HEAD %s in %q: %s: %s", path, coding, name, d)
				}
			}
			tag := get.Header.Get("ETag")
			if tag == "" {
				t.Fatalf("%s has no ETag", path)
			}
			again := c.plainly("GET", path, "", "Accept-Encoding", coding, "If-None-Match", tag)
			if again.Status != http.StatusNotModified || len(again.Raw) != 0 {
				t.Errorf("%s in %q with its tag: %d and %d bytes", path, coding, again.Status, len(again.Raw))
			}
			if again.Header.Get("Vary") != "Accept-Encoding" || again.Header.Get("ETag") != tag {
				t.Errorf("%s in %q with its tag: Vary %q, ETag %q", path, coding, again.Header.Get("Vary"),
					again.Header.Get("ETag"))
			}
			if got := again.Header.Get("Content-Encoding"); got != "" {
				t.Errorf("%s in %q with its tag: Content-Encoding %q", path, coding, got)
			}
		}
	}
}

func TestTheLongDocumentsAreShortOnTheWire(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	for path, most := range map[string]int{"/openapi.json": 175_000, "/api/v1/event-types": 15_000} {
		for _, coding := range []string{"gzip", "br"} {
			if got := c.plainly("GET", path, "", "Accept-Encoding", coding); len(got.Raw) > most ||
				got.Status != http.StatusOK {
				t.Errorf("%s in %s: %d and %d bytes, want at most %d", path, coding, got.Status, len(got.Raw), most)
			}
		}
	}
}

func TestABodyWithoutCodingIsSentOnlyToWhoTakesIt(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	for accepted, want := range map[string]string{
		"gzip": "", "identity;q=0": "", "identity;q=0, gzip": "gzip",
		"*;q=0, br": "br",
	} {
		got := c.plainly("GET", "/api/v1/org", "", "Accept-Encoding", accepted)
		if got.Header.Get("Content-Encoding") != want || got.Status != http.StatusOK {
			t.Errorf("%s: %d, Content-Encoding %q, want %q", accepted, got.Status, got.Header.Get("Content-Encoding"),
				want)
		}
	}
}

func TestAReplayedAnswerIsCompressedAsTheFirst(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.signup()
	body := `{"email":"a@example.com","first_name":"A","last_name":"B","attributes":{"note":"` +
		strings.Repeat("long ", 200) + `"}}`
	first := c.plainly("POST", "/api/v1/crm/contacts", body, "Accept-Encoding", "br", "Idempotency-Key", "k")
	again := c.plainly("POST", "/api/v1/crm/contacts", body, "Accept-Encoding", "gzip", "Idempotency-Key", "k")
	if first.Status != 201 || again.Status != 201 {
		t.Fatalf("%d %s, then %d %s; want 201 twice", first.Status, first.Plain, again.Status, again.Plain)
	}
	if replayed := again.Header.Get("Idempotent-Replayed"); replayed != "true" {
		t.Fatalf("Idempotent-Replayed %q, want true", replayed)
	}
	const coding = "Content-Encoding"
	if one, two := first.Header.Get(coding), again.Header.Get(coding); one != "br" || two != "gzip" {
		t.Errorf("Content-Encoding %q, then %q; want br, gzip", one, two)
	}
	if diff := cmp.Diff(string(first.Plain), string(again.Plain)); diff != "" {
		t.Errorf("the second response (-want +got):\n%s", diff)
	}
}

// bearing lists the members of responses that grant access to their holder.
var bearing = []string{
	"access_token", "refresh_token", "token", "secret", "client_secret", "authorize_url", "accept_url",
	"download_url", "errors_url", "hosted_invoice_url",
}

// bearingOperations return links or keys under other names.
var bearingOperations = []string{
	"POST /api/v1/api-keys", "POST /billing/portal",
	"POST /white-label/connect/onboarding",
}

func TestEveryAnswerWithASecretIsMarkedAndNeverCompressed(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	marked := 0
	for _, r := range s.App.Routes() {
		name := r.Method + " " + r.Path
		bears := slices.Contains(bearingOperations, name)
		for status, res := range s.spec.Paths.Find(r.Path).GetOperation(r.Method).Responses.Map() {
			if media := res.Value.Content.Get("application/json"); media != nil && status[0] == '2' {
				bears = bears || hasMember(media.Schema, bearing, map[*openapi3.Schema]bool{})
			}
		}
		if bears && !r.Secret {
			t.Errorf("%s answers a secret and is not marked with Secret", name)
		}
		if bears {
			marked++
		}
	}
	if marked < 15 {
		t.Errorf("only %d operations were found to answer a secret", marked)
	}
	email := `"ada@example.com"`
	signup := fmt.Sprintf(`{"email":%s,"password":"correct-horse-battery","org_name":%q}`, email,
		strings.Repeat("A long name ", 12))
	for path, body := range map[string]string{"/api/v1/auth/signup": signup, "/api/v1/test/secrets": `{}`} {
		c := s.signup()
		got := c.plainly("POST", path, body, "Accept-Encoding", "identity;q=0, gzip, br")
		if got.Status/100 != 2 {
			t.Errorf("%s: %d %s, want success", path, got.Status, got.Raw)
		}
		for _, name := range []string{"Content-Encoding", "Vary"} {
			if value := got.Header.Get(name); value != "" {
				t.Errorf("%s: %s %q, want none", path, name, value)
			}
		}
	}
}

func hasMember(ref *openapi3.SchemaRef, names []string, seen map[*openapi3.Schema]bool) bool {
	if ref == nil || ref.Value == nil || seen[ref.Value] {
		return false
	}
	v := ref.Value
	seen[v] = true
	for name, member := range v.Properties {
		if slices.Contains(names, name) && member.Value != nil && member.Value.Type.Includes("string") ||
			hasMember(member, names, seen) {
			return true
		}
	}
	parts := slices.Concat(v.OneOf, v.AnyOf, v.AllOf, openapi3.SchemaRefs{v.Items, v.AdditionalProperties.Schema})
	return slices.ContainsFunc(parts, func(p *openapi3.SchemaRef) bool { return hasMember(p, names, seen) })
}
