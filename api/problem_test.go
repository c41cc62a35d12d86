package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/api"
	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/id"
)

const things = "/api/v1/test/things"

func TestEveryBadBodyIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for name, tc := range map[string]struct {
		body   any
		status int
		code   string
		field  string
		header []string
	}{
		"not JSON":            {`{"name"`, 400, "malformed_json", "", nil},
		"trailing data":       {`{"name":"a"} x`, 400, "malformed_json", "", nil},
		"two values":          {`{"name":"a"}{"name":"b"}`, 400, "malformed_json", "", nil},
		"a comma too many":    {`{"name":"a",}`, 400, "malformed_json", "", nil},
		"a leading zero":      {`{"name":"a","size":01}`, 400, "malformed_json", "", nil},
		"a control character": {"{\"name\":\"a\x01\"}", 400, "malformed_json", "", nil},
		"NaN":                 {`{"name":"a","size":NaN}`, 400, "malformed_json", "", nil},
		"a byte order mark":   {"\ufeff{}", 400, "malformed_json", "", nil},
		"empty":               {"", 400, "malformed_json", "", nil},
		"only space":          {" \n", 400, "malformed_json", "", nil},
		"a repeated member":   {`{"name":"a","name":"b"}`, 400, "duplicate_key", "#/name duplicate_key", nil},
		"the same by escape": {
			`{"name":"a","n\u0061me":"b"}`, 400, "duplicate_key", "#/name duplicate_key",
			nil,
		},
		"repeated within": {
			`{"name":"a","more":{"x":{"y":1,"y":2}}}`, 400, "duplicate_key",
			"#/more/x/y duplicate_key", nil,
		},
		"NUL": {`{"name":"a\u0000"}`, 422, "validation_failed", "#/name invalid_text", nil},
		"NUL in an unused corner": {
			`{"name":"a","more":{"k":["\u0000"]}}`, 422, "validation_failed",
			"#/more/k/0 invalid_text", nil,
		},
		"NUL in a name": {
			`{"name":"a","more":{"k\u0000":1}}`, 422, "validation_failed",
			"#/more invalid_text", nil,
		},
		"a high surrogate":       {`{"name":"\ud800"}`, 422, "validation_failed", "#/name invalid_text", nil},
		"a low surrogate":        {`{"name":"\udc00"}`, 422, "validation_failed", "#/name invalid_text", nil},
		"surrogates in disorder": {`{"name":"\udc00\ud800"}`, 422, "validation_failed", "#/name invalid_text", nil},
		"bad UTF-8":              {"{\"name\":\"a\xff\"}", 422, "validation_failed", "#/name invalid_text", nil},
		"an overlong slash":      {"{\"name\":\"\xc0\xaf\"}", 422, "validation_failed", "#/name invalid_text", nil},
		"a CESU surrogate": {
			"{\"name\":\"\xed\xa0\x80\"}", 422, "validation_failed", "#/name invalid_text",
			nil,
		},
		"1e400": {
			`{"name":"a","more":{"n":1e400}}`, 422, "validation_failed",
			"#/more/n out_of_range", nil,
		},
		"a very long number": {
			`{"name":"a","more":{"n":` + strings.Repeat("9", 400) + `}}`, 422,
			"validation_failed", "#/more/n out_of_range", nil,
		},
		"a number for a name": {`{"name":5}`, 422, "validation_failed", "#/name invalid_type", nil},
		"an integer beyond int64": {
			`{"name":"a","size":1e300}`, 422, "validation_failed", "#/size out_of_range",
			nil,
		},
		"a fraction": {`{"name":"a","size":1.5}`, 422, "validation_failed", "#/size invalid_type", nil},
		"too deep": {
			`{"name":"a","more":{"x":` + deep + `}}`, 422, "validation_failed",
			"#/more/x" + strings.Repeat("/0", 30) + " too_deep", nil,
		},
		"only depth": {
			deep, 422, "validation_failed", "#" + strings.Repeat("/0", 32) + " too_deep",
			nil,
		},
		"an unknown field":          {`{"name":"a","nick":"b"}`, 422, "validation_failed", "#/nick unknown_field", nil},
		"an unknown one with a dot": {`{"name":"a","a.b":"b"}`, 422, "validation_failed", "#/a.b unknown_field", nil},
		"another case":              {`{"NAME":"a"}`, 422, "validation_failed", "#/name required", nil},
		"another case beside":       {`{"name":"a","NAME":"b"}`, 422, "validation_failed", "#/NAME unknown_field", nil},
		"missing":                   {`{}`, 422, "validation_failed", "#/name required", nil},
		"null for a name":           {`{"name":null}`, 422, "validation_failed", "#/name invalid_type", nil},
		"too short":                 {`{"name":""}`, 422, "validation_failed", "#/name too_short", nil},
		"too long": {
			`{"name":"` + strings.Repeat("a", 101) + `"}`, 422, "validation_failed",
			"#/name too_long", nil,
		},
		"deep inside": {
			`{"name":"a","inner":{"list":[{"kind":"a"},{"kind":"c"}]}}`, 422,
			"validation_failed", "#/inner/list/1/kind not_allowed", nil,
		},
		"no date": {
			`{"name":"a","at":"yesterday"}`, 422, "validation_failed", "#/at invalid_format",
			nil,
		},
		"an array":        {`[]`, 422, "validation_failed", "# invalid_type", nil},
		"null":            {`null`, 422, "validation_failed", "# invalid_type", nil},
		"no Content-Type": {`{"name":"a"}`, 415, "unsupported_media_type", "", []string{"Content-Type", ""}},
		"text": {
			`{"name":"a"}`, 415, "unsupported_media_type", "",
			[]string{"Content-Type", "text/plain"},
		},
		"a form": {
			`name=a`, 415, "unsupported_media_type", "",
			[]string{"Content-Type", "application/x-www-form-urlencoded"},
		},
		"a patch where none is": {
			`{"name":"a"}`, 415, "unsupported_media_type", "",
			[]string{"Content-Type", "application/merge-patch+json"},
		},
		"latin 1": {
			`{"name":"a"}`, 415, "unsupported_media_type", "",
			[]string{"Content-Type", "application/json; charset=latin1"},
		},
		"compressed":      {`{"name":"a"}`, 415, "unsupported_media_type", "", []string{"Content-Encoding", "gzip"}},
		"10 MiB":          {`{"name":"` + strings.Repeat("a", 10<<20) + `"}`, 413, "body_too_large", "", nil},
		"a byte too much": {`{"name":"` + strings.Repeat("a", 1<<20-10) + `"}`, 413, "body_too_large", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.do("POST", things, tc.body, tc.header...).want(t, tc.status, tc.code)
			if tc.field != "" && got.field() != tc.field {
				t.Errorf("the place is %q, want %q: %s", got.field(), tc.field, got.Body)
			}
			if strings.Contains(string(got.Body), "value") && strings.Contains(string(got.Body), "nick\":\"b") {
				t.Errorf("the answer repeats the body: %s", got.Body)
			}
		})
	}
	c.do("POST", things, `{"name":"`+strings.Repeat("é", 100)+`"}`, "Content-Type", "application/json; charset=UTF-8").
		want(t, 201, "")
	c.do("POST", things, `{"name":"spelled otherwise"}`, "Content-Type", "Application/JSON").want(t, 201, "")
	c.do("POST", things, `{"name":"😀\ud83d\ude00\/\"","tag":"one","more":{"big":123456789012345678901234567890}}`).
		want(t, 201, "")
}

