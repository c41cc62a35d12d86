package api_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// aScript finds the console's script in its shell.
var aScript = regexp.MustCompile(`src="(/app/assets/index-[^"]+\.js)"`)

func TestEveryAddressOfTheConsoleHasTheShell(t *testing.T) {
	t.Parallel()
	c := start(t).stranger()
	want := c.do("GET", "/app/", nil).want(t, 200, "")
	for _, path := range []string{
		"/app", "/app/contacts/0190a6f2-7b1c-7d3e-9f00-3b5e8a1c2d4f", "/app/settings/integrations/webhooks/new?x=y",
		"/login?next=%2Fapp%2Fdeals", "/signup", "/forgot-password", "/reset-password?token=abc",
		"/accept-invite?token=abc", "/verify-email?token=abc",
	} {
		if got := c.do("GET", path, nil).want(t, 200, ""); !bytes.Equal(got.Body, want.Body) {
			t.Errorf("%s has another page", path)
		}
	}
	c.do("HEAD", "/app/contacts", nil).want(t, 200, "")
	c.do("POST", "/app/contacts", "{}").want(t, 405, "method_not_allowed")
}

func TestTheShellIsRevalidatedAndItsAssetsNever(t *testing.T) {
	t.Parallel()
	c := start(t).stranger()
	shell := c.do("GET", "/app/", nil).want(t, 200, "")
	if got := shell.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("shell: %s", got)
	}
	c.do("GET", "/app/deals", nil, "If-None-Match", shell.Header.Get("ETag")).want(t, 304, "")
	script := string(aScript.FindSubmatch(shell.Body)[1])
	asset := c.do("GET", script, nil).want(t, 200, "")
	if got := asset.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
		t.Errorf("script: %s", got)
	}
	if got := asset.Header.Get("Content-Type"); got != "text/javascript; charset=utf-8" {
		t.Errorf("script: %s", got)
	}
	c.do("GET", script, nil, "If-None-Match", asset.Header.Get("ETag")).want(t, 304, "")
	c.do("HEAD", script, nil).want(t, 200, "")
}

func TestAnUnknownAssetIsNotTheShell(t *testing.T) {
	t.Parallel()
	c := start(t).stranger()
	for _, path := range []string{
		"/app/assets/index-00000000.js", "/app/assets/", "/app/assets/../index.html", "/app/assets/%2e%2e/index.html",
	} {
		if got := c.do("GET", path, nil); strings.HasPrefix(path, "/app/assets/index") || got.Status != 200 {
			got.want(t, 404, "not_found")
		} else if bytes.Contains(got.Body, []byte("<title>Console</title>")) {
			t.Errorf("%s is the shell without a brand", path)
		}
	}
}

func TestTheConsolesPolicyPermitsNothingInlineAndNoOtherHost(t *testing.T) {
	t.Parallel()
	got := start(t).stranger().do("GET", "/app/", nil).want(t, 200, "").Header.Get("Content-Security-Policy")
	for _, want := range []string{
		"default-src 'none'", "script-src 'self';", "base-uri 'none'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing from %s", want, got)
		}
	}
	for _, forbidden := range []string{"unsafe", "*", "//"} {
		if strings.Contains(got, forbidden) {
			t.Errorf("%s permits %s", got, forbidden)
		}
	}
}
