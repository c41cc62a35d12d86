package oauth_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/funnelwork/funnelwork/internal/postgres"
	"github.com/funnelwork/funnelwork/internal/sandbox/oauth"
	"github.com/funnelwork/funnelwork/internal/testkit"
)

// world is a sandbox behind a listener, with its own clock.
type world struct {
	*oauth.Sandbox
	t     testing.TB
	url   string // ends in oauth.Path
	ahead *atomic.Int64
}

func newWorld(t testing.TB, o oauth.Options) *world {
	t.Helper()
	w := &world{t: t, ahead: &atomic.Int64{}}
	o.Now = func() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }
	w.Sandbox = oauth.New(o)
	srv := httptest.NewServer(w.Handler())
	t.Cleanup(srv.Close)
	w.url = srv.URL + oauth.Path
	return w
}

// sealed returns a store in Postgres.
func sealed(t testing.TB) oauth.Postgres {
	t.Helper()
	box := testkit.Box(t)
	return oauth.Postgres{System: testkit.Open(t, testkit.DB(t).URL, postgres.System), Box: box}
}

// answer is a provider's response.
type answer struct {
	status int
	header http.Header
	body   map[string]any
	raw    string
}

func (a answer) text(key string) string {
	s, _ := a.body[key].(string)
	return s
}

// request sends a request to the sandbox; form, user and password are sent if set.
func (w *world) request(method, address string, form url.Values, user, password string) (answer, error) {
	return w.requestIn(w.t.Context(), method, address, form, user, password)
}

func (w *world) requestIn(ctx context.Context, method, address string, form url.Values,
	user, password string,
) (answer, error) {
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, method, w.url+address, body)
	if err != nil {
		return answer{}, err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	req.Header.Set("Accept", "application/json")
	if user != "" {
		req.SetBasicAuth(user, password)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	a := answer{status: res.StatusCode, header: res.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &a.body)
	return a, err
}

// refresh sends a refresh token to X.
func (w *world) refresh(token string) (answer, error) {
	id, password := oauth.Client("x")
	return w.request("POST", "api.x.com/2/oauth2/token",
		url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}, id, password)
}

func (w *world) must(a answer, err error) answer {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// issue makes a login at X.
func (w *world) issue() oauth.Grant {
	w.t.Helper()
	g, err := w.Issue(w.t.Context(), "x", "Ada Lovelace", "users.read", "offline.access")
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}

func (w *world) holder(token string) oauth.Grant {
	w.t.Helper()
	g, err := w.Holder(w.t.Context(), token)
	if err != nil {
		w.t.Fatal(err)
	}
	return g
}
