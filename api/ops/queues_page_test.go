package ops_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/testkit"
)

// Find the files that a page loads from its own host, and its scripts.
var (
	ownLoad      = regexp.MustCompile(`<(?:script|img|link)\b[^>]*\b(?:src|href)="(/[^/"][^"]*)"`)
	inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
)

func TestTheDashboardLoadsNothingFromAnotherHost(t *testing.T) {
	t.Parallel()
	listener := newOps(t)
	get := func(path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Host = "127.0.0.1:9090"
		w := httptest.NewRecorder()
		listener.ServeHTTP(w, r)
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
		if found := testkit.ForeignLoads(page); found != nil {
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
			found := testkit.ForeignLoads(f.Body.String())
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
