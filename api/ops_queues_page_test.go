package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Finds what a page or a style sheet makes a browser load: from another host, and from its own.
var (
	foreignLoad = regexp.MustCompile(`(?i)<(?:script|img|iframe|source|video|audio|embed|link)\b[^>]*` +
		`\b(?:src|srcset|href|data)\s*=\s*["']?\s*(?:https?:)?//[^>]*>` +
		`|url\(\s*["']?(?:https?:)?//[^)]*\)|@import\s+["'](?:https?:)?//[^"']*`)
	ownLoad      = regexp.MustCompile(`<(?:script|img|link)\b[^>]*\b(?:src|href)="(/[^/"][^"]*)"`)
	inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
)

// The API's pages and each file that they load.
func TestThePagesLoadNothingFromAnotherHost(t *testing.T) {
	t.Parallel()
	c := acme(t).stranger()
	paths := []string{"/docs", "/docs/webhooks", "/login"}
	for i := 0; i < len(paths); i++ {
		got := c.do("GET", paths[i], nil)
		got.want(t, 200, "")
		if kind := got.Header.Get("Content-Type"); strings.HasPrefix(kind, "text/javascript") {
			continue // a library's error messages have links
		}
		if found := foreignLoad.FindAllString(string(got.Body), -1); found != nil {
			t.Errorf("%s loads %q", paths[i], found)
		}
		for _, file := range ownLoad.FindAllStringSubmatch(string(got.Body), -1) {
			if !slices.Contains(paths, file[1]) {
				paths = append(paths, file[1])
			}
		}
		for part := range strings.SplitSeq(got.Header.Get("Content-Security-Policy"), ";") {
			name, sources, _ := strings.Cut(strings.TrimSpace(part), " ")
			if strings.Contains(sources, "//") || strings.Contains(sources, "*") {
				t.Errorf("%s: the policy has %s %s", paths[i], name, sources)
			}
		}
		if got.Header.Get("Content-Security-Policy") == "" {
			t.Errorf("%s has no policy", paths[i])
		}
	}
	if len(paths) < 7 {
		t.Errorf("found only %q", paths)
	}
}

func TestTheDashboardLoadsNothingFromAnotherHost(t *testing.T) {
	t.Parallel()
	ops := newOps(t)
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Host = "127.0.0.1:9090"
		w := httptest.NewRecorder()
		ops.ServeHTTP(w, r)
		return w
	}
	nonces := map[string]bool{}
	for _, path := range []string{"/queues/", "/queues/queues/default", "/queues/servers"} {
		w := get(path)
		page, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
		if w.Code != 200 || !strings.Contains(page, "<title>Asynq") ||
			!strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Fatalf("%s: %d %v %.100s", path, w.Code, w.Header(), page)
		}
		if found := foreignLoad.FindAllString(page, -1); found != nil {
			t.Errorf("%s loads %q", path, found)
		}
		_, nonce, _ := strings.Cut(page, `<meta property="csp-nonce" content="`)
		nonce, _, _ = strings.Cut(nonce, `"`)
		if len(nonce) < 20 || nonces[nonce] || !strings.Contains(policy, "style-src 'nonce-"+nonce+"';") {
			t.Errorf("%s: nonce %q, policy %s", path, nonce, policy)
		}
		nonces[nonce] = true
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self' 'sha256-") ||
			strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") || strings.Contains(policy, "*") ||
			strings.Contains(page+policy, "{nonce}") {
			t.Errorf("%s: policy %s", path, policy)
		}
		for _, script := range inlineScript.FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(script[1]))
			if hash := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(policy, "'sha256-"+hash+"'") {
				t.Errorf("%s: the policy has no hash of %.60s", path, script[1])
			}
		}
		for _, file := range ownLoad.FindAllStringSubmatch(page, -1) {
			f := get(file[1])
			if f.Code != 200 || strings.Contains(f.Body.String(), "<title>Asynq") ||
				f.Header().Get("Content-Type") == "" ||
				f.Header().Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors 'none'" {
				t.Errorf("%s: %d %v", file[1], f.Code, f.Header())
			}
			found := foreignLoad.FindAllString(f.Body.String(), -1)
			if found != nil && !strings.HasSuffix(file[1], ".js") {
				t.Errorf("%s loads %q", file[1], found)
			}
		}
	}
	w := get("/queues/api/queues")
	if !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("the dashboard's API: %v", w.Header())
	}
}
