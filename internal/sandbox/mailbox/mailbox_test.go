package mailbox_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/mail"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/mailbox"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

func TestThePageShowsMailOfAllOrgsAndSaysThatItIsASandbox(t *testing.T) {
	t.Parallel()
	db := testkit.DB(t)
	box := testkit.Box(t)
	page := mailbox.Handler(db.System, box, testkit.Log(t))
	get := func(method string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/sandbox/mailbox/", nil))
		return w
	}
	if w := get(http.MethodGet); w.Code != 200 || !strings.Contains(w.Body.String(), "No mail yet") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	for _, org := range []id.ID{{}, id.New()} {
		err := db.App.Tx(t.Context(), org, func(tx *postgres.Tx) error {
			m := mail.Invite("bob@example.com", "https://crm.test", "token-of-"+org.String(),
				"<script>alert(1)</script>")
			letter, err := mail.Write(tx, box, m)
			if err != nil {
				return err
			}
			return mail.ToSandbox(tx, box, letter, &m)
		})
		if err != nil {
			t.Fatal(err)
		}
		body := get(http.MethodGet).Body.String()
		for _, want := range []string{
			"This is a sandbox", "to bob@example.com",
			"https://crm.test/accept-invite?token=token-of-" + org.String(),
		} {
			if !strings.Contains(body, want) {
				t.Errorf("%q is missing in %s", want, body)
			}
		}
		if strings.Contains(body, "<script>") {
			t.Error("the subject is not escaped")
		}
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/sandbox/mailbox/?format=json", nil))
	var shown struct {
		Sandbox bool
		Data    []struct{ To, Subject, Text string }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &shown); err != nil || !shown.Sandbox || len(shown.Data) != 2 ||
		shown.Data[0].To != "bob@example.com" {
		t.Errorf("%v: %s", err, w.Body)
	}
	if w := get(http.MethodPost); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", w.Code)
	}
}