func TestABodyOfExactlyTheLimitIsRead(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	body := `{"name":"a"}` + strings.Repeat(" ", 1<<20-12)
	c.do("POST", things, body).want(t, 201, "")
}

func TestQueryAndPathAreHeldToTheDocument(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	for _, tc := range []struct {
		path   string
		status int
		code   string
		field  string
	}{
		{"?limit=0", 400, "invalid_parameter", "limit out_of_range"},
		{"?limit=201", 400, "invalid_parameter", "limit out_of_range"},
		{"?limit=-1", 400, "invalid_parameter", "limit out_of_range"},
		{"?limit=x", 400, "invalid_parameter", "limit invalid_format"},
		{"?limit=1.5", 400, "invalid_parameter", "limit invalid_format"},
		{"?limit=", 400, "invalid_parameter", "limit required"},
		{"?limit=99999999999999999999", 400, "invalid_parameter", "limit invalid_format"},
		{"?limit=1&limit=2", 400, "invalid_parameter", "limit repeated"},
		{"?nothing=1", 400, "invalid_parameter", "nothing unknown_parameter"},
		{"?LIMIT=1", 400, "invalid_parameter", "LIMIT unknown_parameter"},
		{"?name=%00", 400, "invalid_parameter", "name invalid_text"},
		{"?name=%ff", 400, "invalid_parameter", "name invalid_text"},
		{"?name=%zz", 400, "invalid_parameter", ""},
		{"?name=a;size=2", 400, "invalid_parameter", ""},
		{"?cursor=nonsense", 400, "invalid_cursor", "cursor invalid_cursor"},
		{"?cursor=!!", 400, "invalid_cursor", "cursor invalid_cursor"},
		{"?limit=200", 200, "", ""},
		{"/not-an-id", 404, "not_found", ""},
		{"/%00", 404, "not_found", ""},
		{"/%ff", 404, "not_found", ""},
		{"/" + id.New().String(), 404, "not_found", ""},
		{"/" + strings.Repeat("0", 36), 404, "not_found", ""},
		{"/" + id.New().String() + "?x=1", 400, "invalid_parameter", "x unknown_parameter"},
		{"/", 404, "not_found", ""},
	} {
		got := c.do("GET", things+tc.path, nil).want(t, tc.status, tc.code)
		if tc.field != "" && got.field() != tc.field {
			t.Errorf("%s: the place is %q, want %q", tc.path, got.field(), tc.field)
		}
	}
}

