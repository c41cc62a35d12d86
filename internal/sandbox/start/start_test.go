package start_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/sandbox/start"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestTheStartPageLeadsToEverySandbox(t *testing.T) {
	t.Parallel()
	h := start.Handler([]start.Sandbox{
		{Name: "Outbox", Path: "/sandbox/outbox/", Text: "Mails <to> contacts."},
		{Name: "Stripe", Path: "/sandbox/stripe/", Text: "Payments."},
	}, testkit.Log(t))
	get := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w
	}
	page := get(http.MethodGet, start.Path)
	for _, want := range []string{
		`href="/sandbox/outbox/">Outbox`, "Mails &lt;to&gt; contacts.",
		`href="/sandbox/stripe/"`,
	} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("no %s in %s", want, page.Body)
		}
	}
	if list := get(http.MethodGet, start.Path+"?format=json"); !strings.Contains(list.Body.String(),
		`"path":"/sandbox/stripe/"`) {
		t.Errorf("%s", list.Body)
	}
	if w := get(http.MethodGet, start.Path+"nothing"); w.Code != http.StatusNotFound {
		t.Errorf("status %d of an unknown page, want 404", w.Code)
	}
	if w := get(http.MethodPost, start.Path); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("status %d of a POST, want 405", w.Code)
	}
}
