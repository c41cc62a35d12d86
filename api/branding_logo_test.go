package api_test

import (
	"bytes"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/auth"
	"github.com/funnelwork/funnelwork/internal/billing/plans"
)

const logoPath = brandPath + "/logo"

func logoPNG(t testing.TB, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const logoSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 30 10"><rect width="30" height="10" ` +
	`fill="#8a1c4a"/></svg>`

// TestALogoIsServedSoThatItCanDoNothing uploads a logo and reads it from both addresses.
func TestALogoIsServedSoThatItCanDoNothing(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.reseller()
	c.do("GET", logoPath, nil).want(t, 404, "not_found")
	var b settings
	put := c.do("PUT", logoPath, logoSVG, "Content-Type", "image/svg+xml").want(t, 200, "")
	if put.into(t, &b); b.Logo == nil {
		t.Fatalf("no logo: %s", put.Body)
	}
	want := *b.Logo
	want.ContentType, want.Width, want.Height = "image/svg+xml", 30, 10
	if diff := cmp.Diff(want, *b.Logo); diff != "" {
		t.Fatalf("the logo (-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(b.Logo.URL, "http://api.test/white-label/brand/logo/") {
		t.Fatalf("the logo's address is %s", b.Logo.URL)
	}
	public := strings.TrimPrefix(b.Logo.URL, "http://api.test")
	for path, cache := range map[string]string{
		logoPath: "private, no-cache",
		public:   "public, max-age=31536000, immutable",
	} {
		who := c
		if path == public {
			who = s.stranger()
		}
		got := who.do("GET", path, nil).want(t, 200, "")
		for name, want := range map[string]string{
			"Content-Type":            "image/svg+xml",
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
			"X-Content-Type-Options":  "nosniff", "Cache-Control": cache, "Set-Cookie": "",
		} {
			if have := got.Header.Get(name); have != want {
				t.Errorf("%s: %s: %q, want %q", path, name, have, want)
			}
		}
		if string(got.Body) != logoSVG {
			t.Errorf("%s: %s", path, got.Body)
		}
		who.do("GET", path, nil, "If-None-Match", got.Header.Get("ETag")).want(t, 304, "")
		if head := who.do("HEAD", path, nil).want(t, 200, ""); len(head.Body) != 0 {
			t.Error("HEAD has a body")
		}
	}
	c.do("PUT", logoPath, logoSVG, "Content-Type", "image/svg+xml").want(t, 200, "")
	c.do("PUT", logoPath, logoPNG(t, 4, 3), "Content-Type", "image/png", "If-Match", `"0.0"`).
		want(t, 412, "precondition_failed")
	if told := c.branded(); told != "1 1" {
		t.Errorf("one logo is told %s times", told)
	}
	c.do("PUT", logoPath, logoPNG(t, 4, 3), "Content-Type", "image/png").want(t, 200, "")
	s.stranger().do("GET", public, nil).want(t, 404, "not_found")
	c.do("DELETE", logoPath, nil).want(t, 204, "")
	c.do("DELETE", logoPath, nil).want(t, 204, "")
	c.do("GET", logoPath, nil).want(t, 404, "not_found")
	if told := c.branded(); told != "3 3" {
		t.Errorf("three changes are told %s times", told)
	}
}

func TestALogoIsTakenOrRefusedByWhatItIs(t *testing.T) {
	t.Parallel()
	s := start(t, unlimited)
	c := s.reseller()
	for name, r := range map[string]struct {
		kind   string
		body   []byte
		status int
		code   string
	}{
		"a megabyte and one":   {"image/png", append(logoPNG(t, 4, 3), make([]byte, 1<<20)...), 413, "body_too_large"},
		"a page":               {"text/html", []byte("<script>"), 415, "unsupported_media_type"},
		"json":                 {"application/json", []byte(`{}`), 415, "unsupported_media_type"},
		"nothing":              {"image/png", []byte{}, 400, "bad_request"},
		"a page that says png": {"image/png", []byte("<script>"), 422, "validation_failed"},
		"a script in an svg": {
			"image/svg+xml",
			[]byte(strings.Replace(logoSVG, "<rect", "<script>alert(1)</script><rect", 1)), 422, "validation_failed",
		},
		"too many pixels":       {"image/png", logoPNG(t, 2049, 1), 422, "validation_failed"},
		"a picture, packed too": {"image/png", logoPNG(t, 4, 3), 415, "unsupported_media_type"},
	} {
		var headers []string
		if strings.Contains(name, "packed") {
			headers = []string{"Content-Encoding", "gzip"}
		}
		c.do("PUT", logoPath, r.body, append(headers, "Content-Type", r.kind)...).want(t, r.status, r.code)
	}
	for _, role := range []auth.Role{auth.Viewer, auth.Member} {
		c.as(role).do("PUT", logoPath, logoPNG(t, 4, 3), "Content-Type", "image/png").want(t, 403, "forbidden")
		c.as(role).do("DELETE", logoPath, nil).want(t, 403, "forbidden")
	}
	s.stranger().do("PUT", logoPath, logoPNG(t, 4, 3), "Content-Type", "image/png").want(t, 401, "unauthorized")
	if told := c.branded(); told != "0 0" {
		t.Errorf("a refused logo is told: %s", told)
	}
	c.do("PUT", logoPath, logoPNG(t, 4, 3), "Content-Type", "image/png").want(t, 200, "")
	c.state(plans.State{Plan: "white_label_pro", Interval: "month", Status: plans.Canceled, Quantity: 1})
	c.do("PUT", logoPath, logoPNG(t, 5, 3), "Content-Type", "image/png").want(t, 402, "feature_not_in_plan")
	c.do("GET", logoPath, nil).want(t, http.StatusOK, "")
	c.do("DELETE", logoPath, nil).want(t, 204, "") // a logo can always be removed
	other := s.reseller()
	other.do("GET", logoPath, nil).want(t, 404, "not_found")
}