func TestWhatTheRouterRefusesIsAProblemToo(t *testing.T) {
	t.Parallel()
	c := startThings(t).signup()
	c.do("GET", "/nowhere", nil).want(t, 404, "not_found")
	c.stranger().do("GET", "/nowhere", nil).want(t, 404, "not_found")
	got := c.do("PUT", things, nil).want(t, 405, "method_not_allowed")
	for _, method := range []string{"GET", "POST", "HEAD"} {
		if allow := got.Header.Get("Allow"); !strings.Contains(allow, method) {
			t.Errorf("Allow %q does not contain %s", allow, method)
		}
	}
	if strange := c.do("PROPFIND", things, nil).
		want(t, 405, "method_not_allowed"); strange.Header.Get("Allow") != got.Header.Get("Allow") {
		t.Errorf("Allow is %q for a method that nobody knows, %q for another", strange.Header.Get("Allow"),
			got.Header.Get("Allow"))
	}
	c.do("PROPFIND", "/nowhere", nil).want(t, 404, "not_found")
	c.do("TRACE", things, nil).want(t, 405, "method_not_allowed")
	c.do("GET", things, nil, "X-Filler", strings.Repeat("a", 20<<10)).want(t, 431, "header_too_large")
	c.do("GET", things+"/"+strings.Repeat("a", 20<<10), nil).want(t, 431, "header_too_large")
}

func TestOurOwnTroubleIsMute(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	for _, how := range []string{"panic", "error", "sql"} {
		c.do("GET", "/api/v1/test/trouble?how="+how, nil).want(t, 500, "internal")
	}
	got := c.do("GET", "/api/v1/test/trouble?how=slow", nil).want(t, 503, "unavailable")
	if got.Header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", got.Header.Get("Retry-After"))
	}
	c.do("GET", "/api/v1/test/trouble?how=other", nil).want(t, 400, "invalid_parameter")
}

func TestADatabaseThatIsAwayIsA503(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	c := s.signup()
	c.do("GET", things, nil).want(t, 200, "")
	s.Deps.DB.Close()
	for range 2 {
		got, err := c.try("GET", things, nil)
		if err != nil || got.Status != 503 && got.Status != 500 {
			t.Errorf("have %d %v", got.Status, err)
		}
	}
}

func TestTheRequestIDIsTakenOrMade(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	for given, taken := range map[string]bool{
		"abc.DEF_1-2": true, strings.Repeat("a", 128): true,
		strings.Repeat("a", 129): false, "a b": false, "ä": false, "a/b": false, "": false,
	} {
		got := c.do("GET", things+"/x", nil, "X-Request-Id", given, "traceparent",
			"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").want(t, 404, "not_found")
		if id := got.Header.Get("X-Request-Id"); (id == given) != taken || id == "" {
			t.Errorf("%q became %q", given, id)
		}
	}
}

