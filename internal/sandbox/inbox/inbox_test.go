package inbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/funnelwork/funnelwork/internal/id"
	"github.com/funnelwork/funnelwork/internal/outbound"
	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/inbox"
	"github.com/funnelwork/funnelwork/internal/testkit"
	"github.com/funnelwork/funnelwork/internal/webhooks"
)

type fixture struct {
	*testing.T
	url    string // of the inbox
	secret string // of the webhook at url + "demo"
	db     *testkit.Database
}

func start(t *testing.T) *fixture {
	t.Helper()
	box := testkit.Box(t)
	db, mux := testkit.DB(t), http.NewServeMux()
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	url := s.URL + inbox.Path
	hooks := &webhooks.Service{Box: box, Policy: outbound.Policy{Inbox: url}}
	mux.Handle(inbox.Path, inbox.Handler(inbox.Options{System: db.System, Hooks: hooks, URL: url, Log: testkit.Log(t)}))
	f := &fixture{T: t, url: url, db: db}
	if err := db.App.Tx(t.Context(), id.New(), func(tx *postgres.Tx) (err error) {
		_, f.secret, err = hooks.Create(t.Context(), tx,
			webhooks.New{URL: url + "demo", Events: []string{"*"}, Enabled: true})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fixture) do(method, path string, h http.Header, body string) (int, string) {
	f.Helper()
	r, err := http.NewRequestWithContext(f.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.Fatal(err)
	}
	if h != nil {
		r.Header = h
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		f.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		f.Fatal(err)
	}
	return res.StatusCode, string(b)
}

type listed struct {
	Sandbox bool
	URL     string
	Data    []struct {
		Name, Body, EventType, Signature string
		Type                             string `json:"event_type"`
		Standard                         string `json:"standard_signature"`
		Headers                          map[string]string
	}
}

func (f *fixture) list(path string) (l listed) {
	f.Helper()
	status, body := f.do(http.MethodGet, path, nil, "")
	if status != http.StatusOK {
		f.Fatalf("%d %s", status, body)
	}
	if err := json.Unmarshal([]byte(body), &l); err != nil {
		f.Fatal(err)
	}
	return l
}

func TestTheInboxShowsWhatArrivedAndWhetherItsSignaturesVerify(t *testing.T) {
	t.Parallel()
	f := start(t)
	body := `{"type":"contact.created","note":"<script>alert(1)</script>"}`
	signed := func(secret string) http.Header {
		return webhooks.Headers([]string{secret}, "one", time.Now(), []byte(body))
	}
	for _, c := range []struct {
		name string
		h    http.Header
	}{{"demo", signed(f.secret)}, {"demo", signed("quite another secret")}, {"elsewhere", signed(f.secret)}} {
		if status, answer := f.do(http.MethodPost, c.name, c.h, body); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	got := f.list("?format=json")
	if !got.Sandbox || got.URL != f.url+"demo" || len(got.Data) != 3 {
		t.Fatalf("sandbox %v, URL %s, %d arrivals; want true, %sdemo, 3", got.Sandbox, got.URL, len(got.Data), f.url)
	}
	type facts struct{ Signature, Standard, Type, Body, ID string }
	for i, want := range []string{"unknown_webhook", "invalid", "valid"} { // newest first
		d := got.Data[i]
		if diff := cmp.Diff(facts{want, want, "contact.created", body, "one"},
			facts{d.Signature, d.Standard, d.Type, d.Body, d.Headers["Webhook-Id"]}); diff != "" {
			t.Errorf("arrival %d (-want +got):\n%s", i, diff)
		}
	}
	if one := f.list("elsewhere?format=json"); len(one.Data) != 1 || one.URL != f.url+"elsewhere" {
		t.Errorf("%+v", one)
	}
	_, page := f.do(http.MethodGet, "", nil, "")
	for _, want := range []string{
		"This is a sandbox", f.url + "demo", `class="valid"`, `class="invalid"`,
		"&lt;script&gt;",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<script>") || strings.Contains(page, f.secret) {
		t.Error("the page runs what arrived, or shows the secret")
	}
}

func TestTheInboxKeepsOnlyTheNewest(t *testing.T) {
	t.Parallel()
	f := start(t)
	for n := range 205 {
		f.do(http.MethodPost, "demo", nil, fmt.Sprintf(`{"type":"n%d"}`, n))
	}
	got := f.list("?format=json")
	if len(got.Data) != 200 {
		t.Fatalf("%d arrivals, want 200", len(got.Data))
	}
	if first, last := got.Data[0].Type, got.Data[199].Type; first != "n204" || last != "n5" {
		t.Errorf("arrivals %s to %s, want n204 to n5", first, last)
	}
	var rows int
	if err := testkit.Pgx(t, f.db.URL).QueryRow(t.Context(), "SELECT count(*) FROM sandbox_hook").
		Scan(&rows); err != nil || rows != 200 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestTheInboxRefusesWhatIsNoDelivery(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodPost, "", "{}", http.StatusMethodNotAllowed},
		{http.MethodPut, "demo", "{}", http.StatusMethodNotAllowed},
		{http.MethodPost, "a/b", "{}", http.StatusNotFound},
		{http.MethodGet, "a%20b", "", http.StatusNotFound},
		{http.MethodPost, strings.Repeat("a", 65), "{}", http.StatusNotFound},
		{http.MethodPost, "demo", strings.Repeat("x", 256<<10+1), http.StatusRequestEntityTooLarge},
		{http.MethodPost, "demo", "\x00\xff", http.StatusOK}, // any bytes are accepted
	} {
		if status, _ := f.do(c.method, c.path, nil, c.body); status != c.want {
			t.Errorf("%s %s: %d, want %d", c.method, c.path, status, c.want)
		}
	}
}