func TestRightsAreCheckedByTheRoute(t *testing.T) {
	t.Parallel()
	s := startThings(t, unlimited)
	owner := s.signup()
	body := map[string]string{"name": "a"}
	got := s.stranger().do("GET", things, nil).want(t, 401, "unauthorized")
	if h := got.Header.Get("WWW-Authenticate"); !strings.HasPrefix(h, "Bearer") || strings.Contains(h, "error") {
		t.Errorf("WWW-Authenticate is %q", h)
	}
	got = s.stranger().do("GET", things, nil, "Authorization", "Bearer nonsense").want(t, 401, "")
	if h := got.Header.Get("WWW-Authenticate"); !strings.Contains(h, `error="invalid_token"`) {
		t.Errorf("WWW-Authenticate is %q", h)
	}
	s.stranger().do("GET", things, nil, "Authorization", "Basic "+owner.Token).want(t, 401, "unauthorized")
	s.stranger().do("GET", things, nil, "Authorization", "bearer "+owner.Token).want(t, 200, "")
	owner.as(auth.Viewer).do("GET", things, nil).want(t, 200, "")
	owner.as(auth.Viewer).do("POST", things, body).want(t, 403, "forbidden")
	owner.as(auth.Member).do("POST", things, body).want(t, 201, "")
	owner.key(auth.Member).do("POST", things, map[string]string{"name": "b"}).want(t, 201, "")
	owner.key(auth.Viewer).do("POST", things, body).want(t, 403, "forbidden")
	owner.key(auth.Owner).do("POST", "/api/v1/test/secrets", nil).want(t, 403, "forbidden")
	owner.do("POST", "/api/v1/test/secrets", nil).want(t, 200, "")
	s.stranger().do("POST", "/api/v1/test/open", body, "Authorization", "Bearer nonsense").want(t, 200, "")
}

func TestHeadersAreThoseOfACarefulHouse(t *testing.T) {
	t.Parallel()
	c := startThings(t, func(d *api.Deps) { d.CORSOrigins = []string{"https://app.example"} }).signup()
	got := c.do("GET", things, nil, "Origin", "https://app.example")
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		"Server":                  "", "Access-Control-Allow-Origin": "https://app.example",
		"Access-Control-Allow-Credentials": "", "Vary": "Origin", "Content-Type": "application/json",
	} {
		if have := got.Header.Get(name); have != want {
			t.Errorf("%s is %q, want %q", name, have, want)
		}
	}
	if c.do("GET", things, nil, "Origin", "https://evil.example").Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a foreign origin is let in")
	}
	pre := []string{
		"Origin", "https://app.example", "Access-Control-Request-Method", "PATCH",
		"Access-Control-Request-Headers", "idempotency-key",
	}
	got = c.stranger().do("OPTIONS", things+"/"+id.New().String(), nil, pre...).want(t, http.StatusNoContent, "")
	if !strings.Contains(got.Header.Get("Access-Control-Allow-Methods"), "PATCH") ||
		!strings.Contains(got.Header.Get("Access-Control-Allow-Headers"), "Idempotency-Key") {
		t.Errorf("preflight: %v", got.Header)
	}
	pre[1] = "https://evil.example"
	c.stranger().do("OPTIONS", things, nil, pre...).want(t, 405, "method_not_allowed")
	head := c.do("HEAD", things, nil).want(t, 200, "")
	if len(head.Body) != 0 || head.Header.Get("Content-Length") == "0" {
		t.Errorf("HEAD: %d bytes, %v", len(head.Body), head.Header)
	}
	c.do("HEAD", things+"/x", nil).want(t, 404, "")
}

func TestABodyThatIsWrongInManyPlacesIsAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	c := startThings(t, unlimited).signup()
	var body strings.Builder
	body.WriteString(`{"name":5`)
	for n := range 50_000 {
		fmt.Fprintf(&body, `,"u%d":1`, n)
	}
	began := time.Now()
	var p struct {
		Errors []struct{ Pointer, Code string }
	}
	c.do("POST", things, body.String()+"}").want(t, 422, "validation_failed").into(t, &p)
	if took := time.Since(began); took > time.Minute || len(p.Errors) != 100 {
		t.Errorf("%d errors after %v, want 100 at once", len(p.Errors), took)
	}
}
